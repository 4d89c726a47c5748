"""The sequencer: gives each waiting event its place in the tree, and signs what the tree has become.

One at a time, as the database role `sequencer`, which can add to the log and nothing else. It may be killed at any
point: whatever is not committed is done again, and whatever was signed is remembered outside the database first.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

import psycopg

from audit.edge import FullTile, RightEdge
from audit.keys import Keyring, LogRefused
from audit.merkle.checkpoint import Checkpoint
from audit.merkle.note import parse_note
from audit.rebuild import Database, last_checkpoint, newest_key, rebuild
from config import clock

logger = logging.getLogger("audit.sequencer")
Found = TypeVar("Found")

BATCH = 4096
"""Most events that get their place in one transaction."""
POLL_SECONDS = 0.5
CHECKPOINT_SECONDS = 1.0
"""Least time between two checkpoints; one follows within this and a poll of the first new entry."""
TURN_LOCK = 0x6C676C6F67
"""The advisory lock that the working sequencer's session holds."""
LONGEST_POLL_SECONDS = 2.0
WHOLE_LOOK_SECONDS = 2.0
"""Least time between two looks at all that waits; those between look past what was placed two looks ago. While some
session's old snapshot keeps taken rows alive, the index over them is long; only late commits need it whole."""
LOOKS_SHARE = 20
"""How many times longer than a look that found nothing took is waited after it. A look takes long only while some
session's old snapshot keeps the rows alive that were taken away."""
SETTINGS = {
    "synchronous_commit": "on",
    "statement_timeout": "60000",
    "idle_in_transaction_session_timeout": "60000",
    # Few rows by their keys, always: what is known of a table that fills and empties all the time misleads the planner.
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}
SESSION = " ".join(f"-c {name}={value}" for name, value in SETTINGS.items())

WAITING = "SELECT EXISTS (SELECT FROM audit_pending WHERE event_id > %s)"
# Taken away and placed in one statement: there is no moment between the two. What has a place already keeps it.
TAKE = """
WITH taken AS (
  DELETE FROM audit_pending WHERE event_id IN (
    SELECT event_id FROM audit_pending WHERE event_id > %(above)s ORDER BY event_id LIMIT %(most)s)
  RETURNING event_id)
INSERT INTO audit_entry (position, event_id, leaf_hash)
SELECT %(size)s + row_number() OVER (ORDER BY event.id) - 1, event.id, event.leaf_hash
  FROM taken JOIN audit_event event ON event.id = taken.event_id
 WHERE NOT EXISTS (SELECT FROM audit_entry placed WHERE placed.event_id = event.id)
RETURNING position, leaf_hash, event_id
"""


class Sequencer:
    """One process's work. `stop()` may be called from a signal handler."""

    def __init__(self, url: str, keyring: Keyring, *, adopt: bool = False) -> None:
        """`url` is the role's libpq address; `adopt` once accepts a log that the folder does not know."""
        self._url = url
        self._keys = keyring
        self._adopt = adopt
        self._stop = threading.Event()
        self._edge = RightEdge()
        #: Size of the largest checkpoint in the database.
        self._signed_size = 0
        self._signed_at = 0.0
        self._whole_look_at = -WHOLE_LOOK_SECONDS
        #: The highest event id placed up to the look before the last, and up to the last.
        self._highest = (0, 0)

    def stop(self) -> None:
        """End the loop after the step it is in."""
        self._stop.set()

    def run(self) -> None:
        """Work until told to stop. Raises LogRefused where the log must not go on."""
        held = self._await(self._keys.try_lock)
        if held is None:
            return
        try:
            while not self._stop.is_set():
                try:
                    self._connected()
                except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                    logger.warning("the database does not answer, trying again: %s", error)
                    self._stop.wait(POLL_SECONDS)
        finally:
            os.close(held)

    def catch_up(self) -> int:
        """Place what waits and sign it, once, without staying; returns the size of the tree.

        For tests and tools: waits where another sequencer is at work. Raises LogRefused, and what the database raises.
        """
        held = self._await(self._keys.try_lock)
        try:
            with closing(_connect(self._url)) as database:
                self._await(lambda: _try_turn(database) or None)
                self._resume(database)
                while self._drain(database):
                    pass
                if self._edge.size > self._signed_size:
                    self._checkpoint(database)
        finally:
            if held is not None:
                os.close(held)
        return self._edge.size

    def _connected(self) -> None:
        """One session's work: wait for the turn, read the log back, go on with it."""
        with closing(_connect(self._url)) as database:
            if self._await(lambda: _try_turn(database) or None) is None:
                return
            self._resume(database)
            while not self._stop.is_set():
                began = time.monotonic()
                placed = self._drain(database)
                looked = 0.0 if placed else time.monotonic() - began
                if self._edge.size > self._signed_size and self._due():
                    self._checkpoint(database)
                if placed < BATCH:
                    self._stop.wait(min(max(POLL_SECONDS, LOOKS_SHARE * looked), LONGEST_POLL_SECONDS))

    def _await(self, attempt: Callable[[], Found | None]) -> Found | None:
        """What `attempt` gives at last, asked now and then; None when told to stop first. Says once that it waits."""
        found = attempt()
        if found is None:
            logger.warning("another sequencer is at work; waiting to take over when it ends")
        while found is None and not self._stop.wait(POLL_SECONDS):
            found = attempt()
        return found

    def _resume(self, database: Database) -> None:
        """Rebuild the tree, and compare it with the last checkpoint that this folder and the database know.

        Raises LogRefused where the tree does not extend them.
        """
        if self._adopt:
            self._keys.abandon()
        remembered, stored = self._keys.remembered(), last_checkpoint(database)
        if remembered is None and stored is not None and not self._adopt:
            raise LogRefused(
                f"The database holds a checkpoint of {stored[0]} entries, but {self._keys.folder} remembers none: "
                "it is another log's folder, or was emptied."
            )
        known = {} if stored is None else {stored[0]: stored[1]}
        if remembered is not None:
            known.setdefault(remembered[0].size, remembered[0].root)
            _require_extends(
                remembered[0].size, known[remembered[0].size], remembered[0].size, remembered[0].root
            )
        self._edge, roots = rebuild(database, known)
        for size, root in sorted(known.items()):
            _require_extends(self._edge.size, roots.get(size), size, root)
        self._signed_size = stored[0] if stored else 0
        self._whole_look_at = -WHOLE_LOOK_SECONDS
        self._require_own_key(database)
        if remembered is not None:
            if self._signed_size > remembered[0].size:
                self._keys.open(stored[2] if stored else "")
            self._store(database, *remembered)
        self._adopt = False
        logger.info("sequencing %s from entry %d", self._keys.origin, self._edge.size)

    def _require_own_key(self, database: Database) -> None:
        own = [signer.vkey for signer in (self._keys.signer, self._keys.next_signer()) if signer]
        newest = newest_key(database, own)
        if newest in own:
            return
        if newest is not None and not self._adopt:
            raise LogRefused(f"The key in {self._keys.folder} is not the log's own, {newest}.")
        since = 0 if newest is None else self._signed_size + 1
        _register_key(database, self._keys.origin, self._keys.signer.vkey, since)

    def _drain(self, database: Database) -> int:
        """Give their places to the events that wait, at most BATCH; returns how many there were."""
        above = self._looks_above()
        waiting = database.execute(WAITING, [above]).fetchone()
        if waiting is None or not waiting[0]:
            self._highest = (self._highest[1], self._highest[1])
            return 0
        try:
            with database.transaction():
                rows = database.execute(
                    TAKE, {"above": above, "most": BATCH, "size": self._edge.size}
                ).fetchall()
                rows.sort()
                tiles = self._edge.extend(bytes(leaf) for _, leaf, _ in rows)
                _store_tiles(database, tiles)
        except psycopg.IntegrityError as error:
            raise LogRefused(f"The database refused the next entries: {error}") from error
        self._highest = (
            self._highest[1],
            max([self._highest[1], *(identifier for _, _, identifier in rows)]),
        )
        return len(rows)

    def _looks_above(self) -> int:
        """The event id above which to look this time; 0 is all that waits."""
        now = time.monotonic()
        if now - self._whole_look_at < WHOLE_LOOK_SECONDS:
            return self._highest[0]
        self._whole_look_at = now
        return 0

    def _due(self) -> bool:
        return time.monotonic() - self._signed_at >= CHECKPOINT_SECONDS

    def _checkpoint(self, database: Database) -> None:
        """Sign the tree as it is: remembered on disk first, then in the database."""
        checkpoint = Checkpoint(self._keys.origin, self._edge.size, self._edge.root())
        note = self._keys.sign(checkpoint, also=self._keys.next_signer())
        self._signed_at = time.monotonic()
        self._store(database, checkpoint, note)

    def _store(self, database: Database, checkpoint: Checkpoint, note: str) -> None:
        """Put a remembered checkpoint into the database unless it is there, and end a rotation that it shows."""
        second = self._keys.next_signer()
        rotated = second is not None and bool(parse_note(note).verified([second.verifier]))
        with database.transaction():
            if checkpoint.size > self._signed_size:
                database.execute(
                    "INSERT INTO audit_checkpoint (size, root, note, made_at) VALUES (%s, %s, %s, %s)",
                    [checkpoint.size, checkpoint.root, note, clock.now()],
                )
            if rotated and second is not None:
                _register_key(database, second.name, second.vkey, checkpoint.size)
        self._signed_size = max(self._signed_size, checkpoint.size)
        if rotated:
            self._keys.finish_rotation()
            logger.warning("a new key signs the log: %s", self._keys.signer.vkey)


def _connect(url: str) -> Database:
    return psycopg.connect(url, autocommit=True, connect_timeout=5, options=SESSION)


def _try_turn(database: Database) -> bool:
    row = database.execute("SELECT pg_try_advisory_lock(%s)", [TURN_LOCK]).fetchone()
    return row is not None and bool(row[0])


def _require_extends(size: int, found: bytes | None, signed_size: int, signed_root: bytes) -> None:
    """Raises LogRefused unless the tree has the root that was signed at that size."""
    if found is None:
        raise LogRefused(
            f"A checkpoint of {signed_size} entries was signed, but the log in the database has {size}: "
            "an older state of the database was restored, or entries were removed."
        )
    if found != signed_root:
        raise LogRefused(
            f"The first {signed_size} entries in the database are not those that were signed: "
            "the history was rewritten."
        )


def _store_tiles(database: Database, tiles: list[FullTile]) -> None:
    if tiles:
        with database.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO audit_tile (level, number, hashes, root) VALUES (%s, %s, %s, %s)", tiles
            )


def _register_key(database: Database, name: str, vkey: str, since: int) -> None:
    database.execute(
        "INSERT INTO audit_log_key (vkey, name, since_size) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
        [vkey, name, since],
    )
