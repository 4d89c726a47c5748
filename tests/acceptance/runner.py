"""Acceptance of one area: each line of `<area>.toml` is proved by tests, by bars or by a written look.

A line that nothing carries fails. One line of output for each: `accept main-job:3 test ok 12 tests in 341 s`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
KINDS = ("test", "bench", "look")
USAGE = 4  # pytest's exit code where a case has no test
SHORTEST_LOOK = 200  # characters; less cannot name pages, widths and languages


@dataclass(frozen=True)
class Line:
    """One acceptance line."""

    slug: str
    number: int
    kind: str
    says: str
    cases: tuple[str, ...] = ()
    """The collected cases of which each must have a test: whatever is marked with one of them carries the line."""
    tested: bool = False
    """Whether tests carry it besides its bars."""

    @property
    def name(self) -> str:
        """As marks and bars spell it."""
        return f"{self.slug}:{self.number}"


@dataclass(frozen=True)
class Verdict:
    """How a line fared."""

    line: Line
    ok: bool
    detail: str

    def __str__(self) -> str:
        return f"accept {self.line.name} {self.line.kind} {'ok' if self.ok else 'FAILED'} {self.detail}"


def read_area(area: str, folder: Path = HERE) -> list[Line]:
    """The lines of an area; raises ValueError for an unknown area or a malformed file."""
    path = folder / f"{area}.toml"
    if not path.exists():
        known = ", ".join(sorted(found.stem for found in folder.glob("*.toml")))
        raise ValueError(f"no area {area!r}; there are: {known}")
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    lines = [
        Line(
            content["slug"],
            row["number"],
            row["kind"],
            row["says"],
            tuple(row.get("cases", ())),
            row.get("tested", False),
        )
        for row in content["lines"]
    ]
    numbers = [line.number for line in lines]
    if numbers != list(range(1, len(numbers) + 1)):
        raise ValueError(f"{path.name}: lines are numbered {numbers}")
    if unknown := {line.kind for line in lines} - set(KINDS):
        raise ValueError(f"{path.name}: unknown kind {sorted(unknown)}")
    return lines


def judge(line: Line) -> Verdict:
    """Prove one line."""
    return {"test": judge_by_tests, "bench": judge_by_bars, "look": judge_by_look}[line.kind](line)


def judge_by_tests(line: Line, folder: str = "tests") -> Verdict:
    """Run the tests that carry the line, the slow ones too, one after the other."""
    started = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        report = Path(place) / "report.xml"
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--timeout",
            "3600",
            folder,
        ]
        command += ["--acceptance", line.name, f"--junit-xml={report}"]
        done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
        counts = _counts(report)
    seconds = f"in {time.monotonic() - started:.0f} s"
    if done.returncode == USAGE:
        return Verdict(line, ok=False, detail=done.stderr.strip().splitlines()[-1])
    if counts["run"] == 0:
        return Verdict(line, ok=False, detail="no test carries it")
    if counts["skipped"]:
        return Verdict(
            line, ok=False, detail=f"{counts['skipped']} of {counts['run']} tests skipped {seconds}"
        )
    if done.returncode:
        print(done.stdout[-6000:], file=sys.stderr)
        return Verdict(line, ok=False, detail=f"{counts['failed']} of {counts['run']} tests failed {seconds}")
    return Verdict(line, ok=True, detail=f"{counts['run']} tests {seconds}")


def _counts(report: Path) -> dict[str, int]:
    if not report.exists():
        return {"run": 0, "failed": 0, "skipped": 0}
    suites = list(ET.parse(report).getroot().iter("testsuite"))
    total = {name: sum(int(suite.get(name, 0)) for suite in suites) for name in _NAMES}
    return {
        "run": total["tests"],
        "failed": total["failures"] + total["errors"],
        "skipped": total["skipped"],
    }


_NAMES = ("tests", "failures", "errors", "skipped")


def judge_by_bars(line: Line) -> Verdict:
    """Measure the bars that carry the line, and run the tests that do, where it says that there are."""
    if line.tested and not (verdict := judge_by_tests(line)).ok:
        return verdict
    command = [sys.executable, "-m", "tests.benchmarks", "--only", line.name, "--json", "-"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, check=False)
    rows = [json.loads(text) for text in done.stdout.splitlines() if text.startswith("{")]
    bars = rows[-1]["bars"] if rows else []
    if not bars:
        print(done.stderr[-3000:], file=sys.stderr)
        return Verdict(line, ok=False, detail="no bar carries it")
    detail = "; ".join(f"{bar['name']} {bar['figure']} {bar['limit']}" for bar in bars)
    return Verdict(line, ok=done.returncode == 0 and all(bar["ok"] for bar in bars), detail=detail)


def judge_by_look(line: Line, folder: Path = HERE / "looks") -> Verdict:
    """A look is a file that somebody wrote: what was looked at, what was found, how each point was answered."""
    path = folder / f"{line.slug}-{line.number}.md"
    if not path.exists():
        return Verdict(line, ok=False, detail=f"nobody wrote {path.name}")
    text = path.read_text(encoding="utf-8")
    if len(text) < SHORTEST_LOOK:
        return Verdict(line, ok=False, detail=f"{path.name} says next to nothing")
    open_points = text.count("- [ ]")
    if open_points:
        return Verdict(line, ok=False, detail=f"{open_points} open points in {path.name}")
    return Verdict(line, ok=True, detail=path.name)


def main(arguments: list[str]) -> int:
    """Judge every line of an area, or only the one named as `slug:number`; the exit code."""
    if len(arguments) != 1:
        print("usage: make acceptance AREA=<area>[:<line>]", file=sys.stderr)
        return 2
    area, _, number = arguments[0].partition(":")
    try:
        lines = [line for line in read_area(area) if not number or line.number == int(number)]
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    verdicts = []
    for line in lines:
        verdicts.append(judge(line))
        print(verdicts[-1], flush=True)
    return 0 if verdicts and all(verdict.ok for verdict in verdicts) else 1
