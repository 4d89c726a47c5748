"""Raw grids of text cells out of CSV text and markdown, under caps. Workbooks: `scoring.workbooks`."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from scoring.artefacts import ArtefactError, Reason

MAX_TABLE_BYTES = 8 * 1024 * 1024
MAX_ROWS = 20_000
MAX_COLUMNS = 256
MAX_CELLS = 200_000
MAX_CELL_CHARS = 32_767
# What is left out in the end is bounded as well: blank lines, and blank cells behind the last that is none.
MAX_LINES = 1_048_576
MAX_BLANK_CELLS = 2_000_000
MAX_DELIMITERS = 16_384
DELIMITERS = (",", ";", "\t")
MAX_MARKDOWN_TABLES = 200
MAX_MARKDOWN_LINES = 500_000

Grid: TypeAlias = list[list[str]]

_UNESCAPED_PIPE = re.compile(r"(?<!\\)\|")
_MARKS = ("**", "__", "`", "*", "_")


def from_delimited(text: str) -> Iterator[Grid]:
    """The text read as CSV, once for each delimiter that occurs in it (comma, semicolon, tab).

    Raises ArtefactError: too_large past a cap, malformed where it is no CSV.
    """
    delimiters = [delimiter for delimiter in DELIMITERS if delimiter in text] or [","]
    for delimiter in delimiters:
        csv.field_size_limit(MAX_CELL_CHARS)
        try:
            yield collect(csv.reader(_lines(text, delimiter), delimiter=delimiter))
        except csv.Error:
            if delimiter == delimiters[-1]:
                raise ArtefactError(Reason.MALFORMED) from None


def _lines(text: str, delimiter: str) -> Iterator[str]:
    """The lines, none with more fields than a spreadsheet has columns: a row is whole before it is counted."""
    for line in io.StringIO(text, newline=""):
        if line.count(delimiter) > MAX_DELIMITERS:
            raise ArtefactError(Reason.TOO_LARGE)
        yield line


def collect(rows: Iterable[list[str]]) -> Grid:
    """The rows as a grid, blank ones left out; raises ArtefactError too_large past a cap."""
    grid: Grid = []
    cells = blank = 0
    for place, row in enumerate(rows):
        width = len(row)
        while row and not row[-1].strip():
            row.pop()
        cells += len(row)
        blank += width - len(row)
        if place >= MAX_LINES or blank > MAX_BLANK_CELLS:
            raise ArtefactError(Reason.TOO_LARGE)
        if not row:
            continue
        if len(grid) >= MAX_ROWS or len(row) > MAX_COLUMNS or cells > MAX_CELLS:
            raise ArtefactError(Reason.TOO_LARGE)
        grid.append(row)
    return grid


def from_markdown(text: str) -> Iterator[Grid]:
    """Every pipe table of the text, in order: a header line, a line of dashes, rows.

    Tables may overlap where one has no blank line behind it, so the caps are on all of them together.
    """
    lines = text.splitlines()
    if len(lines) > MAX_MARKDOWN_LINES:
        raise ArtefactError(Reason.TOO_LARGE)
    found = 0
    allowance = _Allowance()
    for index in range(1, len(lines)):
        if "|" not in lines[index - 1] or "-" not in lines[index] or not _is_separator(lines[index]):
            continue
        found += 1
        if found > MAX_MARKDOWN_TABLES:
            raise ArtefactError(Reason.TOO_LARGE)
        yield collect(_markdown_rows(lines, index, allowance))


class _Allowance:
    """The rows and cells, blank ones too, that the tables of one text may still have."""

    def __init__(self) -> None:
        self._rows = MAX_ROWS + MAX_MARKDOWN_TABLES
        self._cells = MAX_CELLS

    def take(self, line: str) -> None:
        """One more row; raises ArtefactError where there is no room for it."""
        self._rows -= 1
        self._cells -= line.count("|")
        if self._rows < 0 or self._cells < 0 or len(line) > MAX_COLUMNS * 1_000:
            raise ArtefactError(Reason.TOO_LARGE)


def _is_separator(line: str) -> bool:
    """Whether the line is one of dashes: "|---|:-:|", the outer pipes and the colons as one likes."""
    if len(line) > 8 * MAX_COLUMNS:
        return False
    cells = line.strip().removeprefix("|").removesuffix("|").split("|")
    bare = [cell.strip().removeprefix(":").removesuffix(":") for cell in cells]
    return all(cell and not cell.strip("-") for cell in bare)


def _markdown_rows(lines: list[str], separator: int, allowance: _Allowance) -> Iterator[list[str]]:
    allowance.take(lines[separator - 1])
    yield _markdown_cells(lines[separator - 1])
    for index in range(separator + 1, len(lines)):
        if "|" not in lines[index]:
            return
        allowance.take(lines[index])
        yield _markdown_cells(lines[index])


def _markdown_cells(line: str) -> list[str]:
    body = line.strip().removeprefix("|")
    if body.endswith("|") and not body.endswith("\\|"):
        body = body[:-1]
    return [_plain(cell) for cell in _UNESCAPED_PIPE.split(body)]


def _plain(cell: str) -> str:
    """The cell without emphasis or code marks around it."""
    text = cell.strip().replace("\\|", "|")
    for mark in _MARKS:
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text
