"""A reason why not, as a value; and the exception that carries it out of a service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from django.conf import settings
from django.urls import reverse
from django.utils import translation

from submissions.problems.catalogue import Entry, entry
from submissions.problems.codes import Code

SOON = {Code.RECEIPT_NOT_READY: 5, Code.READ_NOT_RECORDED: 5, Code.OIDC_ISSUER_UNAVAILABLE: 60}
"""Seconds after which what is refused for the moment may well be given."""

QUOTA = frozenset(
    {
        Code.NOT_ENTITLED,
        Code.ADMISSION_STOPPED,
        Code.QUOTA_LINE,
        Code.QUOTA_LINEAGE,
        Code.QUOTA_ACCOUNT,
        Code.IN_FLIGHT,
        Code.COOLDOWN,
        Code.PREFLIGHT_CEILING,
    }
)
"""What refuses one more submission only because of how many there may be."""


class NoDate(StrEnum):
    """Why there is no instant from which it would be allowed."""

    NEXT_VERSION = "next_task_set_version"
    WHEN_IN_FLIGHT_ENDS = "when_the_submission_in_flight_ends"
    NOT_A_MATTER_OF_TIME = "not_a_matter_of_time"


@dataclass(frozen=True)
class FieldError:
    """One place in a request body, as a JSON path, and what is wrong there."""

    path: str
    message: str


@dataclass(frozen=True)
class Refusal:
    """Why not: a stable code and the facts of its sentence. `instance` is the address it is about."""

    code: Code
    facts: Mapping[str, object] = field(default_factory=dict)
    next_allowed_at: datetime | None = None
    next_allowed_reason: NoDate | None = None
    counters: Sequence[Mapping[str, object]] = ()
    errors: Sequence[FieldError] = ()
    instance: str = ""

    @property
    def entry(self) -> Entry:
        return entry(self.code)

    @property
    def status(self) -> int:
        return self.entry.status

    @property
    def title(self) -> str:
        return str(self.entry.title)

    @property
    def detail(self) -> str:
        """The sentence in the active language."""
        return sentence(self.code, self.facts)

    @property
    def remedy(self) -> str:
        return str(self.entry.remedy)

    @property
    def grant(self) -> str:
        """Where it stands how to ask for more, in the active language; empty where the quota did not refuse."""
        return f"{reverse('leaderboard:rules')}#grants" if self.code in QUOTA else ""


class Refused(Exception):
    """Raised by services; nothing was changed."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.code.value)
        self.refusal = refusal


def refuse(code: Code, **facts: object) -> Refused:
    """A Refused with plain facts, for `raise refuse(Code.NOT_FOUND)`."""
    return Refused(Refusal(code, facts))


def sentence(code: str, facts: Mapping[str, object]) -> str:
    """The code's sentence with its places filled; a fact that is missing shows as a dash."""
    return str(entry(code).sentence) % _Dashes(facts)


def texts(code: str, facts: Mapping[str, object]) -> dict[str, dict[str, str]]:
    """Title, sentence and remedy by language."""
    found = {}
    for language, _ in settings.LANGUAGES:
        with translation.override(language):
            words = entry(code)
            found[language] = {
                "title": str(words.title),
                "detail": sentence(code, facts),
                "remedy": str(words.remedy),
            }
    return found


class _Dashes(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "–"
