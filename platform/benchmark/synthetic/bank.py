"""Generate a synthetic task bank as a version directory, deterministic to the byte.

Every task is drawn from a generator seeded by (version, seed, family, number, attempt), so neither clock nor
locale, hash seed, process count nor order can change a byte. The official bank comes in by the same layout.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmark import taskdir
from benchmark.synthetic import canaries
from benchmark.synthetic.allocate import PREFIX, Slot, level, practice, seeded, slots, spare
from benchmark.synthetic.drafts import Draft, Dull, Family, Scene, finish
from benchmark.synthetic.families.catalogue import FAMILIES
from benchmark.synthetic.render import Card, task_files

Size = Literal["full", "mini"]
Split = Literal["bank", "dev", "reserve"]
Progress = Callable[[int, int], None]
ATTEMPTS = 60
FIRST_SPARE = 5001
"""Where numbers of a reserve begin that is made apart from a bank."""
PROCESSES = 2
README = """# Synthetic task bank

All documents, parties, figures and persons in this bank are SYNTHETIC: drawn by a generator from a seed.
No real enterprise data is used. This is not the official question set.

本题集为合成数据：单据、主体、人物与数字均由程序按种子生成，不含任何真实企业数据，也不是正式题集。

version {version}, seed {seed}, size {size}, split {split}, {count} tasks
"""


@dataclass(frozen=True)
class Summary:
    """What was written: counts by domain, group, family; tasks with workbooks or several turns; size, time."""

    out: Path
    tasks: int
    domains: Mapping[str, int]
    groups: Mapping[str, int]
    families: Mapping[str, int]
    xlsx: int
    multi_turn: int
    size_bytes: int
    seconds: float


@dataclass(frozen=True)
class Written:
    """One written task directory."""

    id: str
    slot: Slot
    digest: str
    size: int
    xlsx: bool
    turns: int


@dataclass(frozen=True)
class _Job:
    out: Path
    version: str
    seed: int
    slot: Slot
    canary: str | None


def generate(
    out: Path,
    *,
    version: str,
    seed: int,
    size: Size,
    split: Split = "bank",
    reserve: int = 0,
    first: int = FIRST_SPARE,
    canary: str | None = None,
    progress: Progress | None = None,
) -> Summary:
    """Write the bank under `out` (created; must be empty) and return its summary.

    `reserve` adds that many further tasks of the bank's families; with the split `reserve` there are only those,
    numbered from `first`, so that they have no name in common with a bank. `canary` plants traceable strings in
    everything held out. Raises FileExistsError when `out` already has content.
    """
    started = time.monotonic()
    out.mkdir(parents=True, exist_ok=True)
    if any(out.iterdir()):
        raise FileExistsError(f"{out} is not empty")
    if split == "dev":
        chosen = practice(FAMILIES.values(), size)
    elif split == "reserve":
        chosen = spare(FAMILIES.values(), reserve, first=first)
    else:
        chosen = slots(FAMILIES.values(), size, seed=f"{version}|{seed}", reserve=reserve)
    jobs = [_Job(out, version, seed, slot, canary) for slot in chosen]
    written: list[Written] = []
    for one in _run(jobs):
        written.append(one)
        if progress is not None:
            progress(len(written), len(jobs))
    written.sort(key=lambda w: w.id)
    note = README.format(version=version, seed=seed, size=size, split=split, count=len(written))
    manifest = _manifest(version, seed, size, written)
    taskdir.write_files(out, {"README.md": note.encode(), "taskset.toml": manifest})
    return _summary(out, written, time.monotonic() - started)


def compose(version: str, seed: int, slot: Slot) -> tuple[Card, Draft]:
    """Draw one task; draws again, deterministically, while the draft shows no trap. Raises Dull at the end."""
    family = FAMILIES[slot.family]
    for attempt in range(ATTEMPTS):
        rng = seeded(version, seed, slot.family, slot.index, attempt)
        traps = rng.sample(family.traps, min(level(slot.index), len(family.traps)))
        scene = Scene(
            rng=rng,
            level=level(slot.index),
            index=slot.index,
            traps=tuple(traps),
            xlsx=family.xlsx_every > 0 and slot.index % family.xlsx_every == 0,
            multi_turn=family.turn_every > 0 and slot.index % family.turn_every == 0,
        )
        try:
            draft = finish(scene, family.build(scene))
        except Dull:
            continue
        return Card(task_id(family, slot.index), family, scene.level, scene.traps), draft
    raise Dull(f"{slot.family} number {slot.index}: {ATTEMPTS} draws without a usable task")


def task_id(family: Family, index: int) -> str:
    """For example `finance-ageing-0017`."""
    return f"{PREFIX[family.domain]}-{family.slug}-{index:04d}"


def _run(jobs: list[_Job]) -> Iterable[Written]:
    if len(jobs) < 2 * PROCESSES:
        return map(_build, jobs)
    return _pooled(jobs)


def _pooled(jobs: list[_Job]) -> Iterable[Written]:
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        yield from pool.imap(_build, jobs, chunksize=8)


def _build(job: _Job) -> Written:
    card, draft = compose(job.version, job.seed, job.slot)
    if job.canary is not None and job.slot.group != "public":
        number = hashlib.sha256(f"{job.seed}|{card.id}".encode()).hexdigest()[:10]
        canaries.plant(draft, f"{job.canary}-{{kind}}-{number}")
    rng = seeded(job.version, job.seed, card.id, "card")
    files = task_files(card, draft, rng)
    directory = job.out / "tasks" / card.id
    taskdir.write_files(directory, files)
    carries = any(n.endswith(".xlsx") for n in draft.files) or any(n.endswith(".xlsx") for n in files)
    size = sum(len(content) for content in files.values())
    return Written(card.id, job.slot, taskdir.digest(directory).task, size, carries, 1 + len(draft.turns))


def _manifest(version: str, seed: int, size: str, written: Iterable[Written]) -> bytes:
    return taskdir.toml(
        {
            "schema": "lingee-taskset/1",
            "version": version,
            "seed": seed,
            "size": size,
            "synthetic": True,
            "tasks": [{"id": task.id, "group": task.slot.group, "digest": task.digest} for task in written],
        }
    )


def _summary(out: Path, written: list[Written], seconds: float) -> Summary:
    domains = Counter(FAMILIES[w.slot.family].domain for w in written)
    return Summary(
        out=out,
        tasks=len(written),
        domains=dict(sorted(domains.items())),
        groups=dict(sorted(Counter(w.slot.group for w in written).items())),
        families=dict(sorted(Counter(w.slot.family for w in written).items())),
        xlsx=sum(w.xlsx for w in written),
        multi_turn=sum(w.turns > 1 for w in written),
        size_bytes=sum(w.size for w in written),
        seconds=seconds,
    )
