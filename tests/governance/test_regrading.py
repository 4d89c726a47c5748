"""Runs are drawn by a seed that was fixed before the release, and graded again."""

from __future__ import annotations

import hashlib
import io
import random
import subprocess
import tarfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import transaction

from accounts import auditors
from accounts import services as accounts
from audit import log
from client.audit.main import main
from config import clock
from evaluation import artefacts
from evaluation.claims import GradingClaim
from evaluation.grading import ArtefactsLost, Grader
from evaluation.models import Attempt, Ending, Episode, TaskResult
from evaluation.packages import store_artefacts
from evaluation.sandbox import spec
from evaluation.sandbox.backends import default_backend
from governance import regrading
from governance.regrading import RegradingRefused
from governance.sealed_events import RegradingCommitted
from scoring.run import RunScore
from submissions.models import Submission
from tests.factories import BY, saved
from tests.governance.committed import (
    done,
    export,
    facts,
    recomputed,
    staff,
    write_results,
)
from tests.governance.test_delivery import bring_on, released
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]
SEED = "a seed that nobody guesses"


class Scores:
    """Grades from memory: the committed score, but for what `wrong` and `lost` say; counts what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.wrong: set[str] = set()
        self.lost: set[str] = set()

    def __call__(self, claim: GradingClaim) -> RunScore:
        episode = claim.attempt_id.hex
        self.asked.append(episode)
        if episode in self.lost:
            raise ArtefactsLost
        result = TaskResult.objects.get(attempt_id=claim.attempt_id)
        assert claim.artefact_sha256 == result.attempt.artefact_sha256
        score = Decimal("0.987654321") if episode in self.wrong else result.score
        return RunScore(score, success=False, failure_type=None)


def again(
    submission: Submission, scores: Scores, count: int = 5, seed: str = SEED
) -> list[regrading.Compared]:
    return regrading.regrade(submission, seed=seed, count=count, grade=scores, grader="g1", by=BY)


def commit(submission: Submission, seed: str = SEED) -> None:
    regrading.commit_seed(submission, hashlib.sha256(seed.encode()).hexdigest(), by=BY)


def test_what_the_seed_draws_is_graded_again(
    running: Submission, sequence: Sequence, connect_as: Connect, tmp_path: Path, capsys: Any
) -> None:
    commit(running)
    complete = done(running)
    sequence()
    scores = Scores()
    compared = again(complete, scores)
    assert all(found.equal for found in compared)
    said = facts(connect_as, "regrading.done", complete.id)
    assert (said["count"], said["differences"], said["grader"]) == (5, 0, "g1")
    folder = export(complete, tmp_path / "out")
    capsys.readouterr()
    assert main(["draw", str(folder), "--seed", SEED, "--count", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == scores.asked
    assert lines[0] == f"seed {said['seed_digest']}"


def test_other_scores_and_lost_artefacts_are_differences(
    running: Submission, sequence: Sequence, connect_as: Connect
) -> None:
    commit(running)
    complete = done(running)
    sequence()
    scores = Scores()
    first = again(complete, scores)
    scores.wrong, scores.lost = {first[1].episode}, {first[3].episode}
    compared = again(complete, scores)
    assert [found.equal for found in compared] == [True, False, True, False, True]
    assert (compared[1].found, compared[3].found) == ("0.987654321", regrading.LOST)
    assert compared[1].committed == first[1].found


def test_a_seed_that_was_not_committed_before_the_release_draws_nothing(
    running: Submission, sequence: Sequence
) -> None:
    commit(running)
    complete = done(running)
    with pytest.raises(RegradingRefused, match="no place in the log yet"):
        again(complete, Scores())
    sequence()
    with pytest.raises(RegradingRefused, match="nobody committed"):
        again(complete, Scores(), seed="another seed, long enough")
    with pytest.raises(RegradingRefused, match="at least 16"):
        again(complete, Scores(), seed="short")
    with pytest.raises(RegradingRefused, match="is released"):
        commit(complete, "too late, after the release")


def test_a_commitment_that_was_slipped_in_after_the_release_does_not_count(
    complete: Submission, sequence: Sequence
) -> None:
    """Whoever can write events at will still cannot give one an earlier position."""
    late = RegradingCommitted(subject=complete.id, seed_digest=hashlib.sha256(SEED.encode()).hexdigest())
    with transaction.atomic():
        log.append(late, by=BY)
    sequence()
    with pytest.raises(RegradingRefused, match="nobody committed"):
        again(complete, Scores())


def test_results_that_no_longer_lead_to_the_root_are_not_graded_again(
    running: Submission, servers: Any, sequence: Sequence
) -> None:
    commit(running)
    complete = done(running)
    sequence()
    with servers.superuser(servers.database) as root:
        root.execute("ALTER TABLE evaluation_taskresult DISABLE TRIGGER ALL")
        root.execute("UPDATE evaluation_taskresult SET score = 0.5")
    with pytest.raises(RegradingRefused, match="no longer lead"):
        again(complete, Scores())


def an_auditor() -> Any:
    person = world.person("auditor")
    organisation = accounts.create_organisation("Audit", owner=person, by=BY)
    auditors.appoint(
        person,
        auditors.mark_audit_organisation(organisation, by=BY),
        begins_at=clock.now(),
        ends_at=clock.now().replace(year=clock.now().year + 1),
        scope="all",
        declaration="0" * 64,
        by=BY,
    )
    return person


def test_only_an_auditor_commits_by_command(running: Submission, connect_as: Connect) -> None:
    person, outsider = an_auditor(), world.person()
    digest = hashlib.sha256(SEED.encode()).hexdigest()
    with pytest.raises(CommandError, match="no auditor"):
        call_command("regrade_commit", str(running.id), "--digest", digest, "--by", outsider.email)
    with pytest.raises(CommandError, match="64"):
        call_command("regrade_commit", str(running.id), "--digest", SEED, "--by", person.email)
    call_command("regrade_commit", str(running.id), "--digest", digest, "--by", person.email)
    assert facts(connect_as, "regrading.committed", running.id) == {"seed_digest": digest}


def snapshot(*names: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name), io.BytesIO())
    return buffer.getvalue()


def leave(attempt: Attempt, *names: str) -> None:
    """Put artefacts with these files into the store, as an execute worker does."""
    outcome = spec.Outcome(
        ending=spec.Ending.FINISHED,
        which_budget=None,
        exit_code=0,
        turn=1,
        seconds=1.0,
        stdout=b"",
        stderr=b"",
        stdout_truncated=False,
        stderr_truncated=False,
        snapshot=None,
        snapshot_truncated=False,
        wrote=True,
        reply=None,
        reply_truncated=False,
        refused=(),
        limit_hits=(),
        oom_kills=0,
        isolation="",
        manifest={},
    )
    data = artefacts.bundle(outcome, snapshot(*names))
    attempt.artefact_key = store_artefacts(attempt.episode.run.package, data)
    attempt.artefact_sha256 = artefacts.digest(data)
    saved(attempt)


@pytest.mark.parametrize(("names", "score"), [(("out.txt",), 1), (("other.txt",), 0)])
def test_the_platforms_own_grader_grades_again(
    running: Submission, tmp_path: Path, names: tuple[str, ...], score: int
) -> None:
    write_results(running, random.Random(1))
    attempt = Attempt.objects.select_related("episode__run__package").first()
    assert attempt is not None
    leave(attempt, *names)
    tmp_path.chmod(0o711)
    grader = Grader("again", tmp_path, default_backend(), "1")
    leaf = {"episode": attempt.id.hex, "artefact": attempt.artefact_sha256}
    assert grader.again(regrading.claim_of(leaf)).score == score
    with pytest.raises(ArtefactsLost):
        grader.again(regrading.claim_of({**leaf, "artefact": "0" * 64}))


def leave_all(submission: Submission, wrong: int) -> None:
    """Artefacts in the store and results that fit them, but for the first `wrong` of the results."""
    episodes = Episode.objects.filter(run=submission.held_out_run).select_related("run__package")
    for number, episode in enumerate(episodes):
        attempt = Attempt.objects.create(
            episode=episode, number=1, fence=1, worker="w", started_at=clock.now(), ending=Ending.FINISHED
        )
        good = number % 2 == 0
        leave(attempt, "out.txt" if good else "other.txt")
        TaskResult.objects.create(
            episode=episode,
            attempt=attempt,
            score=Decimal("0.5") if number < wrong else Decimal(good),
            success=good,
            ending=Ending.FINISHED,
            seconds=1.0,
            grader_version="g1",
            graded_at=clock.now(),
        )


def ask(processes: Any, role: str, *arguments: str) -> tuple[int, str]:
    """A command in a process of that role, with its rights and keys only: its exit code and all it says."""
    command, environment = processes.command(*arguments, role=role)
    found = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=240, check=False)
    return found.returncode, found.stdout + found.stderr


@pytest.mark.serial
@pytest.mark.parametrize("wrong", [0, 1])
def test_the_commands_under_their_roles(
    running: Submission, processes: Any, sequence: Sequence, tmp_path: Path, capsys: Any, wrong: int
) -> None:
    digest = hashlib.sha256(SEED.encode()).hexdigest()
    person = an_auditor()
    subject = str(running.id)
    committed = ask(processes, "console", "regrade_commit", subject, "--digest", digest, "--by", person.email)
    assert committed[0] == 0, committed
    leave_all(running, wrong)
    assert released(bring_on(running))
    sequence()
    people = [arg for member in staff(2) for arg in ("--by", member.email)]
    folder = str(tmp_path / "out")
    made = ask(processes, "sealed", "sealed_export", subject, folder, "--reason", "yearly audit", *people)
    assert made[0] == 0, made
    assert recomputed(tmp_path / "out", capsys)["equal"]
    code, said = ask(processes, "sealed", "regrade", subject, "--seed", SEED, "--count", "16")
    expected = "1 of 16 differ, first episode" if wrong else "equal: 16 runs graded again"
    assert (code != 0, expected in said) == (bool(wrong), True), said
