"""Reading the whole log back: the tree as the entries make it, against events, tiles and what was signed."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Any, TypeAlias

import psycopg

from audit.edge import FullTile, RightEdge
from audit.keys import LogRefused
from audit.merkle.note import signed_by

logger = logging.getLogger("audit.sequencer")
Database: TypeAlias = psycopg.Connection[Any]

CHUNK = 4096
"""Entries read at a time: whole tiles."""

ENTRIES = """
SELECT entry.position, entry.leaf_hash, event.leaf_hash
  FROM audit_entry entry LEFT JOIN audit_event event ON event.id = entry.event_id
 WHERE entry.position >= %s AND entry.position < %s ORDER BY entry.position
"""


def rebuild(database: Database, sizes: Collection[int]) -> tuple[RightEdge, dict[int, bytes]]:
    """The tree over all entries, and its roots at `sizes` (those that it reaches). About 5 µs an entry.

    Raises LogRefused at the first entry that is missing or has another hash than its event, and at the first tile
    that is not the one over the entries.
    """
    edge, roots = RightEdge(), {}
    while True:
        rows = database.execute(ENTRIES, [edge.size, edge.size + CHUNK]).fetchall()
        _require_sound(rows, edge.size)
        tiles: list[FullTile] = []
        begin = edge.size
        for stop in sorted(
            {*(size for size in sizes if begin < size < begin + len(rows)), begin + len(rows)}
        ):
            tiles += edge.extend(bytes(row[1]) for row in rows[edge.size - begin : stop - begin])
            if stop in sizes:
                roots[stop] = edge.root()
        _require_stored(database, tiles)
        if len(rows) < CHUNK:
            return edge, roots


def _require_sound(rows: list[tuple[Any, ...]], begin: int) -> None:
    for place, (position, leaf, event_leaf) in enumerate(rows, start=begin):
        if position != place:
            raise LogRefused(f"Entry {place} is missing from the log in the database: it was changed.")
        if leaf != event_leaf:
            raise LogRefused(f"Entry {place} is not the event it was: the log in the database was changed.")


def _require_stored(database: Database, tiles: list[FullTile]) -> None:
    if not tiles:
        return
    columns = [list(column) for column in zip(*((tile.level, tile.number) for tile in tiles), strict=True)]
    rows = database.execute(
        "SELECT level, number, hashes, root FROM audit_tile "
        "JOIN unnest(%s::smallint[], %s::bigint[]) AS wanted(level, number) USING (level, number)",
        columns,
    ).fetchall()
    found = {FullTile(level, number, bytes(hashes), bytes(root)) for level, number, hashes, root in rows}
    for tile in tiles:
        if tile not in found:
            raise LogRefused(
                f"Tile {tile.number} of level {tile.level} is not the one over the entries: "
                "the log in the database was changed."
            )


def last_checkpoint(database: Database) -> tuple[int, bytes, str] | None:
    """Size, root and note of the largest stored checkpoint."""
    row = database.execute(
        "SELECT size, root, note FROM audit_checkpoint ORDER BY size DESC LIMIT 1"
    ).fetchone()
    return None if row is None else (int(row[0]), bytes(row[1]), str(row[2]))


def newest_key(database: Database, own: Collection[str]) -> str | None:
    """The verifier key that signs now: of the keys registered, newest first, one of `own` or one that has signed.

    Whoever has the sequencer's password can add a row, but no signature under the first checkpoint that it claims.
    The oldest key needs none.
    """
    rows = database.execute("SELECT vkey, since_size FROM audit_log_key ORDER BY since_size DESC").fetchall()
    for number, (vkey, since) in enumerate(rows, start=1):
        if vkey in own or number == len(rows) or _has_signed(database, vkey, since):
            return str(vkey)
        logger.warning("a key that signed nothing stands among the log's own: %s", vkey)
    return None


def _has_signed(database: Database, vkey: str, since: int) -> bool:
    first = database.execute(
        "SELECT note FROM audit_checkpoint WHERE size >= %s ORDER BY size LIMIT 1", [since]
    ).fetchone()
    return first is not None and signed_by(first[0], vkey)
