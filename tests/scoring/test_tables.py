"""Result tables in every form they may come in, and the contract they must keep."""

import io
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from scoring.artefacts import ArtefactError, Artefacts
from scoring.tables import Table, read_table
from tests.scoring.factory import TABLE, cell, ruleset, score, workspace

HEADER, ROW = "单号,金额,占比,结论", 'PO-1,"1,234.50",12.3%,数量差异'
CSV = f"{HEADER}\n{ROW}\n"
MARKDOWN = (
    "| 单号 | 金额 | 占比 | 结论 |\n|---|--:|:-:|---|\n"
    "| PO-1 | **1,234.50** | `12.3%` | 数量\\|差异 |\n\n后文 | 无关\n"
)


def _table(artefacts: Artefacts, **changes: Any) -> Table:
    return read_table(artefacts, ruleset(ITEM, tables={"result": {**TABLE, **changes}}).tables["result"])


ITEM = {"check": "numeric", "at": cell("PO-1", "金额"), "expected": "1234.50", "unit": "元"}


@pytest.mark.parametrize(
    "content",
    [
        CSV.encode(),
        CSV.encode("utf-8-sig"),
        CSV.encode("gbk"),
        CSV.replace("\n", "\r\n").encode(),
        CSV.replace(",", ";").replace("1;234", "1,234").encode(),
        "单号\t金额\t占比\t结论\nPO-1\t1,234.50\t12.3%\t数量差异".encode(),
        f"核对结果表\n\n{CSV}".encode(),
        '序号,结论,占比,备注,金额,单号\n1,数量差异,0.123,"多\n行",1234.5,PO-1\n\n,,,,,\n'.encode(),
        "单号,金额（万元）,占比,结论\nPO-1,0.12345,0.123,数量差异\n".encode(),
        "单号,金额(单位:元),占比,结论\nPO-1,1234.5,0.123,数量差异\n".encode(),
        "单号,金额,占比,结论\nPO-1,0.12345万元,0.123,数量差异\n".encode(),
    ],
)
def test_delimited_files(tmp_path: Path, content: bytes) -> None:
    assert score(ruleset(ITEM), workspace(tmp_path, {"结果.csv": content}))[0] == ("1", "met")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "column_missing"),
        ("单号,金额\nPO-1,1\n", "column_missing"),
        ("单号,金额,金额,占比,结论\nPO-1,1,1,,x\n", "column_missing"),
        ("单号,金额（吨位）,占比,结论\nPO-1,1,,x\n", "column_missing"),
        (CSV + ROW + "\n", "contract_broken"),
        (CSV + ",5,,x\n", "contract_broken"),
        (CSV + "PO-2,约五百,,x\n", "contract_broken"),
        (CSV + "po-1,5,,x\n", "contract_broken"),
        (CSV.replace("PO-1", "PO-7"), "no_such_row"),
        (CSV.encode() + b"\xff\xff\xfe", "malformed"),
    ],
)
def test_a_file_that_breaks_the_contract(tmp_path: Path, content: str | bytes, reason: str) -> None:
    assert score(ruleset(ITEM), workspace(tmp_path, {"结果.csv": content}))[0] == ("0", reason)


def test_extra_columns_are_never_read(tmp_path: Path) -> None:
    rows = f"备注,{HEADER},附注\n不是数,{ROW},12x\n"
    assert score(ruleset(ITEM), workspace(tmp_path, {"结果.csv": rows}))[0] == ("1", "met")


def test_short_rows_and_blank_lines(tmp_path: Path) -> None:
    table = _table(workspace(tmp_path, {"结果.csv": f"{CSV}\n,,,\nPO-2\n"}))
    assert [row["单号"] for row in table.rows] == ["PO-1", "PO-2"]
    assert not table.broken


def test_a_table_in_the_reply(tmp_path: Path) -> None:
    reply = f"如下：\n\n| 单号 | 结论 |\n|---|---|\n| PO-1 | 旧 |\n\n{MARKDOWN}"
    contract = {key: value for key, value in TABLE.items() if key != "file"} | {"reply": True}
    rules = ruleset(ITEM, tables={"result": contract})
    table = read_table(workspace(tmp_path, {}, reply), rules.tables["result"])
    assert [dict(row) for row in table.rows] == [
        {"单号": "PO-1", "金额": "1,234.50", "占比": "12.3%", "结论": "数量|差异"}
    ]
    for absent in (None, "", "金额是 1,234.50 元", "| a |\n|---|\n"):
        assert score(rules, Artefacts(tmp_path, absent))[0][0] == "0"


def test_body_text_is_never_a_fallback(tmp_path: Path) -> None:
    artefacts = workspace(tmp_path, {}, "PO-1 的金额是 1234.50 元，结论：数量差异")
    assert score(ruleset(ITEM), artefacts)[0] == ("0", "missing")


def test_a_table_in_a_markdown_file(tmp_path: Path) -> None:
    table = _table(workspace(tmp_path, {"结果.md": MARKDOWN}), file="结果.md")
    assert table.rows[0]["金额"] == "1,234.50"


def _book(*sheets: tuple[str, list[list[Any]]], formats: dict[str, str] | None = None) -> bytes:
    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets:
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
        for address, code in (formats or {}).items():
            sheet[address].number_format = code
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def test_a_workbook_as_programs_write_it(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["汇总"],
        list(TABLE["columns"]),
        ["PO-1", 1234.5, 0.123, "数量差异"],
        [20260131, "", None, True],
    ]
    content = _book(("说明", [["无"]]), ("明细", rows), formats={"C3": "0.0%"})
    table = _table(workspace(tmp_path, {"结果.xlsx": content}), file="结果.xlsx")
    assert [list(row.values()) for row in table.rows] == [
        ["PO-1", "1234.5", "12.3%", "数量差异"],
        ["20260131", "", "", "TRUE"],
    ]


def test_the_named_sheet_is_the_one_read(tmp_path: Path) -> None:
    head = list(TABLE["columns"])
    content = _book(("旧", [head, ["PO-1", 1, None, "x"]]), ("明细 ", [head, ["PO-1", 2, None, "x"]]))
    artefacts = workspace(tmp_path, {"结果.xlsx": content})
    assert _table(artefacts, file="结果.xlsx", sheet="明细").rows[0]["金额"] == "2"
    assert _table(artefacts, file="结果.xlsx").rows[0]["金额"] == "1"
    with pytest.raises(ArtefactError, match="missing"):
        _table(artefacts, file="结果.xlsx", sheet="别的")


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.1 + 0.2, "General", "0.3"),
        (1234.0, "#,##0.00", "1234"),
        (-5, '#,##0.00"元";[Red](0.00)', "-5"),
        (0.123, "0.00%", "12.3%"),
        (date(2026, 1, 31), "yyyy-mm-dd", "2026-01-31"),
        (
            datetime(2026, 1, 31, 8, 30),  # noqa: DTZ001 - a workbook knows no zone
            "yyyy/m/d h:mm",
            "2026-01-31 08:30:00",
        ),
        (date(1900, 1, 15), 'yyyy"年"m"月"', "1900-01-15"),
        (1e-7, "0.00E+00", "0.0000001"),
        ("=1+1", "General", ""),
        ("#N/A", "General", "#N/A"),
        ("　全角　", "General", "　全角　"),
    ],
)
def test_how_cells_of_a_workbook_read(tmp_path: Path, value: Any, code: str, text: str) -> None:
    rows = [list(TABLE["columns"]), ["PO-1", None, None, value]]
    content = _book(("s", rows), formats={"D2": code})
    assert _table(workspace(tmp_path, {"结果.xlsx": content}), file="结果.xlsx").rows[0]["结论"] == text
