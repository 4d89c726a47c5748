"""The sealed export of one submission: all that an auditor needs to compute the release again, and no content.

Two people whose duties allow it ask for it, with a reason; that is an event before anything is written. The format is
described where it is read, in client.audit.sealed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.db import transaction

from accounts.duties.policies import may_decide
from accounts.duties.queries import standing_of
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Decision
from accounts.models import User
from accounts.services import actor_for
from audit import log, queries
from audit.merkle import commitment
from audit.merkle.commitment import Leaf
from audit.texts import concealed
from benchmark import commitments as assets
from benchmark.models import AssetCommitment
from client.audit.recompute import rounded
from client.audit.sealed import FILE, SCHEMA
from governance import commitments, entries
from governance.models import Release, SealedAggregate
from governance.sealed_events import SealedExportMade
from submissions.models import Submission

SHORTEST_REASON = 10
"""Characters; a word is no reason."""


class ExportRefused(Exception):
    """The export is not made; the message says what is missing."""


@dataclass(frozen=True)
class SealedExport:
    """The file's exact bytes, and whether its runs still lead to the root that was released."""

    content: bytes
    runs: int
    holds: bool


def make(submission: Submission, *, reason: str, by: Sequence[User]) -> SealedExport:
    """Record that these two people take it, then hand out the bytes. Raises ExportRefused.

    What no longer leads to its root is handed out all the same: that is for the auditor to see.
    """
    first, second = _two(by, submission)
    if len(reason.strip()) < SHORTEST_REASON:
        raise ExportRefused(f"give a reason of at least {SHORTEST_REASON} characters")
    export = _export(submission)
    with transaction.atomic():
        log.append(
            SealedExportMade(
                subject=submission.id,
                people=[str(first.pseudonym), str(second.pseudonym)],
                reason=concealed(reason.strip()),
                content=hashlib.sha256(export.content).hexdigest(),
                runs=export.runs,
            ),
            by=actor_for(first, channel="command"),
        )
    return export


def write(export: SealedExport, folder: Path) -> Path:
    """Put the file into `folder`, for its owner only. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / FILE
    path.touch(mode=0o600, exist_ok=False)
    path.write_bytes(export.content)
    return path


def _two(by: Sequence[User], submission: Submission) -> tuple[User, User]:
    """The one who proposes and the one who approves."""
    if len({person.pk for person in by}) != 2 or len(by) != 2:
        raise ExportRefused("two different people take a sealed export")
    if not all(person.is_staff and person.is_active and not person.is_suspended for person in by):
        raise ExportRefused("both people must be active members of staff")
    concerned = {submission.organisation.lineage_id}
    people = (standing_of(person) for person in by)
    if reason := may_decide(Decision.UNBLINDING, *people, concerned=concerned):
        raise ExportRefused(str(DutyRefused(reason)))
    return by[0], by[1]


def _export(submission: Submission) -> SealedExport:
    release = Release.objects.filter(submission=submission).select_related("policy").first()
    if release is None:
        raise ExportRefused("the submission has not been released")
    try:
        runs = commitments.leaves_of(submission)
        parts = assets.leaves_of(submission.task_set)
        proofs = {
            "release": entries.proof("result.released", submission.id),
            "frozen": entries.proof("task_set.frozen", submission.task_set_id),
        }
    except (commitments.NotCommitted, AssetCommitment.DoesNotExist) as error:
        raise ExportRefused("the release or its task set is from before such commitments") from error
    except entries.NotInLogYet as error:
        raise ExportRefused(f"{error}; try again in a few seconds") from error
    body = {
        "schema": SCHEMA,
        "submission": str(submission.id),
        "task_set": str(submission.task_set_id),
        "label": submission.task_set.label,
        "log": queries.verifier_keys(),
        **proofs,
        "runs": _members(runs),
        "assets": _members(parts),
        "policy": commitments.policy_row(release.policy),
        "aggregates": _aggregates(submission),
    }
    content = json.dumps(body, ensure_ascii=False, indent=1).encode() + b"\n"
    root = commitment.root_of(map(commitment.hash_of, runs))
    return SealedExport(content, len(runs), root == submission.run_commitment.root)


def _members(leaves: Sequence[Leaf]) -> list[dict[str, Any]]:
    return [{"leaf": leaf, "hash": commitment.hash_of(leaf).hex()} for leaf in leaves]


def _aggregates(submission: Submission) -> dict[str, dict[str, str | int]]:
    return {
        row.domain: {
            "task_score": "" if row.task_score is None else rounded(row.task_score),
            "tasks": row.tasks,
            "valid_tasks": row.valid_tasks,
            "runs": row.runs,
            "valid_runs": row.valid_runs,
        }
        for row in SealedAggregate.objects.filter(submission=submission)
    }
