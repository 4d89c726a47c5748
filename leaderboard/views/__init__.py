"""Public pages, and the vendor pages that show results."""
