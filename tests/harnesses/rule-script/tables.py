"""Reading exports as they come (CSV in three encodings, xlsx, text) and writing the deliverable."""

import csv
import os
import re
import unicodedata
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")


def decode(data):
    """Text of a file that may be UTF-8 (with mark or not) or GB 18030."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("gb18030")


def half(text):
    """Full-width characters made half-width, outer space gone."""
    return unicodedata.normalize("NFKC", text).strip()


def number(text, default=None):
    """The number in a cell as Decimal, 万 and 万元 taken into account; `default` for an empty cell."""
    plain = half(text).replace(",", "").replace(" ", "")
    found = NUMBER.search(plain)
    if not found:
        return default
    value = Decimal(found[0])
    return value * 10000 if "万" in plain[found.end() :] else value


def cents(value):
    """Two decimals, commercial rounding."""
    return value.quantize(Decimal("0.01"), ROUND_HALF_UP)


def percent(part, whole):
    """A percentage with one decimal."""
    return f"{(Decimal(part) * 100 / Decimal(whole)).quantize(Decimal('0.1'), ROUND_HALF_UP)}%"


def once(rows, *columns):
    """The rows without those whose key was there before."""
    seen, kept = set(), []
    for row in rows:
        key = tuple(half(row[c]) for c in columns)
        if key not in seen:
            seen.add(key)
            kept.append(row)
    return kept


def sheet(path):
    """Rows of the first worksheet of a workbook, cells as text."""
    import html
    import zipfile

    with zipfile.ZipFile(path) as book:
        shared = []
        if "xl/sharedStrings.xml" in book.namelist():
            for entry in re.findall(r"<si>(.*?)</si>", book.read("xl/sharedStrings.xml").decode(), re.DOTALL):
                shared.append(html.unescape("".join(re.findall(r"<t[^>]*>(.*?)</t>", entry, re.DOTALL))))
        body = book.read("xl/worksheets/sheet1.xml").decode()
    rows = []
    for line in re.findall(r"<row[^>]*>(.*?)</row>", body, re.DOTALL):
        cells = {}
        for column, kind, value in re.findall(
            r'<c r="([A-Z]+)[0-9]+"([^>]*?)(?:/>|>(.*?)</c>)', line, re.DOTALL
        ):
            text = "".join(re.findall(r"<(?:v|t)[^>]*>(.*?)</(?:v|t)>", value, re.DOTALL))
            cells[column] = shared[int(text)] if 't="s"' in kind and text else html.unescape(text)
        rows.append(cells)
    columns = list(rows[0])
    return [{rows[0][c]: row.get(c, "") for c in columns} for row in rows[1:]]


class Work:
    """One invocation: the user's words, the workspace, the reply."""

    def __init__(self):
        task = Path(os.environ.get("TASK_DIR", "/task"))
        self.root = Path(os.environ.get("WORKSPACE_DIR", "/workspace"))
        self.turn = int(os.environ.get("TURN", "1"))
        self.text = (task / "instruction.md").read_text(encoding="utf-8")
        later = sorted((task / "turns").glob("turn_*.md")) if (task / "turns").is_dir() else []
        self.turns = [path.read_text(encoding="utf-8") for path in later]
        self.stems = {path.stem for path in self.root.iterdir() if path.is_file()}
        self.reply_file = Path(os.environ.get("REPLY_FILE", "/reply/reply.md"))

    def folder(self, name):
        """Files of a folder of the workspace, in order of name."""
        place = self.root / name
        return sorted(place.iterdir()) if place.is_dir() else []

    def rows(self, stem):
        """Rows of the export with this name."""
        if (self.root / f"{stem}.xlsx").is_file():
            return sheet(self.root / f"{stem}.xlsx")
        return list(csv.DictReader(decode((self.root / f"{stem}.csv").read_bytes()).splitlines()))

    def read(self, name):
        """Text of a file."""
        return decode((self.root / name).read_bytes())

    def table(self, name, columns, rows):
        """Write the result table."""
        with (self.root / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(columns)
            writer.writerows(rows)
        self.answer(f"做好了，共 {len(rows)} 行，在 {name}。")

    def answer(self, text):
        """Write the reply to the user."""
        self.reply_file.write_text(text + "\n", encoding="utf-8")

    def answer_table(self, columns, rows):
        """Reply with a table."""
        lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        self.answer(
            "结果如下：\n\n" + "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])
        )
