"""The first thing that is wrong with a package."""

from __future__ import annotations

from enum import StrEnum

SHOWN = 200
"""Characters of an entry's name that are repeated."""


class Finding(Exception):
    """A package is refused: the rule, and facts for its sentence; `entry` names the first offending one."""

    def __init__(self, code: StrEnum, **facts: str | int) -> None:
        super().__init__(code.value)
        self.code = code
        self.facts = facts


def shown(name: str) -> str:
    """An entry's name, safe to store and print: no control characters, no lone surrogates, not endless."""
    clean = "".join(
        character
        if character.isprintable() and not "\ud800" <= character <= "\udfff"
        else "\N{REPLACEMENT CHARACTER}"
        for character in name
    )
    return clean if len(clean) <= SHOWN else clean[:SHOWN] + "…"
