"""Which keys may sign the log's checkpoints: the one the auditor trusts, and those that it has handed over to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid
from audit.merkle.note import ED25519, NoteInvalid, Verifier, parse_note


class Trust:
    """Follows checkpoints, oldest first, from the trusted key on.

    A checkpoint signed by the current key and by one that keys.txt lists after it hands over: from the next one on
    only the new key counts. Checkpoints before the trusted key's first must be signed by a listed key; that the tree
    leads through them is what vouches for them.
    """

    def __init__(self, origin: str, trusted: Verifier, listed: Sequence[Verifier]) -> None:
        self.current = trusted
        self.vouched = False
        """Whether the trusted key or a successor has signed a checkpoint yet."""
        self._origin = origin
        self._listed = [key for key in listed if key.kind == ED25519 and key.name == origin]
        self._known = list(dict.fromkeys([trusted, *self._listed]))

    def check(self, text: str) -> Checkpoint:
        """The checkpoint in the next note. Raises NoteInvalid and CheckpointInvalid where it is not the log's."""
        note = parse_note(text)
        found = Checkpoint.parse(note.body)
        if found.origin != self._origin:
            raise CheckpointInvalid(f"it is of another log, {found.origin}")
        signers = [item.verifier for item in note.verified(self._known)]
        if self.current in signers:
            self.vouched = True
            self._hand_over(signers)
        elif self.vouched:
            raise NoteInvalid("the key that is trusted at this point has not signed it")
        elif not signers:
            raise NoteInvalid("no key of this log has signed it")
        return found

    def _hand_over(self, signers: Iterable[Verifier]) -> None:
        if self.current not in self._listed:
            return
        later = self._listed[self._listed.index(self.current) + 1 :]
        successors = [key for key in later if key in signers]
        if successors:
            self.current = successors[-1]


def parse_keys(text: str) -> list[Verifier]:
    """Verifier keys, one a line; empty lines and lines that begin with # are left out. Raises NoteInvalid."""
    lines = [line.strip() for line in text.splitlines()]
    return [Verifier.parse(line) for line in lines if line and not line.startswith("#")]
