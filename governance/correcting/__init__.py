"""Grading a released result again, and showing what came of it as a correction beside the first values."""
