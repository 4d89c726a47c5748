"""harness.toml and card.json against the published schemas: every place that is wrong, not only the first."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from client.check.findings import Found, expected_of
from client.words import say
from submissions import cards
from submissions.intake import Finding, Kind, Manifest, read_manifest
from submissions.intake.archive import MANIFEST, MANIFEST_BYTES
from submissions.intake.rules import Rule

SHOWN = 120
"""Characters of a value that are repeated."""


def check_manifest(data: bytes, kind: Kind = Kind.BUNDLE) -> tuple[Manifest | None, list[Found]]:
    """The manifest, or None; and what is wrong with it. Its name and version are taken as the registered ones."""
    if len(data) > MANIFEST_BYTES:
        return None, [_whole(MANIFEST, Rule.MANIFEST_NOT_TOML, say("{size} bytes").format(size=len(data)))]
    try:
        table = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        return None, [_whole(MANIFEST, Rule.MANIFEST_NOT_TOML, _short(str(error)))]
    violations = cards.violations(table, "harness-toml", 1)
    found = [row for error in violations for row in _of_violation(MANIFEST, error, "manifest")]
    try:
        manifest = read_manifest(
            data, name=str(table.get("name")), version=str(table.get("version")), kind=kind
        )
    except Finding as finding:
        return None, found or [_of_finding(finding)]
    return (None, found) if found else (manifest, [])


def _of_finding(finding: Finding) -> Found:
    """What the strict reader found beyond the schema."""
    key = str(finding.facts.get("key", ""))
    rule = Rule(finding.code)
    said = str(finding.facts.get("detail") or finding.facts.get("what") or key)
    return Found(MANIFEST, f"$.{key}" if key else "$", rule, expected_of(rule), said)


def check_card(path: Path) -> tuple[dict[str, Any] | None, list[Found]]:
    """The card in its canonical form, or None; and what is wrong with it."""
    name = path.name
    try:
        card = json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except OSError:
        return None, [_whole(name, Rule.CARD_NOT_JSON, say("no such file"))]
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        return None, [_whole(name, Rule.CARD_NOT_JSON, _short(str(error)))]
    if not isinstance(card, dict):
        return None, [_whole(name, Rule.CARD_NOT_JSON, _kind(card))]
    try:
        return cards.check(card), []
    except cards.CardInvalid as error:
        said = error.errors
    if any("larger than" in message for _, message in said):
        return None, [_whole(name, Rule.CARD_TOO_LARGE, say("a larger card"))]
    violations = cards.violations(card, "harness-card", cards.CARD_SCHEMA)
    found = [row for violation in violations for row in _of_violation(name, violation, "card")]
    rule = Rule.CARD_VALUE_INVALID
    return None, found or [Found(name, place, rule, expected_of(rule), message) for place, message in said]


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")


def _whole(file: str, rule: Rule, found: str) -> Found:
    return Found(file, "$", rule, expected_of(rule), found)


def _of_violation(file: str, error: Any, kind: str) -> list[Found]:
    """A schema violation as findings: rule, what the schema says there, and what stands there."""
    keyword, wanted, place = str(error.validator), error.validator_value, error.json_path
    if keyword == "required":
        rule = Rule.CARD_KEY_MISSING if kind == "card" else Rule.MANIFEST_KEY_MISSING
        lacking = [name for name in wanted if name not in error.instance and repr(name) in error.message]
        return [Found(file, f"{place}.{name}", rule, expected_of(rule), say("missing")) for name in lacking]
    if keyword == "additionalProperties":
        rule = Rule.CARD_UNKNOWN_KEY if kind == "card" else Rule.MANIFEST_UNKNOWN_KEY
        known = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(error.instance) - set(known))
        return [
            Found(file, f"{place}.{_short(name)}", rule, ", ".join(known), _short(name)) for name in unknown
        ]
    rule = Rule.CARD_VALUE_INVALID if kind == "card" else Rule.MANIFEST_VALUE_INVALID
    return [Found(file, place, rule, _asked(keyword, wanted), _value(error.instance, keyword))]


def _asked(keyword: str, wanted: Any) -> str:
    texts = {
        "type": say("a value of type {wanted}"),
        "const": say("exactly {wanted}"),
        "enum": say("one of {wanted}"),
        "pattern": say("text that matches {wanted}"),
        "minLength": say("at least {wanted} characters"),
        "maxLength": say("at most {wanted} characters"),
        "minItems": say("at least {wanted} elements"),
        "maxItems": say("at most {wanted} elements"),
        "minimum": say("at least {wanted}"),
        "maximum": say("at most {wanted}"),
    }
    text = json.dumps(wanted, ensure_ascii=False) if not isinstance(wanted, str) else wanted
    return texts.get(keyword, say("{keyword}: {wanted}")).format(keyword=keyword, wanted=_short(text))


def _value(value: Any, keyword: str) -> str:
    if keyword == "type":
        return _kind(value)
    if keyword in ("minLength", "maxLength"):
        return say("{count} characters").format(count=len(value))
    if keyword in ("minItems", "maxItems"):
        return say("{count} elements").format(count=len(value))
    return _short(json.dumps(value, ensure_ascii=False, default=str))


def _kind(value: Any) -> str:
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null" if value is None else type(value).__name__)


def _short(text: str) -> str:
    clean = "".join(character if character.isprintable() else " " for character in text)
    return clean if len(clean) <= SHOWN else clean[:SHOWN] + "…"
