"""Packages stay sealed: opened by two people in a case for some hours, and deleted at a date."""
