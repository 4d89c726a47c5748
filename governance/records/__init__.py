"""Known faults and what was said about them: problem queue, errata, change log, retirements, defects."""
