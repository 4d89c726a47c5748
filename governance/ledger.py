"""Reads of the leak ledger: what one lineage was told of each open version, and what all were."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Sum

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from governance import leaks
from governance.disclosure.bits import Balance
from governance.models import LeakCharge
from governance.queries import current_policy
from submissions.queries import open_task_sets


@dataclass(frozen=True)
class Account:
    """A lineage's account for one version as its own organisation sees it; amounts in bits, with one decimal."""

    task_set: TaskSetVersion
    balance: Balance
    charges: Sequence[LeakCharge]
    """The organisation's own, newest first."""
    others: int
    """Millibits charged for anything else that draws on the account: linked organisations, other harnesses."""

    def as_dict(self) -> dict[str, object]:
        """The machine form; it names nothing of what is not listed but the sum."""
        return {
            "task_set": self.task_set.label,
            "budget_bits": bits(self.balance.budget),
            "spent_bits": bits(self.balance.spent),
            "left_bits": bits(self.balance.left),
            "charges": [
                {
                    "submission": str(row.submission_id),
                    "kind": row.kind,
                    "bits": bits(row.millibits),
                    "charged_at": row.charged_at.isoformat(),
                }
                for row in self.charges
            ],
            "other_bits": bits(self.others),
        }


@dataclass(frozen=True)
class StaffAccount:
    """A lineage with at least one charge, as staff see it."""

    task_set: TaskSetVersion
    organisations: str
    balance: Balance
    capacity: int


def bits(millibits: int) -> str:
    """Thousandths of a bit as bits with one decimal, rounded up: "26.7"."""
    tenths = -(-millibits // 100)
    return f"{tenths // 10}.{tenths % 10}"


def accounts_of(organisation: Organisation, harness_id: UUID | None = None) -> list[Account]:
    """One account per open version whose policy counts, untouched ones included; charges of one harness if given."""
    of_harness = {"submission__harness_version__harness": harness_id} if harness_id else {}
    found = []
    for task_set in open_task_sets():
        policy = current_policy(task_set)
        balance = leaks.balance(policy, organisation.lineage_id) if policy else None
        if balance is None:
            continue
        own = list(
            LeakCharge.objects.filter(task_set=task_set, organisation=organisation, **of_harness)
            .select_related("submission__harness_version__harness")
            .order_by("-charged_at", "-id")
        )
        others = balance.spent - sum(row.millibits for row in own)
        found.append(Account(task_set, balance, own, others))
    return found


def accounts_for_staff(lineage_quota: int) -> list[StaffAccount]:
    """Every lineage that was told something of an open version, most first."""
    found = []
    for task_set in open_task_sets():
        policy = current_policy(task_set)
        if policy is None or policy.budget_millibits is None:
            continue
        rows = LeakCharge.objects.filter(task_set=task_set).values_list("organisation__lineage_id")
        sums: dict[UUID, int] = dict(rows.annotate(sum=Sum("millibits")))
        names = defaultdict(list)
        for lineage, name in Organisation.objects.filter(lineage_id__in=sums).values_list(
            "lineage_id", "name"
        ):
            names[lineage].append(name)
        found += [
            StaffAccount(
                task_set,
                ", ".join(sorted(names[lineage])),
                Balance(policy.budget_millibits, spent),
                leaks.capacity(policy, lineage_quota=lineage_quota),
            )
            for lineage, spent in sorted(sums.items(), key=lambda row: -row[1])
        ]
    return found
