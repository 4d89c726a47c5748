"""The leak linter: what a text that staff write to a vendor or the public would give away."""

from __future__ import annotations

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from governance.records.linter.core import Finding, Rule, lint
from governance.records.linter.material import held_out

__all__ = ["Finding", "Rule", "findings"]


def findings(text: str, task_set: TaskSetVersion, *, addressee: Organisation | None = None) -> list[Finding]:
    """What in `text` would tell of the version's held-out tasks, or name another vendor than the one it is for.

    Runs where held-out rows may be read: console and sealed work. Where no fingerprints of the version were made yet,
    that is a finding itself, since quotes could not be seen. A paraphrase it does not see.
    """
    return lint(text, held_out(task_set, addressee=addressee))
