"""What the checkers look at: tables and documents of one run, each read once, faults kept as reasons."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from scoring import units
from scoring.artefacts import ArtefactError, Artefacts, Reason
from scoring.documents import NoValue, Value, read_document, texts_of, value_at
from scoring.model import CellAt, ColumnAt, ColumnType, DocumentAt, RuleSet, TableContract
from scoring.tables import Number, Table, read_table
from scoring.values import (
    EXACT,
    Quantity,
    Special,
    Tolerance,
    canonical_text,
    in_unit,
    read_number,
    same_number,
)


class Evidence:
    """The artefacts of one run under one rule set. Methods raise ArtefactError with the item's reason."""

    def __init__(self, ruleset: RuleSet, artefacts: Artefacts) -> None:
        self.ruleset = ruleset
        self.artefacts = artefacts
        self._tables: dict[str, Table | ArtefactError] = {}
        self._documents: dict[str, Mapping[str, Value] | ArtefactError] = {}

    def readable_table(self, name: str) -> Table:
        """The table, broken or not."""
        if name not in self._tables:
            try:
                self._tables[name] = read_table(self.artefacts, self.ruleset.tables[name])
            except ArtefactError as error:
                self._tables[name] = error
        found = self._tables[name]
        if isinstance(found, ArtefactError):
            raise found
        return found

    def table(self, name: str) -> Table:
        """The table, which must keep its contract."""
        found = self.readable_table(name)
        if found.broken:
            raise ArtefactError(Reason.CONTRACT_BROKEN)
        return found

    def document(self, name: str) -> Mapping[str, Value]:
        """The document."""
        if name not in self._documents:
            try:
                self._documents[name] = read_document(self.artefacts, self.ruleset.documents[name])
            except ArtefactError as error:
                self._documents[name] = error
        found = self._documents[name]
        if isinstance(found, ArtefactError):
            raise found
        return found

    def contract(self, name: str) -> TableContract:
        """The contract of a table."""
        return self.ruleset.tables[name]

    def row_of(self, at: CellAt) -> int:
        """The row a cell stands in."""
        named = dict(at.row)
        row = self.table(at.table).row_of(tuple(named[column] for column in self.contract(at.table).key))
        if row is None:
            raise ArtefactError(Reason.NO_SUCH_ROW)
        return row

    def is_number(self, at: CellAt | ColumnAt | DocumentAt) -> bool:
        """Whether a number column is meant."""
        return (
            not isinstance(at, DocumentAt) and self.contract(at.table).columns[at.column] is ColumnType.NUMBER
        )

    def value(self, at: DocumentAt) -> Value:
        """The value in a document; a path that leads nowhere is `missing`."""
        try:
            return value_at(self.document(at.document), at.path or "")
        except NoValue:
            raise ArtefactError(Reason.MISSING) from None

    def values(self, at: ColumnAt | DocumentAt, *, from_broken: bool) -> list[str | Number]:
        """The values of a column (blank cells left out) or list, in order.

        `from_broken` reads the column also where the table breaks its contract: an exclusion must see what
        stands there, and a duplicate row must not hide it.
        """
        if isinstance(at, DocumentAt):
            return list(texts_of(self.value(at)))
        table = self.readable_table(at.table) if from_broken else self.table(at.table)
        if self.is_number(at):
            return [row[at.column] for row in table.numbers if row[at.column].reading is not Special.MISSING]
        return [row[at.column] for row in table.rows if row[at.column].strip()]


def meets(number: Number, expected: Quantity | Special, tolerance: Tolerance = EXACT) -> bool:
    """Whether a number cell says the expected number, or equally that none can be computed.

    Where only the contract says "%", a bare number may be written either way (12.3 or 0.123).
    """
    reading = number.reading
    if isinstance(reading, Special) or isinstance(expected, Special):
        return reading is expected is Special.CANNOT_COMPUTE
    implied = number.implied_unit
    if implied is None:
        return same_number(reading, expected, tolerance)
    with_unit = Quantity(reading.value, implied)
    if same_number(with_unit, expected, tolerance):
        return True
    return units.is_ratio(implied) and same_number(reading, expected, tolerance)


def entry_key(entry: str | Number) -> Hashable:
    """What two entries of a column or list share where they count as the same."""
    if isinstance(entry, str):
        return canonical_text(entry)
    if isinstance(entry.reading, Special):
        return entry.reading
    return in_unit(Quantity(entry.reading.value, entry.reading.unit or entry.implied_unit), None)


def expected_keys(evidence: Evidence, at: ColumnAt | DocumentAt, expected: Iterable[str]) -> list[Hashable]:
    """`entry_key` of each expected entry; in a number column a bare number has the contract's unit."""
    if isinstance(at, DocumentAt) or not evidence.is_number(at):
        return [entry_key(text) for text in expected]
    unit = evidence.contract(at.table).units.get(at.column)
    return [entry_key(Number(read_number(text), unit)) for text in expected]
