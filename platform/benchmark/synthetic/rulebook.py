"""Rules of one synthetic task, built next to its truth, and a plain reading of them over in-memory answers.

The builder writes the mapping of schema `rules/1`. `verdicts` exists only so that the generator can notice
a dull draft (a trap that changes nothing) before it is written; the official grader is in `scoring`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

Row = dict[str, str]
CANNOT = "无法计算"


@dataclass(frozen=True)
class Table:
    """A result table: where it is delivered (`file`, or the reply when empty) and what is read from it.

    `columns` maps a column to `text` or `number`; `units` names the unit of number columns; `words` gives the
    closed vocabulary of text columns, used to make a wrong but plausible cell.
    """

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, str]
    file: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    sheet: str = ""

    def contract(self) -> dict[str, Any]:
        """The entry of this table in `rules.yaml`."""
        place: dict[str, Any] = {"file": self.file} if self.file else {"reply": True}
        if self.sheet:
            place["sheet"] = self.sheet
        place |= {"key": list(self.key), "columns": dict(self.columns)}
        if self.units:
            place["units"] = dict(self.units)
        return place


@dataclass
class Answer:
    """What somebody might hand in: rows by table, objects by document, text by file name, and a reply."""

    tables: dict[str, list[Row]] = field(default_factory=dict)
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    reply: str = ""


class Rules:
    """Collects tables, documents, threshold, fatal and ordinary items, and numbers them."""

    def __init__(self, mode: str = "itemised") -> None:
        self.mode = mode
        self.tables: dict[str, Table] = {}
        self.documents: dict[str, str] = {}
        self.threshold: list[dict[str, Any]] = []
        self.fatal: list[dict[str, Any]] = []
        self.items: list[dict[str, Any]] = []
        self.note = ""

    def deliver(self, table: Table, keys: Iterable[str] | None = None) -> None:
        """Declare a table; with `keys` a table that lacks a row or invents one is no delivery at all."""
        self.tables[table.name] = table
        self.threshold.append({"id": f"T{len(self.threshold) + 1}", "check": "delivered", "of": table.name})
        if keys is not None:
            at = {"table": table.name, "column": table.key[0]}
            expected = sorted(set(keys))
            self.threshold.append(
                {"id": f"T{len(self.threshold) + 1}", "check": "set", "at": at, "expected": expected}
            )

    def deliver_document(self, name: str, file: str) -> None:
        """Declare a JSON document that has to be there."""
        self.documents[name] = file
        self.threshold.append({"id": f"T{len(self.threshold) + 1}", "check": "delivered", "of": name})

    def forbid(self, check: Mapping[str, Any], trap: str) -> str:
        """Add a fatal item and return its id."""
        self.fatal.append({"id": f"F{len(self.fatal) + 1}", **check, "trap": trap})
        return f"F{len(self.fatal)}"

    def item(self, check: Mapping[str, Any], trap: str = "") -> str:
        """Add an ordinary item and return its id."""
        entry: dict[str, Any] = {"id": f"R{len(self.items) + 1}", **check}
        if trap:
            entry["trap"] = trap
        self.items.append(entry)
        return str(entry["id"])

    def keys(self, table: Table, expected: Iterable[str], *, column: str = "", trap: str = "") -> str:
        """A complete list of business keys; missing and invented ones cost their share."""
        at = {"table": table.name, "column": column or table.key[0]}
        return self.item({"check": "set", "at": at, "expected": sorted(expected), "partial": True}, trap)

    def cell(self, table: Table, row: Row, column: str, *, tolerance: str = "0.01", trap: str = "") -> str:
        """One checked cell of the true row: exact for text, numeric for numbers."""
        at = {"table": table.name, "row": {k: row[k] for k in table.key}, "column": column}
        return self.item(cell_check(table, at, row[column], column, tolerance), trap)

    def field(self, document: str, path: str, value: str, *, tolerance: str = "0.01", trap: str = "") -> str:
        """One checked value of a JSON document: a percentage, a number, or text."""
        at = {"document": document, "path": path}
        shape = Table(document, (), {path: "number" if is_number(value) or value == CANNOT else "text"})
        return self.item(cell_check(shape, at, value, path, tolerance), trap)

    def mapping(self) -> dict[str, Any]:
        """The whole rule set as schema `rules/1` has it."""
        whole: dict[str, Any] = {"schema": "rules/1", "mode": self.mode}
        if self.note:
            whole["note"] = self.note
        if self.tables:
            whole["tables"] = {name: table.contract() for name, table in self.tables.items()}
        if self.documents:
            whole["documents"] = {name: {"file": file} for name, file in self.documents.items()}
        whole["threshold"] = self.threshold
        if self.fatal:
            whole["fatal"] = self.fatal
        whole["items"] = self.items
        return whole


def cell_check(
    table: Table, at: Mapping[str, Any], value: str, column: str, tolerance: str
) -> dict[str, Any]:
    """The check that fits a true cell: its type decides, `%` means one declared decimal of a percentage."""
    if table.columns[column] != "number":
        return {"check": "exact", "at": at, "expected": [value]}
    if value == CANNOT:
        return {"check": "numeric", "at": at, "expected": "cannot_compute"}
    if value.endswith("%"):
        return {"check": "numeric", "at": at, "expected": value, "tolerance": {"decimals": 1}}
    check: dict[str, Any] = {"check": "numeric", "at": at, "expected": value}
    if column in table.units:
        check["unit"] = table.units[column]
    check["tolerance"] = {"abs": tolerance}
    return check


def is_number(value: str) -> bool:
    """Whether a canonical value is a plain decimal or a percentage."""
    try:
        return Decimal(value.rstrip("%")).is_finite()
    except ArithmeticError:
        return False


def find(rows: Sequence[Row], where: Mapping[str, str]) -> Row | None:
    """The only row with these key values, or None when there is none or more than one."""
    hits = [row for row in rows if all(row.get(k) == v for k, v in where.items())]
    return hits[0] if len(hits) == 1 else None


def differing(table: Table, truth: Sequence[Row], other: Sequence[Row]) -> list[tuple[int, str]]:
    """Non-key cells (index of the true row, column) that another answer gets wrong."""
    wrong = []
    for number, row in enumerate(truth):
        found = find(other, {k: row[k] for k in table.key})
        for column in table.columns:
            if column not in table.key and (found is None or not same(row[column], found.get(column))):
                wrong.append((number, column))
    return wrong


def same(left: Any, right: Any) -> bool:
    """Equality of two canonical values: equal text, or equal decimals."""
    if str(left) == str(right):
        return True
    try:
        return Decimal(str(left)) == Decimal(str(right))
    except ArithmeticError:
        return False


def verdicts(rules: Rules, answer: Answer) -> dict[str, Decimal]:
    """Score of every threshold, fatal and ordinary item over an in-memory answer."""
    return {str(r["id"]): _one(r, answer) for r in [*rules.threshold, *rules.fatal, *rules.items]}


def _one(rule: Mapping[str, Any], answer: Answer) -> Decimal:
    check = rule["check"]
    if check == "delivered":
        return Decimal(bool(answer.tables.get(rule["of"]) or answer.documents.get(rule["of"])))
    if check in ("exact", "numeric"):
        if "document" in rule["at"]:
            value = lookup(answer.documents.get(rule["at"]["document"], {}), rule["at"]["path"])
            return Decimal(_accepts(rule, str(value)))
        row = find(answer.tables.get(rule["at"]["table"], []), rule["at"]["row"])
        return Decimal(row is not None and _accepts(rule, row.get(rule["at"]["column"], "")))
    if check in ("set", "ranking"):
        at = rule["at"]
        given = [row.get(at["column"], "") for row in answer.tables.get(at["table"], [])]
        return _set(rule, set(given)) if check == "set" else _ranking(rule["expected"], given)
    if check == "document":
        return _document(rule, answer.documents.get(rule["at"]["document"], {}))
    if check == "files":
        return _files(rule, answer.files)
    raise ValueError(f"rule {rule['id']}: the generator does not use the check {check!r}")


def _accepts(rule: Mapping[str, Any], value: str) -> bool:
    expected = rule["expected"]
    if expected == "cannot_compute":
        return value == CANNOT
    return any(same(value, one) for one in (expected if isinstance(expected, list) else [expected]))


def _set(rule: Mapping[str, Any], given: set[str]) -> Decimal:
    if set(rule.get("excludes", ())) & given or not set(rule.get("includes", ())) <= given:
        return Decimal(0)
    if "expected" not in rule:
        return Decimal(1)
    expected = set(rule["expected"])
    if not rule.get("partial"):
        return Decimal(given == expected)
    hits = len(given & expected) - len(given - expected)
    return max(Decimal(0), Decimal(hits) / Decimal(len(expected)))


def _ranking(expected: Sequence[str], given: Sequence[str]) -> Decimal:
    if list(expected) == list(given):
        return Decimal(1)
    return Decimal("0.5") if sorted(expected) == sorted(given) else Decimal(0)


def _document(rule: Mapping[str, Any], given: Mapping[str, Any]) -> Decimal:
    hits = sum(same(value, lookup(given, path)) for path, value in rule["expected"].items())
    total = len(rule["expected"])
    return Decimal(hits) / Decimal(total) if rule.get("partial") else Decimal(hits == total)


def lookup(document: Mapping[str, Any], path: str) -> Any:
    """The value at a dotted path of nested objects, or None."""
    value: Any = document
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _files(rule: Mapping[str, Any], files: Mapping[str, str]) -> Decimal:
    present = all(name in files for name in rule.get("present", ()))
    absent = not any(name in files for name in rule.get("absent", ()))
    contains = rule.get("contains", {})
    told = all(all(text in files.get(name, "") for text in texts) for name, texts in contains.items())
    return Decimal(present and absent and told)
