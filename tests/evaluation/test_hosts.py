"""How fast a host is, what that admits, and what of it stands on attempts and runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import override_settings

from evaluation import claims, services
from evaluation.claims import Finish
from evaluation.hosts import policies, queries
from evaluation.hosts.models import HostSpeed
from evaluation.hosts.policies import Refusal, Speed, SpeedClass
from evaluation.hosts.services import know_host
from evaluation.models import Ending, EvaluationRun
from evaluation.sandbox import speed
from tests.factories import BY, frozen_version, run_of

REFERENCE = Speed(1000.0, 200.0)
ONE = {"general": (1, 1)}


@pytest.mark.parametrize(
    ("measured", "wanted"),
    [
        (Speed(1000.0, 200.0), SpeedClass.REFERENCE),
        (Speed(900.0, 180.0), SpeedClass.REFERENCE),
        (Speed(899.0, 400.0), SpeedClass.BELOW_REFERENCE),
        (Speed(2000.0, 179.0), SpeedClass.BELOW_REFERENCE),
        (None, SpeedClass.NOT_MEASURED),
    ],
)
def test_a_host_below_nine_tenths_in_either_figure_is_slow(
    measured: Speed | None, wanted: SpeedClass
) -> None:
    assert policies.class_of(measured, REFERENCE) is wanted


def test_without_a_reference_a_host_is_its_own() -> None:
    assert policies.class_of(Speed(1.0, 1.0), None) is SpeedClass.OWN_REFERENCE
    assert policies.share_of(Speed(1.0, 1.0), None) == (1.0, 1.0)


def test_what_keeps_held_out_work_away() -> None:
    assert policies.refusals(fit=True, speed=SpeedClass.REFERENCE) == ()
    assert policies.refusals(fit=True, speed=SpeedClass.OWN_REFERENCE) == ()
    assert policies.refusals(fit=False, speed=SpeedClass.REFERENCE) == (Refusal.SELF_TEST,)
    assert policies.refusals(fit=True, speed=SpeedClass.BELOW_REFERENCE) == (Refusal.SLOW,)
    assert policies.refusals(fit=True, speed=SpeedClass.NOT_MEASURED) == (Refusal.UNMEASURED,)


@pytest.mark.django_db
def test_a_host_is_measured_once_and_again_when_the_machine_under_its_name_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speed, "rests", lambda _: True)
    first = know_host("h1", tmp_path, 0.0)
    assert first is not None
    assert min(first.processor, first.disk) > 0
    monkeypatch.setattr(speed, "processor", lambda: 1.0)
    assert know_host("h1", tmp_path, 0.0) == first
    monkeypatch.setattr(speed, "machine", lambda: "another")
    again = know_host("h1", tmp_path, 0.0)
    assert again is not None
    assert again.processor == 1.0
    assert HostSpeed.objects.count() == 1


@pytest.mark.django_db
def test_a_busy_host_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter([(0, 0), (1, 100)] * 8)
    monkeypatch.setattr(speed, "_ticks", lambda: next(ticks))
    assert know_host("h2", tmp_path, 0.0) is None
    assert not HostSpeed.objects.exists()


@pytest.mark.django_db
def test_shares_of_the_reference_are_of_the_settings() -> None:
    HostSpeed.objects.create(
        host="h3", machine="m", processor=500.0, disk=300.0, measured_at=services.clock.now()
    )
    assert queries.speed_shares() == {"h3": (1.0, 1.0)}
    with override_settings(SPEED_REFERENCE_PROCESSOR=1000.0, SPEED_REFERENCE_DISK=200.0):
        assert queries.speed_shares() == {"h3": (0.5, 1.5)}


@pytest.mark.django_db
def test_a_refused_host_runs_preflights_and_nothing_held_out() -> None:
    version = frozen_version("8.40", ONE)
    run_of(version)
    open_kinds = tuple(kind for kind in claims.EVERY_KIND if kind != EvaluationRun.Kind.HELD_OUT)
    assert claims.claim_execution("slow", kinds=open_kinds) is None
    preflight = run_of(version, EvaluationRun.Kind.PREFLIGHT)
    claim = claims.claim_execution("slow", kinds=open_kinds)
    assert claim is not None
    assert claim.run_id == preflight.id


@pytest.mark.django_db
def test_a_run_says_what_all_its_hosts_were_and_an_attempt_what_the_host_counted() -> None:
    run = run_of(frozen_version("8.41", ONE), runs_per_task=2)
    for number, name in enumerate(("reference", "own reference")):
        claim = claims.claim_execution("w")
        assert claim is not None
        finish = Finish(
            ending=Ending.FINISHED,
            artefact_key="a",
            isolation=f"grade {number}",
            host=f"h{number}",
            speed_class=name,
            signals={"oom_kills": number} if number else {},
        )
        assert claims.finish_attempt(claim, finish, by=BY)
    assert (run.isolation, run.speed) == ([], [])
    while (grading := claims.claim_grading("g")) is not None:
        claims.finish_grading(grading, lambda: None)
    services.settle_run(run.id)
    run.refresh_from_db()
    assert run.isolation == ["grade 0", "grade 1"]
    assert run.speed == ["own reference", "reference"]
    counted = [attempt for attempt in queries.counted_attempts() if attempt.episode.run_id == run.id]
    assert [(attempt.host, attempt.signals) for attempt in counted] == [("h1", {"oom_kills": 1})]
