"""Submissions as their organisation sees them: state, timeline, coarse progress, cost. Nothing per task."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Manager, QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import Organisation
from submissions.models import Harness, Slot, Submission, Upload
from submissions.policies.failures import failure_class
from submissions.policies.states import DEADLINES, ENDS, IN_FLIGHT
from submissions.problems import Code, entry, sentence, texts
from submissions.problems.catalogue import FAULT_WORDS
from submissions.queries.registry import NotVisible

PAGE = 100
"""Rows read at most, and one more that says whether another page follows."""


@dataclass(frozen=True)
class Moment:
    """One step of the timeline; `words` in the reader's language."""

    state: str
    at: datetime
    cause: str
    words: str
    actor_kind: str


@dataclass(frozen=True)
class Charge:
    """Whether a submission used the quota, why, and what would come back when."""

    counts: bool
    """Whether it is part of `used` in the quota: reserved or consumed, and no re-run that was offered."""
    rerun_offer: UUID | None
    """The offer that it took, outside the quota."""
    state: str
    """reserved, consumed or refunded."""
    cause: str
    words: str
    reason: str
    reserved_at: datetime
    consumed_at: datetime | None
    refunded_at: datetime | None
    cooldown_until: datetime | None
    """None where there is none or it was lifted."""
    cooldown_ended_at: datetime | None
    if_cancelled: str
    """What cancelling now would do: returned, kept, or not_possible."""


@dataclass(frozen=True)
class Outcome:
    """Why a submission is where it is: whose doing, what to do, and until when the platform moves by itself."""

    code: str
    title: str
    sentence: str
    fault: str
    fault_words: str
    remedy: str
    texts: dict[str, dict[str, str]]
    """Title, sentence and remedy by language."""
    facts: dict[str, object]
    failure: str | None
    """Which class of failure it is; None where nothing has failed."""
    moves_by: datetime | None


def submissions_of(
    organisation: Organisation,
    *,
    harness: Harness | None = None,
    state: str = "",
    before: UUID | None = None,
    limit: int = PAGE,
) -> list[Submission]:
    """Newest first, without preflights on their own; `before` is the id of the last one of the page before."""
    return _page(_visible(organisation), harness, state, before, limit)


def preflights_of(
    organisation: Organisation,
    *,
    harness: Harness | None = None,
    before: UUID | None = None,
    limit: int = PAGE,
) -> list[Submission]:
    """Preflights on their own, newest first."""
    rows = _visible(organisation, Submission.of_any_scope).filter(scope=Submission.Scope.PREFLIGHT)
    return _page(rows, harness, "", before, limit)


def of_any_scope(
    organisation: Organisation,
    *,
    harness: Harness | None = None,
    before: UUID | None = None,
    limit: int = PAGE,
) -> list[Submission]:
    """Submissions and preflights on their own, newest first: what the pages list."""
    return _page(_visible(organisation, Submission.of_any_scope), harness, "", before, limit)


def _page(
    rows: QuerySet[Submission], harness: Harness | None, state: str, before: UUID | None, limit: int
) -> list[Submission]:
    if harness is not None:
        rows = rows.filter(harness_version__harness=harness)
    if state:
        rows = rows.filter(state=state)
    if before is not None:
        rows = rows.filter(id__lt=before)
    return list(rows.order_by("-id")[: min(limit, PAGE + 1)])


def submission_made_of(upload: Upload) -> UUID | None:
    """The submission whose package was uploaded so; None while there is none."""
    return Submission.objects.filter(upload=upload).values_list("pk", flat=True).first()


def submission_of(organisation: Organisation, submission_id: UUID) -> Submission:
    """Raises NotVisible, for a preflight on its own too."""
    return _one(_visible(organisation), submission_id)


def preflight_of(organisation: Organisation, submission_id: UUID) -> Submission:
    """A preflight on its own. Raises NotVisible."""
    found = one_of_any_scope(organisation, submission_id)
    if not found.is_preflight:
        raise NotVisible
    return found


def one_of_any_scope(organisation: Organisation, submission_id: UUID) -> Submission:
    """A submission, or a preflight on its own. Raises NotVisible."""
    return _one(_visible(organisation, Submission.of_any_scope), submission_id)


def _one(rows: QuerySet[Submission], submission_id: UUID) -> Submission:
    found = rows.filter(id=submission_id).first()
    if found is None:
        raise NotVisible
    return found


def in_flight_of(organisation: Organisation) -> list[Submission]:
    """Submissions and preflights that are not at an end, newest first."""
    rows = _visible(organisation, Submission.of_any_scope)
    return list(rows.exclude(state__in=ENDS).order_by("-id"))


def _visible(
    organisation: Organisation, rows: Manager[Submission] = Submission.objects
) -> QuerySet[Submission]:
    related = (
        "organisation",
        "harness_version__harness",
        "task_set",
        "slot",
        "held_out_run",
        "preflight_run",
    )
    return rows.filter(organisation=organisation).select_related(*related)


def timeline(submission: Submission) -> list[Moment]:
    """All moves so far, oldest first."""
    rows = submission.transitions.order_by("id")
    return [Moment(row.state, row.at, row.cause, str(entry(row.cause).title), row.actor_kind) for row in rows]


def progress(submission: Submission) -> int:
    """Coarse progress of the whole: 0, 25, 50 or 75 percent, and 100 once it is complete."""
    if submission.state in (Submission.State.COMPLETE, Submission.State.INCOMPLETE):
        return 100
    if submission.held_out_run is None:
        return 0
    if submission.state in (
        Submission.State.GRADING,
        Submission.State.HELD,
        Submission.State.AWAITING_CHOICE,
    ):
        return 75
    return min(submission.held_out_run.quarter, 75)


def charge(submission: Submission) -> Charge:
    """The statement of what this submission cost; the statements of a line add up to its `used`."""
    slot: Slot = submission.slot
    lifted = submission.cooldown_ended_at
    return Charge(
        counts=slot.state != Slot.State.REFUNDED and slot.offer_id is None,
        rerun_offer=slot.offer_id,
        state=slot.state,
        cause=slot.cause,
        words=_charge_words(slot),
        reason=slot.reason,
        reserved_at=slot.reserved_at,
        consumed_at=slot.consumed_at,
        refunded_at=slot.refunded_at,
        cooldown_until=None if lifted else submission.cooldown_until,
        cooldown_ended_at=lifted,
        if_cancelled=if_cancelled(submission),
    )


def _charge_words(slot: Slot) -> str:
    if slot.offer_id is not None and slot.state != Slot.State.REFUNDED:
        return str(_("No use is counted: it takes the re-run that was offered, outside the quota."))
    if slot.state == Slot.State.RESERVED:
        return str(
            _(
                "One use is reserved. It is counted once held-out tasks start, and returned if that never happens."
            )
        )
    if slot.state == Slot.State.CONSUMED:
        return str(_("One use is counted, because held-out tasks have started."))
    return sentence(slot.cause, {**slot.submission.reason_facts, "reason": slot.reason})


def if_cancelled(submission: Submission) -> str:
    """What cancelling now would do to its use: returned, kept, none where it has none, or not_possible."""
    if submission.state not in IN_FLIGHT:
        return "not_possible"
    if submission.is_preflight:
        return "none"
    return "returned" if submission.slot.state == Slot.State.RESERVED else "kept"


def outcome(submission: Submission) -> Outcome | None:
    """What is to be said about the present state; None where the state says it all."""
    if not submission.reason_code:
        return None
    found = entry(submission.reason_code)
    deadline = DEADLINES.get(submission.state)
    return Outcome(
        code=found.code.value,
        title=str(found.title),
        sentence=sentence(found.code, submission.reason_facts),
        fault=found.fault.value,
        fault_words=str(FAULT_WORDS[found.fault]),
        remedy=str(found.remedy),
        texts=texts(found.code, submission.reason_facts),
        facts=dict(submission.reason_facts),
        failure=failure_class(submission.state, found.code),
        moves_by=submission.state_since + deadline[0] if deadline else None,
    )


_YES, _NO, _RETURNED = _("counted"), _("not counted"), pgettext_lazy("who pays", "returned")
_LIFTED, _RUNS = pgettext_lazy("who pays", "lifted"), _("runs")
_CASES: tuple[tuple[str, Promise, Promise, Promise], ...] = (
    ("rejected", _("Rejected at intake"), _NO, _LIFTED),
    (
        Code.PREFLIGHT_CRASHED,
        _("Preflight failed: over 20% of the runs crashed without artefact or reply; never for a low score"),
        _NO,
        _LIFTED,
    ),
    (Code.CANARY_FAILED, _("Canary failed"), _NO, _LIFTED),
    (Code.CANCELLED_BY_VENDOR, _("Cancelled before held-out tasks start"), _NO, _LIFTED),
    (Code.CANCELLED_AFTER_START, _("Cancelled after held-out tasks have started"), _YES, _RUNS),
    ("harness", _("The harness crashed, timed out or ran out of budget on held-out tasks"), _YES, _RUNS),
    ("platform", _("The platform failed before held-out tasks started"), _RETURNED, _LIFTED),
    (
        Code.CHOICE_KEEP,
        _("Runs lost by the platform could not be repeated in time; you keep the incomplete result"),
        _YES,
        _RUNS,
    ),
    (
        Code.CHOICE_VOID,
        _("Runs lost by the platform could not be repeated in time; you void the submission"),
        _RETURNED,
        _LIFTED,
    ),
)


def who_pays() -> list[dict[str, str | Promise]]:
    """The published table of who pays, one row per case: code, words, slot, cooldown."""
    return [
        {"code": str(code), "what": what, "slot": slot, "cooldown": cooldown}
        for code, what, slot, cooldown in _CASES
    ]
