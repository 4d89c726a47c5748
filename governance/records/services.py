"""Changes of the public records: lines of the change log, and the fingerprints that texts are checked by."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import structlog
from django.db import transaction

from audit import log
from audit.events import Actor
from audit.texts import concealed
from benchmark.models import Group, TaskRevision, TaskSetVersion
from benchmark.queries import open_versions
from config import clock
from config.store import ObjectMissing
from config.vault import SealBroken
from governance.records import events, lines, linter, queries
from governance.records.linter import building
from governance.records.models import ChangeLogLine, LeakIndex
from submissions.problems import Code, refuse

logger = structlog.get_logger(__name__)
LANGUAGES = ("zh-hans", "en")


def add_line(
    kind: str,
    task_set: TaskSetVersion | None,
    *,
    facts: lines.Facts,
    by: Actor,
    texts: Mapping[str, str] | None = None,
) -> ChangeLogLine:
    """Add a public line about a version, or about all. `facts` are those that `records.lines.KINDS` lists.

    `texts` are further words by language, in both or none; they pass the leak linter. Raises Refused: line_facts,
    line_task_live (a retired task that is still held out somewhere), line_leaks.
    """
    try:
        lines.check(kind, facts)
    except lines.WrongFacts as error:
        raise refuse(Code.LINE_FACTS, line=kind, why=str(error)) from error
    said = {language: (texts or {}).get(language, "").strip() for language in LANGUAGES}
    if any(said.values()) != all(said.values()):
        raise refuse(Code.LINE_FACTS, line=kind, why="words stand in both languages or in none")
    if kind == ChangeLogLine.Kind.RETIREMENT:
        _require_gone(str(facts["task"]))
    for text in filter(None, said.values()):
        require_clean(text, task_set)
    with transaction.atomic():
        row = ChangeLogLine.objects.create(
            kind=kind,
            task_set=task_set,
            facts=dict(facts),
            text_zh=said["zh-hans"],
            text_en=said["en"],
            said_at=clock.now(),
        )
        log.append(
            events.ChangeLogged(
                subject=row.id,
                line=kind,
                task_set=task_set.label if task_set else None,
                said=dict(facts),
                text_zh=concealed(row.text_zh) if row.text_zh else None,
                text_en=concealed(row.text_en) if row.text_en else None,
            ),
            by=by,
        )
    return row


def require_clean(text: str, task_set: TaskSetVersion | None) -> None:
    """Raises Refused (line_leaks) where the linter finds something; without a version, in any that is open."""
    versions = [task_set] if task_set else open_versions()
    found = [finding for version in versions for finding in linter.findings(text, version)]
    if found:
        said = sorted({f"“{row.excerpt}” ({row.rule})" if row.excerpt else str(row.rule) for row in found})
        raise refuse(Code.LINE_LEAKS, findings=", ".join(said))


def _require_gone(slug: str) -> None:
    """Raises Refused where an open version holds the task out, or keeps it in reserve."""
    rows = TaskRevision.objects.filter(
        slug=slug, group__in=(Group.HELD_OUT, Group.RESERVE), version__in=open_versions()
    )
    live = rows.select_related("version").first()
    if live is not None:
        raise refuse(Code.LINE_TASK_LIVE, task_set=live.version.label)


def make_index(task_set: TaskSetVersion, *, by: Actor) -> LeakIndex:
    """Make the version's fingerprints once. Sealed work only; raises KeyWithheld, store.ObjectMissing."""
    found = LeakIndex.objects.filter(task_set=task_set).first()
    if found is not None:
        return found
    made = building.fingerprints(task_set)
    with transaction.atomic():
        row, is_new = LeakIndex.objects.get_or_create(
            task_set=task_set,
            defaults={
                "salt": made.salt,
                "quotes": made.quotes,
                "values": made.values,
                "codes": made.codes,
                "tasks": made.tasks,
                "made_at": clock.now(),
            },
        )
        if is_new:
            digest = hashlib.sha256(made.salt + made.quotes + made.values + made.codes).hexdigest()
            event = events.LeakIndexMade(
                subject=task_set.id, label=task_set.label, tasks=made.tasks, sha256=digest
            )
            log.append(event, by=by)
    return row


def make_indexes(*, by: Actor) -> None:
    """Make what is missing. A version whose packs are not to be had now is tried again at the next tick."""
    for task_set in queries.unindexed():
        try:
            make_index(task_set, by=by)
        except (ObjectMissing, SealBroken):
            logger.warning("fingerprints not made", task_set=task_set.label)
