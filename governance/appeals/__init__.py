"""Appeals from filing to the public line, and blind re-checks."""
