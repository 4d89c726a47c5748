"""Grading again what an auditor's seed draws: the seed is fixed before the release, the runs are drawn after it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from audit import log
from audit.events import Actor
from audit.merkle import commitment
from audit.merkle.commitment import Leaf
from config.store import ObjectMissing
from evaluation.claims import GradingClaim
from evaluation.grading import ArtefactsLost
from evaluation.models import Attempt
from governance import commitments, entries
from governance.models import Release
from governance.sealed_events import RegradingCommitted, RegradingDone
from scoring.run import RunScore
from submissions.models import Submission

SHORTEST_SEED = 16
"""Characters; whoever could try all seeds against the digest would know the draw beforehand."""
LOST = "artefact lost"
_DIGEST = re.compile(r"[0-9a-f]{64}")

Grade = Callable[[GradingClaim], RunScore]


class RegradingRefused(Exception):
    """The seed is not taken, or nothing is graded again; the message says why."""


@dataclass(frozen=True)
class Compared:
    """One run that was drawn: the committed score, and what grading its artefacts again gives (or `LOST`)."""

    episode: str
    task: str
    committed: str
    found: str

    @property
    def equal(self) -> bool:
        return self.committed == self.found


def commit_seed(submission: Submission, digest: str, *, by: Actor) -> None:
    """Record the SHA-256 of a seed. Raises RegradingRefused once the submission is released."""
    if not _DIGEST.fullmatch(digest):
        raise RegradingRefused("a seed is committed by its SHA-256, 64 lower-case hexadecimal digits")
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if Release.objects.filter(submission=locked).exists():
            raise RegradingRefused("the submission is released: a seed is fixed before that")
        log.append(RegradingCommitted(subject=locked.id, seed_digest=digest), by=by)


def regrade(
    submission: Submission, *, seed: str, count: int, grade: Grade, grader: str, by: Actor
) -> list[Compared]:
    """Draw `count` runs by the seed, grade them again with `grade`, and record how many differ.

    The draw: audit.merkle.commitment.drawn, over all runs with a result. Raises RegradingRefused where the seed was
    not committed before the release, or where the runs no longer lead to the released root, and ValueError for a
    count below 1; whatever `grade` raises passes, and then nothing is recorded.
    """
    _require_committed(submission, seed)
    leaves = _leaves(submission)
    by_episode = {str(leaf["episode"]): leaf for leaf in leaves}
    drawn = commitment.drawn(seed, commitment.drawable(leaves), count)
    compared = [_compare(by_episode[episode], grade) for episode in drawn]
    with transaction.atomic():
        log.append(
            RegradingDone(
                subject=submission.id,
                seed_digest=commitment.seed_digest(seed),
                count=len(compared),
                differences=sum(not found.equal for found in compared),
                grader=grader,
            ),
            by=by,
        )
    return compared


def _require_committed(submission: Submission, seed: str) -> None:
    """By positions in the log, which are the order that the signed tree fixes."""
    if len(seed) < SHORTEST_SEED:
        raise RegradingRefused(f"a seed has at least {SHORTEST_SEED} characters")
    try:
        released_at, _ = entries.placed("result.released", submission.id)
    except entries.NotInLogYet as error:
        raise RegradingRefused(str(error)) from error
    digest = commitment.seed_digest(seed)
    places = [
        found.position
        for found in entries.entries("regrading.committed", submission.id)
        if found.facts()["seed_digest"] == digest and found.position is not None
    ]
    if not any(place < released_at for place in places):
        raise RegradingRefused("nobody committed to this seed before the release")


def _leaves(submission: Submission) -> Sequence[Leaf]:
    try:
        leaves = commitments.leaves_of(submission)
    except commitments.NotCommitted as error:
        raise RegradingRefused("the release is from before such commitments") from error
    _, event = entries.placed("result.released", submission.id)
    if commitment.root_of(map(commitment.hash_of, leaves)) != event.facts()["runs_root"]:
        raise RegradingRefused("the stored results no longer lead to the root that was released")
    return leaves


def _compare(leaf: Leaf, grade: Grade) -> Compared:
    try:
        found = commitment.score_text(grade(claim_of(leaf)).score)
    except (ArtefactsLost, ObjectMissing):
        found = LOST
    return Compared(str(leaf["episode"]), str(leaf["task"]), str(leaf["score"]), found)


def claim_of(leaf: Leaf) -> GradingClaim:
    """What a grade worker would hold of that attempt; the artefacts must be those that were committed."""
    attempt = Attempt.objects.select_related("episode__task").get(pk=UUID(hex=str(leaf["episode"])))
    episode, task = attempt.episode, attempt.episode.task
    return GradingClaim(
        episode_id=episode.id,
        run_id=episode.run_id,
        task_id=task.id,
        run_index=episode.run_index,
        fence=episode.fence,
        attempt_id=attempt.id,
        attempt_number=attempt.number,
        gradings=1,
        artefact_key=attempt.artefact_key,
        artefact_sha256=str(leaf["artefact"]),
        exit_code=attempt.exit_code,
        has_output=attempt.has_output,
        task_label="",
        domain=task.domain,
        pack_id=task.grading_pack_id,
        offset=task.grading_offset,
        size=task.grading_size,
    )
