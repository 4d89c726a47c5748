"""The document of a date of errata: what the change log gained since the last one, and what is under revision now."""

from __future__ import annotations

import json

from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from benchmark.models import TaskSetVersion
from benchmark.queries import open_versions
from config import clock
from governance.models import ReleaseDate
from governance.records import events, queries
from governance.records.adding import add_line
from governance.records.models import ChangeLogLine
from governance.records.problems.queries import settled_by_version, under_revision

SCHEMA = "errata/1"


def errata_document(date: ReleaseDate, by: Actor) -> str:
    """The canonical text of the date's document; every line that is in none yet enters it. Sealed work only.

    How many tasks are under revision is counted here and nowhere else, so that what moves between two dates shows
    to nobody. Sorted keys, no spaces.
    """
    for version in open_versions():
        _count_defects(version, by)
    rows = list(
        ChangeLogLine.objects.select_for_update(of=("self",))
        .filter(published_in=None)
        .select_related("task_set")
        .order_by("said_at", "id")
    )
    for row in rows:
        row.published_in = date
        row.save(update_fields=["published_in"])
        event = events.ChangeLogDated(subject=row.id, release_date=str(date.id), label=date.label)
        log.append(event, by=by)
    body = {
        "schema": SCHEMA,
        "label": date.label,
        "dated_at": timestamp(date.dated_at or clock.now()),
        "lines": [queries.face(row) for row in rows],
        "under_revision": {version.label: queries.defects_of(version) for version in open_versions()},
    }
    return json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _count_defects(version: TaskSetVersion, by: Actor) -> None:
    """Lines about known and settled defects, where their numbers moved since they were last said."""
    now = under_revision(version)
    if now != queries.defects_of(version):
        add_line("defect_known", version, facts={"tasks": now}, by=by)
    said = queries.settled_said(version)
    for label, count in sorted(settled_by_version(version).items()):
        if count > said[label]:
            facts: dict[str, str | int] = {"tasks": count - said[label], "fixed_in": label}
            add_line("defect_settled", version, facts=facts, by=by)
