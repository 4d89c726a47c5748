"""Events as people read them: one sentence for each kind, in the reader's language, with the event's own facts.

Names of organisations are given by the caller; persons stay pseudonyms, and texts that people typed stay hashes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from string import Formatter
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from audit.events import Event

LONGEST = 120
"""Characters of one fact in a sentence."""
UNKNOWN = gettext_lazy("{actor} recorded {kind} about {subject}.")
ACTORS = {
    "person": gettext_lazy("person {id}"),
    "token": gettext_lazy("token {id}"),
    "worker": gettext_lazy("worker {id}"),
    "system": gettext_lazy("the platform ({id})"),
}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_DIGEST = re.compile(r"[0-9a-f]{32,}(?::[0-9a-f]{32,})?")


class _Facts(dict[str, str]):
    """A fact that the event does not have is a dash."""

    def __missing__(self, key: str) -> str:
        return "–"


def sentence(body: Mapping[str, Any], names: Mapping[str, str] | None = None) -> str:
    """What the event says. `names` gives the name of an organisation by its id."""
    known = names or {}
    kind = str(body.get("kind", ""))
    declared = Event.registry.get(kind)
    facts = _Facts({name: readable(value, known) for name, value in _mapping(body.get("data")).items()})
    subject = _mapping(body.get("subject"))
    facts["kind"], facts["outcome"] = kind, str(body.get("outcome", ""))
    facts["subject"] = readable(subject.get("id", ""), known)
    facts["actor"] = actor(_mapping(body.get("actor")), known)
    template = str(declared.sentence if declared and declared.sentence else UNKNOWN)
    said = Formatter().vformat(template, (), facts)
    return said[:1].upper() + said[1:]


def actor(body: Mapping[str, Any], names: Mapping[str, str] | None = None) -> str:
    """Who acted, and for which organisation."""
    template = ACTORS.get(str(body.get("kind")), "{id}")
    who = str(template).format(id=short(str(body.get("id", ""))))
    organisation = str(body.get("organisation", ""))
    if not organisation:
        return who
    return _("%(who)s of %(organisation)s") % {
        "who": who,
        "organisation": (names or {}).get(organisation, short(organisation)),
    }


def readable(value: object, names: Mapping[str, str]) -> str:
    """One fact in a sentence: organisations by name, other ids and digests shortened."""
    if isinstance(value, str):
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
