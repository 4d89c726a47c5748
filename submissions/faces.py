"""What of a page or an answer can change: the machine forms by which status polling tells news from repetition.

Everything else on such a page follows from these, never changes, or is time that passes by itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from submissions import queries
from submissions.models import Submission
from submissions.policies import QuotaWindow
from submissions.queueing.queries import queue_of


def submission_face(submission: Submission) -> dict[str, Any]:
    """How a submission stands: state and since when, progress in quarters, what it cost, the consent."""
    charge = queries.charge(submission)
    return {
        "id": submission.id,
        "state": submission.state,
        "since": submission.state_since,
        "reason": submission.reason_code,
        "facts": submission.reason_facts,
        "progress": queries.progress(submission),
        "rerun_since": submission.rerun_since,
        "charge": charge.state,
        "cooldown_until": charge.cooldown_until,
        "cooldown_ended_at": charge.cooldown_ended_at,
        "consent": submission.publication_consent,
        "queue": queue_face(submission),
    }


def face_of(submission: Submission) -> dict[str, Any]:
    """The one of the two that is right for its scope."""
    return preflight_face(submission) if submission.is_preflight else submission_face(submission)


def preflight_face(submission: Submission) -> dict[str, Any]:
    """How a preflight on its own stands: its state, and how many of its runs have a result."""
    report = queries.preflight_report(submission)
    return {
        "id": submission.id,
        "state": submission.state,
        "since": submission.state_since,
        "reason": submission.reason_code,
        "rerun_since": submission.rerun_since,
        "queue": queue_face(submission),
        "runs": [report.state, report.total, report.done, report.crashed, report.missing],
    }


def queue_face(submission: Submission) -> list[Any] | None:
    """What a submission's page says of the queue."""
    queue = queue_of(submission)
    return queue.face() if queue else None


def list_face(submissions: Iterable[Submission]) -> list[list[Any]]:
    """A list of submissions: which, how far."""
    return [[row.id, row.state, row.state_since, queries.progress(row)] for row in submissions]


def window_face(window: QuotaWindow | None) -> dict[str, Any]:
    """A quota statement without the moment at which it was made."""
    shown = window.shown() if window else {}
    return {name: value for name, value in shown.items() if name != "now"}
