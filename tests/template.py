"""The migrated database of a test run, kept from one run to the next as long as nothing that migrations say changed.

Migrating takes longer than most tests that are run alone; loading a dump takes a second.
"""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from embedded.postgres import wheel

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / ".setup"
SOURCES = (ROOT / "platform", ROOT)
APPS = ("platform", "submissions", "governance", "leaderboard")


def fill(url: str, migrate: Callable[[], None]) -> None:
    """Bring the empty database at `url`, which a superuser opens, to the latest migration: from the dump, or anew."""
    dump = KEPT / f"migrated-{digest()}.sql"
    if dump.exists():
        _run("psql", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1", f"--file={dump}", url)
        return
    migrate()
    KEPT.mkdir(exist_ok=True)
    mine = dump.with_suffix(f".{os.getpid()}")
    _run("pg_dump", f"--file={mine}", url)
    for old in KEPT.glob("migrated-*.sql"):
        old.unlink(missing_ok=True)
    mine.replace(dump)


def digest() -> str:
    """Of every migration of ours, of the modules of ours that they import, and of the libraries with theirs."""
    files = {path for name in APPS for path in (ROOT / name).glob("**/migrations/*.py")}
    waiting = list(files)
    while waiting:
        further = set(_imported(waiting.pop())) - files
        files |= further
        waiting += further
    found = hashlib.sha256()
    for path in [*sorted(files), ROOT / "requirements" / "base.txt", ROOT / "platform/embedded/postgres.py"]:
        found.update(path.relative_to(ROOT).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def _imported(path: Path) -> Iterator[Path]:
    """Files of ours that a module names in its imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{name.name}" for name in node.names)]
        else:
            continue
        for name in names:
            for source in SOURCES:
                place = source / name.replace(".", "/")
                yield from (
                    found for found in (place.with_suffix(".py"), place / "__init__.py") if found.exists()
                )


def _run(tool: str, *arguments: str) -> None:
    """Raises RuntimeError with what the tool said."""
    installed, libraries = wheel()
    done = subprocess.run(
        [str(installed / "bin" / tool), *arguments],
        env={**os.environ, "LD_LIBRARY_PATH": str(libraries)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{tool} failed:\n{done.stderr[-4000:]}")
