"""The floor: deliverables of the right shape with random content.

Names of files, columns and closed vocabularies come from the instruction, keys and values from cells of the
workspace, the rest from a generator seeded by the episode. A score well above 0 is a hole in a task's rules.
"""

import csv
import json
import os
import random
import re
from pathlib import Path

TASK = Path(os.environ.get("TASK_DIR", "/task"))
ROOT = Path(os.environ.get("WORKSPACE_DIR", "/workspace"))
REPLY = Path(os.environ.get("REPLY_FILE", "/reply/reply.md"))
FILE = re.compile(r"`([^`]+\.(?:csv|json|xlsx|md))`")
COLUMNS = re.compile(r"(?:列名依次写|表头是|要有这几列)：([^。]+)。")


def cells(path):
    """Columns of an export, as lists of cells; nothing for what is no CSV."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("gb18030", "replace")
    rows = list(csv.reader(text.splitlines()))
    return [list(column) for column in zip(*(row for row in rows if len(row) == len(rows[0])), strict=True)]


def pool():
    """Cells of the workspace by column name."""
    found = {}
    for path in sorted(ROOT.rglob("*.csv")):
        for name, *values in cells(path):
            found.setdefault(name, []).extend(values)
    return found


def value(rng, column, known, words):
    """One cell: a known value of a column of that name, a word of the vocabulary, or a number."""
    for name, values in known.items():
        if values and (name in column or column in name):
            return rng.choice(values)
    if words and rng.random() < 0.5:
        return rng.choice(words)
    return rng.choice(
        (str(rng.randint(0, 300)), f"{rng.uniform(0, 90_000):.2f}", f"{rng.uniform(0, 100):.1f}%")
    )


def table(rng, columns, known, words):
    """Rows with distinct keys: the first column takes the values of the best matching column."""
    keys = sorted({value(rng, columns[0], known, words) for _ in range(40)})
    rng.shuffle(keys)
    return [[key, *(value(rng, c, known, words) for c in columns[1:])] for key in keys[: rng.randint(3, 12)]]


def main():
    rng = random.Random(int(os.environ.get("EPISODE_SEED", "0")))
    text = "\n".join(
        p.read_text(encoding="utf-8")
        for p in [TASK / "instruction.md", *sorted((TASK / "turns").glob("*.md"))]
    )
    REPLY.write_text("随便填了一份。\n", encoding="utf-8")
    known, words = pool(), re.findall(r"“([^”]{1,12})”", text)
    headers = [[re.sub(r"（.*?）", "", c) for c in found.split("、")] for found in COLUMNS.findall(text)]
    files = FILE.findall(text)
    tables = [name for name in files if name.endswith(".csv")]
    for name, columns in zip(tables, headers, strict=False):
        with (ROOT / name).open("w", encoding="utf-8", newline="") as stream:
            csv.writer(stream).writerows([columns, *table(rng, columns, known, words)])
    for name in files:
        if name.endswith(".json"):
            fields = re.findall(r"- `([^`]+)`", text) or words
            (ROOT / name).write_text(
                json.dumps({f: value(rng, f, known, words) for f in fields}, ensure_ascii=False),
                encoding="utf-8",
            )
    for columns in headers[len(tables) :]:
        rows = [columns, ["---"] * len(columns), *table(rng, columns, known, words)]
        with REPLY.open("a", encoding="utf-8") as stream:
            stream.write("\n" + "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n")


if __name__ == "__main__":
    main()
