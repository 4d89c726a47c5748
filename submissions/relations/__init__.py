"""Who owns a harness that somebody else submits, and the notice that the owner gets before a result is published."""
