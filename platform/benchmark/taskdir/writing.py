"""Writing the files of a task directory; the bytes depend on the data alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from benchmark.taskdir.errors import TaskDirError

_BARE_KEY = re.compile(r"^[A-Za-z0-9_-]+$")


def toml(data: Mapping[str, object]) -> bytes:
    """A TOML document of texts, whole numbers, booleans, lists of those, tables and lists of tables.

    Plain keys come first, tables after them, each in the order given. Raises TaskDirError for other types.
    """
    lines: list[str] = []
    _table(lines, (), data)
    return ("\n".join(lines) + "\n").encode()


def _table(lines: list[str], path: tuple[str, ...], data: Mapping[str, object]) -> None:
    nested: list[tuple[str, object]] = []
    for key, value in data.items():
        if isinstance(value, Mapping) or (
            isinstance(value, list) and value and isinstance(value[0], Mapping)
        ):
            nested.append((key, value))
        else:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in nested:
        name = ".".join(_key(part) for part in (*path, key))
        for entry in [value] if isinstance(value, Mapping) else value if isinstance(value, list) else ():
            lines += ["", f"[{name}]" if isinstance(value, Mapping) else f"[[{name}]]"]
            _table(lines, (*path, key), entry)


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _value(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        # A JSON string is a TOML basic string but for DEL, which TOML wants escaped.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Sequence):
        return "[" + ", ".join(_value(entry) for entry in value) + "]"
    raise TaskDirError(f"cannot write {type(value).__name__} as TOML")


def rules_yaml(data: Mapping[str, object]) -> bytes:
    """rules.yaml in block style, keys in the order given, numbers-as-text quoted."""
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump(data, Dumper=dumper, allow_unicode=True, sort_keys=False, width=110, line_break="\n")
    return str(text).encode()


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write the files below `root`, making folders as needed; existing files are replaced."""
    for name, content in files.items():
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
