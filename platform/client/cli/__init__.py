"""The command `lgbench`. Nothing of it is loaded before the language is known: help texts are spoken too."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from client import words


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    words.use(words.wanted(_language(given), os.environ))
    from client.cli.main import run

    return run(given)


def _language(given: Sequence[str]) -> str | None:
    for at, word in enumerate(given):
        if word == "--lang" and at + 1 < len(given):
            return given[at + 1]
        if word.startswith("--lang="):
            return word.partition("=")[2]
    return None
