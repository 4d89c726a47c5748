"""The one kind of error that reaches people: a code, the cause, what to do next, and where it is explained."""

from __future__ import annotations

from typing import Any

from client.exits import Exit


class Trouble(Exception):
    """Ends the command with `exit`. `link` is absolute, or empty where there is no page."""

    def __init__(
        self,
        code: str,
        cause: str,
        *,
        hint: str,
        exit: Exit,
        link: str = "",
        facts: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(code)
        self.code = code
        self.cause = cause
        self.hint = hint
        self.exit = exit
        self.link = link
        self.facts = facts or {}

    def shown(self) -> dict[str, Any]:
        """As `--json` gives it."""
        found = {"code": self.code, "cause": self.cause, "hint": self.hint, "help": self.link}
        return {**self.facts, **found, "exit": int(self.exit)}
