"""What was graded is committed before a release, and nothing but the root leaves."""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from benchmark.models import Domain, TaskRevision
from config import vault
from evaluation.models import Attempt, Episode, EvaluationRun, TaskResult
from governance.models import Release, RunCommitment
from submissions.models import Submission
from tests.governance.committed import (
    facts,
    incomplete,
    write_results,
)
from tests.governance.test_delivery import bring_on, released
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
Sequence = Callable[[], int]


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
