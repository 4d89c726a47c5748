"""Reading cell values out of .xlsx under hard caps, in one streaming pass per part.

The general libraries build whole trees before a caller can count, and take longer to import than grading a
run takes; artefacts are hostile and the grader starts once per run. Only values are read: no macro, formula,
link or external part is ever followed. Source of the format: ECMA-376 part 1, chapters 12 and 18.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scoring.artefacts import ArtefactError, Reason
from scoring.grids import MAX_CELL_CHARS, MAX_CELLS, MAX_COLUMNS, MAX_ROWS, Grid, collect
from scoring.workbook_cells import Epoch, Formats, shown
from scoring.workbook_parts import Parts

MAX_SHEETS = 20
MAX_SHARED_CHARS = 16 * 1024 * 1024
# Of the cells of one sheet: a shared string of the largest size may stand in every cell.
MAX_SHEET_CHARS = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Sheet:
    """One sheet: its name and its cells as text."""

    name: str
    grid: Grid


def read_sheets(content: bytes, wanted: Callable[[str], bool]) -> Iterator[Sheet]:
    """The sheets whose name is wanted, in workbook order, each parsed when asked for.

    Raises ArtefactError: too_large past any cap, malformed for anything that is no workbook.
    """
    try:
        book = _Book(Parts(content))
        for name, part in book.sheets:
            if wanted(name):
                yield Sheet(name, book.grid(part))
    except ArtefactError:
        raise
    except MemoryError:
        raise ArtefactError(Reason.TOO_LARGE) from None
    except Exception as error:  # whatever zipfile, zlib, expat and the reading of numbers raise
        raise ArtefactError(Reason.MALFORMED) from error


class _Book:
    """The parts of one workbook that cell values depend on."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        main = self._main_part()
        self.sheets, self._epoch = self._read_workbook(main)
        folder = posixpath.dirname(main)
        self._shared = self._read_shared(posixpath.join(folder, "sharedStrings.xml"))
        self._formats = self._read_formats(posixpath.join(folder, "styles.xml"))

    def _main_part(self) -> str:
        targets = [
            target for kind, target in self._relations("").values() if kind.endswith("/officeDocument")
        ]
        return targets[0] if targets else "xl/workbook.xml"

    def _relations(self, part: str) -> dict[str, tuple[str, str]]:
        """Relation id to (type, part name) of what `part` points at; outer targets are left out."""
        folder, name = posixpath.split(part)
        path = posixpath.join(folder, "_rels", f"{name}.rels")
        found: dict[str, tuple[str, str]] = {}

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag == "Relationship" and attributes.get("TargetMode") != "External":
                target = attributes.get("Target", "")
                joined = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
                found[attributes.get("Id", "")] = (attributes.get("Type", ""), posixpath.normpath(joined))

        if path in self._parts.names:
            self._parts.parse(path, start)
        return found

    def _read_workbook(self, main: str) -> tuple[list[tuple[str, str]], Epoch]:
        relations = self._relations(main)
        sheets: list[tuple[str, str]] = []
        epochs: list[str] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag == "workbookPr":
                epochs.append(attributes.get("date1904", "0"))
            if tag == "sheet":
                kind, part = relations.get(attributes.get("id", ""), ("", ""))
                if kind.endswith("/worksheet") and part in self._parts.names:
                    sheets.append((attributes.get("name", ""), part))

        self._parts.parse(main, start)
        return sheets[:MAX_SHEETS], Epoch.Y1904 if epochs[:1] in (["1"], ["true"]) else Epoch.Y1900

    def _read_shared(self, part: str) -> list[str]:
        if part not in self._parts.names:
            return []
        strings: list[str] = []
        texts: list[str] = []
        size = [0]
        phonetic = [0]

        def start(tag: str, attributes: dict[str, str]) -> None:
            phonetic[0] += tag == "rPh"
            if tag == "si":
                texts.clear()

        def end(tag: str, text: str) -> None:
            phonetic[0] -= tag == "rPh"
            if tag == "t" and not phonetic[0]:
                texts.append(text)
            elif tag == "si":
                strings.append("".join(texts)[:MAX_CELL_CHARS])
                size[0] += len(strings[-1])
                if size[0] > MAX_SHARED_CHARS:
                    raise ArtefactError(Reason.TOO_LARGE)

        self._parts.parse(part, start, end)
        return strings

    def _read_formats(self, part: str) -> Formats:
        formats = Formats()
        inside = [False]

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag == "numFmt":
                formats.define(_index(attributes.get("numFmtId", "0")), attributes.get("formatCode", ""))
            elif tag == "xf" and inside[0]:
                formats.add_style(_index(attributes.get("numFmtId", "0")))
            inside[0] |= tag == "cellXfs"

        def end(tag: str, text: str) -> None:
            inside[0] &= tag != "cellXfs"

        if part in self._parts.names:
            self._parts.parse(part, start, end)
        return formats

    def grid(self, part: str) -> Grid:
        """The cells of one sheet as text, blank rows left out."""
        reader = _SheetReader(self._shared, self._formats, self._epoch)
        self._parts.parse(part, reader.start, reader.end)
        return collect(reader.rows)


class _SheetReader:
    """Collects the rows of one sheet from its elements."""

    def __init__(self, shared: list[str], formats: Formats, epoch: Epoch) -> None:
        self.rows: list[list[str]] = []
        self._shared = shared
        self._formats = formats
        self._epoch = epoch
        self._row: list[str] = []
        self._cells = self._chars = 0
        self._column = -1
        self._attributes: dict[str, str] = {}
        self._value = ""
        self._inline: list[str] = []
        self._phonetic = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """One opening tag."""
        if tag == "row":
            self._row, self._column = [], -1
        elif tag == "c":
            self._column = column_index(attributes.get("r"), after=self._column)
            self._attributes, self._value = attributes, ""
            self._inline.clear()
        self._phonetic |= tag == "rPh"

    def end(self, tag: str, text: str) -> None:
        """One closing tag with its text."""
        if tag == "v":
            self._value = text
        elif tag == "t" and not self._phonetic:
            self._inline.append(text)
        elif tag == "c" and self._column < MAX_COLUMNS:
            self._place(self._text())
        elif tag == "row":
            self._keep_row()
        self._phonetic &= tag != "rPh"

    def _text(self) -> str:
        kind = self._attributes.get("t", "n")
        if kind == "inlineStr":
            return "".join(self._inline)[:MAX_CELL_CHARS]
        if kind == "s":
            return self._shared[_index(self._value)] if self._value else ""
        if kind == "b":
            return {"1": "TRUE", "0": "FALSE"}.get(self._value, self._value)
        if kind == "n":
            return shown(self._value, self._formats.kind(self._attributes.get("s")), self._epoch)
        return self._value

    def _place(self, text: str) -> None:
        self._chars += len(text)
        if self._chars > MAX_SHEET_CHARS:
            raise ArtefactError(Reason.TOO_LARGE)
        if text.strip():
            self._row.extend([""] * (self._column + 1 - len(self._row)))
            self._row[self._column] = text

    def _keep_row(self) -> None:
        self._cells += len(self._row)
        if self._cells > MAX_CELLS or len(self.rows) > MAX_ROWS:
            raise ArtefactError(Reason.TOO_LARGE)
        if self._row:
            self.rows.append(self._row)
        self._row = []


def _index(text: str) -> int:
    """A whole number of few digits; raises ValueError for anything else."""
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise ValueError("no index")
    return int(text)


def column_index(reference: str | None, *, after: int) -> int:
    """Zero-based column of "BC12"; a cell without a reference stands right of the one before."""
    if reference is None:
        return after + 1
    letters = reference.rstrip("0123456789")
    if not letters or len(letters) > 3 or not (letters.isascii() and letters.isalpha()):
        raise ArtefactError(Reason.MALFORMED)
    index = 0
    for letter in letters.upper():
        index = index * 26 + ord(letter) - ord("A") + 1
    return index - 1
