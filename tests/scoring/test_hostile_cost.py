"""Artefacts made to cost time or memory, or to crash what reads them: each is a failed item, and soon."""

import lzma
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from scoring import evidence, texts, units
from scoring.artefacts import ArtefactError, Artefacts, Reason
from scoring.channel import grade
from scoring.checkers import ZERO
from scoring.grids import from_markdown
from scoring.values import NotANumber, Quantity, read_number
from tests.scoring.factory import TABLE, cell, column, ruleset, score, workspace
from tests.scoring.test_hostile import CSV, JSON, REPLY, XLSX, _sheet, _xlsx

SECONDS = 5
MIB = 1024 * 1024
HEADER = "单号,金额,占比,结论\n"
# Marks of two classes by turns: sorting them takes the square of their number.
MARKS = "\u0315\u0300"
MANY = 200


@pytest.fixture(autouse=True)
def _in_time() -> object:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < SECONDS


def _one(rules: Any, tmp_path: Path, files: dict[str, str | bytes]) -> tuple[str, str]:
    return score(rules, workspace(tmp_path, files))[0]


def _markdown(text: str) -> str:
    return f"| 单号 | 金额 | 占比 | 结论 |\n|---|---|---|---|\n| {text} | 1 | 1 | y |\n"


# Text is bounded before it is normalised.


@pytest.mark.parametrize("marks", [20_000, 1_500, 100])
def test_marks_that_take_long_to_sort(tmp_path: Path, marks: int) -> None:
    text = "a" + MARKS * (marks // 2)
    rows = min(3 * MIB // len(text.encode()), 9_000)
    (tmp_path / "csv").mkdir()
    csv = workspace(tmp_path / "csv", {"结果.csv": HEADER + f"{text},{text},1,x\n" * rows})
    assert score(CSV, csv)[0] == ("0", "contract_broken")
    header = workspace(tmp_path, {"结果.csv": f"{text},单号,金额,占比,结论\nx,PO-1,1,,\n"})
    assert score(CSV, header)[0] == ("1", "met")
    sheet = _sheet(f'<row><c t="inlineStr"><is><t>{text}</t></is></c></row>' * min(rows, 600))
    assert _one(XLSX, tmp_path, {"结果.xlsx": _xlsx(sheet)}) == ("0", "contract_broken")
    assert score(REPLY, Artefacts(tmp_path, _markdown(text) * (300_000 // len(text))))[0][0] == "0"
    assert _one(JSON, tmp_path, {"summary.json": f'{{"a": "{text}", "{text}": 1}}'}) == ("0", "wrong")


def test_marks_in_a_file_that_is_searched(tmp_path: Path) -> None:
    rules = ruleset(*[{"check": "files", "contains": {"a.md": ["root"]}}] * MANY)
    assert _one(rules, tmp_path, {"a.md": "root " + "a" + MARKS * 500_000}) == ("0", "wrong")
    assert _one(rules, tmp_path, {"a.md": "\ufdfa" * 600_000}) == ("0", "wrong")
    assert _one(rules, tmp_path, {"a.md": "a\u0301 " * 400_000 + "ROOT"}) == ("1", "met")


def test_marks_in_the_keys_of_two_artefacts(tmp_path: Path) -> None:
    rules = ruleset({"check": "consistent", "tables": ["result", "summary"], "column": "结论"})
    text = "a" + MARKS * 5_000
    files: dict[str, str | bytes] = {
        "结果.csv": HEADER + "PO-1,1,1,x\n",
        "summary.json": f'{{"结论": {{"{text}": "x", "po-1": "x"}}}}',
    }
    assert _one(rules, tmp_path, files) == ("1", "met")


def test_a_text_past_the_bounds_equals_nothing() -> None:
    longest = "x" * texts.MAX_TEXT_CHARS
    assert texts.same_text(longest, longest)
    assert not texts.same_text(longest + "x", longest + "x")
    assert not texts.same_text("a" + "\u0300" * 31, "a" + "\u0300" * 31)
    assert texts.same_text("a" + "\u0300" * 30, "A" + "\u0300" * 30)
    assert texts.same_text(" " * 50_000 + "x", "X")
    assert texts.same_text("か\uff9e" * 500, "が" * 500)
    assert not texts.same_text("か" + "\uff9e\u0315" * 16, "か" + "\uff9e\u0315" * 16)
    assert texts.canonical_text("\ufdfa") == texts.canonical_text("صلى الله عليه وسلم")


# No pattern takes longer than the line is long.

LINE = 1 * MIB


@pytest.mark.parametrize(
    "line",
    [
        " " * (LINE // 2) + "-" + " " * (LINE // 2) + "x",
        " " * 1_000 + "-" + " " * 1_000 + "x",
        "-" * LINE + "x",
        "- |" * (LINE // 3) + "x",
        ":-" * (LINE // 2),
        "- " * 1_000 + "x",
        "|" + " -" * 1_000 + "|:",
        "-|" * 1_000 + "x",
        "\\|" * (LINE // 2),
        "*" * LINE,
        "`" * 200_000,
    ],
)
def test_lines_of_a_markdown_file(tmp_path: Path, line: str) -> None:
    rules = ruleset(
        {"check": "exact", "at": cell("PO-1", "结论"), "expected": ["x"]},
        tables={"result": {**TABLE, "file": "结果.md"}},
    )
    many = max(1, min(8 * MIB // (len(line) + 4), 20_000))
    assert _one(rules, tmp_path, {"结果.md": f"|a\n{line}\n" * many})[0] == "0"


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("|---|", True),
        ("---", True),
        (" | :-: | --: | - ", True),
        ("|:--|", True),
        ("|--- ---|", False),
        ("|::-|", False),
        ("|---||", False),
        ("|:|", False),
        ("|", False),
        ("||", False),
        ("", False),
    ],
)
def test_what_a_line_of_dashes_is(line: str, meant: bool) -> None:
    assert bool(list(from_markdown(f"|a\n{line}\n"))) is (meant and "-" in line)


@pytest.mark.parametrize(
    "text",
    [
        "(" * LINE,
        "a (" * (LINE // 3),
        "( )" * (LINE // 3),
        "a" + " " * LINE + "(元",
        "(单位:" * (LINE // 4) + ")",
    ],
)
def test_headers_and_numbers_of_a_mebibyte(text: str) -> None:
    assert units.split_header(text) == (text, None)
    with pytest.raises(NotANumber):
        read_number(text)


@pytest.mark.parametrize(
    ("header", "found"),
    [
        ("金额(万元)", ("金额", "万元")),
        ("金额 [单位 : 元]", ("金额", "元")),
        ("金额(含税)(元)", ("金额(含税)", "元")),
        ("金额(含税)", ("金额(含税)", None)),
        ("金额()", ("金额()", None)),
        ("(元)", ("(元)", None)),
        ("金额(元))", ("金额(元))", None)),
        (")", (")", None)),
        ("", ("", None)),
    ],
)
def test_headers_with_a_unit(header: str, found: tuple[str, str | None]) -> None:
    assert units.split_header(header) == found


def test_overlapping_tables_are_counted_together(tmp_path: Path) -> None:
    for reply in ("|-\n" * 330_000, "|a\n|-\n" + "|-\n" * 19_000, ("|" * 4_000 + "\n|-\n") * 240):
        assert score(REPLY, Artefacts(tmp_path, reply))[0][0] == "0"


# The last net.


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (lzma.LZMAError(), "malformed"),
        (RecursionError(), "malformed"),
        (UnicodeError(), "malformed"),
        (OverflowError(), "malformed"),
        (AssertionError(), "malformed"),
        (MemoryError(), "too_large"),
    ],
)
@pytest.mark.parametrize("place", ["read_table", "read_document", "canonical_body", "entry_key"])
def test_whatever_reading_raises_is_the_artefact_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, error: Exception, reason: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(evidence, place, fail)
    rules = ruleset(
        {"check": "set", "at": column("单号"), "expected": ["PO-1"]},
        {"check": "document", "at": {"document": "summary"}, "expected": {"a": "1"}},
        {"check": "files", "contains": {"结果.csv": ["PO-1"]}},
    )
    files: dict[str, str | bytes] = {"结果.csv": HEADER + "PO-1,1,1,x\n", "summary.json": '{"a": 1}'}
    found = score(rules, workspace(tmp_path, files))
    assert [value for value, _ in found].count("0") == 1
    assert ("0", "wrong" if place == "canonical_body" else reason) in found


class _Spent:
    """An effort that is spent after so many checks."""

    def __init__(self, checks: int) -> None:
        self._left = checks

    def __enter__(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise ArtefactError(Reason.TOO_LARGE)

    def __exit__(self, *_: object) -> None:
        return None


def test_checks_past_the_effort_fail(tmp_path: Path) -> None:
    rules = ruleset(*[{"check": "set", "at": column("单号"), "expected": ["PO-1"]}] * 3)
    found = grade(rules, workspace(tmp_path, {"结果.csv": HEADER + "PO-1,1,1,x\n"}), effort=_Spent(2))
    assert [(item.score, item.reason.value) for item in found.items][2] == (ZERO, "too_large")
    assert found.items[1].score == 1


# Many rules over a large artefact, and values chosen to be slow.


def test_as_many_rules_as_a_set_may_hold_over_the_largest_table(tmp_path: Path) -> None:
    rules = ruleset(
        *[{"check": "set", "at": column("单号"), "expected": ["a"], "partial": True}] * 70,
        *[{"check": "set", "at": column("金额"), "excludes": ["-1"]}] * 70,
        *[{"check": "ranking", "at": column("结论"), "expected": ["a"]}] * 60,
    )
    rows = HEADER + "".join(f"r{number},{number},,x{number}\n" for number in range(19_999))
    assert {value for value, _ in score(rules, workspace(tmp_path, {"结果.csv": rows}))} == {"0", "1"}


def test_a_long_cell_against_many_right_answers(tmp_path: Path) -> None:
    answers = [f"answer {number}" for number in range(2_000)]
    rules = ruleset(*[{"check": "exact", "at": cell("PO-1", "结论"), "expected": answers}] * 40)
    text = ("a" + MARKS * 15) * 60
    assert _one(rules, tmp_path, {"结果.csv": HEADER + f"PO-1,1,,{text}\n"}) == ("0", "wrong")


def test_numbers_chosen_to_collide(tmp_path: Path) -> None:
    modulus = 2**61 - 1
    numbers = [str(number * modulus + 5) for number in range(19_000)]
    assert len({hash(Decimal(number)) for number in numbers}) == 1
    rules = ruleset({"check": "set", "at": column("金额"), "expected": ["5", "5.0"], "partial": True})
    rows = "".join(f"r{place},{number},,x\n" for place, number in enumerate(numbers))
    assert _one(rules, tmp_path, {"结果.csv": HEADER + rows}) == ("0", "wrong")


@pytest.mark.parametrize(
    "number",
    [
        "9" * 64,
        "9" * 5_000,
        "1e999999999",
        "1e-999999999",
        "9" * 60 + "e30",
        "0." + "5" * 60,
        "-" + "9" * 60 + "亿",
    ],
)
def test_very_large_and_very_long_numbers(tmp_path: Path, number: str) -> None:
    rules = ruleset(
        {"check": "numeric", "at": cell("PO-1", "金额"), "expected": "1", "tolerance": {"rel": "0.01"}},
        {"check": "numeric", "at": cell("PO-1", "占比"), "expected": "1%", "tolerance": {"decimals": 12}},
        {"check": "set", "at": column("金额"), "expected": ["1"]},
        {"check": "document", "at": {"document": "summary"}, "expected": {"a": "1"}},
    )
    files: dict[str, str | bytes] = {
        "结果.csv": HEADER + f"PO-1,{number},{number},x\n",
        "summary.json": f'{{"a": "{number}"}}',
    }
    assert {value for value, _ in score(rules, workspace(tmp_path, files))} == {"0"}


def test_a_long_negative_number_keeps_its_digits() -> None:
    digits = "1234567890" * 5
    assert read_number(f"-{digits}元") == Quantity(Decimal(f"-{digits}"), "元")
    assert read_number(f"-{digits}") == Quantity(Decimal(f"-{digits}"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"a": [' + "0," * 1_500_000 + "0]}", "too_large"),
        ('{"a": [' + "[]," * 1_000_000 + "0]}", "too_large"),
        ('{"a": 0' + ', "a": 0' * 150_000 + "}", "wrong"),
        ('{"a": 0' + "".join(f', "k{number}": 0' for number in range(190_000)) + "}", "wrong"),
        ('{"a": ' + "[" * 90_000 + "]" * 90_000 + "}", "malformed"),
        ('{"a": "' + "\\ud800" * 600_000 + '"}', "wrong"),
        ('{"a": ' + "9" * 4_000_000 + "}", "wrong"),
        ('{"a": -1e' + "9" * 4_000 + "}", "wrong"),
    ],
)
def test_documents(tmp_path: Path, content: str, reason: str) -> None:
    assert _one(JSON, tmp_path, {"summary.json": content}) == ("0", reason)


@pytest.mark.parametrize("row", ['"' + "中," * 2_700_000, "中," * 2_700_000, ("中;" * 10_000 + "\n") * 200])
def test_rows_of_very_many_fields(tmp_path: Path, row: str) -> None:
    assert _one(CSV, tmp_path, {"结果.csv": row})[0] == "0"
