"""What only the upper layers know of a notice: the sentence of its code, and, for who asked for it, released scores."""

from __future__ import annotations

from accounts.notices.models import Notice
from accounts.notices.queries import wants_scores
from audit import reads
from governance.queries import released_result
from leaderboard import results
from submissions.delivery import PRECISION
from submissions.models import Submission
from submissions.problems import Code, entry, sentence

SCORED = frozenset({"submission.complete", "submission.incomplete"})


def details(notice: Notice, surface: str) -> list[str]:
    """Further lines of a notice, `surface` being page or mail; named by the setting NOTICE_DETAILS."""
    code = notice.facts.get("code", "")
    found: list[str] = []
    if code in set(Code):
        found = [sentence(code, notice.facts.get("reason") or {}), str(entry(code).remedy)]
    if notice.kind in SCORED and surface == "mail" and wants_scores(notice.person):
        found += _scores(notice)
    return [line for line in found if line]


def _scores(notice: Notice) -> list[str]:
    """The released figures as the result page shows them; sending them is on record as any delivery of a result."""
    submission = Submission.objects.filter(pk=notice.subject).select_related("task_set").first()
    released = released_result(submission) if submission else None
    if released is None:
        return []
    by = notice.person.actor("system", str(notice.organisation_id))
    form = str(released.as_dict())
    reads.record("result", released.submission_id, form, surface="mail", by=by, precision=PRECISION)
    return [
        f"{line.row.label}: {line.released.value} ± {line.released.h}"
        if line.row.value is not None
        else f"{line.row.label}: {line.row.note}"
        for line in results.lines(released)
    ]
