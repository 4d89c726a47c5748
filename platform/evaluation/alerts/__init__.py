"""Whether the fleet does its work: since when evaluation stands still, what has waited longest, who is told."""
