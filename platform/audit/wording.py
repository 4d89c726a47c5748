"""Events as people read them: one sentence for each kind, in the reader's language, with the event's own facts.

Names of organisations and words for codes are given by the caller; persons stay pseudonyms, and texts that people
typed stay hashes. Codes that nobody has a word for stand as they are.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from string import Formatter
from typing import Any

from django.utils.translation import get_language, gettext_lazy

from audit.events import Event

Say = Callable[[str, str], str | None]
"""The word for a fact of that name and value; None where there is none."""
LONGEST = 120
"""Characters of one fact in a sentence."""
UNKNOWN = gettext_lazy("{actor} recorded {kind} about {subject}.")
ACTORS = {
    "person": gettext_lazy("person {id}"),
    "token": gettext_lazy("token {id}"),
    "ci": gettext_lazy("CI job {id}"),
    "worker": gettext_lazy("worker {id}"),
    "system": gettext_lazy("the platform ({id})"),
}
FOR_AN_ORGANISATION = gettext_lazy("{who} of {organisation}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGEST = re.compile(r"[0-9a-f]{32,}(?::[0-9a-f]{32,})?")
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|\+00:00)")


class _Facts(dict[str, str]):
    """A fact that the event does not have is a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def sentence(body: Mapping[str, Any], names: Mapping[str, str] | None = None, say: Say | None = None) -> str:
    """What the event says. `names` gives the name of an organisation by its id, `say` the words for codes."""
    known = names or {}
    kind = str(body.get("kind", ""))
    declared = Event.registry.get(kind)
    subject = _mapping(body.get("subject"))
    given = {
        **_mapping(body.get("data")),
        "outcome": body.get("outcome", ""),
        "subject": subject.get("id", ""),
    }
    facts = _Facts({name: _said(name, value, known, say) for name, value in given.items()})
    facts["kind"] = kind
    facts["actor"] = actor(_mapping(body.get("actor")), known)
    template = str(declared.sentence if declared and declared.sentence else UNKNOWN)
    said = _filled(template, facts)
    return said[:1].upper() + said[1:]


def _said(name: str, value: object, names: Mapping[str, str], say: Say | None) -> str:
    word = say(name, str(value)) if say and isinstance(value, str | int) else None
    return readable(value, names) if word is None else word


def actor(body: Mapping[str, Any], names: Mapping[str, str] | None = None) -> str:
    """Who acted, and for which organisation."""
    template = ACTORS.get(str(body.get("kind")), "{id}")
    who = _filled(str(template), {"id": short(str(body.get("id", "")))})
    organisation = str(body.get("organisation", ""))
    if not organisation:
        return who
    name = (names or {}).get(organisation, short(organisation))
    return _filled(str(FOR_AN_ORGANISATION), {"who": who, "organisation": name})


def _filled(template: str, facts: Mapping[str, str]) -> str:
    """The template with its facts; in Chinese with blanks where its typesetting has them, whatever is put in."""
    pieces = _pieces(template, facts)
    if not (get_language() or "").startswith("zh"):
        return "".join(pieces)
    text = ""
    for piece in pieces:
        text = _joined(text, piece)
    return text


def _pieces(template: str, facts: Mapping[str, str]) -> Iterator[str]:
    for literal, name, _, _ in Formatter().parse(template):
        yield literal
        if name is not None:
            yield facts[name.partition("[")[0].partition(".")[0]]


def _joined(left: str, right: str) -> str:
    """One blank between a Chinese character and a letter or digit, none elsewhere around Chinese."""
    ends, begins = left.rstrip(" ")[-1:], right.lstrip(" ")[:1]
    wide = [_is_wide(ends), _is_wide(begins)]
    if not ends or not begins or not any(wide):
        return left + right
    marks = any(unicodedata.category(mark)[0] == "P" for mark in (ends, begins) if _is_wide(mark))
    blank = "" if marks or all(wide) else " "
    return f"{left.rstrip(' ')}{blank}{right.lstrip(' ')}"


def _is_wide(character: str) -> bool:
    return bool(character) and unicodedata.east_asian_width(character) in ("W", "F")


def readable(value: object, names: Mapping[str, str]) -> str:
    """One fact in a sentence: organisations by name, instants in UTC, other ids and digests shortened."""
    if isinstance(value, str):
        if instant := _INSTANT.fullmatch(value):
            return f"{instant[1]} {instant[2]} UTC"
        return names.get(value) or (short(value)[:LONGEST] if value else "–")
    if isinstance(value, Mapping | list):
        return json.dumps(value, ensure_ascii=False)[:LONGEST]
    return str(value)


def short(text: str) -> str:
    """Ids by their last eight characters, since they begin with the time and look alike; digests by their first."""
    if _UUID.fullmatch(text):
        return f"…{text[-8:]}"
    return f"{text[:8]}…" if _DIGEST.fullmatch(text) else text


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
