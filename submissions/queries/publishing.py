"""Trusted publishers with the harnesses they are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from accounts.models import Organisation
from accounts.publishing import policies
from accounts.publishing.claims import Identity
from accounts.publishing.models import TrustedPublisher
from accounts.publishing.policies import Comparison
from accounts.publishing.queries import (
    candidates,
    chosen,
    nearest,
    no_publisher,
    publisher_of,
    publishers_of,
    terms_of,
)
from accounts.publishing.refusals import Cause, IdentityRefused, refused
from accounts.publishing.services import WATCH_AFTER_END
from accounts.publishing.verification import Issuer
from config import clock
from submissions.models import Harness, Submission
from submissions.queries.registry import NotVisible


@dataclass(frozen=True)
class Checked:
    """What an exchange would say. `fields` end with the owner where that is another: the rest is then not theirs."""

    code: str
    facts: dict[str, object]
    publisher: TrustedPublisher | None
    harness: str
    fields: list[Comparison]


def own_publisher(organisation: Organisation, publisher_id: UUID) -> TrustedPublisher:
    """Raises NotVisible."""
    found = publisher_of(organisation, publisher_id)
    if found is None:
        raise NotVisible
    return found


def harness_names(rows: Sequence[TrustedPublisher]) -> dict[UUID, str]:
    found = Harness.objects.filter(id__in=[row.harness_id for row in rows])
    return dict(found.values_list("id", "name"))


def named_publishers(organisation: Organisation) -> list[tuple[TrustedPublisher, str]]:
    """The organisation's, each with the name of its harness."""
    rows = publishers_of(organisation)
    names = harness_names(rows)
    return [(row, names[row.harness_id]) for row in rows]


def trusting(identity: Identity, issuer: Issuer, harness: str) -> list[TrustedPublisher]:
    """Those that name the job's repository, limited to the harness of that id or name where one is given.

    Raises IdentityRefused (oidc_no_publisher).
    """
    rows = candidates(identity, issuer)
    if not rows:
        raise no_publisher(identity)
    names = harness_names(rows)
    if _is_id(
        harness
    ):  # ids are public, and a harness may bear another's id as its name: then no name counts
        kept = [row for row in rows if str(row.harness_id) == harness.lower()]
    else:
        kept = [row for row in rows if harness in ("", names[row.harness_id])]
    if not kept:
        raise refused(Cause.NO_PUBLISHER, field="harness", received=harness)
    return kept


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text.lower()
    except ValueError:
        return False


def checked(identity: Identity, rows: Sequence[TrustedPublisher]) -> Checked:
    """Whether one of them matches the job, field by field."""
    code, facts = "", {}
    try:
        shown = chosen(rows, identity)
    except IdentityRefused as refusal:
        code, facts = refusal.cause.value, refusal.facts
        shown = nearest(rows, identity)
    fields = policies.compare(terms_of(shown), identity)
    differs = next((at for at, row in enumerate(fields) if row.field == "owner_id" and not row.matches), None)
    if differs is not None:
        return Checked(code, facts, None, "", fields[: differs + 1])
    return Checked(code, facts, shown, harness_names([shown])[shown.harness_id], fields)


def watch_is_over(submission_id: UUID) -> bool:
    """Whether a job's submission ended so long ago that its credential watches it no more."""
    ended = Submission.objects.filter(pk=submission_id).values_list("ended_at", flat=True).first()
    return ended is not None and ended + WATCH_AFTER_END <= clock.now()
