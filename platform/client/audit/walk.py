"""The tree of an export, rebuilt from its leaves: against the tiles above, every checkpoint and a saved one."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid
from audit.merkle.export import CHECKPOINTS, ExportInvalid, unframe
from audit.merkle.note import NoteInvalid
from audit.merkle.tiles import HEIGHT, WIDTH, TileInvalid, split_hashes, tile_path, tile_root, tile_width
from audit.merkle.tree import Frontier
from client.audit.bundles import Checked, Task, read_file
from client.audit.report import Report
from client.audit.source import Missing
from client.audit.trust import Trust
from client.audit.vouching import Witnesses


class Tiles:
    """The tiles above level 0 against what their levels below lead to."""

    def __init__(self, task: Task, report: Report) -> None:
        self._task = task
        self._report = report
        self._rows: list[list[bytes]] = [[]]
        """Hashes not yet compared, of the tile being filled at level 1, 2 …"""
        self._full = [0]

    def add(self, digest: bytes, level: int = 1) -> None:
        """The next hash of `level`."""
        if level > len(self._rows):
            self._rows.append([])
            self._full.append(0)
        row = self._rows[level - 1]
        row.append(digest)
        if len(row) == WIDTH:
            self._compare(level, row)
            above = tile_root(row)
            self._full[level - 1] += 1
            row.clear()
            self.add(above, level + 1)

    def finish(self) -> None:
        """Compare the right edge."""
        for level, row in enumerate(self._rows, start=1):
            if row:
                self._compare(level, row)

    def _compare(self, level: int, row: list[bytes]) -> None:
        number, span = self._full[level - 1], 1 << (HEIGHT * level)
        first, size = number * WIDTH * span, self._task.size
        name = tile_path(level, number, tile_width(level, number, size))
        last = min(first + len(row) * span, size) - 1
        try:
            data, changed = read_file(self._task, name)
            stored = split_hashes(data)
        except (Missing, TileInvalid) as error:
            self._report.add_unless_known(first, last, f"{name} is missing or no tile: {error}")
            return
        if stored != row:
            at = next((at for at in range(min(len(stored), len(row))) if stored[at] != row[at]), len(stored))
            begin = min(first + at * span, size - 1)
            until = min(begin + span, size) - 1
            self._report.add_unless_known(begin, until, f"{name} differs from the tiles below it")
        elif changed:
            self._report.add_unless_known(first, last, changed)


class Checkpoints:
    """The signed checkpoints in their order, met by the growing tree."""

    def __init__(
        self, task: Task, trust: Trust, report: Report, since: Checkpoint | None, witnesses: Witnesses
    ) -> None:
        self._task = task
        self._trust = trust
        self._report = report
        self._witnesses = witnesses
        self._since = since
        self._confirmed = 0
        """Size of the last checkpoint that fits."""
        self._ended = False
        self._notes = self._open()
        self._text = ""
        """The note of `_next`."""
        self._next = self._take()

    @property
    def wanted(self) -> int | None:
        """The next size at which a root is wanted; None where none is any more."""
        sizes = [item.size for item in (self._next, self._since) if item is not None]
        return min(sizes, default=None)

    def _open(self) -> Iterator[str]:
        try:
            with self._task.source.stream(CHECKPOINTS) as file:
                yield from unframe(file)
        except Missing:
            self._report.add(None, None, f"{CHECKPOINTS} is missing")
        except ExportInvalid as error:
            self._broken(f"{CHECKPOINTS}: {error}")

    def _broken(self, what: str) -> None:
        """The entries after the last good checkpoint are vouched for by none; no later one is looked at."""
        self._report.add(self._confirmed, max(self._confirmed, self._task.size - 1), what)
        self._ended = True

    def _take(self) -> Checkpoint | None:
        if self._ended:
            return None
        text = next(self._notes, None)
        if text is None:
            return None
        number = self._report.checkpoints + 1
        try:
            found = self._trust.check(text)
        except (NoteInvalid, CheckpointInvalid) as error:
            self._broken(f"checkpoint {number} in {CHECKPOINTS} is not valid: {error}")
            return None
        if found.size < self._confirmed:
            self._broken(f"checkpoint {number} in {CHECKPOINTS} is older than the one before it")
            return None
        if found.size > self._task.size:
            self._broken(
                f"a checkpoint of {found.size} entries is signed, but only {self._task.size} are here"
            )
            return None
        self._report.checkpoints, self._text = number, text
        return found

    def meet(self, size: int, root: bytes) -> None:
        """The tree has `size` leaves now, as `wanted` asked."""
        if self._since is not None and self._since.size == size:
            if self._since.root != root:
                self._report.add_unless_known(
                    0, size - 1, "the log is another than the saved checkpoint's: it was forked"
                )
            self._since = None
        while self._next is not None and self._next.size == size:
            if self._next.root != root:
                what = f"the entries do not lead to the root that was signed at {size} entries"
                self._report.add_unless_known(self._confirmed, max(size - 1, self._confirmed), what)
                self._ended, self._next = True, None
                return
            self._confirmed = size
            self._witnesses.take(self._text, size)
            self._report.root = base64.b64encode(root).decode("ascii")
            self._next = self._take()

    def finish(self) -> None:
        """What must hold at the end: a saved checkpoint was met, the last one covers everything, the key vouched."""
        if self._since is not None:
            size, saved = self._task.size, self._since.size
            what = f"the log has {size} entries, the saved checkpoint {saved}: it was cut or restored"
            self._report.add(size, saved - 1, what)
        if not self._ended and self._confirmed < self._task.size:
            what = "no signed checkpoint covers the last entries"
            self._report.add_unless_known(self._confirmed, self._task.size - 1, what)
        if not self._ended and not self._trust.vouched and self._report.checkpoints:
            self._report.add(None, None, "no checkpoint is signed by the trusted key")


def grow(
    tree: Frontier, checked: Checked, leaves: list[bytes], checkpoints: Checkpoints, tiles: Tiles
) -> None:
    """Add one bundle to the tree and answer every checkpoint whose size it reaches."""
    end = tree.size + checked.width
    wanted = checkpoints.wanted
    if (wanted is not None and wanted < end) or checked.root is None:
        part = tree.copy()
        for leaf in leaves:
            part.append(leaf)
            while checkpoints.wanted == part.size:
                checkpoints.meet(part.size, part.root())
        if checked.root is None:
            tree.extend(leaves)
    if checked.root is not None:
        tree.append(checked.root, HEIGHT)
        tiles.add(checked.root)
        while checkpoints.wanted == tree.size:
            checkpoints.meet(tree.size, tree.root())
