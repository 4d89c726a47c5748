"""`lgbench-audit verify` on an export: files, leaves, tiles, checkpoints, keys; strictly also form and rules."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from audit.merkle.checkpoint import Checkpoint
from audit.merkle.export import CHECKPOINTS, KEYS, MANIFEST, TABLE, WITNESSES, ExportInvalid, Manifest
from audit.merkle.note import NoteInvalid, Verifier
from audit.merkle.tiles import WIDTH, TileInvalid, parse_path, split_hashes, tile_path, tile_width, tiles_of
from audit.merkle.tree import EMPTY_ROOT, Frontier
from client.audit.bundles import Checked, Task
from client.audit.history import History
from client.audit.pool import check_all
from client.audit.report import Report, WrongQuestion
from client.audit.source import Missing, Source
from client.audit.trust import Trust, parse_keys
from client.audit.vouching import Witnesses
from client.audit.walk import Checkpoints, Tiles, grow

CHUNK = 1 << 20
OTHERS = (KEYS, WITNESSES, CHECKPOINTS, TABLE)
"""Files of an export that are no tiles and no bundles."""
Tick = Callable[[int, int], None]


@dataclass(frozen=True)
class Options:
    """How to verify. `since` is an already opened checkpoint that must be a prefix of the log."""

    strict: bool = False
    since: Checkpoint | None = None
    jobs: int | None = None
    """Helper processes; None lets the size decide."""
    witnesses: Sequence[Verifier] = ()
    """Each must have cosigned a checkpoint of the export."""


def read_manifest(source: Source) -> Manifest:
    """Raises WrongQuestion where this is no export."""
    try:
        return Manifest.parse(source.read(MANIFEST))
    except (Missing, ExportInvalid) as error:
        raise WrongQuestion(f"this is no export of a log: {error}") from error


def read_keys(source: Source) -> list[Verifier]:
    """The verifier keys that the export lists, oldest first; none where the file is missing or malformed."""
    try:
        return parse_keys(source.read(KEYS).decode())
    except (Missing, NoteInvalid, UnicodeDecodeError):
        return []


def _check_keys(source: Source, report: Report) -> None:
    """The lists of keys where they are there; that one is missing is told with the other files."""
    for name in (KEYS, WITNESSES):
        try:
            parse_keys(source.read(name).decode())
        except Missing:
            continue
        except (NoteInvalid, UnicodeDecodeError) as error:
            report.add(None, None, f"{name} is no list of verifier keys: {error}")


def verify_export(
    source: Source, key: Verifier, options: Options, tick: Tick = lambda done, total: None
) -> Report:
    """The report on an export. Raises WrongQuestion where it is none."""
    manifest = read_manifest(source)
    mode = "proofs, form and rules" if options.strict else "proofs"
    report = Report("export", mode, manifest.origin, manifest.size)
    if key.name != manifest.origin:
        report.add(None, None, f"the export says it is of {manifest.origin}, the key is of {key.name}")
    history = History(report)
    kinds = history.judge.read if options.strict else frozenset[str]()
    task = Task(source, manifest.size, manifest.files, options.strict, kinds)
    _check_keys(source, report)
    report.not_compared = [TABLE] if TABLE in manifest.files else []
    trust = Trust(key.name, key, read_keys(source))
    _check_names(task, report)
    _check_others(task, report)
    witnesses = Witnesses(options.witnesses, report)
    checkpoints = Checkpoints(task, trust, report, options.since, witnesses)
    _walk(task, checkpoints, history, options, tick)
    checkpoints.finish()
    witnesses.finish()
    if options.strict:
        history.finish()
    _check_counts(manifest, report, history)
    report.key = trust.current.vkey
    return report


def _walk(task: Task, checkpoints: Checkpoints, history: History, options: Options, tick: Tick) -> None:
    tree, tiles = Frontier(), Tiles(task, history.report)
    while checkpoints.wanted == 0:
        checkpoints.meet(0, EMPTY_ROOT)
    bundles = -(-task.size // WIDTH)
    for checked in check_all(task, bundles, options.jobs):
        for problem in checked.problems:
            history.report.add(*problem)
        history.take(checked)
        if checked.root is None and checked.leaves is None:
            break
        grow(tree, checked, _leaves(task, checked, checkpoints), checkpoints, tiles)
        tick(tree.size, task.size)
    else:
        tiles.finish()


def _leaves(task: Task, checked: Checked, checkpoints: Checkpoints) -> list[bytes]:
    """The bundle's leaves, read again only where a checkpoint lies within a full bundle."""
    if checked.leaves is not None:
        return checked.leaves
    wanted, end = checkpoints.wanted, (checked.number + 1) * WIDTH
    if wanted is None or wanted >= end:
        return []
    return split_hashes(task.source.read(tile_path(0, checked.number)))


def _check_names(task: Task, report: Report) -> None:
    """The manifest names every tile of the tree and nothing that does not belong to an export."""
    for name in task.files:
        if name not in OTHERS and not _belongs(task, name):
            report.add(None, None, f"the manifest names {name[:80]!r}, which is no part of this export")
    for name in (KEYS, CHECKPOINTS):
        if name not in task.files:
            report.add(None, None, f"the manifest does not name {name}")
    levels = tiles_of(task.size)[1:]
    if sum(-(-count // WIDTH) for _, count in levels) > len(task.files):
        report.add(None, None, f"the manifest names fewer files than a tree of {task.size} entries has tiles")
        return
    for level, count in levels:
        for number in range(-(-count // WIDTH)):
            name = tile_path(level, number, tile_width(level, number, task.size))
            if name not in task.files:
                report.add(None, None, f"the manifest does not name {name}")


def _belongs(task: Task, name: str) -> bool:
    try:
        path = parse_path(name)
    except TileInvalid:
        return False
    return path.width == tile_width(path.level or 0, path.number, task.size)


def _check_others(task: Task, report: Report) -> None:
    """The SHA-256 of the files that are no tiles and no bundles."""
    for name in OTHERS:
        if name not in task.files:
            continue
        digest = hashlib.sha256()
        try:
            with task.source.stream(name) as file:
                while data := file.read(CHUNK):
                    digest.update(data)
        except Missing:
            report.add(None, None, f"{name} is missing")
            continue
        if digest.hexdigest() != task.files[name]:
            report.add(None, None, f"{name} has another SHA-256 than the manifest says")


def _check_counts(manifest: Manifest, report: Report, history: History) -> None:
    """What the manifest says of the disclosed part, against what was found."""
    report.disclosed, report.withheld = history.disclosed, history.withheld
    said = (manifest.first, manifest.last, manifest.withheld)
    if not report.problems and said != (history.first, history.last, history.withheld):
        text = f"the manifest says that entries {said[0]} to {said[1]} are disclosed and {said[2]} withheld"
        report.add(None, None, f"{text}, but it is {history.first} to {history.last} and {history.withheld}")


__all__: Sequence[str] = ["Options", "read_keys", "read_manifest", "verify_export"]
