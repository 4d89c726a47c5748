"""`make check`: every check, each with its time; all run, and the exit code is 1 if one failed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = Path(sys.executable).parent
PYTHON = ("platform", "submissions", "governance", "leaderboard", "tests", "deploy", "manage.py")


def checks() -> dict[str, list[str]]:
    """Name and command of each check."""
    present = [name for name in PYTHON if (ROOT / name).exists()]
    return {
        "ruff": [str(BIN / "ruff"), "check", "--quiet", "."],
        "format": [str(BIN / "ruff"), "format", "--check", "--quiet", "."],
        "mypy": [str(BIN / "mypy"), "--no-error-summary", *present],
        "layers": [str(BIN / "lint-imports"), "--no-cache"],
        "templates": [str(BIN / "djlint"), "templates", "--lint", "--quiet"],
        "migrations": [
            sys.executable,
            "manage.py",
            "makemigrations",
            "--check",
            "--dry-run",
            "--skip-checks",
        ],
        "system": [sys.executable, "manage.py", "check", "--fail-level", "WARNING"],
        "translations": [sys.executable, "manage.py", "check_translations"],
    }


def environment() -> dict[str, str]:
    """Test settings, so that a check writes no state folder; both source roots."""
    return {
        **os.environ,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
        "LINGEE_ROLE": "test",
        "PYTHONWARNINGS": "ignore::RuntimeWarning",
    }


def main(only: list[str]) -> int:
    """Run the named checks, or all; the exit code."""
    failed = []
    for name, command in checks().items():
        if only and name not in only:
            continue
        started = time.monotonic()
        done = subprocess.run(
            command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False
        )
        mark = "ok" if done.returncode == 0 else "FAILED"
        print(f"check {name:<13}{mark:<7}{time.monotonic() - started:5.1f} s", flush=True)
        if done.returncode:
            failed.append(name)
            print((done.stdout + done.stderr).strip(), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
