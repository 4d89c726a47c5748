"""Submissions on a version that was frozen by the service, so that everything about them is committed."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import transaction

from accounts.duties.table import Duty
from audit.models import LogKey
from benchmark import packs
from benchmark import services as benchmark
from benchmark.models import Domain, TaskRevision, TaskSetVersion
from client.audit.main import main
from config import clock, store, vault
from evaluation.models import Attempt, Ending, Episode, TaskResult
from governance import services
from submissions.models import Submission
from submissions.problems import Code
from submissions.services import choose, move, open_task_set
from submissions.services.moves import locked
from tests.accounts.duties import opened
from tests.factories import BY, draft_version
from tests.governance.test_delivery import bring_on, date_end, released
from tests.submissions.outcomes import lose

Connect = Callable[[str], psycopg.Connection[Any]]


RULES = {
    "schema": "rules/1",
    "mode": "itemised",
    "tables": {},
    "threshold": [],
    "fatal": [],
    "items": [{"id": "R1", "check": "files", "present": ["out.txt"], "absent": []}],
}


def frozen_set() -> TaskSetVersion:
    """An open version that was frozen by the service, with two held-out tasks a domain that have the same rules."""
    version = draft_version("c1", {domain.value: (2, 2) for domain in Domain})
    give_rules(version, settings.VAULT_KEY_SEALED)
    digest = benchmark.content_digest(version)
    benchmark.record_admission(version, digest_admitted=digest, tasks=16, by=BY)
    version = benchmark.freeze("c1", by=BY)
    open_task_set(version, profile="demo", numbers={"runs_per_task": 2}, by=BY)
    benchmark.open_version(version, by=BY)
    services.set_release_policy(version, profile="demo", tick_seconds=5, by=BY)
    return version


def give_rules(version: TaskSetVersion, under: bytes | None) -> None:
    """Put the rules where grade workers look for them."""
    assert under is not None
    part, key = packs.join({"rules.json": json.dumps(RULES).encode()}), vault.new_key()
    row = version.packs.get(kind="grading")
    store.put_sealed_bytes(settings.S3_BUCKET_SEALED, row.object_key, part, under=key)
    row.sha256, row.size = hashlib.sha256(part).hexdigest(), len(part)
    row.wrapped_key = vault.wrap(key, under=under)
    row.save()
    TaskRevision.objects.filter(version=version).update(grading_offset=0, grading_size=len(part))


def write_results(submission: Submission, chance: random.Random, skip: int = 0, untried: int = 0) -> None:
    """Results with random scores for all episodes but the first `skip`, which get an attempt that came to nothing.

    The very first `untried` get none at all.
    """
    episodes = list(Episode.objects.filter(run=submission.held_out_run).order_by("position"))
    for number, episode in enumerate(episodes[untried:], start=untried):
        attempt = Attempt.objects.create(
            episode=episode,
            number=1 + number % 3,
            fence=1,
            worker="w",
            started_at=clock.now(),
            ending=Ending.FINISHED,
            artefact_sha256=f"{chance.getrandbits(256):064x}",
            answer_sha256=f"{chance.getrandbits(256):064x}",
        )
        if number >= skip:
            TaskResult.objects.create(
                episode=episode,
                attempt=attempt,
                score=Decimal(chance.randrange(10**9)).scaleb(-9),
                success=False,
                ending=Ending.FINISHED,
                seconds=1.5,
                grader_version="g1",
                graded_at=clock.now(),
            )


def done(submission: Submission, seed: int = 1) -> Submission:
    write_results(submission, random.Random(seed))
    assert released(bring_on(submission))
    submission.refresh_from_db()
    return submission


def incomplete(submission: Submission, lost: int, untried: int = 0) -> None:
    """Release it with `lost` episodes that no result was had of, `untried` of them without any attempt."""
    write_results(submission, random.Random(2), skip=lost, untried=untried)
    lose(submission.held_out_run, lost)  # type: ignore[arg-type]
    date_end(submission)
    with transaction.atomic():
        move(locked(submission.id), "awaiting_choice", cause=Code.RUNS_LOST, by=BY)
    choose(submission.id, "keep", by=BY)
    submission.refresh_from_db()
    assert released(submission)


def facts(connect_as: Connect, kind: str, subject: object) -> dict[str, Any]:
    """What the one event of that kind about that subject says."""
    rows = connect_as("auditor").execute(
        "SELECT body FROM audit_event WHERE kind = %s AND subject_id = %s", [kind, str(subject)]
    )
    ((body,),) = rows.fetchall()
    found: dict[str, Any] = json.loads(bytes(body))["data"]
    return found


def staff(count: int) -> list[Any]:
    """Governors of the held-out set: any two of them may open what is sealed."""
    office = opened()
    return [office.holder(Duty.HELD_OUT_GOVERNOR) for _ in range(count)]


def export(submission: Submission, folder: Path) -> Path:
    """By the command, as two people of the staff ask for it."""
    people = [arg for person in staff(2) for arg in ("--by", person.email)]
    call_command("sealed_export", str(submission.id), str(folder), "--reason", "yearly audit 2026", *people)
    return folder


def recomputed(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    code = main(["recompute", str(folder), "--key", LogKey.objects.get().vkey, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert code == (0 if found["equal"] else 1)
    return found
