"""`lgbench init`: a folder with everything that a first submission needs."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from client.exits import Exit
from client.trouble import Trouble
from client.words import say

FILES = Path(__file__).parent / "files"
NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z")
PLACES = {
    "lgbench.toml": "lgbench.toml",
    "harness.toml": "harness/harness.toml",
    "run.py.txt": "harness/run.py",
    "card.json": "card.json",
    "github-submit.yml": ".github/workflows/lgbench-submit.yml",
    "github-collect.yml": ".github/workflows/lgbench-collect.yml",
    "gitlab-ci.yml": ".gitlab-ci.yml",
    "gitignore.txt": ".gitignore",
}
"""File of the kit → where it lands."""


def write(folder: Path, *, name: str, site: str) -> list[Path]:
    """Write the starter kit into `folder`; nothing that exists is touched. Returns what was written. Raises Trouble."""
    if not NAME.match(name):
        raise Trouble(
            "name_invalid",
            say("{name} cannot be the name of a harness.").format(name=repr(name)),
            hint=say("Use 1 to 63 of a-z, 0-9 and inner hyphens: `lgbench init FOLDER --name my-harness`."),
            exit=Exit.USAGE,
        )
    existing = [place for place in PLACES.values() if (folder / place).exists()]
    if existing:
        raise Trouble(
            "already_there",
            say("{path} exists already; nothing was written.").format(path=folder / existing[0]),
            hint=say("Choose an empty folder."),
            exit=Exit.USAGE,
        )
    return [_place(folder / place, FILES / file, name, site) for file, place in PLACES.items()]


def _place(target: Path, source: Path, name: str, site: str) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    text = source.read_text(encoding="utf-8").replace("@NAME@", name).replace("@SITE@", site)
    target.write_text(text, encoding="utf-8")
    if target.suffix == ".py":
        target.chmod(target.stat().st_mode | stat.S_IXUSR)
    return target
