"""Degraded variants of a baseline: what it leaves, with a share of the values wrong. Deterministic by its generator.

A harness that solves a task always, or never, says little of how hard it is; one that errs in a tenth of its values
fails a task of twelve values more often than one of four.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping
from random import Random
from typing import Any

NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
ROW = re.compile(r"^\|(?!\s*:?-{3,})(.*)\|\s*$", re.MULTILINE)


def degraded(files: Mapping[str, bytes], share: float, rng: Random) -> dict[str, bytes]:
    """The same files; in CSV and JSON ones each value but a table's head is wrong with chance `share`."""
    found = dict(files)
    for name in sorted(files):
        if name.endswith(".csv"):
            found[name] = _table(files[name], share, rng)
        elif name.endswith(".json"):
            found[name] = _document(files[name], share, rng)
    return found


def degraded_reply(reply: bytes | None, share: float, rng: Random) -> bytes | None:
    """The reply; in rows of its tables but the first each cell is wrong with chance `share`."""
    if reply is None:
        return None
    heads = 0

    def spoiled(found: re.Match[str]) -> str:
        nonlocal heads
        heads += 1
        if heads == 1:
            return found[0]
        return "|" + "|".join(f" {_spoiled(cell.strip(), share, rng)} " for cell in found[1].split("|")) + "|"

    return ROW.sub(spoiled, reply.decode("utf-8", "replace")).encode()


def _table(data: bytes, share: float, rng: Random) -> bytes:
    try:
        head, *rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"))))
    except (UnicodeDecodeError, ValueError, csv.Error):
        return data
    stream = io.StringIO()
    written = csv.writer(stream, lineterminator="\n")
    # The first column is the key: a row under a wrong key is a row that is missing.
    written.writerows([head, *([_spoiled(cell, share, rng) for cell in row] for row in rows)])
    return stream.getvalue().encode()


def _document(data: bytes, share: float, rng: Random) -> bytes:
    try:
        found = json.loads(data)
    except ValueError:
        return data
    return json.dumps(_spoiled_in(found, share, rng), ensure_ascii=False).encode()


def _spoiled_in(found: Any, share: float, rng: Random) -> Any:
    if isinstance(found, dict):
        return {key: _spoiled_in(value, share, rng) for key, value in found.items()}
    if isinstance(found, list):
        return [_spoiled_in(value, share, rng) for value in found]
    return _spoiled(found, share, rng) if isinstance(found, str) else found


def _spoiled(text: str, share: float, rng: Random) -> str:
    """The text, or with that chance another: its first number moved by two to nine, or a word that says nothing."""
    if rng.random() >= share:
        return text
    moved = NUMBER.sub(lambda found: str(int(float(found[0])) + rng.randint(2, 9)), text, count=1)
    return moved if moved != text else "待确认"
