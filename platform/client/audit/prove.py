"""`lgbench-audit prove`: a proof for one entry, made from an export's tiles against its latest checkpoint."""

from __future__ import annotations

from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid
from audit.merkle.export import CHECKPOINTS, ExportInvalid, unframe
from audit.merkle.note import NoteInvalid, parse_note
from audit.merkle.proof import Proof
from audit.merkle.tiles import WIDTH, TileInvalid, TileReader, decode_bundle, entries_path, tile_width
from audit.merkle.tree import inclusion_proof
from client.audit.report import WrongQuestion
from client.audit.source import Missing, Source
from client.audit.verify import read_manifest


class Prover:
    """Proofs against an export's latest checkpoint. Nothing is verified here; whoever reads the proof does."""

    def __init__(self, source: Source) -> None:
        """Raises WrongQuestion where the export has no checkpoint."""
        self._source = source
        self._manifest = read_manifest(source)
        self._note = self._latest()
        self.size = Checkpoint.parse(parse_note(self._note).body).size
        if self.size > self._manifest.size:
            raise WrongQuestion("the export's latest checkpoint covers more entries than it has")
        self._tiles = TileReader(self._read, self.size)

    def _latest(self) -> str:
        note = ""
        try:
            with self._source.stream(CHECKPOINTS) as file:
                for later in unframe(file):
                    note = later
            Checkpoint.parse(parse_note(note).body)
        except (Missing, ExportInvalid, NoteInvalid, CheckpointInvalid) as error:
            raise WrongQuestion(f"the export has no usable checkpoint: {error}") from error
        return note

    def _read(self, name: str) -> bytes:
        """A tile as the smaller tree needs it: the export may hold it wider than the checkpoint is."""
        if name in self._manifest.files:
            return self._source.read(name)
        path, _, width = name.partition(".p/")
        wider = [path] + [f"{path}.p/{count}" for count in range(WIDTH - 1, int(width or WIDTH) - 1, -1)]
        for candidate in wider:
            if candidate in self._manifest.files:
                return self._source.read(candidate)[: 32 * int(width or WIDTH)]
        raise Missing(name)

    def prove(self, index: int) -> Proof:
        """The proof of entry `index`, with the entry in `extra` where it is disclosed. Raises WrongQuestion."""
        if not 0 <= index < self.size:
            raise WrongQuestion(f"the latest checkpoint covers {self.size} entries, and not entry {index}")
        try:
            path = inclusion_proof(index, self.size, self._tiles.subtree)
            return Proof(index, tuple(path), self._note, self._entry(index))
        except (Missing, TileInvalid, IndexError) as error:
            raise WrongQuestion(f"the export lacks a part that the proof needs: {error}") from error

    def _entry(self, index: int) -> bytes | None:
        number, offset = divmod(index, WIDTH)
        name = entries_path(number, tile_width(0, number, self._manifest.size))
        if name not in self._manifest.files:
            return None
        return decode_bundle(self._source.read(name))[offset]
