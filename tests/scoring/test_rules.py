"""Loading rule sets: what is refused, and that the message names rule and key."""

import copy
import re
from decimal import Decimal
from typing import Any

import pytest

from scoring.model import CellAt, ColumnType, Consistent, Mode, SetOf
from scoring.rules import RulesError, load
from scoring.values import Quantity, Special

GOOD: dict[str, Any] = {
    "schema": "rules/1",
    "mode": "itemised",
    "note": "free text",
    "tables": {
        "result": {
            "file": "核对结果.csv",
            "key": ["单据编号"],
            "columns": {"单据编号": "text", "差异金额": "number", "结论": "text", "供应商": "text"},
            "units": {"差异金额": "元"},
        },
        "reply": {"reply": True, "key": ["单据编号"], "columns": {"单据编号": "text", "差异金额": "number"}},
    },
    "documents": {"summary": {"file": "summary.json"}},
    "threshold": [{"id": "T1", "check": "delivered", "of": "result"}],
    "fatal": [
        {
            "id": "F1",
            "check": "set",
            "at": {"table": "result", "column": "单据编号"},
            "excludes": ["PO-3"],
            "trap": "unapproved",
        }
    ],
    "items": [
        {
            "id": "R1",
            "check": "exact",
            "at": {"table": "result", "row": {"单据编号": "PO-1"}, "column": "结论"},
            "expected": ["数量差异"],
            "note": "x",
        },
        {
            "id": "R2",
            "check": "numeric",
            "at": {"table": "result", "row": {"单据编号": "PO-1"}, "column": "差异金额"},
            "expected": "1234.50",
            "unit": "元",
            "tolerance": {"abs": "0.01"},
        },
        {
            "id": "R2b",
            "check": "numeric",
            "at": {"table": "result", "row": {"单据编号": "PO-1"}, "column": "差异金额"},
            "expected": "cannot_compute",
        },
        {
            "id": "R4",
            "check": "ranking",
            "at": {"table": "result", "column": "供应商"},
            "expected": ["a", "b"],
        },
        {
            "id": "R5",
            "check": "document",
            "at": {"document": "summary"},
            "expected": {"a.b": "x", "total": "12.50", "ok": True},
            "partial": True,
        },
        {"id": "R6", "check": "consistent", "tables": ["result", "summary"], "column": "差异金额"},
        {
            "id": "R7",
            "check": "files",
            "present": ["out/a.md"],
            "absent": [],
            "contains": {"out/a.md": ["…"]},
        },
        {"id": "R8", "check": "script", "script": "grading/check.py"},
    ],
}


def test_the_example_of_the_schema_is_read() -> None:
    rules = load(GOOD)
    assert rules.mode is Mode.ITEMISED
    assert [rule.id for rule in rules.rules] == ["T1", "F1", "R1", "R2", "R2b", "R4", "R5", "R6", "R7", "R8"]
    assert rules.tables["result"].columns["差异金额"] is ColumnType.NUMBER
    assert rules.tables["reply"].file is None
    checks: dict[str, Any] = {rule.id: rule.check for rule in rules.rules}
    assert isinstance(checks["F1"], SetOf)
    assert checks["R1"].at == CellAt("result", (("单据编号", "PO-1"),), "结论")
    assert checks["R2"].expected == Quantity(Decimal("1234.50"), "元")
    assert checks["R2b"].expected is Special.CANNOT_COMPUTE
    assert isinstance(checks["R6"], Consistent)
    assert rules.fatal[0].trap == "unapproved"


def _changed(path: str, value: Any) -> dict[str, Any]:
    """GOOD with the value at the path replaced, or the key removed where it is None."""
    data = copy.deepcopy(GOOD)
    *way, last = path.split("/")
    place: Any = data
    for part in way:
        place = place[int(part)] if isinstance(place, list) else place[part]
    if isinstance(place, list):
        place[int(last)] = value
    elif value is None:
        del place[last]
    else:
        place[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("schema", "rules/2", "rules.schema: must be 'rules/1'"),
        ("mode", "average", "rules.mode: must be one of itemised, all_or_nothing, got 'average'"),
        ("weights", {}, "rules.weights: unknown key"),
        ("items", [], "rules.items: must hold at least one rule"),
        ("items", {"id": "R1"}, "rules.items: must be a list of rules"),
        ("items/0/id", None, "items[0].id: missing"),
        ("items/0/id", 1, "items[0].id: must be text, got 1 (int); quote it"),
        ("items/0/id", "R2", "R2.id: used more than once"),
        ("items/0/check", "regex", "R1.check: must be one of delivered, exact,"),
        ("items/0/weight", "2", "R1.weight: unknown key"),
        ("items/0/expected", "数量差异", "R1.expected: must be a list, got '数量差异' (str)"),
        ("items/0/expected", [], "R1.expected: must hold 1 to"),
        ("items/0/expected", [12], "R1.expected[0]: must be text, got 12 (int); quote it"),
        ("items/0/at/table", "other", "R1.at.table: no table 'other'"),
        ("items/0/at/column", "备注", "R1.at.column: table 'result' has no column '备注'"),
        ("items/0/at/row", {"结论": "x"}, "R1.at.row: must name exactly the key columns 单据编号"),
        ("items/0/at/row", None, "R1.at: must point at one value"),
        ("items/0/at/optional", "true", "R1.at.optional: unknown key"),
        ("items/1/expected", 1234.5, "R2.expected: must be text, got 1234.5 (float); quote it"),
        ("items/1/expected", "about 12", "R2.expected: must be a decimal string or cannot_compute"),
        ("items/1/expected", "-", "R2.expected: must be a decimal string or cannot_compute"),
        ("items/1/expected", "5万元", "R2.expected: states the unit '万元', the rule '元'"),
        (
            "items/1/tolerance/abs",
            0.01,
            "R2.tolerance.abs: must be a decimal string, got 0.01 (float); quote it",
        ),
        (
            "items/1/tolerance/abs",
            "-1",
            "R2.tolerance.abs: must be a decimal string that is finite and not negative",
        ),
        (
            "items/1/tolerance",
            {"abs": "1", "rel": "1"},
            "R2.tolerance: must hold exactly one of abs, rel, decimals",
        ),
        (
            "items/1/tolerance",
            {"decimals": 13},
            "R2.tolerance.decimals: must be a whole number from 0 to 12, got 13",
        ),
        ("items/1/tolerance", {"percent": "1"}, "R2.tolerance.percent: unknown key"),
        ("items/3/at", {"table": "result", "column": "差异金额"}, "R4.expected: must be a decimal string"),
        ("items/4/expected", {"a..b": "x"}, "R5.expected: must map dotted paths to values"),
        ("items/4/expected", {"a": 1}, "R5.expected.a: must be text, got 1 (int); quote it"),
        ("items/4/partial", "yes", "R5.partial: must be true or false, got 'yes' (str)"),
        ("items/4/at/document", "none", "R5.at.document: no document 'none'"),
        ("items/5/tables", ["result"], "R6.tables: must name two or more artefacts"),
        ("items/5/column", "供", "R6.column: table 'result' has no column '供'"),
        ("items/6/present", ["../x"], "R7.present: must hold plain relative paths, got '../x'"),
        ("items/6", {"id": "R7", "check": "files"}, "R7.present: give present, absent or contains"),
        ("items/7/script", "../check.py", "R8.script: must be grading/<name>.py, got '../check.py'"),
        ("items/7/script", "grading/a/b.py", "R8.script: must be grading/<name>.py"),
        ("threshold/0/of", "x", "T1.of: no table or document 'x'"),
        ("fatal/0/excludes", None, "F1.expected: give expected, includes or excludes"),
        ("tables/result/key", ["x"], "tables.result.key: must name one or more of the columns"),
        (
            "tables/result/columns/结论",
            "date",
            "tables.result.columns.结论: must be one of text, number, got 'date'",
        ),
        (
            "tables/result/units",
            {"结论": "元"},
            "tables.result.units.结论: is not a number column of this table",
        ),
        (
            "tables/result/file",
            "a.pdf",
            "tables.result.file: must end in .csv, .tsv, .xlsx, .md, got 'a.pdf'",
        ),
        ("tables/result/file", "/a.csv", "tables.result.file: must be a plain relative path, got '/a.csv'"),
        ("tables/result/reply", True, "tables.result.file: give either a file or reply: true"),
        ("tables/result/sheet", "明细", "tables.result.sheet: only an .xlsx file has sheets"),
        ("tables/result/formula", "x", "tables.result.formula: unknown key"),
        ("documents/summary/file", "a.xml", "documents.summary.file: must end in .json, got 'a.xml'"),
        ("documents/result", {"file": "a.json"}, "documents.result: a table has the same name"),
    ],
)
def test_a_broken_rule_is_named(path: str, value: Any, message: str) -> None:
    with pytest.raises(RulesError, match=re.escape(message)):
        load(_changed(path, value))


def test_columns_that_differ_only_in_width_are_one_name() -> None:
    data = _changed("tables/result/columns", {"单据编号": "text", "A": "text", "Ａ": "text"})
    with pytest.raises(RulesError, match="two columns have the same name"):
        load(data)


def test_too_many_rules_are_refused() -> None:
    item = GOOD["items"][0]
    with pytest.raises(RulesError, match="more than 200 rules"):
        load({**GOOD, "items": [{**item, "id": f"X{number}"} for number in range(200)]})
