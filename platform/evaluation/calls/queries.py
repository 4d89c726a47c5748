"""Reads about model calls: of one attempt, of a whole run, and which upstreams are left alone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, Q

from evaluation.calls.models import ModelCall, RunModel, UpstreamStop
from evaluation.models import EvaluationRun

SHOWN_VALUES = 8
"""Of an observed parameter; a harness may send a new one with each call."""


@dataclass(frozen=True)
class Total:
    """What one attempt used: model calls, tokens with cached ones included, None where a count is missing."""

    steps: int
    tokens: int | None

    @property
    def complete(self) -> bool:
        return self.tokens is not None


@dataclass(frozen=True)
class Seen:
    """What was observed of one role over a whole run: names of models, values of parameters. Nothing per task."""

    role: str
    upstream: str
    snapshot: str
    served: tuple[str, ...]
    parameters: dict[str, tuple[Any, ...]]
    calls: int


def total_of(attempt_id: UUID) -> Total:
    """Every attempt at an upstream counts; a call that was repeated is one step."""
    rows = list(
        ModelCall.objects.filter(attempt_id=attempt_id).values_list(
            "step", "incomplete", "input_tokens", "output_tokens"
        )
    )
    steps = len({step for step, *_ in rows})
    if any(incomplete for _, incomplete, *_ in rows):
        return Total(steps, None)
    return Total(steps, sum((given or 0) + (made or 0) for _, _, given, made in rows))


def stopped_upstreams(run: EvaluationRun) -> list[UpstreamStop]:
    """The open stops of what a run may call, the oldest first."""
    rows = UpstreamStop.objects.filter(
        ended_at=None, upstream__in=RunModel.objects.filter(run=run).values("upstream")
    )
    return list(rows.order_by("began_at"))


def runs_held_up() -> set[UUID]:
    """Open runs that wait for an upstream."""
    stopped = UpstreamStop.objects.filter(ended_at=None).values("upstream")
    rows = RunModel.objects.filter(upstream__in=stopped, run__state=EvaluationRun.State.EXECUTING)
    return set(rows.values_list("run_id", flat=True))


def observed(run: EvaluationRun) -> list[Seen]:
    """By role, in the order of their names."""
    found = []
    for model in RunModel.objects.filter(run=run).select_related("upstream").order_by("role"):
        calls = ModelCall.objects.filter(attempt__episode__run=run, role=model.role)
        served = calls.exclude(served="").values_list("served", flat=True).distinct()
        parameters: dict[str, dict[str, Any]] = {}
        for sent in calls.values_list("parameters", flat=True).distinct():
            for name, value in sent.items():
                values = parameters.setdefault(name, {})
                if len(values) < SHOWN_VALUES:
                    values.setdefault(repr(value), value)
        found.append(
            Seen(
                role=model.role,
                upstream=model.upstream.name,
                snapshot=model.upstream.snapshot,
                served=tuple(sorted(served)[:SHOWN_VALUES]),
                parameters={name: tuple(values.values()) for name, values in sorted(parameters.items())},
                calls=calls.count(),
            )
        )
    return found


def served_otherwise(run: EvaluationRun) -> list[str]:
    """Roles of which some answer named another model than the pinned one."""
    return sorted(
        model.role
        for model in RunModel.objects.filter(run=run).select_related("upstream")
        if ModelCall.objects.filter(attempt__episode__run=run, role=model.role)
        .exclude(served__in=("", model.upstream.snapshot))
        .exists()
    )


@dataclass(frozen=True)
class ShownModel:
    """A model that a run could call, as its vendor sees it: what was registered, and nothing of what was called."""

    role: str
    snapshot: str
    exposure: str


def shown_models(run: EvaluationRun) -> list[ShownModel]:
    """By role. What answered is for staff: a harness that calls a model or not could make such a mark speak."""
    rows = run.needs.select_related("upstream").order_by("role")
    return [ShownModel(row.role, row.upstream.snapshot, row.exposure) for row in rows]


def refused_models(run: EvaluationRun) -> int:
    """How many attempts of a run asked for a model that it must not call."""
    return run.episodes.filter(tries__asked_unlisted=True).count()


def outcomes_of(runs: Iterable[EvaluationRun]) -> dict[UUID, dict[str, int]]:
    """For staff: how the calls of each run ended."""
    rows = (
        ModelCall.objects.filter(attempt__episode__run__in=runs)
        .values_list("attempt__episode__run_id", "outcome")
        .annotate(n=Count("id", filter=~Q(outcome="")))
    )
    found: dict[UUID, dict[str, int]] = {}
    for run_id, outcome, count in rows:
        if outcome:
            found.setdefault(run_id, {})[outcome] = count
    return found
