"""Confirmation runs: the only source of a published number, and the dated releases that publish it."""
