"""A vendor's folder: lgbench.toml, the harness folder, the card, and `.lgbench/` with what commands leave behind."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client.exits import Exit
from client.trouble import Trouble
from client.words import say

FILE = "lgbench.toml"
STATE = ".lgbench"
KEYS = ("site", "harness", "harness_id", "card", "title", "relation", "task_set", "publication_consent")


@dataclass(frozen=True)
class Project:
    """What lgbench.toml says, with its defaults. `root` is where it lies."""

    root: Path
    site: str = ""
    harness: str = "harness"
    harness_id: str = ""
    card: str = "card.json"
    title: str = ""
    relation: str = "owner"
    task_set: str = ""
    publication_consent: bool = False

    @property
    def folder(self) -> Path:
        return self.root / self.harness

    @property
    def card_path(self) -> Path:
        return self.root / self.card

    @property
    def state(self) -> Path:
        return self.root / STATE

    def made_state(self) -> Path:
        """The state folder, made where it is absent; version control leaves it out."""
        self.state.mkdir(mode=0o700, exist_ok=True)
        (self.state / ".gitignore").write_text("*\n", encoding="utf-8")
        return self.state

    def keep(self, name: str, content: dict[str, Any]) -> Path:
        """Write a file of the state folder, readable by its owner only, whole or not at all."""
        path = self.made_state() / name
        partial = path.with_suffix(".partial")
        partial.unlink(missing_ok=True)
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(path)
        return path

    def kept(self, name: str) -> dict[str, Any] | None:
        """A file of the state folder; None where it is absent or damaged."""
        try:
            found = json.loads((self.state / name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None


def load(root: Path) -> Project:
    """The project in `root`; all defaults where there is no lgbench.toml. Raises Trouble for one that is wrong."""
    path = root / FILE
    if not path.exists():
        return Project(root)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise _wrong(path, str(error)) from None
    for key, value in table.items():
        if key not in KEYS:
            raise _wrong(path, say("unknown key `{key}`").format(key=key))
        kind = bool if key == "publication_consent" else str
        if not isinstance(value, kind):
            raise _wrong(path, say("`{key}` has a wrong type").format(key=key))
    return Project(root=root, **table)


def _wrong(path: Path, what: str) -> Trouble:
    return Trouble(
        "settings_invalid",
        say("{path} cannot be used: {what}").format(path=path, what=what),
        hint=say("Known keys: {keys}").format(keys=", ".join(KEYS)),
        exit=Exit.USAGE,
    )
