"""One entry read strictly: canonical form, the fields of `event/1`, and what the rules need of it."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from audit.canonical import MAXIMUM_BYTES, NotCanonical, canonical_bytes

FIELDS = ["actor", "data", "kind", "nonce", "outcome", "schema", "subject", "time", "version"]
SCHEMA = "event/1"
ACTOR_KINDS = frozenset({"person", "token", "ci", "worker", "system"})
CHANNELS = frozenset({"web", "api", "system", "command"})
MOST_NESTED = 32
"""Lists and objects within each other, the event itself included; no kind needs five."""
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]')
_SUBJECT = ["id", "type"]
_ACTORS = (["channel", "id", "kind"], ["channel", "id", "kind", "organisation"])
_NONCE = re.compile(r"[0-9a-f]{32}")
_TIME = re.compile(r"[0-9]{4}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]\.[0-9]{6}Z")
_KIND = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+")


class Malformed(ValueError):
    """The entry is no canonical event; the text says why."""


class Read(NamedTuple):
    """What is kept of an entry. `at` is its time in microseconds since 1970."""

    kind: str
    subject: str
    outcome: str
    data: dict[str, Any]
    at: int


def _no_float(text: str) -> float:
    raise Malformed(f"it holds {text[:20]}, but an event holds no floating-point numbers")


_decoder = json.JSONDecoder(parse_float=_no_float, parse_constant=_no_float)
_decode = _decoder.decode
_scan: Callable[[str, int], tuple[Any, int]] = _decoder.scan_once  # type: ignore[attr-defined]
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode

_DEEP = "[[[["
"""Facts that read alike in Python and in JSON can only be deep in this way."""
_TEXT = r'[^"\\\x00-\x1f]*'
_HEAD = re.compile(
    rf'\{{"actor":\{{"channel":"(?:{"|".join(sorted(CHANNELS))})","id":"{_TEXT}",'
    rf'"kind":"(?:{"|".join(sorted(ACTOR_KINDS))})"(?:,"organisation":"{_TEXT}")?\}},"data":'
)
_TAIL = re.compile(
    rf',"kind":"([a-z][a-z0-9_]*\.[a-z0-9_]*[a-z0-9])","nonce":"{_NONCE.pattern}","outcome":"({_TEXT})","schema":"{SCHEMA}",'
    rf'"subject":\{{"id":"({_TEXT})","type":"{_TEXT}"\}},"time":"({_TIME.pattern})","version":[1-9][0-9]{{0,8}}\}}'
)
"""What stands around the facts of nearly every event, in canonical form; others are read the long way round."""


def read_entry(entry: bytes) -> Read:
    """Raises Malformed."""
    return _read_quickly(entry) or _read_thoroughly(entry)


def _read_quickly(entry: bytes) -> Read | None:
    """The event where it looks as nearly all do: then only its facts need to be parsed. None says nothing about it."""
    try:
        text = entry.decode("ascii")
        split = text.rindex('},"kind":"') + 1
        head, tail = _HEAD.match(text), _TAIL.fullmatch(text, split)
        if head is None or tail is None or len(text) > MAXIMUM_BYTES:
            return None
        facts = text[head.end() : split]
        if _DEEP in facts:
            return None
        data, end = _scan(facts, 0)
        if end != len(facts) or type(data) is not dict or _plain(data) != facts:
            return None
    except (ValueError, StopIteration, RecursionError):
        return None
    kind, outcome, subject, at = tail.groups()
    return Read(kind, subject, outcome, data, _minute(at[:16]) + int(at[17:19] + at[20:26]))


def _plain(data: dict[str, Any]) -> str:
    """The canonical text of facts that are strings without escapes and integers; of others a text that is not theirs.

    What would need an escape is longer in canonical form than here, so the two cannot be taken for each other.
    """
    parts = [
        f'"{key}":"{value}"' if type(value) is str else f'"{key}":{value}'
        for key, value in sorted(data.items())
    ]
    return f"{{{','.join(parts)}}}"


def _read_thoroughly(entry: bytes) -> Read:
    body = _parse(entry)
    if list(body) != FIELDS or body["schema"] != SCHEMA:
        raise Malformed(f"it is not of schema {SCHEMA}")
    actor, subject, kind, at = body["actor"], body["subject"], body["kind"], body["time"]
    if type(actor) is not dict or list(actor) not in _ACTORS or not _texts(actor):
        raise Malformed("its actor has other fields than it should, or one that is no text")
    if actor["kind"] not in ACTOR_KINDS or actor["channel"] not in CHANNELS:
        raise Malformed("its actor is of no known kind or channel")
    if type(subject) is not dict or list(subject) != _SUBJECT or not _texts(subject):
        raise Malformed("its subject has other fields than it should, or one that is no text")
    if type(kind) is not str or not _known_form(kind):
        raise Malformed("its kind is no name")
    if type(body["nonce"]) is not str or not _NONCE.fullmatch(body["nonce"]):
        raise Malformed("its nonce is not 16 bytes in hexadecimal digits")
    if type(body["data"]) is not dict or type(body["outcome"]) is not str or type(body["version"]) is not int:
        raise Malformed("a field is of the wrong type")
    if type(at) is not str or not _TIME.fullmatch(at):
        raise Malformed("its time is not in UTC with microseconds")
    return Read(
        kind, subject["id"], body["outcome"], body["data"], _minute(at[:16]) + int(at[17:19] + at[20:26])
    )


def _texts(fields: dict[str, Any]) -> bool:
    return all(type(value) is str for value in fields.values())


def _nested(text: str) -> int:
    """How deep lists and objects lie in each other in a JSON text."""
    depth = deepest = 0
    for mark in _BRACKETS.findall(text):
        if mark in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif mark in "]}":
            depth -= 1
    return deepest


def _parse(entry: bytes) -> dict[str, Any]:
    """The object of which these are the canonical bytes."""
    if len(entry) > MAXIMUM_BYTES:
        raise Malformed(f"it has {len(entry)} bytes, at most {MAXIMUM_BYTES} are allowed")
    try:
        text = entry.decode()
        if text.count("[") + text.count("{") > MOST_NESTED and _nested(text) > MOST_NESTED:
            raise Malformed(f"it is nested more than {MOST_NESTED} deep")
        body = _decode(text)
        again = _encode(body)
    except Malformed:
        raise
    except (ValueError, RecursionError) as error:
        raise Malformed("it is no JSON in UTF-8") from error
    if again != text or type(body) is not dict:
        raise Malformed("it is not in canonical form")
    if not entry.isascii() and not unicodedata.is_normalized("NFC", text):
        raise Malformed("its text is not in normal form C")
    if b"true" in entry or b"false" in entry or b"null" in entry:
        _require_plain(body)
    return body


def _require_plain(body: dict[str, Any]) -> None:
    """The slow way round, for the few entries that hold the letters of a word that JSON knows."""
    try:
        canonical_bytes(body)
    except NotCanonical as error:
        raise Malformed(f"it is not in canonical form: {error}") from error


@lru_cache(maxsize=4096)
def _known_form(kind: str) -> bool:
    return bool(_KIND.fullmatch(kind))


@lru_cache(maxsize=4096)
def _minute(text: str) -> int:
    try:
        at = datetime.strptime(text, "%Y-%m-%dT%H:%M").replace(tzinfo=UTC)
    except ValueError as error:
        raise Malformed("its time does not exist") from error
    return int(at.timestamp()) * 1_000_000
