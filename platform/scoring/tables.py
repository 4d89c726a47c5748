"""Result tables read by their contract: the named columns and nothing else, one row per key.

A table that cannot be read at all is an ArtefactError. One that can be read but breaks its contract (a key
twice or empty, a number cell with something else in it) is returned with `broken` set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scoring import grids, units
from scoring.artefacts import MAX_REPLY_CHARS, ArtefactError, Artefacts, Reason, decode
from scoring.grids import Grid
from scoring.model import ColumnType, TableContract
from scoring.texts import UNEQUAL, canonical_text
from scoring.values import NotANumber, Quantity, Special, read_number

MAX_HEADER_DEPTH = 20
_MAX_HEADER_CHARS = 120


@dataclass(frozen=True, slots=True)
class Number:
    """A number cell: what it says, and the contract's unit where neither cell nor header states one."""

    reading: Quantity | Special
    implied_unit: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """The named columns, rows in file order; `index` maps a canonical key to its row."""

    rows: tuple[Mapping[str, str], ...]
    numbers: tuple[Mapping[str, Number], ...]
    index: Mapping[tuple[str, ...], int]
    broken: bool

    def row_of(self, key: tuple[str, ...]) -> int | None:
        """The row whose key equals this one under text equivalence."""
        return self.index.get(tuple(canonical_text(part) for part in key))


def read_table(artefacts: Artefacts, contract: TableContract) -> Table:
    """Read the table; raises ArtefactError (missing, malformed, too_large, column_missing …)."""
    found_any = False
    for grid in _grids(artefacts, contract):
        found_any = True
        for depth, row in enumerate(grid[:MAX_HEADER_DEPTH]):
            columns = _match_header(row, contract)
            if columns is not None:
                return _build(grid[depth + 1 :], columns, contract)
    raise ArtefactError(Reason.COLUMN_MISSING if found_any else Reason.MISSING)


def _grids(artefacts: Artefacts, contract: TableContract) -> Iterator[Grid]:
    """Every grid in which the table may stand, in the order they are tried."""
    if contract.file is None:
        yield from grids.from_markdown((artefacts.reply or "")[:MAX_REPLY_CHARS])
    elif contract.file.lower().endswith(".xlsx"):
        yield from _sheets(artefacts.read(contract.file, grids.MAX_TABLE_BYTES), contract.sheet)
    else:
        text = decode(artefacts.read(contract.file, grids.MAX_TABLE_BYTES))
        is_markdown = contract.file.lower().endswith(".md")
        yield from grids.from_markdown(text) if is_markdown else grids.from_delimited(text)


def _sheets(content: bytes, named: str | None) -> Iterator[Grid]:
    """The sheet of that name, or all of them where none is named."""
    # Imported here: most runs leave no workbook, and the grader starts once per run.
    from scoring.workbooks import read_sheets

    for sheet in read_sheets(
        content, lambda name: named is None or canonical_text(name) == canonical_text(named)
    ):
        yield sheet.grid


@dataclass(frozen=True, slots=True)
class _Column:
    position: int
    unit: str | None


def _match_header(row: list[str], contract: TableContract) -> dict[str, _Column] | None:
    """Where each named column stands; None unless all of them are there, each once.

    A header that adds a unit in brackets to the name ("金额(万元)" for 金额) counts as the column and states
    the unit, unless it is the name of another column of the contract.
    """
    cells = [canonical_text(cell[:_MAX_HEADER_CHARS]) for cell in row]
    names = {canonical_text(name): name for name in contract.columns}
    bases = [units.split_header(cell) for cell in cells]
    found: dict[str, _Column] = {}
    for plain, name in names.items():
        exact = [place for place, cell in enumerate(cells) if cell == plain]
        base = units.split_header(plain)[0]
        loose = [
            place
            for place, (header, _) in enumerate(bases)
            if header in (plain, base) and cells[place] not in names
        ]
        places = exact or loose
        if len(places) != 1:
            return None
        found[name] = _Column(places[0], bases[places[0]][1])
    return found if len({column.position for column in found.values()}) == len(found) else None


def _build(body: Grid, columns: Mapping[str, _Column], contract: TableContract) -> Table:
    rows: list[Mapping[str, str]] = []
    numbers: list[Mapping[str, Number]] = []
    index: dict[tuple[str, ...], int] = {}
    broken = False
    for raw in body:
        row = {name: raw[at.position] if at.position < len(raw) else "" for name, at in columns.items()}
        if not any(cell.strip() for cell in row.values()):
            continue
        key = tuple(canonical_text(row[name]) for name in contract.key)
        broken |= not all(key) or UNEQUAL in key or key in index
        index.setdefault(key, len(rows))
        parsed, sound = _numbers(row, columns, contract)
        broken |= not sound
        rows.append(row)
        numbers.append(parsed)
    return Table(tuple(rows), tuple(numbers), index, broken)


def _numbers(
    row: Mapping[str, str], columns: Mapping[str, _Column], contract: TableContract
) -> tuple[dict[str, Number], bool]:
    """The number cells of a row, and whether each held one number or a value of its own."""
    parsed: dict[str, Number] = {}
    sound = True
    for name, kind in contract.columns.items():
        if kind is not ColumnType.NUMBER:
            continue
        try:
            reading = read_number(row[name])
        except NotANumber:
            reading, sound = Special.MISSING, False
        parsed[name] = _with_unit(reading, columns[name].unit, contract.units.get(name))
    return parsed, sound


def _with_unit(reading: Quantity | Special, header: str | None, contract: str | None) -> Number:
    """The unit stated nearest wins: cell, then header; the contract's is only implied."""
    if isinstance(reading, Special) or reading.unit is not None:
        return Number(reading)
    return Number(Quantity(reading.value, header), contract if header is None else None)
