"""Which tasks leave, what takes their place, and who decided it."""
