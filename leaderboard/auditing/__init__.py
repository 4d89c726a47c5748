"""The auditors' pages. At the top of the site, because they show names of organisations and results beside the log."""
