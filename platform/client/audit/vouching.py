"""Witnesses that the reader names: which checkpoints of an export they cosigned, and whether their lines hold.

Only checkpoints that the log signed and that the entries lead to count. The newest checkpoint need not be cosigned:
the public, and so a witness, sees the log at fixed times only, and an auditor's export goes further.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from audit.merkle.note import Note, NoteInvalid, Verifier, parse_note
from client.audit.report import Report, Vouched


class Witnesses:
    """Takes confirmed checkpoints, oldest first, and keeps of each witness the last that it cosigned."""

    def __init__(self, named: Sequence[Verifier], report: Report) -> None:
        self._report = report
        self._found = {key: Vouched(key.name, key.vkey) for key in named}
        self._wrong: dict[Verifier, list[int]] = {key: [] for key in named}
        """Sizes of the checkpoints that bear a wrong cosignature."""
        self._strangers: set[str] = set()
        """Names of witnesses under which another key signed."""

    def take(self, text: str, size: int) -> None:
        """The signed checkpoint of `size` entries, which holds."""
        if not self._found:
            return
        note = parse_note(text)
        claimed = {(row.name, row.key_id) for row in note.signatures}
        for key, before in self._found.items():
            if (key.name, key.key_id) in claimed:
                self._judge(note, key, before, size)
            elif any(name == key.name for name, _ in claimed):
                self._strangers.add(key.name)

    def _judge(self, note: Note, key: Verifier, before: Vouched, size: int) -> None:
        try:
            (signed,) = note.verified([key])
        except NoteInvalid:
            self._wrong[key].append(size)
        else:
            self._found[key] = replace(before, cosigned=before.cosigned + 1, size=size, at=signed.at)

    def finish(self) -> None:
        """Tell what was found, and what is not as it must be."""
        for key, found in self._found.items():
            self._report.witnesses.append(found)
            if sizes := self._wrong[key]:
                more = f" and under {len(sizes) - 1} more" if len(sizes) > 1 else ""
                where = f"under the checkpoint of {sizes[0]} entries{more}"
                what = f"the cosignature in the name of the witness {key.name} is wrong, {where}"
                self._report.add(None, None, what)
            elif found.size is None:
                what = f"the witness {key.name} has cosigned no checkpoint of this export that holds"
                other = "; lines in its name are by another key" if key.name in self._strangers else ""
                self._report.add(None, None, what + other)
