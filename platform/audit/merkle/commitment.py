"""Salted commitments to a set: what was graded, and what it was graded by, under one root of 32 bytes.

A leaf is the canonical JSON of one member, a field `salt` among its fields; leaves are hashed and joined as in
RFC 6962. The salts come from one secret per set, so that whoever knows the root can neither guess a member nor try
scores against it, and whoever is given one leaf learns nothing of the others.

A member of a set of runs has exactly the fields `RUN_FIELDS`, all strings but `attempt`, an integer:

episode   opaque id of the attempt that counts, 32 hexadecimal digits; the leaves are sorted by it
attempt   number of that attempt, 0 where none was made
task      digest of the task
seed      what the harness found in EPISODE_SEED, in decimal digits
artefact  SHA-256 of what the attempt left; empty where the run has no result
score     decimal in [0, 1] without exponent and trailing zeros, or `unavailable`
grader    digest of interpreter and grader; judge: version of the judge, empty where there is none
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

from audit.canonical import canonical_bytes
from audit.merkle.tree import leaf_hash, root

SALT_BYTES = 16
SECRET_BYTES = 32
RUN_FIELDS = frozenset({"artefact", "attempt", "episode", "grader", "judge", "score", "seed", "task", "salt"})
ASSET_FIELDS = frozenset(
    {
        *("id", "group", "domain", "family"),
        *("task", "instruction", "data", "rules", "gold", "judge", "salt"),
    }
)
"""A member of a version's assets: where the task stands, and the digests of all of it and of its parts."""
UNAVAILABLE = "unavailable"
_SCORE = re.compile(r"0|1|0\.[0-9]{0,8}[1-9]")

Leaf: TypeAlias = Mapping[str, str | int]


class NoScore(ValueError):
    """A leaf's score is neither a canonical decimal in [0, 1] nor `unavailable`."""


def salt_of(secret: bytes, name: str) -> str:
    """The salt of the member called `name`: the first 16 bytes of HMAC-SHA-256(secret, name), in hex."""
    return hmac.new(secret, name.encode(), hashlib.sha256).digest()[:SALT_BYTES].hex()


def score_text(score: Decimal | None) -> str:
    """A score of at most nine places as a leaf carries it; None is a run without a result. Raises NoScore."""
    if score is None:
        return UNAVAILABLE
    text = f"{score:f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    parse_score(text)
    return text


def parse_score(text: object) -> Decimal | None:
    """The score again, None for a run without a result. Raises NoScore."""
    if text == UNAVAILABLE:
        return None
    if not isinstance(text, str) or not _SCORE.fullmatch(text):
        raise NoScore(f"{text!r:.40} is no score")
    return Decimal(text)


def hash_of(leaf: Leaf) -> bytes:
    """The leaf hash of one member, 32 bytes. Raises audit.canonical.NotCanonical."""
    return leaf_hash(canonical_bytes(leaf))


def root_of(hashes: Iterable[bytes]) -> str:
    """The root over leaf hashes in their order, in hex."""
    return root(hashes).hex()


def digest_of(body: Mapping[str, object]) -> str:
    """SHA-256 in hex of the canonical JSON of something that needs no salt. Raises NotCanonical."""
    return hashlib.sha256(canonical_bytes(body)).hexdigest()


def drawn(seed: str, episodes: Iterable[str], count: int) -> list[str]:
    """The `count` episodes whose SHA-256(seed ‖ episode) is smallest, smallest first; all where there are fewer.

    Seed and episode are hashed as UTF-8. Whoever made ids, artefacts and scores did not know the seed, of which only
    the digest was fixed beforehand, and so could not tell which runs would be looked at. Raises ValueError for a count
    below 1.
    """
    if count < 1:
        raise ValueError("a draw has at least one run")
    return sorted(episodes, key=lambda episode: (_place(seed, episode), episode))[:count]


def _place(seed: str, episode: str) -> bytes:
    return hashlib.sha256(seed.encode() + episode.encode()).digest()


def seed_digest(seed: str) -> str:
    """What is committed beforehand of a seed: its SHA-256 in hex."""
    return hashlib.sha256(seed.encode()).hexdigest()


def drawable(leaves: Sequence[Leaf]) -> list[str]:
    """The episodes of a set of runs that can be graded again: those with a result."""
    return [str(leaf["episode"]) for leaf in leaves if leaf["score"] != UNAVAILABLE]
