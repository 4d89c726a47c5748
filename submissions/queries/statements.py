"""The three readings that every admission and every refusal needs, each in one trip to the database.

An admission reads them twice, before and under the counters' locks, so their cost is most of what a refusal costs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import connection

from submissions.models import QuotaPolicy, Submission
from submissions.policies import PREFLIGHT_WINDOW, Ledger, Terms, Usage
from submissions.policies.states import IN_FLIGHT

# Preflights on their own are among the submissions: they are in flight, and are attempts, like all others.
# A lineage's uses are those of all harnesses of the organisations that are linked by now: the lineage in a slot says
# whose allowance it was when the use was reserved. One that took an offer of a re-run is nobody's.
LEDGER = """
WITH whose AS (
  SELECT o.lineage_id FROM submissions_harness h JOIN accounts_organisation o ON o.id = h.organisation_id
   WHERE h.id = %(line)s
), policy AS (
  SELECT DISTINCT ON (rule) rule, value, profile, valid_from FROM submissions_quotapolicy
   WHERE task_set_id = %(task_set)s AND valid_from <= %(now)s ORDER BY rule, valid_from DESC
), terms AS (
  SELECT jsonb_object_agg(rule, value) AS rules, (array_agg(profile ORDER BY valid_from DESC, rule))[1] AS profile
    FROM policy
), together AS (
  SELECT h.id FROM submissions_harness h JOIN accounts_organisation o ON o.id = h.organisation_id, whose
   WHERE o.lineage_id = whose.lineage_id
), slots AS (
  SELECT q.state, count(*) FILTER (WHERE q.line_id = %(line)s) AS line,
         count(*) FILTER (WHERE q.line_id IN (SELECT id FROM together)) AS lineage,
         count(*) FILTER (WHERE q.account_id = %(account)s) AS account
    FROM submissions_slot q
   WHERE q.task_set_id = %(task_set)s AND q.offer_id IS NULL
     AND (q.line_id IN (SELECT id FROM together) OR q.account_id = %(account)s)
   GROUP BY q.state
), made AS (
  SELECT count(*) FILTER (WHERE s.state = ANY (%(in_flight)s)) AS in_flight,
         array_agg(s.admitted_at) FILTER (WHERE s.admitted_at > %(since)s AND s.state <> 'voided'
                                            AND s.reason_code <> 'deadline_created') AS attempts,
         max(s.cooldown_until) FILTER (WHERE s.cooldown_until > %(now)s AND s.cooldown_ended_at IS NULL) AS until
    FROM submissions_submission s JOIN submissions_harnessversion v ON v.id = s.harness_version_id
   WHERE v.harness_id = %(line)s AND s.task_set_id = %(task_set)s
), alone AS (
  SELECT count(*) AS preflights
    FROM submissions_submission s JOIN submissions_harnessversion v ON v.id = s.harness_version_id
   WHERE v.harness_id IN (SELECT id FROM together) AND s.task_set_id = %(task_set)s
     AND s.scope = 'preflight' AND s.ended_at IS NULL
)
SELECT terms.rules, terms.profile, made.in_flight, made.attempts, made.until, alone.preflights,
       (SELECT jsonb_object_agg(state, jsonb_build_object('line', line, 'lineage', lineage, 'account', account))
          FROM slots)
  FROM terms, made, alone
"""

ORDER = """
SELECT u.state, u.expires_at, u.harness_version_id,
       EXISTS (SELECT 1 FROM benchmark_tasksetversion t
                WHERE t.id = %(task_set)s AND t.state = 'frozen' AND t.opened_at <= %(now)s
                  AND (t.closed_at IS NULL OR t.closed_at > %(now)s)),
       (SELECT count(DISTINCT rule) FROM submissions_quotapolicy
         WHERE task_set_id = %(task_set)s AND valid_from <= %(now)s),
       EXISTS (SELECT 1 FROM submissions_submission s
                WHERE s.harness_version_id = %(version)s AND s.package_digest <> u.sha256 AND s.scope = 'full'
                  AND (s.package_id IS NOT NULL OR s.state IN ('created', 'checking'))),
       stop.cause, stop.until,
       (SELECT s.id FROM submissions_submission s JOIN accounts_organisation o ON o.id = s.organisation_id
         WHERE o.lineage_id = %(lineage)s AND s.task_set_id = %(task_set)s AND s.package_digest = u.sha256
           AND s.scope = 'full'
           AND s.card_digest = %(card)s AND s.protocol_version = %(protocol)s AND s.evaluator_version = %(evaluator)s
           AND s.state = ANY (%(answering)s)
         ORDER BY s.state = 'complete' DESC, s.id LIMIT 1),
       EXISTS (SELECT 1 FROM evaluation_pause p WHERE p.switch = 'intake' AND p.lifted_at IS NULL)
  FROM (SELECT 1) AS always
  LEFT JOIN submissions_upload u ON u.id = %(upload)s
  LEFT JOIN LATERAL (
    SELECT cause, until FROM submissions_admissionstop a
     WHERE a.task_set_id = %(task_set)s AND (a.lineage_id IS NULL OR a.lineage_id = %(lineage)s)
       AND (a.until IS NULL OR a.until > %(now)s) AND a.since <= %(now)s AND a.lifted_at IS NULL
     ORDER BY a.since LIMIT 1) AS stop ON true
"""

STANDING = """
SELECT o.state, o.verified_until,
       EXISTS (SELECT 1 FROM accounts_auditorganisation a WHERE a.organisation_id = o.id),
       EXISTS (SELECT 1 FROM accounts_ruleacceptance r
                WHERE r.organisation_id = o.id AND r.version = %(rules)s AND r.digest = %(digest)s),
       EXISTS (SELECT 1 FROM accounts_user u WHERE u.id = %(account)s AND u.suspended_at IS NOT NULL),
       (SELECT role FROM accounts_membership m WHERE m.organisation_id = o.id AND m.user_id = %(account)s)
  FROM accounts_organisation o WHERE o.id = %(organisation)s
"""

ANSWERING = [
    *sorted(IN_FLIGHT),
    *(Submission.State.HELD.value, Submission.State.AWAITING_CHOICE.value, Submission.State.COMPLETE.value),
]
"""States in which a submission answers for an identical one: on its way, or complete."""


@dataclass(frozen=True)
class OrderRow:
    """What the database knows of one order; `upload_…` are None where no upload is named."""

    upload_state: str | None
    upload_expires_at: datetime | None
    upload_version: UUID | None
    is_open: bool
    rules: int
    bound_to_other_package: bool
    stop_cause: str | None
    stop_until: datetime | None
    identical: UUID | None
    """An earlier submission with equal package, card and versions, a complete one before one on its way.

    Only the own lineage is looked at, so nothing about others can show in the answer or its timing.
    """

    intake_paused: bool

    @property
    def has_terms(self) -> bool:
        return self.rules == len(QuotaPolicy.Rule.values)


@dataclass(frozen=True)
class StandingRow:
    """What the database knows of who asks; `role` is None for who is no member."""

    state: str
    verified_until: datetime | None
    audits: bool
    rules_accepted: bool
    account_suspended: bool
    role: str | None


def standing_row(organisation: UUID, account: UUID | None, *, rules: str, digest: str) -> StandingRow:
    """`rules` and `digest` are those of the participation rules in force."""
    place = {"organisation": organisation, "account": account, "rules": rules, "digest": digest}
    with connection.cursor() as cursor:
        cursor.execute(STANDING, place)
        return StandingRow(*cursor.fetchone())


def order_row(**place: Any) -> OrderRow:
    """Everything about an order but who asks; takes what the statement names."""
    with connection.cursor() as cursor:
        cursor.execute(ORDER, {**place, "answering": ANSWERING})
        return OrderRow(*cursor.fetchone())


def ledger_row(
    line: UUID, task_set: object, account: UUID | None, now: datetime
) -> tuple[Terms | None, Ledger]:
    """The terms in force, None where the version has none, and all counters; read at once, so that they agree."""
    place: dict[str, Any] = {
        "line": line,
        "task_set": task_set,
        "account": account,
        "now": now,
        "since": now - PREFLIGHT_WINDOW,
        "in_flight": sorted(IN_FLIGHT),
    }
    with connection.cursor() as cursor:
        cursor.execute(LEDGER, place)
        rules, profile, in_flight, attempts, until, preflights, slots = cursor.fetchone()
    rules, by_state = _json(rules) or {}, _json(slots) or {}
    known = set(rules) == set(QuotaPolicy.Rule.values)
    ledger = Ledger(
        line=_usage(by_state, "line"),
        lineage=_usage(by_state, "lineage"),
        account=_usage(by_state, "account") if account is not None else None,
        in_flight=in_flight,
        attempts=attempts or [],
        preflights=preflights,
        cooldown_until=until,
    )
    return Terms(profile=profile, **rules) if known else None, ledger


def _usage(by_state: dict[str, dict[str, int]], counter: str) -> Usage:
    return Usage(**{state: counts[counter] for state, counts in by_state.items()})


def _json(value: Any) -> Any:
    """Django gives jsonb of its own cursors as text."""
    return json.loads(value) if isinstance(value, str) else value
