"""Intake: one worker takes the package in hand, checks it, and accepts or rejects the submission."""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from uuid import UUID

from django.conf import settings
from django.db import transaction

from audit.events import Actor, system
from config import clock, store
from config.ids import opaque_id
from evaluation import packages
from evaluation import services as evaluation
from evaluation.models import EvaluationRun, StoredPackage
from submissions import tickets
from submissions.intake import (
    START_BYTES,
    Finding,
    Kind,
    Manifest,
    content_digest,
    image_content_digest,
    inspect,
    inspect_image,
    kind_of,
    read_manifest,
)
from submissions.models import Submission
from submissions.policies.states import CHECK_LEASE
from submissions.problems import Code
from submissions.queries.admission import repeated
from submissions.services import modelling
from submissions.services.moves import locked, move
from submissions.services.quarantine import CHUNK

CHECKER = "intake"
STORE_FAULTS = frozenset({Code.UPLOAD_MISSING, Code.HASH_MISMATCH})
"""Bytes were complete and right when the upload ended: that they are not any more is no fault of the vendor's."""


@dataclass(frozen=True)
class Accepted:
    """A package that passed: what its manifest says, the digest of its content, and where it is stored."""

    manifest: Manifest
    content: str
    package: StoredPackage


def check(submission_id: UUID, *, by: Actor | None = None) -> None:
    """Check the package of a submission, from front to end; a second delivery of the same ticket does nothing.

    A fault of the platform leaves the state as it is: the sweep tries again, and the deadline voids.
    """
    actor = by or system(CHECKER)
    lease = begin_check(submission_id, by=actor)
    if lease is None:
        return
    rows = Submission.of_any_scope.select_related("upload", "harness_version__harness")
    submission = rows.get(pk=submission_id)
    with tempfile.NamedTemporaryFile(prefix="intake-") as file:
        try:
            examined = _examine(submission, file)  # type: ignore[arg-type]
        except Finding as finding:
            finish_check(submission_id, lease, finding, by=actor)
            return
        package = packages.seal(
            Path(file.name),
            digest=submission.package_digest,
            unpacked_size=examined.unpacked,
            tree_digest=examined.tree,
        )
    finish_check(submission_id, lease, Accepted(examined.manifest, examined.content, package), by=actor)


def begin_check(submission_id: UUID, *, by: Actor) -> UUID | None:
    """Take the package in hand for some minutes; None where there is nothing to check or another worker has it."""
    with transaction.atomic():
        submission = locked(submission_id)
        if submission.state == Submission.State.CREATED:
            move(submission, Submission.State.CHECKING, cause=Code.CHECK_STARTED, by=by)
        elif submission.state != Submission.State.CHECKING or _in_hand(submission):
            return None
        submission.check_lease = opaque_id()
        submission.check_lease_until = clock.now() + CHECK_LEASE
        submission.save(update_fields=["check_lease", "check_lease_until"])
    return submission.check_lease


def _in_hand(submission: Submission) -> bool:
    return submission.check_lease_until is not None and submission.check_lease_until > clock.now()


@dataclass(frozen=True)
class Examined:
    """What a package holds: its manifest, the digest of its content, its bytes unpacked, an image's tree."""

    manifest: Manifest
    content: str
    unpacked: int
    tree: str = ""


def _examine(submission: Submission, file: BinaryIO) -> Examined:
    """Read the package from front to end; raises Finding.

    The package's digest is compared once more: its bytes lay in a store.
    """
    try:
        store.fetch(settings.S3_BUCKET_QUARANTINE, submission.upload.key, file)
    except store.ObjectMissing:
        raise Finding(Code.UPLOAD_MISSING) from None
    file.flush()
    file.seek(0)
    digest = hashlib.sha256()
    while chunk := file.read(CHUNK):
        digest.update(chunk)
    if digest.hexdigest() != submission.package_digest:
        raise Finding(Code.HASH_MISMATCH)
    file.seek(0)
    is_image = kind_of(file.read(START_BYTES)) is Kind.IMAGE
    file.seek(0)
    version = submission.harness_version
    examine = _examine_image if is_image else _examine_bundle
    found = examine(file, version.harness.name, version.version)
    modelling.examine(found.manifest, version)
    if earlier := repeated(submission, found.content):
        raise Finding(Code.SAME_AS_EARLIER, submission=str(earlier), version=version.version)
    return found


def _examine_image(file: BinaryIO, name: str, version: str) -> Examined:
    """Nothing is unpacked: the finished tree is known in memory, and workers compare theirs with its digest."""
    image = inspect_image(file)
    manifest = read_manifest(image.manifest, name=name, version=version, kind=Kind.IMAGE)
    return Examined(manifest, image_content_digest(image), image.unpacked, image.tree_digest)


def _examine_bundle(file: BinaryIO, name: str, version: str) -> Examined:
    archive = inspect(file)
    file.seek(0)
    with tempfile.TemporaryDirectory(prefix="intake-") as folder:
        try:
            packages.extract(file, Path(folder))
        except packages.Unpackable as error:
            raise Finding(Code.PACKAGE_DAMAGED, entry=str(error)) from None
        content = content_digest(Path(folder))
    manifest = read_manifest(archive.manifest or b"", name=name, version=version)
    return Examined(manifest, content, archive.unpacked)


def finish_check(submission_id: UUID, lease: UUID, found: Accepted | Finding, *, by: Actor) -> None:
    """Record the outcome if the caller still has the package in hand: preflight starts, or it is rejected."""
    with transaction.atomic():
        submission = locked(submission_id)
        if submission.state != Submission.State.CHECKING or submission.check_lease != lease:
            return
        if isinstance(found, Finding):
            to = Submission.State.VOIDED if found.code in STORE_FAULTS else Submission.State.REJECTED
            move(submission, to, cause=Code(found.code), by=by, facts=found.facts)
        else:
            _accept(submission, found, by)
        tickets.send("submissions.tasks.advance", submission.id)


def _accept(submission: Submission, found: Accepted, by: Actor) -> None:
    submission.package = found.package
    submission.manifest, submission.content_digest = found.manifest.stored(), found.content
    submission.preflight_run = start_run(submission, EvaluationRun.Kind.PREFLIGHT, by=by)
    move(submission, Submission.State.PREFLIGHT, cause=Code.CHECK_PASSED, by=by)


def start_run(submission: Submission, kind: str, *, by: Actor) -> EvaluationRun:
    """A run of the package: all public tasks once, one public task as the canary, or the held-out group."""
    if submission.package is None:
        raise ValueError("a submission without a package runs nothing")
    return evaluation.create_run(
        kind=kind,
        version=submission.task_set,
        package=submission.package,
        command=submission.manifest["command"],
        limit_seconds=submission.manifest["limit_seconds"],
        runs_per_task=submission.runs_per_task if kind == EvaluationRun.Kind.HELD_OUT else 1,
        lineage_id=submission.organisation.lineage_id,
        line_id=submission.harness_version.harness_id,
        sample=1 if kind == EvaluationRun.Kind.CANARY else None,
        models=modelling.needs_of(submission),
        by=by,
    )
