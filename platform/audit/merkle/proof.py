"""Proofs of C2SP tlog-proof: index, audit path and signed checkpoint in one text that is checked offline."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass

from audit.merkle.checkpoint import Checkpoint, open_checkpoint
from audit.merkle.note import Verifier
from audit.merkle.tree import HASH_BYTES, ProofInvalid, leaf_hash, verify_inclusion

HEADER = "c2sp.org/tlog-proof@v1"
MAXIMUM_PATH = 64
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})")


def _unbase64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ProofInvalid("a part of the proof is no base64") from error
    if base64.b64encode(data).decode("ascii") != text:
        raise ProofInvalid("a part of the proof is no base64 in its shortest form")
    return data


@dataclass(frozen=True)
class Proof:
    """Entry `index` is in the tree that `checkpoint` (a signed note) names; `extra` is data that nothing vouches for.

    In receipts `extra` holds the entry itself, which `verify` then checks like any other.
    """

    index: int
    path: tuple[bytes, ...]
    checkpoint: str
    extra: bytes | None = None

    def format(self) -> str:
        """The text of the proof, the checkpoint verbatim at its end."""
        lines = [HEADER]
        if self.extra is not None:
            lines.append(f"extra {base64.b64encode(self.extra).decode('ascii')}")
        lines.append(f"index {self.index}")
        lines += [base64.b64encode(digest).decode("ascii") for digest in self.path]
        return "\n".join(lines) + f"\n\n{self.checkpoint}"

    @classmethod
    def parse(cls, text: str) -> Proof:
        """Raises ProofInvalid; the checkpoint is looked at only by `verify`."""
        head, blank, checkpoint = text.partition("\n\n")
        lines = head.split("\n")
        if not blank or lines.pop(0) != HEADER:
            raise ProofInvalid(f"a proof begins with {HEADER} and ends with a checkpoint")
        extra = None
        if lines and lines[0].startswith("extra "):
            extra = _unbase64(lines.pop(0).removeprefix("extra "))
        match = _INDEX.fullmatch(lines.pop(0)) if lines else None
        if match is None or len(lines) > MAXIMUM_PATH:
            raise ProofInvalid("a proof names the index of its entry, then at most 64 hashes")
        path = tuple(_unbase64(line) for line in lines)
        if any(len(digest) != HASH_BYTES for digest in path):
            raise ProofInvalid("a hash of the proof is not 32 bytes long")
        return cls(int(match[1]), path, checkpoint, extra)


def verify(proof: Proof, entry: bytes, verifiers: Sequence[Verifier]) -> Checkpoint:
    """The checkpoint that `entry` is shown to be part of.

    Raises ProofInvalid, NoteInvalid where no known key of the log signed, and CheckpointInvalid.
    """
    found = open_checkpoint(proof.checkpoint, verifiers)
    verify_inclusion(leaf_hash(entry), proof.index, found.size, proof.path, found.root)
    return found
