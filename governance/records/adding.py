"""Adding public lines; what they say passes the checks of this package."""

from __future__ import annotations

from collections.abc import Mapping

from django.db import transaction

from audit import log
from audit.events import Actor
from audit.texts import concealed
from benchmark.models import Group, TaskRevision, TaskSetVersion
from benchmark.queries import open_versions
from config import clock
from governance.records import events, lines, linter
from governance.records.models import ChangeLogLine
from submissions.problems import Code, refuse

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
