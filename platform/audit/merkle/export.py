"""Writing an export of the log: entry bundles, tiles, checkpoints, keys, a table for people, and the manifest.

Streams: at most one tile a level is held. Reading is the verifier's; the two share the manifest and the framing of
the checkpoints. Layout and formats: docs/transparency-log.md.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from audit.merkle.note import well_formed
from audit.merkle.tiles import WIDTH, encode_bundle, entries_path, tile_path, tile_root
from audit.merkle.tree import HASH_BYTES, Frontier, leaf_hash

SCHEMA = "lingee-log-export/1"
MANIFEST, KEYS, CHECKPOINTS, TABLE = "manifest.json", "keys.txt", "checkpoints.txt", "events.csv"
WITNESSES = "witnesses.txt"
"""Only in exports of a log that has witnesses."""
MOST_ENTRIES = 1 << 62
MAXIMUM_NOTE = 64 * 1024
_FRAME = re.compile(rb"=== ([1-9][0-9]{0,5})\n")
_DIGEST = re.compile(r"[0-9a-f]{64}")

Row = Callable[[int, bytes], Sequence[str]]
"""Position and entry to the cells of its line in events.csv."""


class ExportInvalid(ValueError):
    """A part of an export is malformed."""


@dataclass(frozen=True)
class Manifest:
    """What an export says of itself.

    `size` is the tree's; `first` and `last` are the first and last position disclosed (0 and -1 where none is);
    `withheld` counts all other positions; `files` maps every other file to its SHA-256 in lower-case hex.
    """

    origin: str
    size: int
    first: int
    last: int
    withheld: int
    made_at: str
    files: Mapping[str, str]

    def format(self) -> bytes:
        """The bytes of manifest.json."""
        body = {"schema": SCHEMA, **self.__dict__, "files": dict(sorted(self.files.items()))}
        return (json.dumps(body, ensure_ascii=False, sort_keys=True, indent=1) + "\n").encode()

    @classmethod
    def parse(cls, data: bytes) -> Manifest:
        """Raises ExportInvalid."""
        try:
            body = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise ExportInvalid("the manifest is no JSON") from error
        if not isinstance(body, dict) or body.pop("schema", None) != SCHEMA:
            raise ExportInvalid(f"the manifest is not of schema {SCHEMA}")
        return cls._checked(body)

    @classmethod
    def _checked(cls, body: dict[str, Any]) -> Manifest:
        numbers = [body.get(name) for name in ("size", "first", "last", "withheld")]
        texts = [body.get(name) for name in ("origin", "made_at")]
        files = body.get("files")
        if set(body) != set(cls.__dataclass_fields__) or not isinstance(files, dict):
            raise ExportInvalid("the manifest has other fields than it should")
        if not all(type(number) is int for number in numbers) or not all(type(text) is str for text in texts):
            raise ExportInvalid("a field of the manifest is of the wrong type")
        if any(type(name) is not str or not _DIGEST.fullmatch(str(digest)) for name, digest in files.items()):
            raise ExportInvalid("the manifest gives a file no SHA-256")
        if not 0 <= body["size"] < MOST_ENTRIES:
            raise ExportInvalid("the manifest gives a size that no log has")
        return cls(**body)


def listed(witnesses: Iterable[tuple[str, str]]) -> str:
    """Names and verifier keys of witnesses as a list of keys: one a line, and above it its name as a comment.

    What is no key is left out, so that one row that somebody added makes the list useless to nobody.
    """
    lines = []
    for name, vkey in witnesses:
        shown = "".join(mark if mark.isprintable() else " " for mark in name)
        lines += [f"# {shown}\n{key.vkey}\n" for key in well_formed([vkey])]
    return "".join(lines)


def frame(note: str) -> bytes:
    """One signed checkpoint as it stands in checkpoints.txt."""
    data = note.encode()
    return b"=== %d\n" % len(data) + data


def unframe(stream: BinaryIO) -> Iterator[str]:
    """The signed checkpoints of checkpoints.txt, one after the other. Raises ExportInvalid."""
    while head := stream.readline(16):
        match = _FRAME.fullmatch(head)
        if match is None or int(match[1]) > MAXIMUM_NOTE:
            raise ExportInvalid("a checkpoint is not framed by === and its length")
        data = stream.read(int(match[1]))
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            raise ExportInvalid("a checkpoint is no UTF-8") from error
        if len(data) != int(match[1]):
            raise ExportInvalid("the last checkpoint is cut off")
        yield text


class ExportWriter:
    """Writes one export into an empty or absent directory.

    Call `add` or `withhold` for every position from 0 on, then `finish` once. `row` makes the lines of events.csv
    under `header`; without it there is no table.
    """

    def __init__(
        self, directory: Path, origin: str, *, row: Row | None = None, header: Sequence[str] = ()
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.size = 0
        self._directory = directory
        self._origin = origin
        self._bundle: list[bytes | None] = []
        self._levels: list[list[bytes]] = []
        self._tree = Frontier()
        self._files: dict[str, str] = {}
        self._disclosed = 0
        self._first, self._last = 0, -1
        self._row = row
        self._table = (directory / TABLE).open("w", encoding="utf-8", newline="") if row else None
        self._cells = csv.writer(self._table) if self._table else None
        if self._cells and header:
            self._cells.writerow(header)

    def add(self, entry: bytes) -> None:
        """The next entry, disclosed."""
        if not self._disclosed:
            self._first = self.size
        self._disclosed += 1
        self._last = self.size
        if self._cells and self._row:
            self._cells.writerow(self._row(self.size, entry))
        self._take(entry, leaf_hash(entry))

    def withhold(self, leaf: bytes) -> None:
        """The next entry by its leaf hash only. Raises ExportInvalid where that is not 32 bytes."""
        if len(leaf) != HASH_BYTES:
            raise ExportInvalid("a leaf hash is 32 bytes long")
        self._take(None, leaf)

    def extend(self, entries: Iterable[bytes | tuple[None, bytes]]) -> None:
        """Entries in order, a withheld one as (None, leaf hash)."""
        for entry in entries:
            if isinstance(entry, tuple):
                self.withhold(entry[1])
            else:
                self.add(entry)

    def root(self) -> bytes:
        """The root over the entries so far, 32 bytes."""
        return self._tree.root()

    def _take(self, entry: bytes | None, leaf: bytes) -> None:
        self._bundle.append(entry)
        self.size += 1
        self._tree.append(leaf)
        self._push(0, leaf)

    def _push(self, level: int, digest: bytes) -> None:
        """Add a hash to the row of its level; a full row is a tile, and its root belongs one level up."""
        if level == len(self._levels):
            self._levels.append([])
        row = self._levels[level]
        row.append(digest)
        if len(row) == WIDTH:
            if level == 0:
                self._write_bundle()
            self._write(tile_path(level, self._number(level), WIDTH), b"".join(row))
            above = tile_root(row)
            row.clear()
            self._push(level + 1, above)

    def _number(self, level: int) -> int:
        return ((self.size - 1) >> (8 * level)) // WIDTH

    def _write_bundle(self) -> None:
        """A bundle of which nothing is disclosed is left out."""
        if any(entry is not None for entry in self._bundle):
            self._write(entries_path(self._number(0), len(self._bundle)), encode_bundle(self._bundle))
        self._bundle.clear()

    def _write(self, name: str, data: bytes) -> None:
        path = self._directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self._files[name] = hashlib.sha256(data).hexdigest()

    def finish(
        self,
        *,
        checkpoints: Iterable[str],
        keys: Iterable[str],
        made_at: str,
        witnesses: Iterable[tuple[str, str]] = (),
    ) -> Manifest:
        """Write the right edge, the signed checkpoints (oldest first), the verifier keys and the manifest.

        Cosignatures stand under the checkpoints as further lines; `witnesses` are the names and keys of who made them.
        """
        if self._bundle:
            self._write_bundle()
        for level, row in enumerate(self._levels):
            if row:
                number = (self.size >> (8 * level)) // WIDTH
                self._write(tile_path(level, number, len(row)), b"".join(row))
        self._write(KEYS, "".join(f"{key}\n" for key in keys).encode())
        if vouching := listed(witnesses):
            self._write(WITNESSES, vouching.encode())
        self._write_checkpoints(checkpoints)
        self._close_table()
        manifest = Manifest(
            origin=self._origin,
            size=self.size,
            first=self._first,
            last=self._last,
            withheld=self.size - self._disclosed,
            made_at=made_at,
            files=self._files,
        )
        (self._directory / MANIFEST).write_bytes(manifest.format())
        return manifest

    def _write_checkpoints(self, checkpoints: Iterable[str]) -> None:
        digest = hashlib.sha256()
        with (self._directory / CHECKPOINTS).open("wb") as file:
            for note in checkpoints:
                data = frame(note)
                digest.update(data)
                file.write(data)
        self._files[CHECKPOINTS] = digest.hexdigest()

    def _close_table(self) -> None:
        if self._table:
            self._table.close()
            with (self._directory / TABLE).open("rb") as file:
                self._files[TABLE] = hashlib.file_digest(file, "sha256").hexdigest()


def pack(directory: Path, target: Path) -> None:
    """An export as one uncompressed tar, the same bytes whenever it is made: no owner, no time of the files."""
    with tarfile.open(target, "w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(path for path in directory.rglob("*") if path.is_file()):
            member = tarfile.TarInfo(path.relative_to(directory).as_posix())
            member.size, member.mode = path.stat().st_size, 0o644
            with path.open("rb") as file:
                archive.addfile(member, file)
