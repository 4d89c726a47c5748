"""What a rule set is made of (schema rules/1), as frozen dataclasses. Read by `scoring.rules.load`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from scoring.values import EXACT, Quantity, Special, Tolerance


class Mode(StrEnum):
    """How the ordinary items make R: their mean, or 1 only where every one is met."""

    ITEMISED = "itemised"
    ALL_OR_NOTHING = "all_or_nothing"


class ColumnType(StrEnum):
    """What a column of a result table may hold."""

    TEXT = "text"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class TableContract:
    """The only table and columns that are read; key names the columns that identify one row.

    Either `file` (path below the workspace, with an optional sheet) is set, or the table stands in the reply.
    """

    name: str
    key: tuple[str, ...]
    columns: Mapping[str, ColumnType]
    units: Mapping[str, str]
    file: str | None = None
    sheet: str | None = None


@dataclass(frozen=True, slots=True)
class DocumentContract:
    """A JSON object in the workspace."""

    name: str
    file: str


@dataclass(frozen=True, slots=True)
class CellAt:
    """One cell: the row with this key, in this column."""

    table: str
    row: tuple[tuple[str, str], ...]
    column: str


@dataclass(frozen=True, slots=True)
class ColumnAt:
    """All cells of one column, in the order of the file."""

    table: str
    column: str


@dataclass(frozen=True, slots=True)
class DocumentAt:
    """A document, or with a dotted path the value there."""

    document: str
    path: str | None = None


Scalar: TypeAlias = str | bool | None
Expected: TypeAlias = Scalar | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Delivered:
    """The table or document exists and can be read: named columns, at least `min_rows` rows."""

    of: str
    min_rows: int = 1


@dataclass(frozen=True, slots=True)
class Exact:
    """The value equals any one of `expected`."""

    at: CellAt | DocumentAt
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numeric:
    """The number equals `expected` within the tolerance, or says that it cannot be computed."""

    at: CellAt | DocumentAt
    expected: Quantity | Special
    tolerance: Tolerance = EXACT


@dataclass(frozen=True, slots=True)
class SetOf:
    """The distinct values of a column: exactly `expected`, at least `includes`, none of `excludes`."""

    at: ColumnAt | DocumentAt
    expected: tuple[str, ...] | None = None
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Ranking:
    """The column lists exactly these values in this order."""

    at: ColumnAt | DocumentAt
    expected: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Values at dotted paths of a JSON document."""

    at: DocumentAt
    expected: Mapping[str, Expected]
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Consistent:
    """The same key carries the same value of `column` in every artefact named."""

    artefacts: tuple[str, ...]
    column: str


@dataclass(frozen=True, slots=True)
class Files:
    """File structure: paths that must be there, must not, and texts that must stand in them."""

    present: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    contains: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    partial: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """Escape hatch: a script below tests/ that prints {"score": "0.5"}."""

    path: str


Check: TypeAlias = Delivered | Exact | Numeric | SetOf | Ranking | Document | Consistent | Files | Script


@dataclass(frozen=True, slots=True)
class Rule:
    """One check with its id; `trap` names the snare it tells apart."""

    id: str
    check: Check
    trap: str | None = None


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules of a task. Threshold and fatal rules zero the run; items make R with equal weight."""

    mode: Mode
    tables: Mapping[str, TableContract]
    documents: Mapping[str, DocumentContract]
    threshold: tuple[Rule, ...]
    fatal: tuple[Rule, ...]
    items: tuple[Rule, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """Every rule, in the order of evaluation."""
        return self.threshold + self.fatal + self.items
