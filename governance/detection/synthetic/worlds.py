"""Histories of made-up vendors as the detectors read them, and attackers added to a history that exists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from governance.detection.behaviour import Rows, Runs, summarise
from governance.detection.streams import Recorded
from governance.detection.synthetic.bank import Bank, make, of_table
from governance.detection.synthetic.vendors import ATTACKERS, HONEST, Plan, Vendor
from governance.detection.tasks import TaskTable

BEGIN = datetime(2031, 1, 6, tzinfo=UTC)
COOLDOWN = timedelta(days=7)
FEWEST, MOST = 2, 11


@dataclass(frozen=True)
class World:
    """Submissions in time order and, for scoring only, the kind of each account."""

    table: TaskTable
    submissions: list[Recorded]
    runs: list[Runs]
    """What each submission left, in the same order."""
    kinds: dict[str, str]


def world(seed: int, *, honest: int, attackers: int, runs: int = 3, scale: float = 1.0) -> World:
    """So many vendors and campaigns, kinds in turn."""
    bank = make(seed, scale)
    rng = np.random.default_rng([seed, 3])
    vendors = [(kind, HONEST[kind]) for kind in _turns(list(HONEST), honest)]
    vendors += [(kind, ATTACKERS[kind]) for kind in _turns(list(ATTACKERS), attackers)]
    return _history(bank, rng, vendors, runs, prefix=f"w{seed}")


def attack(table: TaskTable, begin: datetime, seed: int, kind: str, runs: int) -> World:
    """One campaign of a kind against a bank that exists."""
    bank = of_table(table, seed)
    rng = np.random.default_rng([seed, 4])
    return _history(bank, rng, [(kind, ATTACKERS[kind])], runs, prefix=f"drill-{kind}-{seed}", begin=begin)


def _turns(kinds: Sequence[str], count: int) -> list[str]:
    return [kinds[number % len(kinds)] for number in range(count)]


def _history(
    bank: Bank,
    rng: np.random.Generator,
    vendors: Sequence[tuple[str, Vendor]],
    runs: int,
    *,
    prefix: str,
    begin: datetime = BEGIN,
) -> World:
    found: list[tuple[Recorded, Runs]] = []
    kinds: dict[str, str] = {}
    for number, (kind, vendor) in enumerate(vendors):
        account = f"{prefix}-{number:03d}"
        kinds[account] = kind
        count = int(rng.integers(FEWEST, MOST + 1))
        plan = Plan(bank, np.random.default_rng([int(rng.integers(2**31)), number]), count, runs)
        found.extend(_line(account, kind, vendor(plan), plan, begin))
    found.sort(key=lambda pair: (pair[0].submitted_at, pair[0].id))
    return World(bank.table, [recorded for recorded, _ in found], [runs for _, runs in found], kinds)


def _line(
    account: str, kind: str, left: Iterator[Runs], plan: Plan, begin: datetime
) -> Iterator[tuple[Recorded, Runs]]:
    at = begin + timedelta(hours=float(plan.rng.uniform(0, 24 * 20)))
    eager = kind in ATTACKERS
    for number, runs in enumerate(left):
        rows = rows_of(runs, plan.bank.table)
        identity = f"{account}-{number:02d}"
        yield (
            Recorded(identity, account, f"of-{account}", "v1", at, f"sha256:{identity}", "model", rows),
            runs,
        )
        at += COOLDOWN + timedelta(hours=float(plan.rng.exponential(12 if eager else 120)))


def rows_of(runs: Runs, table: TaskTable) -> Rows:
    """Held-out and public tasks summarised apart, as they are when a submission finishes."""
    parts = [
        summarise(
            Runs(
                runs.artefact[mask],
                runs.tokens[mask],
                runs.duration[mask],
                runs.success[mask],
                runs.score[mask],
                runs.ok[mask],
            )
        )
        for mask in (table.held_out, table.public)
    ]
    return np.concatenate(parts)
