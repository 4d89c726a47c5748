"""What two lineages use together, as the console shows it beside a case."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.linking.models import LinkCase
from accounts.linking.queries import parties
from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from submissions.models import Slot
from submissions.queries import open_task_sets, terms_at

COUNTED = (Slot.State.RESERVED, Slot.State.CONSUMED)


@dataclass(frozen=True)
class Usage:
    """Uses of one task-set version by each organisation, all of them together, and the limit for one lineage."""

    task_set: TaskSetVersion
    each: list[tuple[Organisation, int]]
    limit: int

    @property
    def together(self) -> int:
        return sum(used for _organisation, used in self.each)


def joint_usage(case: LinkCase) -> list[Usage]:
    """For each open version that has a policy."""
    organisations = [organisation for side in parties(case) for organisation in side]
    found = []
    for task_set in open_task_sets():
        if (terms := terms_at(task_set)) is not None:
            uses = Slot.objects.filter(task_set=task_set, offer=None, state__in=COUNTED)
            each = [(row, uses.filter(line__organisation=row).count()) for row in organisations]
            found.append(Usage(task_set, each, terms.lineage))
    return found
