"""What `lgbench` says, in English and Chinese. An English text is its own key; `zh.json` holds the other."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

LANGUAGES = ("en", "zh")
_chosen = {"language": "en"}


def use(language: str) -> None:
    """Speak this language from now on; one that is not known is English."""
    _chosen["language"] = language if language in LANGUAGES else "en"


def language() -> str:
    return _chosen["language"]


def wanted(option: str | None, environment: Mapping[str, str] = os.environ) -> str:
    """The language of `--lang`, LGBENCH_LANG, LC_ALL, LC_MESSAGES or LANG, whichever speaks first."""
    names = ("LGBENCH_LANG", "LC_ALL", "LC_MESSAGES", "LANG")
    first = option or next((environment[name] for name in names if environment.get(name)), "en")
    return "zh" if first.lower().startswith("zh") else "en"


def say(text: str) -> str:
    """`text` in the chosen language; places in braces are the caller's to fill."""
    if _chosen["language"] == "en":
        return text
    return chinese().get(text, text)


@lru_cache(maxsize=1)
def chinese() -> dict[str, str]:
    """English text → Chinese text."""
    found: dict[str, str] = json.loads((Path(__file__).parent / "zh.json").read_text(encoding="utf-8"))
    return found


def accept_language() -> str:
    """For the site, whose sentences are shown as they come."""
    return "zh-hans" if _chosen["language"] == "zh" else "en"
