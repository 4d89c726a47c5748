"""Audit rooms: for some hours an auditor sees the single results of one submission, because two people let them."""
