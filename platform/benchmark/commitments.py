"""The commitment to a task-set version: one salted leaf per task over the digests of all its parts.

Made at freeze, named by the event of freezing, recomputed by `taskset verify`. What leaves it in a sealed export are
digests and salts, never content.
"""

from __future__ import annotations

import secrets

from audit.merkle import commitment
from audit.merkle.commitment import Leaf
from benchmark.keys import pack_key
from benchmark.models import AssetCommitment, AssetPack, TaskRevision, TaskSetVersion
from config import clock, vault

PARTS = {
    "task": "digest",
    "instruction": "digest_instruction",
    "data": "digest_environment",
    "rules": "digest_grading",
    "gold": "digest_gold",
}
"""Field of a leaf, and the column that it shows."""
JUDGE = ""
"""Digest of the judge's assets; no task has any yet."""


def commit(version: TaskSetVersion) -> AssetCommitment:
    """Commit to the tasks as they are now, under a fresh secret. Raises benchmark.keys.KeyWithheld."""
    secret = secrets.token_bytes(commitment.SECRET_BYTES)
    leaves = _leaves(version, secret)
    return AssetCommitment.objects.create(
        version=version,
        root=commitment.root_of(map(commitment.hash_of, leaves)),
        tasks=len(leaves),
        wrapped_secret=vault.wrap(secret, under=_key()),
        made_at=clock.now(),
    )


def leaves_of(version: TaskSetVersion) -> list[Leaf]:
    """The leaves as committed, sorted by task id, with their salts.

    Raises AssetCommitment.DoesNotExist for a version without commitment, benchmark.keys.KeyWithheld where this
    process must not open it, vault.SealBroken.
    """
    made = AssetCommitment.objects.get(version=version)
    return _leaves(version, vault.unwrap(bytes(made.wrapped_secret), under=_key()))


def holds(version: TaskSetVersion) -> bool:
    """Whether the tasks still lead to the committed root; False for a version without commitment."""
    made = AssetCommitment.objects.filter(version=version).first()
    if made is None:
        return False
    leaves = leaves_of(version)
    return (commitment.root_of(map(commitment.hash_of, leaves)), len(leaves)) == (made.root, made.tasks)


def _key() -> bytes:
    return pack_key(AssetPack.Kind.GOLD)


def _leaves(version: TaskSetVersion, secret: bytes) -> list[Leaf]:
    rows = TaskRevision.objects.filter(version=version)
    return [_leaf(row, secret) for row in sorted(rows, key=lambda row: row.slug)]


def _leaf(row: TaskRevision, secret: bytes) -> Leaf:
    return {
        "id": row.slug,
        "group": row.group,
        "domain": row.domain,
        "family": row.family,
        **{field: getattr(row, column) for field, column in PARTS.items()},
        "judge": JUDGE,
        "salt": commitment.salt_of(secret, row.slug),
    }
