"""Bills from grey-scale PNG scans: find the ink, cut it into characters, read seven segments."""

import json
import struct
import zlib

from tables import number

SEGMENTS = {
    "abcdef": "0",
    "bc": "1",
    "abdeg": "2",
    "abcdg": "3",
    "bcfg": "4",
    "acdfg": "5",
    "acdefg": "6",
    "abc": "7",
    "abcdefg": "8",
    "abcdfg": "9",
    "g": "-",
    "d": ".",
}
STROKE = 2


def pixels(data):
    """Rows of grey values of an 8-bit grey PNG without filters."""
    place, packed, width, height = 8, b"", 0, 0
    while place < len(data):
        size, kind = struct.unpack(">I4s", data[place : place + 8])
        body = data[place + 8 : place + 8 + size]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", body[:8])
        elif kind == b"IDAT":
            packed += body
        place += 12 + size
    raw = zlib.decompress(packed)
    return [raw[row * (width + 1) + 1 : (row + 1) * (width + 1)] for row in range(height)]


def line(rows, top, bottom):
    """The characters printed between two rows of the sheet."""
    dark = [[x for x, grey in enumerate(row) if grey < 100] for row in rows[top:bottom]]
    used = [top + n for n, xs in enumerate(dark) if len(xs) >= STROKE]
    if not used:
        return ""
    first = used[0]
    left, right = (
        min(min(xs) for xs in dark if len(xs) >= STROKE),
        max(max(xs) for xs in dark if len(xs) >= STROKE),
    )

    def inked(x, y):
        return all(
            0 <= y + b < len(rows) and 0 <= x + a < len(rows[0]) and rows[y + b][x + a] < 100
            for a in (0, 1)
            for b in (0, 1)
        )

    probes = {"a": (4, 0), "b": (10, 4), "c": (10, 12), "d": (4, 16), "e": (0, 12), "f": (0, 4), "g": (4, 8)}
    return min(
        (_read(inked, start, right, first, probes) for start in range(left - 10, left + 1)),
        key=lambda t: t.count("?"),
    )


def _read(inked, start, right, top, probes):
    text = ""
    for x in range(start, right + 1, 8 * STROKE):
        lit = "".join(name for name, (a, b) in probes.items() if inked(x + a, top + b))
        text += SEGMENTS.get(lit, "?")
    return text


def register(work):
    """Number and amount of each scan that is not cancelled. Faint and turned sheets stay unread."""
    found = {}
    for path in work.folder("扫描件"):
        rows = pixels(path.read_bytes())
        if sum(grey < 100 for row in rows[54:86] for grey in row[184:216]) > 60:
            continue
        bill, value = line(rows, 0, 40), line(rows, 48, 90)
        if len(bill) == 8 and bill.isdigit() and "?" not in value:
            found[bill] = number(value)
    work.table("票据登记.csv", ("票据号码", "金额"), list(found.items()))
    total = {"合计金额": str(sum(v for v in found.values() if v is not None))}
    (work.root / "合计.json").write_text(json.dumps(total, ensure_ascii=False), encoding="utf-8")
