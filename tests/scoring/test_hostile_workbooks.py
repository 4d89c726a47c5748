"""Workbooks made to cost time or memory, or to crash what reads them: each is a failed item, and soon."""

import io
import random
import time
import zipfile
from pathlib import Path

import pytest

from tests.scoring.factory import score, workspace
from tests.scoring.test_hostile import PARTS, XLSX, _sheet, _xlsx

SECONDS = 5
MIB = 1024 * 1024
GOOD_ROW = '<row><c t="inlineStr"><is><t>PO-1</t></is></c><c><v>1</v></c></row>'


@pytest.fixture(autouse=True)
def _in_time() -> object:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < SECONDS


def _graded(tmp_path: Path, content: bytes) -> tuple[str, str]:
    return score(XLSX, workspace(tmp_path, {"结果.xlsx": content}))[0]


NAMES = " ".join(f'a{number}=""' for number in range(20_000))
WORKBOOKS: list[tuple[str, dict[str, str], str]] = [
    (_sheet(f'<row><c q="{"x" * (31 * MIB)}"/></row>'), {}, "too_large"),
    (_sheet(f"<!--{'x' * (31 * MIB)}-->"), {}, "too_large"),
    (_sheet(f"<?x {'x' * (31 * MIB)}?>"), {}, "too_large"),
    (_sheet(f"<{'x' * (31 * MIB)}/>"), {}, "too_large"),
    (_sheet("<c " + " ".join(f'a{number}=""' for number in range(2_500_000)) + "/>"), {}, "too_large"),
    (_sheet(f"<row {NAMES}/>" * 100), {}, "too_large"),
    (_sheet(("<c " + 'a="" b="" c="" d="" e="" f="" g="" h=""' + "/>") * 500_000), {}, "too_large"),
    (
        f'<p:worksheet xmlns:p="{"x" * 200_000}">' + "<p:c/>" * 300_000 + "</p:worksheet>",
        {},
        "column_missing",
    ),
    (_sheet("<c/>" + "\n" * 30_000_000), {}, "too_large"),
    (_sheet(("<c/>" + "\n" * 70) * 400_000), {}, "no_such_row"),
    (_sheet("<!---->" * 4_000_000), {}, "no_such_row"),
    (_sheet("<c>" + "&lt;" * 8_000 + "</c>"), {}, "no_such_row"),
    (_sheet(f"<row><c><v>{'9' * 5_000}</v></c></row>"), {}, "contract_broken"),
    (_sheet(f'<row><c t="s"><v>{"9" * 5_000}</v></c></row>'), {}, "malformed"),
    (
        _sheet('<row><c s="0"><v>1e300</v></c></row>'),
        {"xl/styles.xml": "<s><cellXfs><xf numFmtId='14'/></cellXfs></s>"},
        "no_such_row",
    ),
    (
        _sheet(GOOD_ROW + '<row><c t="s"><v>0</v></c></row>' * 19_000),
        {"xl/sharedStrings.xml": f"<sst><si><t>{' ' * 30_000}x</t></si></sst>"},
        "too_large",
    ),
    (
        _sheet(GOOD_ROW),
        {"xl/_rels/workbook.xml.rels": "<R>" + "<Relationship Target='" + "../" * 9_999 + "'/></R>"},
        "missing",
    ),
]


@pytest.mark.parametrize(("sheet", "more", "reason"), WORKBOOKS, ids=range(len(WORKBOOKS)))
def test_workbooks(tmp_path: Path, sheet: str, more: dict[str, str], reason: str) -> None:
    content = _xlsx(sheet, **more)
    assert _graded(tmp_path, content) == ("0", reason)


def _packed(method: int, name: str = "xl/s.xml") -> bytearray:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in PARTS.items():
            archive.writestr(part, text)
        archive.writestr(name, _sheet(GOOD_ROW), compress_type=method)
    return bytearray(packed.getvalue())


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_a_member_of_another_method(tmp_path: Path, method: int) -> None:
    content = _packed(method)
    assert _graded(tmp_path, bytes(content)) == ("0", "malformed")
    place = content.find(b"xl/s.xml") + 30
    content[place : place + 40] = b"\xff" * 40
    assert _graded(tmp_path, bytes(content)) == ("0", "malformed")


def test_a_workbook_with_any_byte_changed(tmp_path: Path) -> None:
    chance = random.Random(7)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        sound = _packed(method)
        for _ in range(400):
            content = sound.copy()
            content[chance.randrange(len(content))] = chance.randrange(256)
            assert _graded(tmp_path, bytes(content))[0] in ("0", "1")


def test_one_part_named_by_every_sheet(tmp_path: Path) -> None:
    sheets = "".join(f'<sheet name="s{number}" r:id="r1"/>' for number in range(20))
    book = PARTS["xl/workbook.xml"].partition("<sheets>")[0] + f"<sheets>{sheets}</sheets></workbook>"
    content = _xlsx("<w>" + "<!---->" * 4_000_000 + "</w>", **{"xl/workbook.xml": book})
    assert _graded(tmp_path, content) == ("0", "too_large")


def test_an_archive_of_very_many_members(tmp_path: Path) -> None:
    entry = b"PK\x01\x02" + b"\0" * 42
    end = b"PK\x05\x06" + b"\0" * 8 + (46 * 180_000).to_bytes(4, "little") + b"\0" * 6
    assert _graded(tmp_path, entry * 180_000 + end) == ("0", "too_large")


def test_names_that_are_no_names(tmp_path: Path) -> None:
    for name in ("xl/s.xml\0x", "xl/\udcff", "../" * 9_000 + "s", "/etc/passwd"):
        try:
            content = _packed(zipfile.ZIP_STORED, name)
        except UnicodeEncodeError:
            content = _packed(zipfile.ZIP_STORED, "xl/~").replace(b"xl/~", b"xl/\xff")
        assert _graded(tmp_path, bytes(content))[0] in ("0", "1")
