"""What strangers write, made fit for the ledger: no NUL, no half surrogates, no endless numbers, only so much of it.

A database would refuse these, and a line that cannot be written is a fault of the platform: nobody may cause one.
"""

from __future__ import annotations

import json


def plain(text: str, longest: int) -> str:
    """The beginning of the text, with a question mark for what no database takes."""
    return text[:longest].replace("\0", "?").encode("utf-8", "replace").decode("utf-8")


def storable(value: object) -> bool:
    """Whether a JSON value can be kept as it is."""
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
        return b"\\u0000" not in text.encode("utf-8")
    except (ValueError, RecursionError):
        return False
