"""The closed set of checkers. Each gives a score in [0, 1] and the reason; hostile input never raises."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from decimal import Decimal
from typing import TypeAlias

from scoring.artefacts import ArtefactError, Reason
from scoring.documents import NoValue, Value, number_of, same_expected, same_value, value_at
from scoring.evidence import Evidence, expected_keys, meets
from scoring.model import (
    CellAt,
    Check,
    ColumnType,
    Consistent,
    Delivered,
    Document,
    DocumentAt,
    Exact,
    Files,
    Numeric,
    Ranking,
    Script,
    SetOf,
)
from scoring.tables import Number
from scoring.texts import UNEQUAL, canonical_text, same_text
from scoring.values import NotANumber, Quantity, Special, read_number, same_number

ScriptRunner: TypeAlias = Callable[[str], Decimal]
Verdict: TypeAlias = tuple[Decimal, Reason]

ZERO, HALF, ONE = Decimal(0), Decimal("0.5"), Decimal(1)


def evaluate(
    check: Check, evidence: Evidence, run_script: ScriptRunner, effort: AbstractContextManager[object]
) -> Verdict:
    """Score one check. Only a script may raise (its runner's technical fault).

    `effort` is entered for the time of the check and may end it with an ArtefactError.

    A value that a checker cannot stand is a failed item, as a file that cannot be read is: rules are proved by
    the sample answers, so what still goes wrong was chosen by whoever wrote the artefact.
    """
    try:
        with effort:
            if isinstance(check, Script):
                return verdict(run_script(check.path))
            return _CHECKERS[type(check)](check, evidence)
    except ArtefactError as error:
        return ZERO, error.reason
    except MemoryError:
        return ZERO, Reason.TOO_LARGE
    except Exception:
        if isinstance(check, Script):
            raise
        return ZERO, Reason.MALFORMED


def verdict(score: Decimal) -> Verdict:
    """The score with the reason that goes with it."""
    if score == ONE:
        return ONE, Reason.MET
    return (ZERO, Reason.WRONG) if score == ZERO else (score, Reason.PARTLY_MET)


def _all_or_share(met: Sequence[bool], *, partial: bool) -> Verdict:
    if partial:
        return verdict(Decimal(sum(met)) / len(met))
    return verdict(ONE if all(met) else ZERO)


def delivered(check: Delivered, evidence: Evidence) -> Verdict:
    """Readable, with its columns and enough rows; a broken contract is the items' matter."""
    if check.of in evidence.ruleset.documents:
        evidence.document(check.of)
        return verdict(ONE)
    rows = len(evidence.readable_table(check.of).rows)
    return verdict(ONE) if rows >= check.min_rows else (ZERO, Reason.MISSING)


def exact(check: Exact, evidence: Evidence) -> Verdict:
    """Equal to any one of the expected values: as text in a text column, as a number in a number column."""
    if isinstance(check.at, DocumentAt):
        value = evidence.value(check.at)
        return verdict(ONE if any(same_value(expected, value) for expected in check.expected) else ZERO)
    row, table = evidence.row_of(check.at), evidence.table(check.at.table)
    if evidence.is_number(check.at):
        number = table.numbers[row][check.at.column]
        met = any(_meets_text(number, expected) for expected in check.expected)
    else:
        met = any(same_text(table.rows[row][check.at.column], expected) for expected in check.expected)
    return verdict(ONE if met else ZERO)


def _meets_text(number: Number, expected: str) -> bool:
    try:
        return meets(number, read_number(expected))
    except NotANumber:
        return False


def numeric(check: Numeric, evidence: Evidence) -> Verdict:
    """The expected number within its tolerance; missing is not zero and not "cannot be computed"."""
    return verdict(ONE if meets(_number_at(check.at, evidence), check.expected, check.tolerance) else ZERO)


def _number_at(at: CellAt | DocumentAt, evidence: Evidence) -> Number:
    try:
        if isinstance(at, DocumentAt):
            return Number(number_of(evidence.value(at)))
        row, table = evidence.row_of(at), evidence.table(at.table)
        if evidence.is_number(at):
            return table.numbers[row][at.column]
        return Number(read_number(table.rows[row][at.column]))
    except NotANumber:
        return Number(Special.MISSING)


def set_of(check: SetOf, evidence: Evidence) -> Verdict:
    """Distinct values. Partial: (hits − spurious) / expected, not below 0; an excluded value makes 0."""
    only_excludes = check.expected is None and not check.includes
    found = frozenset(evidence.keys(check.at, from_broken=only_excludes))

    def keys(values: Sequence[str]) -> set[Hashable]:
        return set(expected_keys(evidence, check.at, values))

    if found & keys(check.excludes):
        return ZERO, Reason.WRONG
    includes = keys(check.includes)
    if check.expected is None:
        return _share(len(found & includes), len(includes), partial=check.partial)
    expected = keys(check.expected)
    if not check.partial or not expected:
        return verdict(ONE if found == expected and includes <= found else ZERO)
    hits = len(found & expected) - len(found - expected)
    return _share(max(hits, 0) if includes <= found else 0, len(expected), partial=True)


def _share(hits: int, wanted: int, *, partial: bool) -> Verdict:
    if hits == wanted:
        return verdict(ONE)
    return verdict(Decimal(hits) / wanted if partial else ZERO)


def ranking(check: Ranking, evidence: Evidence) -> Verdict:
    """Right order 1; the right entries, each once, in another order 0.5; else 0."""
    found = list(evidence.keys(check.at, from_broken=False))
    expected = expected_keys(evidence, check.at, check.expected)
    if found == expected:
        return verdict(ONE)
    same_content = (
        len(found) == len(expected) and set(found) == set(expected) and len(set(found)) == len(found)
    )
    return verdict(HALF if same_content else ZERO)


def document(check: Document, evidence: Evidence) -> Verdict:
    """Each expected path carries its value; partial gives the share of paths."""
    data = evidence.document(check.at.document)

    def met(path: str) -> bool:
        try:
            return same_expected(check.expected[path], value_at(data, path))
        except NoValue:
            return False

    return _all_or_share([met(path) for path in check.expected], partial=check.partial)


_Cell: TypeAlias = "str | Number"


def consistent(check: Consistent, evidence: Evidence) -> Verdict:
    """Keys that stand in two artefacts carry the same value; every artefact shares a key with the first."""
    columns = [_keyed_column(name, check, evidence) for name in check.artefacts]
    for column in columns[1:]:
        if not column.keys() & columns[0].keys():
            return ZERO, Reason.NO_SUCH_ROW
    merged: dict[tuple[str, ...], _Cell] = {}
    for column in columns:
        for key, value in column.items():
            if not _agree(merged.setdefault(key, value), value):
                return ZERO, Reason.WRONG
    return verdict(ONE)


def _keyed_column(name: str, check: Consistent, evidence: Evidence) -> dict[tuple[str, ...], _Cell]:
    if name in evidence.ruleset.documents:
        return _from_document(evidence.document(name), check.column)
    contract, table = evidence.contract(name), evidence.table(name)
    # A table that keeps its contract has a key of its own for each row, and the index has them in row order.
    keys = list(table.index)
    if contract.columns[check.column] is ColumnType.NUMBER:
        return {key: row[check.column] for key, row in zip(keys, table.numbers, strict=True)}
    return {key: row[check.column] for key, row in zip(keys, table.rows, strict=True)}


def _from_document(data: Mapping[str, Value], column: str) -> dict[tuple[str, ...], _Cell]:
    """{column: {key: value}} or {key: {column: value}}."""
    named = data.get(column)
    pairs = (
        named
        if isinstance(named, dict)
        else {
            key: value[column] for key, value in data.items() if isinstance(value, dict) and column in value
        }
    )
    found: dict[tuple[str, ...], _Cell] = {
        (canonical_text(key),): value for key, value in pairs.items() if isinstance(value, str)
    }
    found.pop((UNEQUAL,), None)
    return found


def _agree(left: _Cell, right: _Cell) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        return same_value(left, right)
    try:
        one, two = _quantity(left), _quantity(right)
    except NotANumber:
        return False
    if isinstance(one, Special) or isinstance(two, Special):
        return one is two
    return same_number(one, two)


def _quantity(cell: _Cell) -> Quantity | Special:
    number = Number(read_number(cell)) if isinstance(cell, str) else cell
    if isinstance(number.reading, Special):
        return number.reading
    return Quantity(number.reading.value, number.reading.unit or number.implied_unit)


def files(check: Files, evidence: Evidence) -> Verdict:
    """Every path that must be a file is one, none that must not exist does, every text stands in its file."""
    artefacts = evidence.artefacts
    met = [artefacts.is_file(path) for path in check.present]
    met += [not artefacts.exists(path) for path in check.absent]
    for path, texts in check.contains.items():
        try:
            content = evidence.body(path)
        except ArtefactError:
            met += [False] * len(texts)
        else:
            met += [canonical_text(text) in content for text in texts]
    return _all_or_share(met, partial=check.partial)


_CHECKERS: dict[type, Callable[..., Verdict]] = {
    Delivered: delivered,
    Exact: exact,
    Numeric: numeric,
    SetOf: set_of,
    Ranking: ranking,
    Document: document,
    Consistent: consistent,
    Files: files,
}
