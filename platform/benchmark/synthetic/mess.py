"""How true values look in real exports: full-width digits, mixed units, repeated rows, three encodings, xlsx.

Everything here is a pure function of its arguments, so the bytes depend on the draw alone.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

from benchmark.synthetic.rulebook import Row

_WIDE = str.maketrans("0123456789.,-:", "０１２３４５６７８９．，－：")
_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_BOOK_TIME = dt.datetime(2026, 1, 1)  # noqa: DTZ001 - openpyxl takes naive times only


def half_up(value: Decimal, digits: int = 2) -> Decimal:
    """Commercial rounding to so many decimals."""
    return value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)


def money(value: Decimal) -> str:
    """Yuan with two decimals, no separators."""
    return str(half_up(value))


def plain(value: Decimal) -> str:
    """A decimal without trailing zeros or exponent."""
    return f"{value.normalize():f}"


def percent(part: Decimal, whole: Decimal) -> str:
    """A percentage with one decimal and its sign, e.g. `12.3%`."""
    return f"{half_up(part * 100 / whole, 1)}%"


def wide(text: str) -> str:
    """The same text with full-width digits and punctuation."""
    return text.translate(_WIDE)


def in_wan(value: Decimal) -> str:
    """Yuan written as 万元, exactly."""
    return plain(value / 10_000)


def thousands(value: Decimal) -> str:
    """Yuan with thousands separators."""
    return f"{half_up(value):,}"


def amount(rng: Random, low: int, high: int, step: str = "0.01") -> Decimal:
    """A random amount in [low, high] yuan on a grid of `step`."""
    unit = Decimal(step)
    return Decimal(rng.randint(int(low / unit), int(high / unit))) * unit


def day(rng: Random, first: dt.date, last: dt.date) -> dt.date:
    """A random day, both ends included."""
    return first + dt.timedelta(days=rng.randint(0, (last - first).days))


def widen_some(rng: Random, rows: Sequence[Row], column: str, share: float = 0.25) -> None:
    """Write some cells of a column in full-width characters; at least one."""
    sure = rng.randrange(len(rows))
    for number, row in enumerate(rows):
        if number == sure or rng.random() < share:
            row[column] = wide(row[column])


def repeat_some(rng: Random, rows: Sequence[Row], count: int) -> list[Row]:
    """The rows with `count` of them exported twice, as a paging fault does."""
    out = list(rows)
    for _ in range(count):
        place = rng.randrange(len(rows))
        out.insert(rng.randrange(place, len(out) + 1), dict(rows[place]))
    return out


def csv_text(rows: Sequence[Mapping[str, str]], columns: Sequence[str] = ()) -> str:
    """CSV with a header line and LF ends."""
    names = list(columns or rows[0])
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def export_csv(rng: Random, rows: Sequence[Mapping[str, str]], columns: Sequence[str] = ()) -> bytes:
    """A CSV as offices have it: UTF-8 with or without mark, or GB 18030."""
    encoding = rng.choice(("utf-8-sig", "utf-8-sig", "utf-8", "gb18030"))
    return csv_text(rows, columns).encode(encoding)


def workbook(sheets: Mapping[str, Sequence[Mapping[str, str]]]) -> bytes:
    """An xlsx with one text sheet per entry; same rows, same bytes."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        sheet.append(list(rows[0]))
        for row in rows:
            sheet.append(list(row.values()))
    book.properties.created = book.properties.modified = _BOOK_TIME
    stream = io.BytesIO()
    book.save(stream)
    return _rezip(stream.getvalue())


def _rezip(data: bytes) -> bytes:
    """The same archive with fixed times and without the saving time openpyxl stamps into its properties."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(stream, "w") as target:
        for name in sorted(source.namelist()):
            content = source.read(name)
            if name == "docProps/core.xml":
                content = _fixed_modified(content)
            info = zipfile.ZipInfo(name, _ZIP_TIME)
            info.external_attr = 0o644 << 16
            target.writestr(info, content, zipfile.ZIP_DEFLATED, 6)
    return stream.getvalue()


def _fixed_modified(core: bytes) -> bytes:
    head, mark, rest = core.partition(b"<dcterms:modified")
    opening, _, tail = rest.partition(b">")
    closing = tail.partition(b"</dcterms:modified>")[2]
    return head + mark + opening + b">2026-01-01T00:00:00Z</dcterms:modified>" + closing if mark else core


def put_export(
    files: dict[str, bytes], rng: Random, stem: str, rows: Sequence[Row], *, xlsx: bool = False
) -> None:
    """Add one export to the workspace, as CSV or as a workbook."""
    if xlsx:
        files[f"{stem}.xlsx"] = workbook({"导出": rows})
    else:
        files[f"{stem}.csv"] = export_csv(rng, rows)


def markdown_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A pipe table."""
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    lines += ["| " + " | ".join(str(row[c]) for c in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"
