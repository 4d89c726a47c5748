"""The one catalogue of problem codes: status, title, sentence and remedy, used by web, API, mail and documentation.

A sentence may hold `%(name)s` places; they are filled from the problem's facts, never from held-out content.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from submissions.problems.codes import Code

TYPE_PREFIX = "/api/v1/problems/"


class Fault(StrEnum):
    """Whose doing it is."""

    REQUEST = "request"
    HARNESS = "harness"
    POLICY = "policy"
    PLATFORM = "platform"
    VENDOR_DECISION = "vendor_decision"


FAULT_WORDS: dict[Fault, Promise] = {
    Fault.REQUEST: _("The request cannot be carried out as sent."),
    Fault.HARNESS: _("The package has to change."),
    Fault.POLICY: _("A rule of this task-set version says so."),
    Fault.PLATFORM: _("The platform failed; you lose nothing."),
    Fault.VENDOR_DECISION: _("Your organisation decided so."),
}


@dataclass(frozen=True)
class Entry:
    """What one code means. `status` is the HTTP status where it refuses a request."""

    code: Code
    status: int
    fault: Fault
    title: Promise
    sentence: Promise
    remedy: Promise

    @property
    def is_event(self) -> bool:
        """Whether it says what happened to a submission, and refuses no request."""
        from submissions.problems.lifecycle import EVENTS

        return self.code in EVENTS

    @property
    def type(self) -> str:
        return f"{TYPE_PREFIX}{self.code}"

    @property
    def help(self) -> str:
        """The address of its page for people, in the active language."""
        return reverse("leaderboard:problem", args=[self.code.value])


def _entries() -> dict[Code, Entry]:
    from submissions.problems import (
        accounts,
        appeals,
        confirmation,
        credentials,
        intake,
        lifecycle,
        publishing,
        quota,
        records,
        requests,
        rotation,
        upstreams,
        webhooks,
    )

    rows = [*requests.ROWS, *credentials.ROWS, *publishing.ROWS, *quota.ROWS, *intake.ROWS, *upstreams.ROWS]
    rows += [*lifecycle.ROWS, *webhooks.ROWS, *accounts.ROWS, *confirmation.ROWS, *appeals.ROWS]
    rows += records.ROWS
    rows += [*rotation.ROWS]
    found = {row[0]: Entry(*row) for row in rows}
    missing = set(Code) - set(found)
    if missing or len(found) != len(rows):
        raise RuntimeError(f"the problem catalogue does not list each code once: {sorted(missing)}")
    return found


_CATALOGUE: dict[Code, Entry] = {}


def catalogue() -> dict[Code, Entry]:
    """Every code with its entry, in the order of `Code`."""
    if not _CATALOGUE:
        found = _entries()
        _CATALOGUE.update({code: found[code] for code in Code})
    return _CATALOGUE


def entry(code: str) -> Entry:
    """The entry of `code`; raises KeyError for a code that is none."""
    try:
        return catalogue()[Code(code)]
    except ValueError:
        raise KeyError(code) from None
