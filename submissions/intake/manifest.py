"""Strict reading of harness.toml, schema harness/1. Unknown keys are an error that names the key."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from submissions.intake.findings import Finding, shown
from submissions.intake.rules import Rule

SCHEMA = "harness/1"
KEYS = ("schema", "name", "version", "command")
OPTIONAL = ("models", "limits", "kind")
MODEL_KEYS = ("role", "dialect", "upstream")
MODELS = 8
ROLE = re.compile(r"[a-z][a-z0-9_]{0,31}\Z")
UPSTREAM = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?\Z")
DIALECTS = ("openai-chat", "openai-responses", "anthropic-messages")
ARGUMENTS = 64
ARGUMENT_BYTES = 4096
MAXIMUM_SECONDS = 24 * 3600


@dataclass(frozen=True)
class ModelUse:
    """A model that the harness asks for: by which role, how spoken to, through which registered upstream."""

    role: str
    dialect: str
    upstream: str


@dataclass(frozen=True)
class Manifest:
    """A harness.toml that was accepted. `limit_seconds` may only lower a task's budget; None where not stated."""

    name: str
    version: str
    command: tuple[str, ...]
    limit_seconds: int | None
    models: tuple[ModelUse, ...] = ()

    def stored(self) -> dict[str, Any]:
        """As kept with the submission."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "version": self.version,
            "command": list(self.command),
            "limit_seconds": self.limit_seconds,
            "models": [vars(model) for model in self.models],
        }


def read_manifest(data: bytes, *, name: str, version: str, kind: str = "bundle") -> Manifest:
    """Parse `data` for the registered `name` and `version`, found in a package of `kind`.

    Raises Finding at the first offence.
    """
    table = _parse(data)
    _require_keys(table, KEYS, (*OPTIONAL,), "")
    if table["schema"] != SCHEMA:
        raise Finding(Rule.MANIFEST_VALUE_INVALID, key="schema", detail=f"this platform reads {SCHEMA}")
    if table.get("kind", "bundle") != kind:
        raise Finding(Rule.MANIFEST_VALUE_INVALID, key="kind", detail=f"this package is of the kind {kind}")
    _require_text(table["name"], "name")
    _require_text(table["version"], "version")
    command = _command(table["command"])
    limit = _limit(table.get("limits"))
    models = _models(table.get("models"))
    if table["name"] != name:
        raise Finding(Rule.MANIFEST_NAME_DIFFERS, found=shown(table["name"]), expected=name)
    if table["version"] != version:
        raise Finding(Rule.MANIFEST_VERSION_DIFFERS, found=shown(table["version"]), expected=version)
    return Manifest(name, version, command, limit, models)


def _parse(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise Finding(Rule.MANIFEST_NOT_TOML, detail=f"byte {error.start} is not UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"line \d+, column \d+|end of document", str(error))
        raise Finding(Rule.MANIFEST_NOT_TOML, detail=place.group() if place else "syntax") from None
    except (RecursionError, ValueError):
        raise Finding(Rule.MANIFEST_NOT_TOML, detail="a value is too deep or too large") from None


def _require_keys(
    table: dict[str, Any], needed: tuple[str, ...], optional: tuple[str, ...], prefix: str
) -> None:
    for key in table:
        if key not in needed and key not in optional:
            raise Finding(Rule.MANIFEST_UNKNOWN_KEY, key=shown(prefix + key))
    for key in needed:
        if key not in table:
            raise Finding(Rule.MANIFEST_KEY_MISSING, key=prefix + key)


def _require_text(value: object, key: str) -> None:
    if not isinstance(value, str) or not value:
        raise Finding(Rule.MANIFEST_VALUE_INVALID, key=key, detail="a text is needed")


def _command(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= ARGUMENTS:
        raise Finding(
            Rule.MANIFEST_VALUE_INVALID, key="command", detail=f"a list of 1 to {ARGUMENTS} texts is needed"
        )
    for at, argument in enumerate(value):
        usable = isinstance(argument, str) and "\x00" not in argument and (argument or at)
        if not usable or len(argument.encode("utf-8", "surrogatepass")) > ARGUMENT_BYTES:
            raise Finding(
                Rule.MANIFEST_VALUE_INVALID, key=f"command[{at}]", detail="a text without NUL is needed"
            )
    return tuple(value)


def _limit(value: object) -> int | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise Finding(Rule.MANIFEST_VALUE_INVALID, key="limits", detail="a table is needed")
    _require_keys(value, (), ("seconds",), "limits.")
    seconds = value.get("seconds")
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= MAXIMUM_SECONDS:
        detail = f"a whole number from 1 to {MAXIMUM_SECONDS} is needed"
        raise Finding(Rule.MANIFEST_VALUE_INVALID, key="limits.seconds", detail=detail)
    return seconds


def _models(value: object) -> tuple[ModelUse, ...]:
    """The models in their order; each role once. Whether such upstreams exist is for who knows them to say."""
    if value is None:
        return ()
    if not isinstance(value, list) or len(value) > MODELS or not all(isinstance(row, dict) for row in value):
        detail = f"an array of at most {MODELS} tables is needed"
        raise Finding(Rule.MANIFEST_VALUE_INVALID, key="models", detail=detail)
    found: dict[str, ModelUse] = {}
    for at, row in enumerate(value):
        _require_keys(row, MODEL_KEYS, (), f"models[{at}].")
        _require_form(row["role"], ROLE, f"models[{at}].role", "a-z, 0-9 and _, at most 32")
        _require_form(
            row["upstream"], UPSTREAM, f"models[{at}].upstream", "the name of a registered upstream"
        )
        if row["dialect"] not in DIALECTS:
            detail = f"one of {', '.join(DIALECTS)} is needed"
            raise Finding(Rule.MANIFEST_VALUE_INVALID, key=f"models[{at}].dialect", detail=detail)
        if row["role"] in found:
            raise Finding(Rule.MANIFEST_VALUE_INVALID, key=f"models[{at}].role", detail="each role once")
        found[row["role"]] = ModelUse(**row)
    return tuple(found.values())


def _require_form(value: object, form: re.Pattern[str], key: str, detail: str) -> None:
    if not isinstance(value, str) or not form.match(value):
        raise Finding(Rule.MANIFEST_VALUE_INVALID, key=key, detail=detail)
