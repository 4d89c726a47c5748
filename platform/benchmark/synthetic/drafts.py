"""What a task family gives back, and the checks that make a draft worth a place in the bank.

A family builds its truth first, renders the mess from it, and describes answers as *truth seen with a set of
flaws*: none is gold, one is the adversarial answer, all of them the start of the baseline answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

from benchmark.synthetic.rulebook import (
    CANNOT,
    Answer,
    Row,
    Rules,
    Table,
    cell_check,
    differing,
    find,
    same,
    verdicts,
)

Flaws = frozenset[str]
View = Callable[[Flaws], Answer]


class Dull(Exception):
    """The drawn truth does not show its traps; the bank draws again."""


@dataclass(frozen=True)
class Scene:
    """The randomness and demands of one task: level 1 to 3, active traps (the first is the adversarial one)."""

    rng: Random
    level: int
    index: int
    traps: tuple[str, ...]
    xlsx: bool
    multi_turn: bool

    @property
    def trap(self) -> str:
        return self.traps[0]

    def has(self, trap: str) -> bool:
        """Whether the workspace carries this trap."""
        return trap in self.traps

    def say(self, *phrasings: str) -> str:
        """One of several ways to say the same thing."""
        return self.rng.choice(phrasings)

    def some(self, basic: int, hard: int) -> int:
        """A count that grows with the level."""
        return basic + (hard - basic) * (self.level - 1) // 2


@dataclass
class Draft:
    """A finished draft of one task, before it is written as a task directory."""

    title: tuple[str, str]
    instruction: str
    files: dict[str, bytes]
    rules: Rules
    gold: Answer
    adversarial: Answer
    baseline: Answer
    rule: str = ""
    turns: tuple[str, ...] = ()
    seconds: int = 30
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Family:
    """One task family: an independent business scenario with its own documents, rules and traps."""

    key: str
    domain: str
    category: str
    operation: str
    traps: tuple[str, ...]
    build: Callable[[Scene], Draft]
    role: str
    stage: str
    risk: str = "medium"
    split: str = "bank"
    xlsx_every: int = 0
    turn_every: int = 0
    multiple_solutions: str = "数字的写法、列的先后和附加列不限。"
    limitations: str = "合成数据，单据与主体均为虚构。"

    @property
    def slug(self) -> str:
        """Name of the scenario without its domain mark."""
        return self.key.split("-", 1)[1]


def views(scene: Scene, view: View) -> tuple[Answer, Answer, Answer]:
    """Gold, adversarial and raw baseline answers of one truth.

    A trap in brackets-like need: the baseline falls into every active trap at once.
    """
    return view(frozenset()), view(frozenset({scene.trap})), view(frozenset(scene.traps))


def check_cells(
    scene: Scene,
    rules: Rules,
    table: Table,
    gold: Answer,
    adversarial: Answer,
    *,
    limit: int = 12,
    tolerance: str = "0.01",
    columns: Sequence[str] = (),
) -> str:
    """Turn true cells into items, trap cells first; returns the id of an item the adversarial answer fails.

    In all-or-nothing mode exactly one trap cell is asked, so that the adversarial answer fails one named rule.
    Returns "" when the trap shows in no cell; raises Dull when an all-or-nothing task would ask next to nothing.
    """
    rows = gold.tables[table.name]
    wanted = [c for c in (columns or tuple(table.columns)) if c not in table.key]
    cells = [(n, c) for n in range(len(rows)) for c in wanted]
    wrong = [c for c in differing(table, rows, adversarial.tables.get(table.name, [])) if c in set(cells)]
    right = [c for c in cells if c not in set(wrong)]
    most = 1 if rules.mode == "all_or_nothing" else max(limit // 2, limit - len(right))
    chosen = set(scene.rng.sample(wrong, min(len(wrong), most)))
    chosen |= set(scene.rng.sample(right, min(len(right), limit - len(chosen))))
    if rules.mode == "all_or_nothing" and len(chosen) < 4:
        raise Dull("too little is asked for all or nothing")
    failed = ""
    for number, column in sorted(chosen):
        is_trap = (number, column) in set(wrong)
        rule = rules.cell(
            table, rows[number], column, tolerance=tolerance, trap=scene.trap if is_trap else ""
        )
        failed = failed or (rule if is_trap else "")
    return failed


def check_fields(
    scene: Scene, rules: Rules, document: str, gold: Answer, adversarial: Answer, *, tolerance: str = "0.01"
) -> str:
    """Turn every value of a flat document into an item; returns an id that the adversarial answer fails."""
    failed = ""
    for path, value in gold.documents[document].items():
        is_trap = not same(value, adversarial.documents[document].get(path))
        rule = rules.field(document, path, value, tolerance=tolerance, trap=scene.trap if is_trap else "")
        failed = failed or (rule if is_trap else "")
    return failed


def finish(scene: Scene, draft: Draft) -> Draft:
    """Make the baseline worthless and hold the draft to the admission rule; raises `Dull` otherwise."""
    rules = draft.rules
    if any(score != 1 for score in verdicts(rules, draft.gold).values()):
        raise Dull("gold answer is not full")
    spoil(rules, draft.baseline, scene.rng)
    if _worth(rules, draft.baseline) != 0:
        raise Dull("baseline answer is worth something")
    scores = verdicts(rules, draft.adversarial)
    failed = [name for name, score in scores.items() if score != 1]
    if draft.rule not in failed:
        raise Dull("the trap does not show")
    if rules.mode == "all_or_nothing" or draft.rule.startswith("F"):
        if failed != [draft.rule]:
            raise Dull("the trap breaks more than its rule")
    elif not 0 < _worth(rules, draft.adversarial) < 1:
        raise Dull("adversarial answer is not between")
    return draft


def _worth(rules: Rules, answer: Answer) -> Decimal:
    scores = verdicts(rules, answer)
    if any(scores[str(r["id"])] != 1 for r in [*rules.threshold, *rules.fatal]):
        return Decimal(0)
    items = [scores[str(r["id"])] for r in rules.items]
    if rules.mode == "all_or_nothing":
        return Decimal(all(s == 1 for s in items))
    return sum(items, Decimal(0)) / Decimal(len(items))


def spoil(rules: Rules, answer: Answer, rng: Random) -> None:
    """Turn every cell, value or file an item would accept into a plausible wrong one."""
    for rule in rules.items:
        if verdicts(rules, answer)[str(rule["id"])] == 0:
            continue
        at = rule.get("at", {})
        if rule["check"] in ("exact", "numeric") and "document" in at:
            expected = rule["expected"]
            wrong = wrong_value(expected[0] if isinstance(expected, list) else expected, rng)
            _plant(answer.documents[at["document"]], at["path"], wrong)
        elif rule["check"] in ("exact", "numeric"):
            row = find(answer.tables[at["table"]], at["row"])
            if row is not None:
                row[at["column"]] = _wrong(rules.tables[at["table"]], at["column"], rule["expected"], rng)
        elif rule["check"] == "document":
            for path, value in rule["expected"].items():
                _plant(answer.documents[at["document"]], path, wrong_value(value, rng))
        elif rule["check"] == "ranking":
            answer.tables[at["table"]].pop()
        elif rule["check"] == "files":
            for name in rule.get("contains", {}):
                answer.files[name] = answer.files.get(name, "").split("\n", 1)[0][:12] + "\n（内容见附件）\n"


def _wrong(table: Table, column: str, expected: Any, rng: Random) -> str:
    words = [w for w in table.words.get(column, ()) if w not in expected]
    if table.columns[column] != "number" and words:
        return rng.choice(words)
    return wrong_value(expected[0] if isinstance(expected, list) else expected, rng)


def wrong_value(value: Any, rng: Random) -> str:
    """A value of the same kind that is wrong by more than any tolerance in use."""
    text = str(value)
    if text in ("cannot_compute", CANNOT):
        return "0"
    percent = text.endswith("%")
    try:
        number = Decimal(text.rstrip("%"))
    except ArithmeticError:
        return "待确认" if text != "待确认" else "无"
    if number == number.to_integral_value() and not percent and "." not in text:
        return str(int(number) + rng.randint(2, 9))
    shifted = (number * Decimal("1.13") + Decimal(rng.randint(3, 9))).quantize(
        Decimal(1).scaleb(-len(text.rstrip("%").partition(".")[2])), ROUND_HALF_UP
    )
    return f"{shifted}%" if percent else str(shifted)


def _plant(document: dict[str, Any], path: str, value: str) -> None:
    *parents, last = path.split(".")
    for part in parents:
        document = document.setdefault(part, {})
    document[last] = value


__all__ = [
    "CANNOT",
    "Answer",
    "Draft",
    "Dull",
    "Family",
    "Flaws",
    "Row",
    "Rules",
    "Scene",
    "Table",
    "cell_check",
    "check_cells",
    "check_fields",
    "finish",
    "views",
    "wrong_value",
]
