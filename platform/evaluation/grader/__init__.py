"""The rule grader: in its own sandbox (`__main__`), or over many sample answers in one process (`batch`)."""
