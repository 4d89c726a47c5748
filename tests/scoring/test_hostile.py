"""Hostile artefacts become failed items: never an exception, never long, never a byte from elsewhere."""

import io
import json
import os
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scoring.artefacts import Artefacts
from scoring.channel import grade
from tests.scoring.factory import TABLE, cell, column, ruleset, score, workspace

SECONDS = 5
CSV = ruleset(
    {"check": "numeric", "at": cell("PO-1", "金额"), "expected": "1"},
    {"check": "files", "present": ["结果.csv"]},
    {"check": "files", "contains": {"结果.csv": ["root"]}},
)
XLSX = ruleset(
    {"check": "numeric", "at": cell("PO-1", "金额"), "expected": "1"},
    tables={"result": {**TABLE, "file": "结果.xlsx"}},
)
JSON = ruleset({"check": "document", "at": {"document": "summary"}, "expected": {"a": "1"}})
REPLY = ruleset(
    {"check": "set", "at": column("单号"), "expected": ["a"]},
    tables={"result": {key: value for key, value in TABLE.items() if key != "file"} | {"reply": True}},
)


@pytest.fixture(autouse=True)
def _in_time() -> object:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < SECONDS


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.symlink_to("/etc/passwd")


def _folder(path: Path) -> None:
    path.mkdir()


def _loop(path: Path) -> None:
    path.symlink_to(path)


@pytest.mark.parametrize("make", [_fifo, _link, _folder, _loop])
def test_what_is_no_regular_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "结果.csv")
    found = score(CSV, Artefacts(tmp_path, None))
    assert [value for value, _ in found] == ["0", "0", "0"]
    assert found[0][1] == "not_regular"


def test_a_linked_folder_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    rules = ruleset(
        {"check": "files", "present": ["out/passwd"]},
        {"check": "files", "contains": {"out/passwd": ["root"]}},
    )
    assert [value for value, _ in score(rules, Artefacts(tmp_path, None))] == ["0", "0"]


@pytest.mark.parametrize("name", ["结果.csv", "结果.xlsx", "summary.json"])
def test_a_sparse_file_of_5_gb(tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as stream:
        stream.truncate(5 * 1024**3)
    rules = {"结果.csv": CSV, "结果.xlsx": XLSX, "summary.json": JSON}[name]
    assert score(rules, Artefacts(tmp_path, None))[0] == ("0", "too_large")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"," * (8 * 1024 * 1024), "too_large"),
        ((b"," * 16_000 + b"\n") * 500, "too_large"),
        (b",x" * (4 * 1024 * 1024), "too_large"),
        (b"\n" * (8 * 1024 * 1024), "too_large"),
        (b",,,\n" * 300_000, "column_missing"),
        (b'"' * (4 * 1024 * 1024), "malformed"),
        (b'"' + b"x" * (7 * 1024 * 1024), "malformed"),
        (b"a\n" * (4 * 1024 * 1024), "too_large"),
        (b"\0" * 100_000, "malformed"),
        ("单号,金额,占比,结论\n".encode() + b"PO-1," + b"9" * 30_000 + b",,x\n", "contract_broken"),
        ("单号,金额,占比,结论\n".encode() + b"PO-1,1e999999999,,x\n", "contract_broken"),
        (("单号,金额,占比,结论\n" + "(" * 30_000 + ",1,,x\n").encode(), "contract_broken"),
        (b"(" * 30_000, "column_missing"),
    ],
)
def test_delimited_files(tmp_path: Path, content: bytes, reason: str) -> None:
    assert score(CSV, workspace(tmp_path, {"结果.csv": content}))[0] == ("0", reason)


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 1_000_000,
        b'{"a":' * 1_000_000,
        b'{"a": ' + b"9" * 3_000_000 + b"}",
        b'{"a": 1e999999999}',
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
        b'{"a": [1]}',
        b"\xff\xfe\x00",
        b"",
        b"null",
    ],
)
def test_documents(tmp_path: Path, content: bytes) -> None:
    assert score(JSON, workspace(tmp_path, {"summary.json": content}))[0][0] == "0"


KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def _relation(name: str, kind: str, target: str) -> str:
    return f'<R><Relationship Id="{name}" Type="{KINDS}/{kind}" Target="{target}"/></R>'


PARTS = {
    "_rels/.rels": _relation("r", "officeDocument", "xl/workbook.xml"),
    "xl/_rels/workbook.xml.rels": _relation("r1", "worksheet", "s.xml"),
    "xl/workbook.xml": f'<workbook xmlns:r="{KINDS}"><sheets><sheet name="s" r:id="r1"/></sheets></workbook>',
}
CELLS = "".join(f'<c t="inlineStr"><is><t>{name}</t></is></c>' for name in TABLE["columns"])
HEAD = f"<row>{CELLS}</row>"
GOOD_ROW = '<row><c t="inlineStr"><is><t>PO-1</t></is></c><c><v>1</v></c></row>'


def _xlsx(sheet: str | bytes, **more: str | bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**PARTS, "xl/s.xml": sheet, **more}.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _sheet(rows: str) -> str:
    return f"<worksheet><sheetData>{HEAD}{rows}</sheetData></worksheet>"


def test_the_minimal_workbook_used_here_is_read(tmp_path: Path) -> None:
    assert score(XLSX, workspace(tmp_path, {"结果.xlsx": _xlsx(_sheet(GOOD_ROW))}))[0] == ("1", "met")


LAUGHS = '<!DOCTYPE x [<!ENTITY a "' + "ha" * 100 + '"><!ENTITY b "' + "&a;" * 100 + '">]>'
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>'
BRACKETS = '<numFmt formatCode="' + "[" * 9_999 + '"/>'
ELSEWHERE = _relation("r1", "worksheet", "/etc/passwd")
WORKBOOKS: list[tuple[str | bytes, dict[str, str | bytes], str]] = [
    (_sheet("<row>" + "<c/>" * 3_000_000 + "</row>"), {}, "too_large"),
    (_sheet("<row><c><v>1</v></c></row>" * 1_000_000), {}, "too_large"),
    (_sheet("<row/>" * 500_000 + GOOD_ROW), {}, "met"),
    (_sheet("<c>" * 100_000), {}, "too_large"),
    (_sheet("<row><c><v>" + "9" * 20_000_000 + "</v></c></row>"), {}, "too_large"),
    (_sheet('<row r="999999999999"><c r="XFD1"><v>1</v></c></row>' + GOOD_ROW), {}, "met"),
    (_sheet('<row><c r="????1"><v>1</v></c></row>'), {}, "malformed"),
    (_sheet('<row><c t="s"><v>7</v></c></row>'), {}, "malformed"),
    (_sheet('<row><c t="s"><v>-x</v></c></row>'), {}, "malformed"),
    (LAUGHS + _sheet("<row><c><v>&b;</v></c></row>"), {}, "malformed"),
    (OUTSIDE + _sheet("<row><c><v>&a;</v></c></row>"), {}, "malformed"),
    (_sheet("<row"), {}, "malformed"),
    ("", {}, "malformed"),
    (b"\0" * 70_000_000, {}, "too_large"),
    (_sheet(GOOD_ROW), {f"xl/media/{number}": "" for number in range(600)}, "too_large"),
    (_sheet(GOOD_ROW), {"xl/sharedStrings.xml": "<sst>" + "<si/>" * 700_000 + "</sst>"}, "too_large"),
    (_sheet(GOOD_ROW), {"xl/styles.xml": '<s><numFmt numFmtId="9x"/></s>'}, "malformed"),
    (_sheet(GOOD_ROW), {"xl/styles.xml": "<s>" + BRACKETS * 999 + "</s>"}, "met"),
    (_sheet(GOOD_ROW), {"xl/workbook.xml": "<workbook/>"}, "missing"),
    (_sheet(GOOD_ROW), {"xl/_rels/workbook.xml.rels": ELSEWHERE}, "missing"),
]


@pytest.mark.parametrize(("sheet", "more", "reason"), WORKBOOKS, ids=range(len(WORKBOOKS)))
def test_workbooks(tmp_path: Path, sheet: str | bytes, more: dict[str, str | bytes], reason: str) -> None:
    content = _xlsx(sheet, **more)
    assert len(content) < 8 * 1024 * 1024
    assert score(XLSX, workspace(tmp_path, {"结果.xlsx": content}))[0][1] == reason


def _lying_size() -> bytes:
    """The directory says that the sheet has 10 bytes."""
    content = bytearray(_xlsx(_sheet(GOOD_ROW)))
    place = content.rfind(b"xl/s.xml") - 46
    struct.pack_into("<I", content, place + 24, 10)
    return bytes(content)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04",
        b"not a workbook",
        _xlsx(_sheet(GOOD_ROW))[:-30],
        _lying_size(),
        b"PK\x05\x06" + b"\xff" * 18,
    ],
)
def test_broken_archives(tmp_path: Path, content: bytes) -> None:
    assert score(XLSX, workspace(tmp_path, {"结果.xlsx": content}))[0] == ("0", "malformed")


@pytest.mark.parametrize(
    "reply",
    [
        "|" * 1_000_000,
        "|-" * 500_000,
        "| a |\n|---|\n" * 80_000,
        "|---\n" * 200_000,
        "|\\" * 500_000,
        ("| 单号 " * 300 + "|\n" + "|---" * 300 + "|\n"),
        "| 单号 | 金额 | 占比 | 结论 |\n|---|---|---|---|\n" + "| x | 1 | 1 | y |\n" * 50_000,
        "\ud800 | \udfff\n|---|---|\n",
    ],
)
def test_replies(tmp_path: Path, reply: str) -> None:
    assert score(REPLY, Artefacts(tmp_path, reply))[0][0] == "0"


def test_a_set_as_large_as_the_caps_allow(tmp_path: Path) -> None:
    rows = "单号,金额,占比,结论\n" + "".join(f"r{number},{number},,x\n" for number in range(19_999))
    numbers = [str(number) for number in range(5000)]
    rules = ruleset(
        {"check": "set", "at": column("金额"), "expected": numbers, "partial": True},
        {"check": "ranking", "at": column("单号"), "expected": [f"r{number}" for number in range(5000)]},
    )
    assert [value for value, _ in score(rules, workspace(tmp_path, {"结果.csv": rows}))] == ["0", "0"]


@given(st.binary(max_size=400), st.sampled_from(["结果.csv", "结果.xlsx", "summary.json"]))
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_graded(tmp_path: Path, content: bytes, name: str) -> None:
    artefacts = workspace(tmp_path, {name: content}, content.decode("latin-1"))
    for rules in (CSV, XLSX, JSON, REPLY):
        assert 0 <= grade(rules, artefacts).score <= 1


_scalars = st.none() | st.booleans() | st.integers() | st.text()
_trees = st.recursive(_scalars, lambda tree: st.lists(tree) | st.dictionaries(st.text(), tree), max_leaves=8)


@given(_trees)
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_document_is_graded(tmp_path: Path, data: object) -> None:
    rules = ruleset(
        {"check": "document", "at": {"document": "summary"}, "expected": {"a.0.b": "1", "0": ["x"]}},
        {"check": "set", "at": {"document": "summary", "path": "a.b"}, "expected": ["1"]},
        {"check": "numeric", "at": {"document": "summary", "path": "a"}, "expected": "1"},
    )
    artefacts = workspace(tmp_path, {"summary.json": json.dumps({"a": data, "0": data})})
    assert 0 <= grade(rules, artefacts).score <= 1
