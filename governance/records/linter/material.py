"""Reads of what is held out, as the linter compares it. Console and sealed work only: rows show ids and titles."""

from __future__ import annotations

from accounts.models import Organisation
from benchmark.models import Group, TaskRevision, TaskSetVersion
from governance.records.linter.core import Material
from governance.records.linter.shingles import Prints
from governance.records.models import LeakIndex
from submissions.models import Harness

SECRET = (Group.HELD_OUT, Group.RESERVE)


def held_out(task_set: TaskSetVersion, *, addressee: Organisation | None = None) -> Material:
    """What must not be named. The addressee's own names are no secret from it."""
    rows = list(
        TaskRevision.objects.filter(version=task_set, group__in=SECRET).values_list(
            "slug", "family", "metadata"
        )
    )
    titles = {title for *_, metadata in rows for title in (metadata.get("title") or {}).values()}
    index = LeakIndex.objects.filter(task_set=task_set).first()
    return Material(
        salt=bytes(index.salt) if index else b"",
        quotes=Prints(bytes(index.quotes)) if index else None,
        values=Prints(bytes(index.values)) if index else (),
        codes=Prints(bytes(index.codes)) if index else (),
        slugs=[slug for slug, *_ in rows],
        families=sorted({family for _, family, _ in rows}),
        titles=sorted(titles),
        vendors=_others(addressee),
        public_numbers=_public_numbers(task_set),
    )


def _others(addressee: Organisation | None) -> list[str]:
    own = [addressee.pk] if addressee else []
    names = set(Organisation.objects.exclude(pk__in=own).values_list("name", flat=True))
    for name, title in Harness.objects.exclude(organisation__in=own).values_list("name", "title"):
        names |= {name, title}
    return sorted(name for name in names if name)


def _public_numbers(task_set: TaskSetVersion) -> frozenset[int]:
    """How many tasks each domain and group has, and their sums: the version's page shows them."""
    groups = [facts.get("groups", {}) for facts in task_set.composition.values()]
    by_group = {name: sum(found.get(name, 0) for found in groups) for name in (Group.PUBLIC, Group.HELD_OUT)}
    single = {found.get(name, 0) for found in groups for name in (Group.PUBLIC, Group.HELD_OUT)}
    return frozenset(
        number for number in {*by_group.values(), sum(by_group.values()), *single} if number > 20
    )
