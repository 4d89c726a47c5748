"""Pages of the vendor area, the staff pages about submissions, and nothing that decides: that is the services'."""
