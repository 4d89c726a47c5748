"""Exports of the log: asked for in the pages, made by an office worker in bounded memory, fetched once recorded.

An export holds the whole tree up to the latest checkpoint; entries outside the selection, and withheld ones, stand in
it by their leaf hash. Asking, making and handing out are events; the last is recorded before the first byte leaves.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import connections, transaction
from django.db.models import Exists, OuterRef
from django.utils import translation

from audit import log, log_events, queries, wording
from audit.canonical import timestamp
from audit.events import Actor, system
from audit.explore import AUDITOR, decoded
from audit.live import CHUNK
from audit.merkle.export import MANIFEST, ExportWriter, Manifest, pack
from audit.models import Checkpoint, Cosignature, Export, Withholding
from config import clock, store, vault

logger = logging.getLogger(__name__)
BY = system("exports")
PATIENCE = timedelta(minutes=15)
"""An export that is being made for longer was lost with its worker, and is begun again."""
FOLDER = "export-"
"""What the folders in which exports are made begin with."""
HEADER = (
    *("position", "time", "kind", "actor_kind", "actor", "organisation", "channel", "object", "id"),
    *("outcome", "sentence"),
)
ENTRIES = (
    "SELECT entry.position, entry.leaf_hash, event.body, event.recorded_at FROM audit_entry entry "
    "LEFT JOIN audit_event event ON event.id = entry.event_id WHERE entry.position < %s ORDER BY entry.position"
)


class LogBroken(RuntimeError):
    """A position or its event is missing: `manage.py audit verify` says more."""


class NothingSigned(LookupError):
    """There is no checkpoint yet, so nothing could be checked."""


@dataclass(frozen=True)
class Selection:
    """Which entries are disclosed; all others stand by their leaf hash. Empty fields do not restrict.

    Positions are both included; `since` is included, `until` is not; a kind that ends in a dot is a group of kinds;
    `organisation` is the one that acted.
    """

    first: int | None = None
    last: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    organisation: str = ""
    kind: str = ""

    def facts(self) -> dict[str, str]:
        """The given fields as text."""
        found = {name: value for name, value in asdict(self).items() if value not in (None, "")}
        return {
            name: timestamp(value) if isinstance(value, datetime) else str(value)
            for name, value in found.items()
        }

    @classmethod
    def of(cls, facts: dict[str, str]) -> Selection:
        """From `facts()`."""
        numbers = {name: int(facts[name]) for name in ("first", "last") if name in facts}
        instants = {name: datetime.fromisoformat(facts[name]) for name in ("since", "until") if name in facts}
        texts = {name: facts[name] for name in ("organisation", "kind") if name in facts}
        return cls(**numbers, **instants, **texts)  # type: ignore[arg-type]

    def shows(self, position: int, recorded_at: datetime, body: dict[str, Any]) -> bool:
        """Whether that entry is disclosed."""
        kind = str(body.get("kind", ""))
        return (
            (self.first is None or position >= self.first)
            and (self.last is None or position <= self.last)
            and (self.since is None or recorded_at >= self.since)
            and (self.until is None or recorded_at < self.until)
            and (not self.organisation or part(body, "actor").get("organisation") == self.organisation)
            and (
                not self.kind or kind == self.kind or (self.kind.endswith(".") and kind.startswith(self.kind))
            )
        )


def part(body: dict[str, Any], name: str) -> dict[str, Any]:
    """An object in an event; empty where the event has none there."""
    found = body.get(name)
    return found if isinstance(found, dict) else {}


def row(position: int, entry: bytes) -> Sequence[str]:
    """The line of an entry in events.csv, in English."""
    body = decoded(entry)
    actor, subject = part(body, "actor"), part(body, "subject")
    with translation.override("en"):
        sentence = wording.sentence(body)
    cells = (
        *(position, body.get("time"), body.get("kind"), actor.get("kind"), actor.get("id")),
        *(actor.get("organisation", ""), actor.get("channel"), subject.get("type"), subject.get("id")),
        *(body.get("outcome"), sentence),
    )
    return [_plain(str(cell)) for cell in cells]


def _plain(cell: str) -> str:
    """A spreadsheet takes no cell of ours for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell


def write(directory: Path, selection: Selection) -> Manifest:
    """Write an export into an empty directory, from one snapshot. Raises NothingSigned, LogBroken."""
    with transaction.atomic(using=AUDITOR):
        size = Checkpoint.objects.using(AUDITOR).order_by("-size").values_list("size", flat=True).first()
        if size is None:
            raise NothingSigned
        hidden = set(Withholding.objects.using(AUDITOR).values_list("position", flat=True))
        writer = ExportWriter(directory, settings.LOG_ORIGIN, row=row, header=HEADER)
        for leaf, body, recorded_at in _entries(size):
            shown = writer.size not in hidden and selection.shows(writer.size, recorded_at, decoded(body))
            if shown:
                writer.add(body)
            else:
                writer.withhold(leaf)
        return writer.finish(
            checkpoints=_notes(),
            keys=queries.verifier_keys(using=AUDITOR),
            witnesses=[(witness.name, witness.vkey) for witness in queries.witnesses(using=AUDITOR)],
            made_at=timestamp(clock.now()),
        )


def _notes() -> Iterator[str]:
    """All signed checkpoints, smallest first, with their cosignatures; only public ones have any, so few do."""
    rows = Checkpoint.objects.using(AUDITOR).order_by("size").only("size", "note")
    lines = Cosignature.objects.using(AUDITOR).filter(checkpoint=OuterRef("size"))
    for found in rows.annotate(cosigned=Exists(lines)).iterator(chunk_size=CHUNK):
        yield queries.note_of(found, using=AUDITOR) if found.cosigned else found.note


def _entries(size: int) -> Iterator[tuple[bytes, bytes, datetime]]:
    wrapper = connections[AUDITOR]
    wrapper.ensure_connection()
    with wrapper.connection.cursor(name="audit_export") as cursor:
        cursor.itersize = CHUNK
        cursor.execute(ENTRIES, [size])
        for expected, (position, leaf, body, recorded_at) in enumerate(cursor):
            if position != expected or body is None:
                raise LogBroken(f"entry {expected} is missing or has no event")
            yield bytes(leaf), bytes(body), recorded_at


def request(selection: Selection, *, by: Actor) -> Export:
    """Ask for an export; an office worker makes it."""
    with transaction.atomic():
        export = Export.objects.create(
            organisation_id=by.organisation,
            asked_by=by.id,
            disclosed=selection.facts(),
            requested_at=clock.now(),
        )
        log.append(log_events.ExportRequested(subject=export.id, disclosed=selection.facts()), by=by)
        transaction.on_commit(_wake)
    return export


def _wake() -> None:
    from config.celery import send_ticket

    send_ticket("audit.tasks.make_exports", queue="governance")


def make_due() -> int:
    """Make the exports that wait, one after the other; returns how many."""
    _sweep()
    made = 0
    while (export := _claim()) is not None:
        try:
            _make(export)
        except Exception:
            logger.exception("export %s could not be made", export.id)
            _fail(export)
        made += 1
    return made


def _sweep() -> None:
    """Remove what killed workers left behind: entries in the plain, which belong sealed into the store."""
    limit = (clock.now() - PATIENCE).timestamp()
    for folder in settings.WORK_DIR.glob(f"{FOLDER}*"):
        with suppress(FileNotFoundError):  # another worker was faster
            if folder.stat().st_mtime < limit:
                shutil.rmtree(folder, ignore_errors=True)


def _claim() -> Export | None:
    now = clock.now()
    with transaction.atomic():
        rows = Export.objects.select_for_update(skip_locked=True).order_by("requested_at")
        waiting = rows.filter(state=Export.State.REQUESTED)
        lost = rows.filter(state=Export.State.RUNNING, started_at__lt=now - PATIENCE)
        found = waiting.first() or lost.first()
        if found is not None:
            found.state, found.started_at = Export.State.RUNNING, now
            found.save(update_fields=["state", "started_at"])
    return found


def _make(export: Export) -> None:
    settings.WORK_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder = Path(tempfile.mkdtemp(prefix=FOLDER, dir=settings.WORK_DIR))
    try:
        manifest = write(folder / "export", Selection.of(export.disclosed))
        digest = hashlib.sha256((folder / "export" / MANIFEST).read_bytes()).hexdigest()
        pack(folder / "export", folder / "export.tar")
        key = vault.new_key()
        with (folder / "export.tar").open("rb") as source:
            stored = store.put_sealed(settings.S3_BUCKET_EXPORTS, str(export.id), source, under=key)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    with transaction.atomic():
        export.state, export.ended_at = Export.State.DONE, clock.now()
        export.size, export.shown = manifest.size, manifest.size - manifest.withheld
        export.stored_bytes, export.manifest, export.key = stored, digest, key
        export.save()
        event = log_events.ExportMade(
            subject=export.id, manifest=digest, size=manifest.size, shown=export.shown
        )
        log.append(event, by=BY)


def _fail(export: Export) -> None:
    with transaction.atomic():
        Export.objects.filter(pk=export.pk).update(state=Export.State.FAILED, ended_at=clock.now())
        log.append(log_events.ExportFailed(subject=export.id, outcome="fault"), by=BY)


def open_recorded(export: Export, *, by: Actor) -> BinaryIO:
    """The export's tar, open for reading; that it is handed out is recorded first, or nothing is."""
    with transaction.atomic():
        log.append(log_events.ExportDelivered(subject=export.id, manifest=export.manifest), by=by)
    target = tempfile.TemporaryFile()  # noqa: SIM115 - whoever sends it closes it
    store.fetch_sealed(settings.S3_BUCKET_EXPORTS, str(export.id), target, under=bytes(export.key))
    target.seek(0)
    return target
