"""The participation rules: dated versions, each with its text in both languages and the digest that is accepted.

A text never changes under its version: a new one gets a new version, and every organisation accepts it again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TEXTS = Path(__file__).parent / "texts"
LANGUAGES = ("en", "zh-hans")
VERSIONS = {
    "2026-12": "00a2b7ea4edaaee1b576f06e9e1f8bcf357e1ccbd8fb8fe996b41af454f7dc5a",
}
"""Each version with its digest, oldest first; the last one is in force. A test compares texts and digests."""


@dataclass(frozen=True)
class Rules:
    """One version as it is shown and accepted."""

    version: str
    digest: str

    def paragraphs(self, language: str) -> list[str]:
        """The text in that language, English where there is none."""
        return text_of(self.version, language if language in LANGUAGES else "en").split("\n\n")


def current() -> Rules:
    """The version that has to be accepted now."""
    version = next(reversed(VERSIONS))
    return Rules(version, VERSIONS[version])


@cache
def text_of(version: str, language: str) -> str:
    return (TEXTS / f"{version}.{language}.txt").read_text("utf-8").strip()


def digest_of(version: str) -> str:
    """SHA-256 over the texts in all languages, in the order of `LANGUAGES`, each ended by a NUL."""
    digest = hashlib.sha256()
    for language in LANGUAGES:
        digest.update(text_of(version, language).encode() + b"\0")
    return digest.hexdigest()
