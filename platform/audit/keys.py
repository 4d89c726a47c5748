"""The sequencer's private folder: its signing keys, and the last checkpoint it signed, remembered outside the database.

key.pem      the key that signs
next.pem     while a rotation waits: the key that signs beside it once, then alone
checkpoint   the last signed note; written before the database learns of it
lock         held by the sequencer that uses the folder
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid, open_checkpoint
from audit.merkle.note import NoteInvalid, Signer, add_signature, generate_key, load_key, save_key
from embedded.state import ensure_private

KEY, NEXT, LAST, LOCK = "key.pem", "next.pem", "checkpoint", "lock"


class LogRefused(RuntimeError):
    """The log must not go on: what the sequencer remembers and what it finds do not fit. The text is for people."""


class Keyring:
    """Keys and memory of one log. The folder is made with mode 0700, each file with 0600."""

    def __init__(self, folder: Path, origin: str) -> None:
        """Raises LogRefused where the folder belongs to somebody else or a file in it cannot be read."""
        try:
            self.folder = ensure_private(folder)
        except PermissionError as error:
            raise LogRefused(f"{folder} is not a private folder of this user.") from error
        self.origin = origin
        if not (folder / KEY).exists():
            self._make(KEY)
        self.signer = self._load(KEY)

    def _make(self, name: str) -> None:
        """Beside its place and renamed, so that a kill leaves no half a key."""
        fresh = self.folder / f".{name}.{os.getpid()}"
        fresh.unlink(missing_ok=True)
        save_key(fresh, generate_key())
        fresh.rename(self.folder / name)
        self._settle()

    def _load(self, name: str) -> Signer:
        try:
            return Signer(self.origin, load_key(self.folder / name))
        except (OSError, NoteInvalid) as error:
            raise LogRefused(f"The key {self.folder / name} cannot be used: {error}.") from error

    def _settle(self) -> None:
        """Make the folder's own entries durable."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def try_lock(self) -> int | None:
        """The descriptor that holds the folder until it is closed; None where another process holds it."""
        descriptor = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    def request_rotation(self) -> str:
        """Have the next checkpoint signed by a new key too, and later ones by it alone; returns its verifier key."""
        if not (self.folder / NEXT).exists():
            self._make(NEXT)
        return self._load(NEXT).vkey

    def next_signer(self) -> Signer | None:
        """The key that waits to take over."""
        return self._load(NEXT) if (self.folder / NEXT).exists() else None

    def finish_rotation(self) -> None:
        """Put the waiting key in the place of the old one, which is gone then."""
        (self.folder / NEXT).rename(self.folder / KEY)
        self._settle()
        self.signer = self._load(KEY)

    def sign(self, checkpoint: Checkpoint, also: Signer | None) -> str:
        """The signed note, remembered on disk when this returns."""
        note = self.signer.sign(checkpoint.body())
        if also is not None:
            note = add_signature(note, also)
        self._remember(note)
        return note

    def _remember(self, note: str) -> None:
        fresh = self.folder / f".{LAST}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(note)
            file.flush()
            os.fsync(file.fileno())
        fresh.rename(self.folder / LAST)
        self._settle()

    def remembered(self) -> tuple[Checkpoint, str] | None:
        """The last signed checkpoint with its note; None where nothing was signed yet. Raises LogRefused."""
        path = self.folder / LAST
        try:
            note = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise LogRefused(f"{path} cannot be read: {error}.") from error
        return self.open(note), note

    def open(self, note: str) -> Checkpoint:
        """The checkpoint in a note of this log, signed by a key of this folder. Raises LogRefused."""
        try:
            known = [self.signer, *filter(None, [self.next_signer()])]
            found = open_checkpoint(note, [signer.verifier for signer in known])
        except (NoteInvalid, CheckpointInvalid) as error:
            raise LogRefused(f"A checkpoint is not of this log's key in {self.folder}: {error}.") from error
        if found.origin != self.origin:
            raise LogRefused(f"The last checkpoint is of {found.origin}, not of {self.origin}.")
        return found

    def abandon(self) -> None:
        """Put the remembered checkpoint aside, by its size: evidence of a log that was given up."""
        found = self.remembered()
        if found is not None:
            (self.folder / LAST).rename(self.folder / f"abandoned.{found[0].size}")
            self._settle()
