"""What was graded is committed before a release, can be computed again from a sealed export, and be graded again."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import random
import subprocess
import tarfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import transaction

from accounts import auditors
from accounts import services as accounts
from audit import log
from audit.models import LogKey
from audit.texts import is_of
from benchmark import packs
from benchmark import services as benchmark
from benchmark.models import Domain, TaskRevision, TaskSetVersion
from client.audit.main import main
from config import clock, store, vault
from evaluation import artefacts
from evaluation.claims import GradingClaim
from evaluation.grading import ArtefactsLost, Grader
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, TaskResult
from evaluation.packages import store_artefacts
from evaluation.sandbox import spec
from evaluation.sandbox.bubblewrap import default_backend
from governance import regrading, sealed_export, services
from governance.models import Release, RunCommitment
from governance.regrading import RegradingRefused
from governance.sealed_events import RegradingCommitted
from governance.sealed_export import ExportRefused
from scoring.run import RunScore
from submissions.models import Submission
from submissions.problems import Code
from submissions.services import choose, move, open_task_set
from submissions.services.moves import locked
from tests.factories import BY, draft_version, saved
from tests.governance.test_delivery import bring_on, date_end, released
from tests.submissions import world
from tests.submissions.outcomes import bring_to, lose

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]
SEED = "a seed that nobody guesses"


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


def give_rules(version: TaskSetVersion, under: bytes) -> None:
    """Put the rules where grade workers look for them."""
    part, key = packs.join({"rules.json": json.dumps(RULES).encode()}), vault.new_key()
    row = version.packs.get(kind="grading")
    store.put_sealed_bytes(settings.S3_BUCKET_SEALED, row.object_key, part, under=key)
    row.sha256, row.size = hashlib.sha256(part).hexdigest(), len(part)
    row.wrapped_key = vault.wrap(key, under=under)
    row.save()
    TaskRevision.objects.filter(version=version).update(grading_offset=0, grading_size=len(part))


@pytest.fixture
def vendor() -> world.Vendor:
    return world.vendor()


@pytest.fixture
def running(vendor: world.Vendor) -> Submission:
    return bring_to(vendor.submit(frozen_set(), vendor.harness()), "running")


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


@pytest.fixture
def complete(running: Submission) -> Submission:
    return done(running)


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
    return [
        accounts.create_user(f"staff{number}@lingee.invalid", None, staff=True, by=BY)
        for number in range(count)
    ]


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def naive_root(hashes: list[bytes]) -> bytes:
    """RFC 6962, section 2.1, word by word."""
    if len(hashes) == 1:
        return hashes[0]
    cut = 1
    while cut * 2 < len(hashes):
        cut *= 2
    return sha(b"\x01" + naive_root(hashes[:cut]) + naive_root(hashes[cut:]))


def root_by_hand(submission: Submission, key: bytes) -> str:
    """From the rows, without the code under test."""
    made = RunCommitment.objects.get(submission=submission)
    secret = vault.unwrap(bytes(made.wrapped_secret), under=key)
    run = EvaluationRun.objects.select_related("secret").get(pk=submission.held_out_run_id)
    leaves = []
    for episode in Episode.objects.filter(run=run).select_related("task"):
        attempt = Attempt.objects.filter(episode=episode).order_by("-number")[0]
        result = TaskResult.objects.filter(episode=episode).first()
        message = f"{episode.task_id}:{episode.run_index}".encode()
        seed = int.from_bytes(hmac.new(bytes(run.secret.secret), message, "sha256").digest()[:8], "big") >> 1
        score = "unavailable" if result is None else f"{result.score:.9f}".rstrip("0").rstrip(".")
        leaf = {
            "artefact": attempt.artefact_sha256 if result else "",
            "attempt": attempt.number,
            "episode": attempt.id.hex,
            "grader": "g1" if result else "",
            "judge": "",
            "score": score,
            "seed": str(seed),
            "task": episode.task.digest,
            "salt": hmac.new(secret, attempt.id.hex.encode(), "sha256").hexdigest()[:32],
        }
        leaves.append((leaf["episode"], json.dumps(leaf, sort_keys=True, separators=(",", ":")).encode()))
    return naive_root([sha(b"\x00" + text) for _, text in sorted(leaves)]).hex()


def test_the_release_names_the_root_over_all_runs(
    complete: Submission, connect_as: Connect, settings: Any
) -> None:
    said = facts(connect_as, "result.released", complete.id)
    assert said["runs_root"] == root_by_hand(complete, settings.VAULT_KEY_SEALED)
    assert said["runs"] == 16
    policy = Release.objects.get(submission=complete).policy
    assert said["policy"] == str(policy.id)
    assert "bounds" not in said


def test_runs_without_a_result_are_leaves_too(
    running: Submission, connect_as: Connect, settings: Any
) -> None:
    incomplete(running, 3)
    said = facts(connect_as, "result.released", running.id)
    assert (said["runs"], said["coverage"]) == (16, "0.81")
    assert said["runs_root"] == root_by_hand(running, settings.VAULT_KEY_SEALED)
    assert set(said["bounds"]) == {domain.value for domain in Domain}


def test_nothing_is_released_where_nothing_can_be_committed(running: Submission, settings: Any) -> None:
    write_results(running, random.Random(1))
    bring_on(running)
    settings.VAULT_KEY_SEALED = None
    with pytest.raises(PermissionError):
        released(running)
    assert not Release.objects.exists()


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


@pytest.mark.parametrize(("seed", "lost"), [(1, 0), (2, 0), (3, 1), (4, 5)])
def test_a_sealed_export_leads_to_what_was_released(
    running: Submission, sequence: Sequence, tmp_path: Path, capsys: Any, seed: int, lost: int
) -> None:
    if lost:
        incomplete(running, lost)
    else:
        done(running, seed)
    sequence()
    found = recomputed(export(running, tmp_path / "out"), capsys)
    assert (found["equal"], found["what"]) == (True, "")
    assert (found["runs"], found["tasks"], found["notices"]) == (16, 8, [])


def test_an_attempt_that_was_never_made_has_a_leaf(
    running: Submission, sequence: Sequence, tmp_path: Path, capsys: Any
) -> None:
    incomplete(running, 2, untried=1)
    sequence()
    folder = export(running, tmp_path / "out")
    leaves = [member["leaf"] for member in json.loads((folder / sealed_export.FILE).read_bytes())["runs"]]
    gone = [leaf for leaf in leaves if leaf["score"] == "unavailable"]
    assert [(leaf["artefact"], leaf["grader"]) for leaf in gone] == [("", "")] * 2
    assert sorted(leaf["attempt"] for leaf in gone) == [0, 2]
    assert recomputed(folder, capsys)["equal"]


def test_a_result_changed_behind_the_triggers_is_found(
    complete: Submission, servers: Any, sequence: Sequence, tmp_path: Path, capsys: Any
) -> None:
    sequence()
    with servers.superuser(servers.database) as root:
        root.execute("ALTER TABLE evaluation_taskresult DISABLE TRIGGER ALL")
        root.execute(
            "UPDATE evaluation_taskresult SET score = 0.5 WHERE id = (SELECT min(id) FROM evaluation_taskresult)"
        )
    found = recomputed(export(complete, tmp_path / "out"), capsys)
    assert (found["equal"], found["part"]) == (False, "root")


def test_taking_an_export_is_an_event_with_two_people_and_no_words(
    complete: Submission, sequence: Sequence, connect_as: Connect, tmp_path: Path
) -> None:
    sequence()
    file = export(complete, tmp_path / "out") / sealed_export.FILE
    said = facts(connect_as, "sealed_export.made", complete.id)
    assert said["content"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert len(set(said["people"])) == 2
    assert "yearly" not in json.dumps(said)
    assert is_of(said["reason"], "yearly audit 2026")
    assert (file.stat().st_mode & 0o777, file.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_one_person_a_stranger_or_no_reason_get_nothing(complete: Submission, sequence: Sequence) -> None:
    sequence()
    one, other = staff(2)
    stranger = world.person()
    for people in ([one], [one, one], [one, stranger], [one, other, stranger]):
        with pytest.raises(ExportRefused):
            sealed_export.make(complete, reason="yearly audit", by=people)
    with pytest.raises(ExportRefused, match="reason"):
        sealed_export.make(complete, reason=" why ", by=[one, other])


def test_where_the_event_cannot_be_written_no_file_is(
    complete: Submission, sequence: Sequence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sequence()

    def broken(*_: object, **__: object) -> None:
        raise psycopg.OperationalError("no log")

    monkeypatch.setattr("governance.sealed_export.log.append", broken)
    with pytest.raises(psycopg.OperationalError):
        export(complete, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_before_the_release_is_in_the_log_there_is_no_export(
    complete: Submission, running: Submission
) -> None:
    with pytest.raises(ExportRefused, match="in a few seconds"):
        sealed_export.make(complete, reason="yearly audit", by=staff(2))


def test_an_unreleased_submission_has_no_export(running: Submission) -> None:
    with pytest.raises(ExportRefused, match="not been released"):
        sealed_export.make(running, reason="yearly audit", by=staff(2))


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
    attempt.artefact_key = f"artefacts/{attempt.id}"
    attempt.artefact_sha256 = artefacts.digest(data)
    store_artefacts(attempt.episode.run.package, attempt.artefact_key, data)
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
    assert grader.again(regrading._claim(leaf)).score == score
    with pytest.raises(ArtefactsLost):
        grader.again(regrading._claim({**leaf, "artefact": "0" * 64}))


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


def test_a_vendor_sees_the_root_in_its_receipt_and_nothing_else(
    vendor: world.Vendor, complete: Submission, sequence: Sequence, connect_as: Connect
) -> None:
    sequence()
    said = facts(connect_as, "result.released", complete.id)
    seen = json.dumps(
        [vendor.api.get(f"submissions/{complete.id}{path}").body for path in ("", "/result")], default=str
    )
    for hidden in (said["runs_root"], said["policy_row"]):
        assert hidden not in seen
    assert set(said) == {"policy", "policy_row", "values", "coverage", "runs", "runs_root"}
    for role in ("web", "execute"):
        for table in ("governance_runcommitment", "benchmark_assetcommitment"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connect_as(role).execute(f"SELECT 1 FROM {table}")


def test_the_secret_and_the_entries_are_for_sealed_workers_only(
    complete: Submission, connect_as: Connect
) -> None:
    task = TaskRevision.objects.first()
    assert task is not None
    ask = "SELECT count(*) FROM governance_sealed_entry(%s, %s)"
    sealed = connect_as("sealed")
    assert sealed.execute(ask, ["result.released", str(complete.id)]).fetchone() == (1,)
    assert sealed.execute(ask, ["task_set.frozen", str(complete.task_set_id)]).fetchone() == (1,)
    assert sealed.execute(ask, ["submission.admitted", str(complete.id)]).fetchone() == (0,)
    assert sealed.execute("SELECT wrapped_secret FROM governance_runcommitment").fetchone()
    for role in ("web", "execute", "console", "auditor"):
        mine = connect_as(role)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            mine.execute(ask, ["result.released", str(complete.id)])
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            mine.execute("SELECT wrapped_secret FROM governance_runcommitment")
    for role in ("sealed", "owner"):
        for statement in (
            "UPDATE governance_runcommitment SET root = root",
            "DELETE FROM governance_runcommitment",
            "TRUNCATE governance_runcommitment",
        ):
            with pytest.raises(psycopg.Error):
                connect_as(role).execute(statement)
