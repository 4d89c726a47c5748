"""What the tests of the generator share."""

from __future__ import annotations

from pathlib import Path

from benchmark.synthetic import Summary

VERSION, SEED = "2026.1", 20261101


def task_dirs(bank: Summary) -> list[Path]:
    """Every task directory of a bank, in order."""
    return sorted((bank.out / "tasks").iterdir())
