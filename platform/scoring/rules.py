"""Reading a rule set (schema rules/1) from its decoded YAML or JSON form.

Standard library only, so that the grader starts fast. Decisions the schema leaves open:
- `row` of a cell names every key column and nothing else, so that it meets at most one row.
- `at: {document: d, path: a.b}` is allowed for exact, numeric, set and ranking as well.
- `consistent` takes tables and documents; a document is read as {key: {column: value}} or
  {column: {key: value}}.
- `delivered` takes `min_rows` (default 1; 0 where an empty table is a right answer).
- `note` (top level and in every rule) is free text and never read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from scoring.fields import Fields, RulesError, as_text, as_texts, is_safe_path
from scoring.model import (
    CellAt,
    Check,
    ColumnAt,
    ColumnType,
    Consistent,
    Delivered,
    Document,
    DocumentAt,
    DocumentContract,
    Exact,
    Expected,
    Files,
    Mode,
    Numeric,
    Ranking,
    Rule,
    RuleSet,
    Script,
    SetOf,
    TableContract,
)
from scoring.texts import canonical_text
from scoring.values import EXACT, NotANumber, Quantity, Special, Tolerance, read_number

__all__ = ["RuleSet", "RulesError", "load"]

SCHEMA = "rules/1"
TABLE_SUFFIXES = (".csv", ".tsv", ".xlsx", ".md")
_SCRIPT = re.compile(r"^grading/[A-Za-z0-9_]+\.py$")
MAX_RULES = 200
MAX_EXPECTED = 5_000
MAX_DECIMALS = 12


def load(data: Mapping[str, object]) -> RuleSet:
    """Read and check a rule set; raises RulesError whose text names the rule id (or section) and the key."""
    with Fields("rules", data) as top:
        if top.text("schema") != SCHEMA:
            raise top.error("schema", f"must be {SCHEMA!r}")
        mode = _mode(top)
        _skip_note(top)
        loader = _Loader(_tables(top), _documents(top))
        sections = {name: loader.rules(top, name) for name in ("threshold", "fatal", "items")}
    if not sections["items"]:
        raise RulesError("rules.items: must hold at least one rule")
    _refuse_repeats([rule.id for rules in sections.values() for rule in rules])
    return RuleSet(
        mode, loader.tables, loader.documents, sections["threshold"], sections["fatal"], sections["items"]
    )


def _refuse_repeats(ids: list[str]) -> None:
    if len(ids) > MAX_RULES:
        raise RulesError(f"rules: more than {MAX_RULES} rules")
    for rule_id in ids:
        if ids.count(rule_id) > 1:
            raise RulesError(f"{rule_id}.id: used more than once")


def _mode(top: Fields) -> Mode:
    value = top.text("mode")
    if value not in set(Mode):
        raise top.error("mode", f"must be one of {', '.join(Mode)}, got {value!r}")
    return Mode(value)


def _skip_note(fields: Fields) -> None:
    fields.optional_text("note")


def _tables(top: Fields) -> dict[str, TableContract]:
    if not top.has("tables"):
        return {}
    with Fields("tables", top.raw("tables")) as section:
        return {name: _table(name, section.raw(name)) for name in section.names()}


def _table(name: str, data: object) -> TableContract:
    with Fields(f"tables.{name}", data) as fields:
        file, sheet = _source(fields)
        with Fields(f"tables.{name}.columns", fields.raw("columns")) as section:
            columns = {column: _column_type(section, column) for column in section.names()}
        key = fields.texts("key")
        if not columns:
            raise fields.error("columns", "must name at least one column")
        if len({canonical_text(column) for column in columns}) < len(columns):
            raise fields.error("columns", "two columns have the same name")
        if not key or len(set(key)) < len(key) or not set(key) <= set(columns):
            raise fields.error("key", "must name one or more of the columns, each once")
        return TableContract(name, key, columns, _units(fields, columns), file, sheet)


def _source(fields: Fields) -> tuple[str | None, str | None]:
    """(file, sheet); (None, None) where the table stands in the reply."""
    if fields.has("file") == fields.has("reply"):
        raise fields.error("file", "give either a file or reply: true")
    if fields.has("reply"):
        if not fields.flag("reply"):
            raise fields.error("reply", "must be true where present")
        return None, None
    file, sheet = fields.path("file"), fields.optional_text("sheet")
    if not file.lower().endswith(TABLE_SUFFIXES):
        raise fields.error("file", f"must end in {', '.join(TABLE_SUFFIXES)}, got {file!r}")
    if sheet is not None and not file.lower().endswith(".xlsx"):
        raise fields.error("sheet", "only an .xlsx file has sheets")
    return file, sheet


def _column_type(section: Fields, column: str) -> ColumnType:
    value = section.text(column)
    if value not in set(ColumnType):
        raise section.error(column, f"must be one of {', '.join(ColumnType)}, got {value!r}")
    return ColumnType(value)


def _units(fields: Fields, columns: Mapping[str, ColumnType]) -> dict[str, str]:
    if not fields.has("units"):
        return {}
    with Fields(f"{fields.where}.units", fields.raw("units")) as section:
        for column in section.names():
            if columns.get(column) is not ColumnType.NUMBER:
                raise section.error(column, "is not a number column of this table")
        return {column: canonical_text(section.text(column)) for column in section.names()}


def _documents(top: Fields) -> dict[str, DocumentContract]:
    if not top.has("documents"):
        return {}
    found: dict[str, DocumentContract] = {}
    with Fields("documents", top.raw("documents")) as section:
        for name in section.names():
            with Fields(f"documents.{name}", section.raw(name)) as fields:
                file = fields.path("file")
                if not file.lower().endswith(".json"):
                    raise fields.error("file", f"must end in .json, got {file!r}")
                found[name] = DocumentContract(name, file)
    return found


class _Loader:
    """Reads rules against the tables and documents they may point at."""

    def __init__(self, tables: dict[str, TableContract], documents: dict[str, DocumentContract]) -> None:
        self.tables = tables
        self.documents = documents
        if both := set(tables) & set(documents):
            raise RulesError(f"documents.{min(both)}: a table has the same name")

    def rules(self, top: Fields, section: str) -> tuple[Rule, ...]:
        """All rules of one section; () where it is absent."""
        if not top.has(section):
            return ()
        entries = top.raw(section)
        if not isinstance(entries, list):
            raise top.error(section, "must be a list of rules")
        return tuple(self._rule(f"{section}[{index}]", entry) for index, entry in enumerate(entries))

    def _rule(self, where: str, data: object) -> Rule:
        fields = Fields(where, data)
        rule_id = fields.where = fields.text("id")
        name = fields.text("check")
        readers: dict[str, Callable[[Fields], Check]] = {
            "delivered": self._delivered,
            "exact": self._exact,
            "numeric": self._numeric,
            "set": self._set,
            "ranking": self._ranking,
            "document": self._document,
            "consistent": self._consistent,
            "files": self._files,
            "script": self._script,
        }
        if name not in readers:
            raise fields.error("check", f"must be one of {', '.join(readers)}, got {name!r}")
        check, trap = readers[name](fields), fields.optional_text("trap")
        _skip_note(fields)
        fields.finish()
        return Rule(rule_id, check, trap)

    def _delivered(self, fields: Fields) -> Check:
        name = fields.text("of")
        if name not in self.tables and name not in self.documents:
            raise fields.error("of", f"no table or document {name!r}")
        return Delivered(name, fields.natural("min_rows", default=1, most=100_000))

    def _exact(self, fields: Fields) -> Check:
        return Exact(self._single(fields), _some(fields, "expected"))

    def _numeric(self, fields: Fields) -> Check:
        at, unit, tolerance = self._single(fields), fields.optional_text("unit"), _tolerance(fields)
        return Numeric(at, _expected_number(fields, unit), tolerance)

    def _set(self, fields: Fields) -> Check:
        at = self._many(fields)
        expected = fields.texts("expected") if fields.has("expected") else None
        includes, excludes = fields.texts("includes"), fields.texts("excludes")
        if expected is None and not includes and not excludes:
            raise fields.error("expected", "give expected, includes or excludes")
        for values in (expected or (), includes, excludes):
            if len(values) > MAX_EXPECTED:
                raise fields.error("expected", f"more than {MAX_EXPECTED} values")
            self._check_entries(fields, at, values)
        return SetOf(at, expected, includes, excludes, fields.flag("partial"))

    def _ranking(self, fields: Fields) -> Check:
        at, expected = self._many(fields), _some(fields, "expected")
        self._check_entries(fields, at, expected)
        return Ranking(at, expected)

    def _check_entries(self, fields: Fields, at: ColumnAt | DocumentAt, values: tuple[str, ...]) -> None:
        if isinstance(at, ColumnAt) and self.tables[at.table].columns[at.column] is ColumnType.NUMBER:
            for value in values:
                _number(fields, value)

    def _document(self, fields: Fields) -> Check:
        at = self._at(fields)
        if not isinstance(at, DocumentAt) or at.path is not None:
            raise fields.error("at", "must be {document: name}; the paths stand in expected")
        with Fields(f"{fields.where}.expected", fields.raw("expected")) as section:
            expected = {
                path: _document_value(section.raw(path), f"{section.where}.{path}")
                for path in section.names()
            }
        if not expected or any(not all(path.split(".")) for path in expected):
            raise fields.error("expected", "must map dotted paths to values")
        return Document(at, expected, fields.flag("partial"))

    def _consistent(self, fields: Fields) -> Check:
        names, column = fields.texts("tables"), fields.text("column")
        keys = {self.tables[name].key for name in names if name in self.tables}
        for name in names:
            if name not in self.tables and name not in self.documents:
                raise fields.error("tables", f"no table or document {name!r}")
            if name in self.tables and column not in self.tables[name].columns:
                raise fields.error("column", f"table {name!r} has no column {column!r}")
        if len(set(names)) < 2 or len(keys) != 1:
            raise fields.error(
                "tables", "must name two or more artefacts, the tables among them with the same key"
            )
        if len(keys.pop()) != 1 and any(name in self.documents for name in names):
            raise fields.error("tables", "a document can only be compared by a key of one column")
        return Consistent(names, column)

    def _files(self, fields: Fields) -> Check:
        present, absent, contains = fields.texts("present"), fields.texts("absent"), _contains(fields)
        for key, paths in (("present", present), ("absent", absent), ("contains", tuple(contains))):
            for path in paths:
                if not is_safe_path(path):
                    raise fields.error(key, f"must hold plain relative paths, got {path!r}")
        if not present and not absent and not contains:
            raise fields.error("present", "give present, absent or contains")
        return Files(present, absent, contains, fields.flag("partial"))

    def _script(self, fields: Fields) -> Check:
        path = fields.text("script")
        if not _SCRIPT.match(path):
            raise fields.error("script", f"must be grading/<name>.py, got {path!r}")
        return Script(path)

    def _at(self, fields: Fields) -> CellAt | ColumnAt | DocumentAt:
        with Fields(f"{fields.where}.at", fields.raw("at")) as at:
            if at.has("document"):
                name = at.text("document")
                if name not in self.documents:
                    raise at.error("document", f"no document {name!r}")
                return DocumentAt(name, at.optional_text("path"))
            name, column = at.text("table"), at.text("column")
            if name not in self.tables:
                raise at.error("table", f"no table {name!r}")
            if column not in self.tables[name].columns:
                raise at.error("column", f"table {name!r} has no column {column!r}")
            if not at.has("row"):
                return ColumnAt(name, column)
            with Fields(f"{at.where}.row", at.raw("row")) as section:
                row = tuple((key, section.text(key)) for key in section.names())
            if {key for key, _ in row} != set(self.tables[name].key):
                raise at.error("row", f"must name exactly the key columns {', '.join(self.tables[name].key)}")
            return CellAt(name, row, column)

    def _single(self, fields: Fields) -> CellAt | DocumentAt:
        at = self._at(fields)
        if isinstance(at, ColumnAt) or (isinstance(at, DocumentAt) and at.path is None):
            raise fields.error("at", "must point at one value: {table, row, column} or {document, path}")
        return at

    def _many(self, fields: Fields) -> ColumnAt | DocumentAt:
        at = self._at(fields)
        if isinstance(at, CellAt) or (isinstance(at, DocumentAt) and at.path is None):
            raise fields.error("at", "must point at a list of values: {table, column} or {document, path}")
        return at


def _some(fields: Fields, key: str) -> tuple[str, ...]:
    values = fields.texts(key)
    if not values or len(values) > MAX_EXPECTED:
        raise fields.error(key, f"must hold 1 to {MAX_EXPECTED} values")
    return values


def _contains(fields: Fields) -> dict[str, tuple[str, ...]]:
    if not fields.has("contains"):
        return {}
    with Fields(f"{fields.where}.contains", fields.raw("contains")) as section:
        return {path: as_texts(section.raw(path), f"{section.where}.{path}") for path in section.names()}


def _document_value(value: object, where: str) -> Expected:
    if isinstance(value, list):
        return as_texts(value, where)
    return value if value is None or isinstance(value, bool) else as_text(value, where)


def _expected_number(fields: Fields, unit: str | None) -> Quantity | Special:
    number = _number(fields, fields.text("expected"))
    if isinstance(number, Special) or unit is None:
        return number
    stated = canonical_text(unit)
    if number.unit not in (None, stated):
        raise fields.error("expected", f"states the unit {number.unit!r}, the rule {unit!r}")
    return Quantity(number.value, stated)


def _number(fields: Fields, text: str) -> Quantity | Special:
    try:
        number = read_number(text)
    except NotANumber:
        number = Special.MISSING
    if number is Special.MISSING:
        raise fields.error("expected", f"must be a decimal string or cannot_compute, got {text!r}")
    return number


def _tolerance(fields: Fields) -> Tolerance:
    if not fields.has("tolerance"):
        return EXACT
    with Fields(f"{fields.where}.tolerance", fields.raw("tolerance")) as section:
        if len(section.names()) != 1:
            raise fields.error("tolerance", "must hold exactly one of abs, rel, decimals")
        if section.has("abs"):
            return Tolerance(absolute=section.decimal("abs"))
        if section.has("rel"):
            return Tolerance(relative=section.decimal("rel"))
        return Tolerance(decimals=section.natural("decimals", default=0, most=MAX_DECIMALS))
