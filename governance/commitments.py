"""The commitment to all runs behind a release: one salted leaf per prescribed run, under a root that the event names.

Fields and order of the leaves: audit.merkle.commitment. Nothing of it but the root, the number of runs and the digest
of the policy row reaches a vendor.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from audit.merkle import commitment
from audit.merkle.commitment import Leaf
from benchmark.keys import KeyWithheld
from config import clock, vault
from evaluation.models import EvaluationRun
from evaluation.services import episode_seed
from governance import aggregates
from governance.aggregates import GradedRun
from governance.models import ReleasePolicy, RunCommitment
from submissions.models import Submission

GATE_AND_BUDGET = ("fewest_changed", "budget_millibits", "confirmation_millibits")
JUDGE = ""
"""Version of the judge; no task has one yet."""


class NotCommitted(LookupError):
    """The submission was not released, or before releases committed to their runs."""


@dataclass(frozen=True)
class Sealed:
    """A root over runs, how many they are, and the secret of their salts, wrapped."""

    root: str
    runs: int
    wrapped_secret: bytes


def sealed(run: EvaluationRun, runs: Iterable[GradedRun]) -> Sealed:
    """The root over these runs under a fresh secret. Raises KeyWithheld where this process holds no sealed key."""
    secret = secrets.token_bytes(commitment.SECRET_BYTES)
    leaves = _leaves(secret, run, runs)
    root = commitment.root_of(map(commitment.hash_of, leaves))
    return Sealed(root, len(leaves), vault.wrap(secret, under=_key()))


def commit(submission: Submission, run: EvaluationRun, runs: Iterable[GradedRun]) -> RunCommitment:
    """Commit to these runs. Raises KeyWithheld."""
    made = sealed(run, runs)
    return RunCommitment.objects.create(
        submission=submission,
        root=made.root,
        runs=made.runs,
        wrapped_secret=made.wrapped_secret,
        made_at=clock.now(),
    )


def leaves_of(submission: Submission) -> list[Leaf]:
    """The leaves as the rows give them now, sorted by episode, with the salts they were committed under.

    Raises NotCommitted, KeyWithheld, vault.SealBroken. Whether they still lead to the root is the caller's question.
    """
    made = RunCommitment.objects.filter(submission=submission).first()
    if made is None or submission.held_out_run is None:
        raise NotCommitted(str(submission.id))
    secret = vault.unwrap(bytes(made.wrapped_secret), under=_key())
    run = submission.held_out_run
    return _leaves(secret, run, aggregates.runs_of(run))


def policy_row(policy: ReleasePolicy) -> dict[str, Any]:
    """All of a release policy that decides what is shown, in a form that has canonical bytes."""
    half_widths: Mapping[str, list[int]] = policy.half_widths
    return {
        "id": str(policy.id),
        "task_set": str(policy.task_set_id),
        "profile": policy.profile,
        "rule": policy.rule,
        "grid_points": policy.grid_points,
        "rho": f"{policy.rho:.3f}",
        "tick_seconds": policy.tick_seconds,
        "half_widths": {domain: list(widths) for domain, widths in half_widths.items()},
        **_gate_and_budget(policy),
    }


def _gate_and_budget(policy: ReleasePolicy) -> dict[str, int]:
    """The fields that rows from before the gate lack: those keep the form that their releases committed to."""
    found = {name: getattr(policy, name) for name in GATE_AND_BUDGET}
    return {name: value for name, value in found.items() if value is not None}


def policy_digest(policy: ReleasePolicy) -> str:
    """SHA-256 of the row, in hex."""
    return commitment.digest_of(policy_row(policy))


def _key() -> bytes:
    key: bytes | None = settings.VAULT_KEY_SEALED
    if key is None:
        raise KeyWithheld("this process holds no key for what is sealed")
    return key


def _leaves(secret: bytes, run: EvaluationRun, runs: Iterable[GradedRun]) -> list[Leaf]:
    seeds = bytes(run.secret.secret)
    leaves = [_leaf(secret, seeds, found) for found in runs]
    return sorted(leaves, key=lambda leaf: leaf["episode"])


def _leaf(secret: bytes, seeds: bytes, run: GradedRun) -> Leaf:
    """A run without any attempt gets an id that nobody else has either: made like a salt, of its task and index."""
    unseen = f"none {run.task_digest} {run.run_index}"
    episode = run.attempt_id.hex if run.attempt_id else commitment.salt_of(secret, unseen)
    return {
        "episode": episode,
        "attempt": run.attempt,
        "task": run.task_digest,
        "seed": str(episode_seed(seeds, str(run.task_id), run.run_index)),
        "artefact": run.artefact,
        "score": commitment.score_text(run.score.score if run.score else None),
        "grader": run.grader,
        "judge": JUDGE,
        "salt": commitment.salt_of(secret, episode),
    }
