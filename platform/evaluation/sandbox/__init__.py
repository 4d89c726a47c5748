"""Runs untrusted harnesses, and the grader, each in a sandbox of its own. No Django."""
