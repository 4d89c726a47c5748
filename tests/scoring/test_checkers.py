"""Every checker against hand-computed scores."""

from pathlib import Path
from typing import Any

import pytest

from tests.scoring.factory import TABLE, cell, column, ruleset, score, workspace

ROWS = '单号,金额,占比,结论\nPO-1,"1,234.50",12.3%,数量差异\nPO-2,无法计算,0.5,一致\nPO-3,,,待查\n'


def _score(tmp_path: Path, item: dict[str, Any], rows: str = ROWS, **files: str) -> tuple[str, str]:
    made = {"结果.csv": rows, **{name.replace("__", "."): text for name, text in files.items()}}
    return score(ruleset(item), workspace(tmp_path, made))[0]


@pytest.mark.parametrize(
    ("at", "expected", "result"),
    [
        (cell("PO-1", "结论"), ["数量差异"], ("1", "met")),
        (cell("po-1 ", "结论"), ["x", "数量差异"], ("1", "met")),
        (cell("PO-1", "结论"), ["一致"], ("0", "wrong")),
        (cell("PO-9", "结论"), ["一致"], ("0", "no_such_row")),
        (cell("PO-1", "金额"), ["1234.5"], ("1", "met")),
        (cell("PO-2", "金额"), ["无法计算"], ("1", "met")),
        (cell("PO-1", "金额"), ["约1234.5"], ("0", "wrong")),
    ],
)
def test_exact(tmp_path: Path, at: dict[str, Any], expected: list[str], result: tuple[str, str]) -> None:
    assert _score(tmp_path, {"check": "exact", "at": at, "expected": expected}) == result


@pytest.mark.parametrize(
    ("row", "name", "more", "result"),
    [
        ("PO-1", "金额", {"expected": "1234.50"}, ("1", "met")),
        ("PO-1", "金额", {"expected": "1234.49", "tolerance": {"abs": "0.01"}}, ("1", "met")),
        ("PO-1", "金额", {"expected": "1234.48", "tolerance": {"abs": "0.01"}}, ("0", "wrong")),
        ("PO-1", "金额", {"expected": "1240.00", "tolerance": {"rel": "0.005"}}, ("1", "met")),
        ("PO-1", "占比", {"expected": "0.123", "tolerance": {"decimals": 1}}, ("1", "met")),
        ("PO-2", "占比", {"expected": "50%", "tolerance": {"decimals": 1}}, ("1", "met")),
        ("PO-2", "金额", {"expected": "cannot_compute"}, ("1", "met")),
        ("PO-2", "金额", {"expected": "0"}, ("0", "wrong")),
        ("PO-3", "金额", {"expected": "0"}, ("0", "wrong")),
        ("PO-3", "金额", {"expected": "cannot_compute"}, ("0", "wrong")),
        ("PO-1", "金额", {"expected": "cannot_compute"}, ("0", "wrong")),
        ("PO-1", "结论", {"expected": "0"}, ("0", "wrong")),
    ],
)
def test_numeric(tmp_path: Path, row: str, name: str, more: dict[str, Any], result: tuple[str, str]) -> None:
    assert _score(tmp_path, {"check": "numeric", "at": cell(row, name), **more}) == result


@pytest.mark.parametrize(
    ("more", "result"),
    [
        ({"expected": ["PO-3", "PO-1", "PO-2"]}, ("1", "met")),
        ({"expected": ["PO-1", "PO-2"]}, ("0", "wrong")),
        ({"expected": ["PO-1", "PO-2"], "partial": True}, ("0.5", "partly_met")),
        ({"expected": ["PO-1", "PO-2", "PO-3", "PO-4"], "partial": True}, ("0.75", "partly_met")),
        ({"expected": ["PO-1", "PO-8"], "partial": True}, ("0", "wrong")),
        ({"expected": [], "partial": True}, ("0", "wrong")),
        ({"expected": ["PO-1", "PO-2", "PO-3"], "excludes": ["PO-3"]}, ("0", "wrong")),
        ({"excludes": ["PO-4"]}, ("1", "met")),
        ({"excludes": ["po-3"]}, ("0", "wrong")),
        ({"includes": ["PO-1", "PO-2"]}, ("1", "met")),
        ({"includes": ["PO-1", "PO-9"]}, ("0", "wrong")),
        ({"includes": ["PO-1", "PO-9"], "partial": True}, ("0.5", "partly_met")),
        ({"includes": ["PO-1"], "excludes": ["PO-2"], "partial": True}, ("0", "wrong")),
    ],
)
def test_set(tmp_path: Path, more: dict[str, Any], result: tuple[str, str]) -> None:
    assert _score(tmp_path, {"check": "set", "at": column("单号"), **more}) == result


def test_a_set_of_numbers_compares_as_numbers(tmp_path: Path) -> None:
    item = {"check": "set", "at": column("金额"), "expected": ["1234.5", "无法计算"]}
    assert _score(tmp_path, item) == ("1", "met")


@pytest.mark.parametrize(
    ("expected", "result"),
    [
        (["PO-1", "PO-2", "PO-3"], ("1", "met")),
        (["PO-3", "PO-2", "PO-1"], ("0.5", "partly_met")),
        (["PO-1", "PO-2"], ("0", "wrong")),
        (["PO-1", "PO-2", "PO-4"], ("0", "wrong")),
    ],
)
def test_ranking(tmp_path: Path, expected: list[str], result: tuple[str, str]) -> None:
    assert _score(tmp_path, {"check": "ranking", "at": column("单号"), "expected": expected}) == result


def test_a_ranking_with_an_entry_twice_is_not_the_right_content(tmp_path: Path) -> None:
    rows = "单号,金额,占比,结论\n1,,,b\n2,,,b\n3,,,a\n"
    item = {"check": "ranking", "at": column("结论"), "expected": ["a", "b", "a"]}
    assert _score(tmp_path, item, rows) == ("0", "wrong")


SUMMARY = (
    '{"a": {"b": "X", "n": 12.5, "list": ["P1", 2]}, "ok": true, "none": null, "code": "0012", "k.v": 1}'
)


@pytest.mark.parametrize(
    ("expected", "result"),
    [
        ({"a.b": "x", "a.n": "12.50", "ok": True, "none": None, "k.v": "1"}, ("1", "met")),
        ({"a.list": ["p1", "2"], "a.list.1": "2.0"}, ("1", "met")),
        ({"a.b": "x", "a.n": "12.51"}, ("0.5", "partly_met")),
        ({"a.b": "y", "a.n": "12.51", "a.list": ["2", "P1"], "gone.x": "1"}, ("0", "wrong")),
        ({"code": "0012"}, ("1", "met")),
        ({"ok": "true"}, ("0", "wrong")),
        ({"none": "null"}, ("0", "wrong")),
        ({"a": "x"}, ("0", "wrong")),
    ],
)
def test_document(tmp_path: Path, expected: dict[str, Any], result: tuple[str, str]) -> None:
    item = {"check": "document", "at": {"document": "summary"}, "expected": expected, "partial": True}
    assert _score(tmp_path, item, summary__json=SUMMARY) == result


def test_a_code_with_leading_zeros_is_no_number(tmp_path: Path) -> None:
    item = {"check": "document", "at": {"document": "summary"}, "expected": {"code": "0012"}}
    assert _score(tmp_path, item, summary__json='{"code": 12}') == ("0", "wrong")


def test_values_and_lists_in_documents(tmp_path: Path) -> None:
    rules = ruleset(
        {"check": "numeric", "at": {"document": "summary", "path": "a.n"}, "expected": "12.5"},
        {"check": "exact", "at": {"document": "summary", "path": "a.b"}, "expected": ["x"]},
        {"check": "set", "at": {"document": "summary", "path": "a.list"}, "expected": ["2", "P1"]},
        {"check": "ranking", "at": {"document": "summary", "path": "a.list"}, "expected": ["2", "P1"]},
        {"check": "set", "at": {"document": "summary", "path": "a.b"}, "expected": ["x"]},
        {"check": "numeric", "at": {"document": "summary", "path": "ok"}, "expected": "1"},
        {"check": "exact", "at": {"document": "summary", "path": "a.z"}, "expected": ["x"]},
    )
    found = score(rules, workspace(tmp_path, {"summary.json": SUMMARY}))
    assert [value for value, _ in found] == ["1", "1", "1", "0.5", "0", "0", "0"]
    assert found[-1] == ("0", "missing")


@pytest.mark.parametrize(
    ("other", "result"),
    [
        ("单号,金额\nPO-1,1234.5\nPO-2,无法计算\n", ("1", "met")),
        ("单号,金额(万元)\nPO-1,0.12345\n", ("1", "met")),
        ("单号,金额\nPO-1,1234.5\nPO-2,0\n", ("0", "wrong")),
        ("单号,金额\nPO-3,0\n", ("0", "wrong")),
        ("单号,金额\nPO-9,1\n", ("0", "no_such_row")),
        ("单号,金额\nPO-1,1\nPO-1,1\n", ("0", "contract_broken")),
    ],
)
def test_consistent_between_tables(tmp_path: Path, other: str, result: tuple[str, str]) -> None:
    contract = {"file": "other.csv", "key": ["单号"], "columns": {"单号": "text", "金额": "number"}}
    rules = ruleset(
        {"check": "consistent", "tables": ["result", "other"], "column": "金额"},
        tables={"result": {**TABLE, "units": {"金额": "元"}}, "other": contract},
    )
    assert score(rules, workspace(tmp_path, {"结果.csv": ROWS, "other.csv": other}))[0] == result


@pytest.mark.parametrize(
    ("document", "result"),
    [
        ('{"金额": {"PO-1": 1234.5, "PO-2": "cannot be computed"}}', ("1", "met")),
        ('{"PO-1": {"金额": "1,234.50"}}', ("1", "met")),
        ('{"PO-1": {"金额": 1234}}', ("0", "wrong")),
        ('{"other": {"PO-1": 1}}', ("0", "no_such_row")),
    ],
)
def test_consistent_with_a_document(tmp_path: Path, document: str, result: tuple[str, str]) -> None:
    item = {"check": "consistent", "tables": ["result", "summary"], "column": "金额"}
    assert _score(tmp_path, item, summary__json=document) == result


FILES = {"out/a.md": "# 会议纪要\n决议：  按期　交付\n", "out/b.md": "x"}


@pytest.mark.parametrize(
    ("more", "result"),
    [
        (
            {
                "present": ["out/a.md"],
                "absent": ["in.txt"],
                "contains": {"out/a.md": ["会议纪要", "按期 交付"]},
            },
            ("1", "met"),
        ),
        ({"present": ["out/a.md", "out/c.md"]}, ("0", "wrong")),
        ({"present": ["out/a.md", "out/c.md"], "partial": True}, ("0.5", "partly_met")),
        ({"present": ["out"]}, ("0", "wrong")),
        ({"absent": ["out"]}, ("0", "wrong")),
        ({"absent": ["out/b.md"]}, ("0", "wrong")),
        (
            {"contains": {"out/a.md": ["会议纪要", "未提"], "gone.md": ["x", "y"]}, "partial": True},
            ("0.25", "partly_met"),
        ),
    ],
)
def test_files(tmp_path: Path, more: dict[str, Any], result: tuple[str, str]) -> None:
    assert score(ruleset({"check": "files", **more}), workspace(tmp_path, FILES))[0] == result


@pytest.mark.parametrize(
    ("more", "rows", "result"),
    [
        ({}, ROWS, ("1", "met")),
        ({"min_rows": 4}, ROWS, ("0", "missing")),
        ({}, "单号,金额,占比,结论\n", ("0", "missing")),
        ({"min_rows": 0}, "单号,金额,占比,结论\n", ("1", "met")),
        ({}, "单号,金额,结论\nPO-1,1,x\n", ("0", "column_missing")),
        ({}, "单号,金额,占比,结论\nPO-1,不是数,,x\n", ("1", "met")),
    ],
)
def test_delivered(tmp_path: Path, more: dict[str, Any], rows: str, result: tuple[str, str]) -> None:
    assert _score(tmp_path, {"check": "delivered", "of": "result", **more}, rows) == result


def test_a_document_is_delivered_when_it_is_an_object(tmp_path: Path) -> None:
    item = {"check": "delivered", "of": "summary"}
    assert _score(tmp_path, item, summary__json="{}") == ("1", "met")
    assert _score(tmp_path, item, summary__json="[]") == ("0", "malformed")
    assert _score(tmp_path / "b", item) == ("0", "missing")
