"""The rule grader: runs in its own sandbox (`__main__`), or over many sample answers in one process (`batch`)."""
