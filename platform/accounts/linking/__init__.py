"""Accounts that may belong together: cases that two people decide, and what an organisation is linked with."""
