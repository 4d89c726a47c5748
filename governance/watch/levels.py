"""The levels of detection as rows: in force for a number of runs a task, set by a service, never changed."""

from __future__ import annotations

import hashlib

from django.db import connection, transaction

from audit import log
from audit.canonical import canonical_bytes
from audit.events import Actor
from config import clock
from governance.detection.levels import Levels
from governance.detection.levels import read as read_file
from governance.watch import events
from governance.watch.models import DetectionLevels


def in_force(runs_per_task: int) -> DetectionLevels | None:
    """The latest row for so many runs a task; None before one was set."""
    rows = DetectionLevels.objects.filter(runs_per_task=runs_per_task, valid_from__lte=clock.now())
    return rows.order_by("-valid_from", "-id").first()


def in_force_or_shipped(runs_per_task: int, *, by: Actor) -> DetectionLevels:
    """The same; where none was set those that are shipped become the first row, whatever runs they were found on.

    Their record says on which. Channels that need more runs than a version has are off all the same.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended('detection levels', 0))")
        return in_force(runs_per_task) or set_levels(read_file(), runs_per_task=runs_per_task, by=by)


def set_levels(levels: Levels, *, runs_per_task: int, by: Actor) -> DetectionLevels:
    """New levels from now on. Alarms stay; a line that is above a lower level is raised by the next analysis."""
    with transaction.atomic():
        row = DetectionLevels.objects.create(
            runs_per_task=runs_per_task,
            levels=dict(levels.levels),
            record=dict(levels.record),
            valid_from=clock.now(),
        )
        log.append(
            events.DetectionLevelsSet(
                subject=row.id,
                runs_per_task=runs_per_task,
                levels={channel: str(level) for channel, level in sorted(levels.levels.items())},
                record=hashlib.sha256(canonical_bytes({"record": _texts(levels.record)})).hexdigest(),
            ),
            by=by,
        )
    return row


def _texts(value: object) -> object:
    """Numbers with a point as text, which have no canonical form of their own."""
    if isinstance(value, dict):
        return {str(name): _texts(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(inner) for inner in value]
    return str(value) if isinstance(value, float) else value
