"""What the auditors' pages read beside the log: names of organisations, and figures of the operator against all others.

All of it as the auditor's role, from events and from rows that say nothing about a task.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connections, transaction

from accounts.models import Organisation
from audit.explore import AUDITOR


def organisation_names() -> dict[str, str]:
    """Names by id. Persons have none here: auditors know them by pseudonym."""
    rows = Organisation.objects.using(AUDITOR).order_by("name").values_list("id", "name")
    return {str(identifier): name for identifier, name in rows}


SUBMITTED = """
SELECT organisation.is_operator, count(*), count(DISTINCT submission.organisation_id),
       percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM running.at - queued.at)),
       percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM running.at - queued.at))
  FROM submissions_submission submission
  JOIN accounts_organisation organisation ON organisation.id = submission.organisation_id
  LEFT JOIN LATERAL (SELECT min(at) AS at FROM submissions_submissiontransition
                      WHERE submission_id = submission.id AND state = 'queued') queued ON true
  LEFT JOIN LATERAL (SELECT min(at) AS at FROM submissions_submissiontransition
                      WHERE submission_id = submission.id AND state = 'running') running ON true
 WHERE submission.scope = 'full'
 GROUP BY organisation.is_operator
"""
ENDS = """
SELECT organisation.is_operator, submission.state, count(*) FROM submissions_submission submission
  JOIN accounts_organisation organisation ON organisation.id = submission.organisation_id
 WHERE submission.scope = 'full' AND submission.ended_at IS NOT NULL GROUP BY organisation.is_operator, submission.state
"""
REFUNDS = """
SELECT organisation.is_operator, slot.cause, count(*) FROM submissions_slot slot
  JOIN submissions_submission submission ON submission.id = slot.submission_id
  JOIN accounts_organisation organisation ON organisation.id = submission.organisation_id
 WHERE slot.state = 'refunded' GROUP BY organisation.is_operator, slot.cause
"""
REFUSALS = """
SELECT organisation.is_operator, moved.cause, count(*) FROM submissions_submissiontransition moved
  JOIN submissions_submission submission ON submission.id = moved.submission_id
  JOIN accounts_organisation organisation ON organisation.id = submission.organisation_id
 WHERE submission.scope = 'full' AND moved.state IN ('rejected', 'preflight_failed')
 GROUP BY organisation.is_operator, moved.cause
"""
# Single refusals beyond the first of an hour are sampled; the second kind says how many there were.
# Events of the platform itself name no organisation: a repeated run belongs to whoever submitted.
RETRIES = """
SELECT organisation.is_operator, 'repeated', count(*) FROM audit_event event
  JOIN submissions_submission submission ON submission.id::text = event.subject_id
  JOIN accounts_organisation organisation ON organisation.id = submission.organisation_id
 WHERE event.kind = 'submission.lost_runs_repeated' GROUP BY organisation.is_operator
"""
READS = """
SELECT organisation.is_operator, event.kind, count(*) FROM audit_event event
  JOIN accounts_organisation organisation ON organisation.id::text = event.organisation_id
 WHERE event.kind IN ('read.refused', 'read.refusals_counted') GROUP BY organisation.is_operator, event.kind
"""


@dataclass(frozen=True)
class Line:
    """One figure of a table: the operator's, and everybody else's."""

    name: str
    operator: int
    others: int


def comparison() -> dict[str, Any]:
    """The figures of the statistics page: totals and waits, and four tables of lines."""
    with transaction.atomic(using=AUDITOR), connections[AUDITOR].cursor() as cursor:
        cursor.execute(SUBMITTED)
        totals = {row[0]: row[1:] for row in cursor.fetchall()}
        nothing = (0, 0, None, None)
        return {
            "operator": _total(totals.get(True, nothing)),
            "others": _total(totals.get(False, nothing)),
            "ends": _lines(cursor, ENDS),
            "refusals": _lines(cursor, REFUSALS),
            "refunds": _lines(cursor, REFUNDS),
            "events": [*_lines(cursor, RETRIES), *_lines(cursor, READS)],
        }


def _total(row: tuple[Any, ...]) -> dict[str, Any]:
    count, organisations, median, slow = row
    waits = (None if seconds is None else timedelta(seconds=float(seconds)) for seconds in (median, slow))
    return {
        "count": count,
        "organisations": organisations,
        **dict(zip(("median", "slow"), waits, strict=True)),
    }


def _lines(cursor: Any, query: str) -> list[Line]:
    """The query gives whether it is the operator, a name and a count."""
    cursor.execute(query)
    found: dict[str, list[int]] = {}
    for is_operator, name, count in cursor.fetchall():
        found.setdefault(name, [0, 0])[0 if is_operator else 1] = count
    return [Line(name, *counts) for name, counts in sorted(found.items())]
