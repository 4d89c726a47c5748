"""`python -m tests.benchmarks [--only slug[:line]] [--json FILE]`: measure, print, compare with the limits.

Output, one line each: `bar <slug>:<line> <name> <figure> <limit> ok|short`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.test")
sys.path[:0] = [str(Path(__file__).resolve().parents[2] / "platform")]

from tests.benchmarks.registry import Bar, load  # noqa: E402


def measured(only: str | None) -> list[tuple[str, Bar]]:
    """Take each measure in turn and in a process of its own, whose settings it may set; print its bars as they come."""
    found = []
    for line, function in load().chosen(only):
        began = time.monotonic()
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as own:
            figures = own.submit(function).result()
        for bar in figures:
            word = "ok" if bar.ok else "short"
            print(f"bar {line} {bar.name} {bar.figure:.4g}{bar.unit} {bar.limit} {word}", flush=True)
            found.append((line, bar))
        print(f"{line} {function.__name__}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return found


def as_json(found: list[tuple[str, Bar]], seconds: float) -> str:
    """The report on one line."""
    rows = [
        {
            "line": line,
            "name": bar.name,
            "figure": bar.figure,
            "unit": bar.unit,
            "limit": bar.limit,
            "ok": bar.ok,
        }
        for line, bar in found
    ]
    return json.dumps({"bars": rows, "seconds": round(seconds, 1), "cores": os.cpu_count()})


def main() -> int:
    """The exit code: 0 where every bar is kept, 1 where one is short, 2 where none was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default=None, help="a slug, or slug:line")
    parser.add_argument("--json", default=None, help="write the report here; - is standard output")
    given = parser.parse_args()
    started = time.monotonic()
    found = measured(given.only)
    report = as_json(found, time.monotonic() - started)
    if given.json == "-":
        print(report)
    elif given.json:
        Path(given.json).write_text(report + "\n")
    if not found:
        print(f"no bar for {given.only}", file=sys.stderr)
        return 2
    return 0 if all(bar.ok for _, bar in found) else 1


if __name__ == "__main__":
    sys.exit(main())
