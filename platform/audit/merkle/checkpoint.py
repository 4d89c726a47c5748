"""Checkpoints of C2SP: origin, size and root of a tree in three lines, signed as a note."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Sequence
from dataclasses import dataclass

from audit.merkle.note import ED25519, NoteInvalid, Verifier, parse_note
from audit.merkle.tree import EMPTY_ROOT, HASH_BYTES

_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")


class CheckpointInvalid(ValueError):
    """A checkpoint's text is malformed."""


@dataclass(frozen=True)
class Checkpoint:
    """`size` leaves of the log `origin` have `root` (32 bytes)."""

    origin: str
    size: int
    root: bytes

    def body(self) -> str:
        """The three lines that are signed. Raises CheckpointInvalid where they could not be read again."""
        text = f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode('ascii')}\n"
        if Checkpoint.parse(text) != self:
            raise CheckpointInvalid("the checkpoint has no text of its own")
        return text

    @classmethod
    def parse(cls, text: str) -> Checkpoint:
        """Raises CheckpointInvalid; also for extension lines, which nobody can audit and this log never writes."""
        lines = text.split("\n")
        if len(lines) != 4 or lines[3] or not lines[0]:
            raise CheckpointInvalid("a checkpoint has three lines: origin, size and root")
        if not _SIZE.fullmatch(lines[1]):
            raise CheckpointInvalid("the second line of a checkpoint is the size of the tree")
        try:
            root = base64.b64decode(lines[2], validate=True)
        except (binascii.Error, ValueError) as error:
            raise CheckpointInvalid("the third line of a checkpoint is a root in base64") from error
        if len(root) != HASH_BYTES or base64.b64encode(root).decode("ascii") != lines[2]:
            raise CheckpointInvalid("the third line of a checkpoint is a root of 32 bytes in base64")
        if lines[1] == "0" and root != EMPTY_ROOT:
            raise CheckpointInvalid("a tree without leaves has another root")
        return cls(lines[0], int(lines[1]), root)


def open_checkpoint(text: str, verifiers: Sequence[Verifier]) -> Checkpoint:
    """The checkpoint in a note that one of the log's own keys among `verifiers` signed; witnesses alone do not do.

    The key's name is the origin. Raises NoteInvalid and CheckpointInvalid.
    """
    note = parse_note(text)
    found = Checkpoint.parse(note.body)
    signed = [item.verifier for item in note.verified(verifiers)]
    if not any(key.kind == ED25519 and key.name == found.origin for key in signed):
        raise NoteInvalid("no known key of this log signed the checkpoint")
    return found
