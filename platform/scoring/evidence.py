"""What the checkers look at: tables and documents of one run, each read once, faults kept as reasons."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TypeVar

from scoring import units
from scoring.artefacts import ArtefactError, Artefacts, Reason
from scoring.documents import NoValue, Value, read_document, texts_of, value_at
from scoring.model import CellAt, ColumnAt, ColumnType, DocumentAt, RuleSet, TableContract
from scoring.tables import Number, Table, read_table
from scoring.texts import canonical_body, canonical_text
from scoring.values import EXACT, Quantity, Special, Tolerance, in_unit, plain_text, read_number, same_number

_Found = TypeVar("_Found")


class Evidence:
    """The artefacts of one run under one rule set. Methods raise ArtefactError with the item's reason."""

    def __init__(self, ruleset: RuleSet, artefacts: Artefacts) -> None:
        self.ruleset = ruleset
        self.artefacts = artefacts
        self._tables: dict[str, Table | ArtefactError] = {}
        self._documents: dict[str, Mapping[str, Value] | ArtefactError] = {}
        self._bodies: dict[str, str | ArtefactError] = {}
        self._keys: dict[tuple[ColumnAt | DocumentAt, bool], tuple[Hashable, ...]] = {}

    def readable_table(self, name: str) -> Table:
        """The table, broken or not."""
        return _once(self._tables, name, lambda: read_table(self.artefacts, self.ruleset.tables[name]))

    def table(self, name: str) -> Table:
        """The table, which must keep its contract."""
        found = self.readable_table(name)
        if found.broken:
            raise ArtefactError(Reason.CONTRACT_BROKEN)
        return found

    def document(self, name: str) -> Mapping[str, Value]:
        """The document."""
        return _once(
            self._documents, name, lambda: read_document(self.artefacts, self.ruleset.documents[name])
        )

    def body(self, path: str) -> str:
        """The canonical text of a text file."""
        return _once(self._bodies, path, lambda: canonical_body(self.artefacts.read_text(path)))

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

    def keys(self, at: ColumnAt | DocumentAt, *, from_broken: bool) -> tuple[Hashable, ...]:
        """`entry_key` of each of the values; worked out once, however many rules look at them."""
        place = (at, from_broken)
        if place not in self._keys:
            self._keys[place] = tuple(map(entry_key, self.values(at, from_broken=from_broken)))
        return self._keys[place]


def _once(known: dict[str, _Found | ArtefactError], name: str, read: Callable[[], _Found]) -> _Found:
    """What `read` gives, or the ArtefactError it raises, kept for the next rule that asks.

    Whatever else goes wrong in reading is the artefact's doing as well: its author must not be able to choose
    that a run has no score.
    """
    if name not in known:
        try:
            known[name] = read()
        except ArtefactError as error:
            known[name] = error
        except MemoryError:
            known[name] = ArtefactError(Reason.TOO_LARGE)
        except Exception:  # noqa: BLE001 - see above
            known[name] = ArtefactError(Reason.MALFORMED)
    found = known[name]
    if isinstance(found, ArtefactError):
        raise found
    return found


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
    number = in_unit(Quantity(entry.reading.value, entry.reading.unit or entry.implied_unit), None)
    return number if number is None else plain_text(number)


def expected_keys(evidence: Evidence, at: ColumnAt | DocumentAt, expected: Iterable[str]) -> list[Hashable]:
    """`entry_key` of each expected entry; in a number column a bare number has the contract's unit."""
    if isinstance(at, DocumentAt) or not evidence.is_number(at):
        return [entry_key(text) for text in expected]
    unit = evidence.contract(at.table).units.get(at.column)
    return [entry_key(Number(read_number(text), unit)) for text in expected]
