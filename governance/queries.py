"""Reads of what was released. Visibility of a submission is decided by `submissions.queries`; here it is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from benchmark.models import Domain, TaskSetVersion
from config import clock
from evaluation.calls.policies import most_exposed
from evaluation.calls.queries import ShownModel, shown_models
from evaluation.models import EvaluationRun
from governance.confirmation.published import confirmed
from governance.correcting.published import Corrected, corrections
from governance.models import DomainAggregate, Release, ReleaseDate, ReleasePolicy
from submissions.models import Submission


@dataclass(frozen=True)
class DomainRow:
    """One line of a result: points on the 1-point grid with half width, or why there are none."""

    domain: str
    value: int | None
    h: int | None
    status: str
    low: int | None = None
    high: int | None = None
    reason: str = ""
    """Why there is no value, as a code; empty where there is one."""
    earlier: UUID | None = None
    """The submission of the same organisation whose value stands in its way."""


@dataclass(frozen=True)
class ReleasedResult:
    """A released result, as every surface shows it."""

    submission_id: UUID
    domains: tuple[DomainRow, ...]
    enterprise: DomainRow
    coverage: str
    is_complete: bool
    episodes: int
    """Runs prescribed: held-out tasks times runs per task."""
    released_at: datetime
    policy_label: str
    versions: dict[str, str] = field(default_factory=dict)
    isolation: tuple[str, ...] = ()
    """Isolation grades of all hosts that ran it, each once; empty where they were not kept yet."""
    speed: tuple[str, ...] = ()
    """Speed classes of the same hosts."""
    models: tuple[ShownModel, ...] = ()
    """What it could call, and how exposed each is."""
    confirmed_in: str = ""
    """The dated release whose confirmed values stand here in place of the first ones; empty before that."""
    sides: dict[str, dict[str, int]] = field(default_factory=dict)
    """Side figures of the confirmation run, by name and domain."""
    corrected: Corrected | None = None
    """Since when, why and what before, where the values stand in place of ones that were graded wrongly."""

    def row(self, domain: str) -> DomainRow:
        return next(row for row in self.domains if row.domain == domain)

    def as_dict(self) -> dict[str, Any]:
        """The one machine form: API and exports."""

        def line(row: DomainRow) -> dict[str, Any]:
            shown: dict[str, Any] = {"value": row.value, "h": row.h, "status": row.status}
            if row.reason:
                shown["reason"] = row.reason
            if row.earlier:
                shown["earlier"] = str(row.earlier)
            return shown if row.low is None else {**shown, "low": row.low, "high": row.high}

        confirmed: dict[str, Any] = {}
        if self.confirmed_in:
            confirmed = {"confirmed_in": self.confirmed_in, "sides": self.sides}
        if self.corrected:
            confirmed["corrected"] = self.corrected.as_dict()
        return {
            **confirmed,
            "submission": str(self.submission_id),
            "domains": {row.domain: line(row) for row in self.domains},
            "enterprise": line(self.enterprise),
            "coverage": self.coverage,
            "complete": self.is_complete,
            "episodes": self.episodes,
            "released_at": self.released_at.isoformat(),
            "policy": self.policy_label,
            "versions": self.versions,
            "isolation": list(self.isolation),
            "speed": list(self.speed),
            "models": [vars(model) for model in self.models],
            "exposure": most_exposed(model.exposure for model in self.models),
        }


def policy_at(task_set_id: UUID, at: datetime) -> ReleasePolicy:
    """The release policy in force; raises ReleasePolicy.DoesNotExist where none was set."""
    rows = ReleasePolicy.objects.filter(task_set_id=task_set_id, valid_from__lte=at)
    return rows.order_by("valid_from").reverse()[:1].get()


def current_policy(task_set: TaskSetVersion) -> ReleasePolicy | None:
    rows = ReleasePolicy.objects.filter(task_set=task_set, valid_from__lte=clock.now())
    return rows.order_by("-valid_from").first()


def due_for_release() -> list[Submission]:
    """Submissions that are graded through and not released yet, oldest first; the service decides each."""
    rows = Submission.objects.filter(
        state__in=(Submission.State.GRADING, Submission.State.INCOMPLETE),
        held_out_run__state__in=(EvaluationRun.State.ENDED, EvaluationRun.State.CANCELLED),
        release__isnull=True,
    )
    return list(rows.order_by("id"))


def released_result(submission: Submission) -> ReleasedResult | None:
    """What was released of a submission that the caller may see; None before its release."""
    return next(iter(released_results([submission])), None)


def released_results(submissions: Sequence[Submission]) -> list[ReleasedResult]:
    """The same for several, in their order, without those not released."""
    rows = (
        Release.objects.filter(submission__in=submissions)
        .select_related("policy", "submission__held_out_run")
        .prefetch_related("domains__earlier")
    )
    found = {row.submission_id: _result(row) for row in rows}
    for submission, (row, date, entry) in confirmed(submissions).items():
        if submission in found:
            shown = _confirmed(found[submission], date, entry)
            found[submission] = replace(
                shown,
                isolation=_all_of(row.run, "isolation"),
                speed=_all_of(row.run, "speed"),
                models=_models_of(row.run),
            )
    for submission, corrected in corrections(submissions).items():
        if submission in found:
            found[submission] = _corrected(found[submission], corrected)
    return [found[submission.id] for submission in submissions if submission.id in found]


def _result(release: Release) -> ReleasedResult:
    by_domain = {row.domain: row for row in release.domains.all()}
    return ReleasedResult(
        submission_id=release.submission_id,
        domains=tuple(
            _row(by_domain[domain], release.submission.organisation_id)
            for domain in Domain
            if domain in by_domain
        ),
        enterprise=DomainRow(
            "enterprise",
            release.enterprise_value,
            release.enterprise_h,
            "reported" if release.enterprise_value is not None else "not_reportable",
        ),
        coverage=release.coverage,
        is_complete=release.is_complete,
        episodes=_episodes(release),
        released_at=release.released_at,
        policy_label=release.policy.profile,
        versions=release.versions,
        isolation=_all_of(release.submission.held_out_run, "isolation"),
        speed=_all_of(release.submission.held_out_run, "speed"),
        models=_models_of(release.submission.held_out_run),
    )


def _models_of(run: EvaluationRun | None) -> tuple[ShownModel, ...]:
    return tuple(shown_models(run)) if run is not None else ()


def _all_of(run: EvaluationRun | None, what: Literal["isolation", "speed"]) -> tuple[str, ...]:
    """Grades or classes of the hosts of a run, all together; never which of them ran what."""
    return tuple(getattr(run, what)) if run is not None else ()


def _confirmed(first: ReleasedResult, date: ReleaseDate, entry: Mapping[str, Any]) -> ReleasedResult:
    """The confirmed values in place of the first ones, exactly as the dated release shows them."""

    def row(domain: str, shown: Mapping[str, int] | None) -> DomainRow:
        if not shown:
            return DomainRow(domain, None, None, "not_reportable", reason="no_valid_run")
        return DomainRow(domain, shown["value"], shown["h"], "reported")

    return replace(
        first,
        domains=tuple(row(found.domain, entry["domains"].get(found.domain)) for found in first.domains),
        enterprise=row("enterprise", entry["enterprise"]),
        coverage=entry["coverage"],
        is_complete=True,
        released_at=date.dated_at or first.released_at,
        policy_label=entry["policy"],
        versions=dict(entry["versions"]),
        confirmed_in=date.label,
        sides=entry["sides"],
    )


def _corrected(shown: ReleasedResult, corrected: Corrected) -> ReleasedResult:
    """The corrected values in place of those shown before; a domain without a value stays without one."""

    def row(found: DomainRow) -> DomainRow:
        value = corrected.values.get(found.domain)
        return replace(found, value=value["value"], h=value["h"], low=None, high=None) if value else found

    return replace(
        shown,
        domains=tuple(row(found) for found in shown.domains),
        enterprise=row(shown.enterprise),
        corrected=corrected,
    )


def _episodes(release: Release) -> int:
    run = release.submission.held_out_run
    return run.total if run is not None else 0


def _row(row: DomainAggregate, organisation_id: UUID) -> DomainRow:
    """An earlier submission of a linked organisation is not named: whose it is, is for neither of them to learn."""
    own = row.earlier is not None and row.earlier.organisation_id == organisation_id
    return DomainRow(
        domain=row.domain,
        value=row.value,
        h=row.half_width,
        status=row.status,
        low=row.low,
        high=row.high,
        reason=row.reason,
        earlier=row.earlier_id if own else None,
    )
