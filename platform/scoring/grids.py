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
DELIMITERS = (",", ";", "\t")
MAX_MARKDOWN_TABLES = 200

Grid: TypeAlias = list[list[str]]

_SEPARATOR = re.compile(r"^\s*\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?\s*$")
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
            yield collect(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error:
            if delimiter == delimiters[-1]:
                raise ArtefactError(Reason.MALFORMED) from None


def collect(rows: Iterable[list[str]]) -> Grid:
    """The rows as a grid, blank ones left out; raises ArtefactError too_large past a cap."""
    grid: Grid = []
    cells = 0
    for row in rows:
        while row and not row[-1].strip():
            row.pop()
        if not row:
            continue
        cells += len(row)
        if len(grid) >= MAX_ROWS or len(row) > MAX_COLUMNS or cells > MAX_CELLS:
            raise ArtefactError(Reason.TOO_LARGE)
        grid.append(row)
    return grid


def from_markdown(text: str) -> Iterator[Grid]:
    """Every pipe table of the text, in order: a header line, a line of dashes, rows."""
    lines = text.splitlines()
    found = 0
    for index in range(1, len(lines)):
        if "|" not in lines[index - 1] or "-" not in lines[index] or not _is_separator(lines[index]):
            continue
        found += 1
        if found > MAX_MARKDOWN_TABLES:
            raise ArtefactError(Reason.TOO_LARGE)
        yield collect(_markdown_rows(lines, index))


def _is_separator(line: str) -> bool:
    return len(line) <= 8 * MAX_COLUMNS and _SEPARATOR.match(line) is not None


def _markdown_rows(lines: list[str], separator: int) -> Iterator[list[str]]:
    yield _markdown_cells(lines[separator - 1])
    for line in lines[separator + 1 :]:
        if "|" not in line:
            return
        yield _markdown_cells(line)


def _markdown_cells(line: str) -> list[str]:
    if len(line) > MAX_COLUMNS * 1_000:
        raise ArtefactError(Reason.TOO_LARGE)
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
