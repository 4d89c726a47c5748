"""What a result can tell at most was charged before it was shown, and never more than the policy's budget."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen
from governance.disclosure import bits

NOT_CHARGED = "enterprise"
"""Computed from three shown values, it tells nothing that they do not."""

LADDER_RULE, LADDER_SILENCE = "growing-ladder", "ladder"


class Charges(Rule):
    """Under a policy with a budget each release is charged at least for what it shows, and for ladders' silences."""

    kinds: ClassVar[frozenset[str]] = frozenset({"release_policy.set", "leak.charged", "result.released"})

    def __init__(self) -> None:
        self._budgets: dict[str, int] = {}
        self._ladders: set[str] = set()
        self._charged: dict[str, int] = {}

    def see(self, event: Seen) -> str | None:
        if event.kind == "release_policy.set":
            if budget := event.data.get("budget_millibits"):
                self._budgets[event.subject] = budget
            if event.data.get("rule") == LADDER_RULE:
                self._ladders.add(event.subject)
            return None
        if event.kind == "leak.charged":
            return self._charge(event)
        return self._release(event)

    def _charge(self, event: Seen) -> str | None:
        data = event.data
        if data["millibits"] < 1 or data["spent"] < data["millibits"]:
            return f"a charge of the submission {event.subject} is none, or more than all that was charged"
        self._charged[event.subject] = self._charged.get(event.subject, 0) + data["millibits"]
        if data["spent"] > data["budget"] and data["charge"] != "correction":
            return f"the submission {event.subject} was told more than the budget of its version allows"
        return None

    def _release(self, event: Seen) -> str | None:
        if event.data["policy"] not in self._budgets:
            return None
        bounds = event.data.get("bounds") or {}
        values = len(event.data["values"].keys() - {NOT_CHARGED})
        due = bits.of_result(values, bounds=len(bounds))
        if event.data["policy"] in self._ladders:
            silences = (event.data.get("silences") or {}).values()
            asked = values + sum(reason == LADDER_SILENCE for reason in silences)
            due = bits.of_result(0, bounds=len(bounds), ladder=asked)
        if self._charged.get(event.subject, 0) >= due or event.excused():
            return None
        return f"the result of the submission {event.subject} shows more than was charged for it"
