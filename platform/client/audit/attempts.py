"""The ends of attempts in an export of the log, against the runs of a sealed export.

Each attempt's end was an event when it ended, with its number and the digest of what it left; so a run whose artefacts
were exchanged afterwards, or which never took place, shows. The export itself is checked by `lgbench-audit verify`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from audit.merkle.commitment import UNAVAILABLE
from audit.merkle.tiles import WIDTH, TileInvalid, decode_bundle, entries_path, tile_width
from client.audit.events import Malformed, read_entry
from client.audit.report import WrongQuestion
from client.audit.source import Missing, open_source
from client.audit.verify import read_manifest

KIND = "attempt.ended"
FAULT = "infrastructure_fault"
_MARK = f'"kind":"{KIND}"'.encode()


class Ended(NamedTuple):
    """What the log says of one attempt, and where."""

    position: int
    run: str
    number: int
    ending: str
    artefact: str


def ends(path: Path) -> dict[str, Ended]:
    """By episode (the attempt's id, 32 hex digits): the disclosed ends of attempts in the export at `path`.

    Raises WrongQuestion where it is no export or a part of it is missing.
    """
    found: dict[str, Ended] = {}
    for position, entry in _entries(path):
        if _MARK not in entry:
            continue
        try:
            event = read_entry(entry)
            if event.kind == KIND:
                facts = event.data
                found[event.subject.replace("-", "")] = Ended(
                    position, facts["run"], facts["number"], facts["ending"], facts.get("artefact", "")
                )
        except (Malformed, KeyError) as error:
            raise WrongQuestion(f"entry {position} of the log's export: {error}; verify it first") from error
    return found


def _entries(path: Path) -> Iterator[tuple[int, bytes]]:
    """The disclosed entries with their positions, bundle by bundle."""
    source = open_source(path)
    size = read_manifest(source).size
    try:
        for number in range(-(-size // WIDTH)):
            bundle = decode_bundle(source.read(entries_path(number, tile_width(0, number, size))))
            for offset, entry in enumerate(bundle):
                if entry is not None:
                    yield number * WIDTH + offset, entry
    except (Missing, TileInvalid) as error:
        raise WrongQuestion(f"the log's export lacks a part: {error}; verify it first") from error


class Check:
    """Compares one run after the other; `unseen` counts those whose attempt the log does not disclose."""

    def __init__(self, known: Mapping[str, Ended], released_at: int) -> None:
        self._known = known
        self._released_at = released_at
        self._run = ""
        self.unseen = 0

    def wrong(self, leaf: Mapping[str, Any]) -> str | None:
        """What is wrong with a run's leaf, None where nothing is or nothing is known."""
        if leaf["attempt"] == 0:
            return None
        end = self._known.get(leaf["episode"])
        if end is None:
            self.unseen += 1
            return None
        self._run = self._run or end.run
        if end.position > self._released_at:
            return f"its attempt ended at entry {end.position}, after the release"
        if end.run != self._run:
            return f"its attempt is of another evaluation run ({end.run})"
        if end.number != leaf["attempt"]:
            return f"the log has attempt {end.number} (entry {end.position}), the leaf says {leaf['attempt']}"
        if leaf["score"] == UNAVAILABLE:
            return None
        if end.ending == FAULT or end.artefact != leaf["artefact"]:
            return f"the log has the artefact {end.artefact or 'of nothing'} (entry {end.position})"
        return None
