"""Duties of the staff: who may take which decision, with whom, and what no person may be at the same time."""
