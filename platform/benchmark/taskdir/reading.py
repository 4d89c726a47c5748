"""Reading a task set and its tasks from disk, strictly; every error names the file and the key."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from benchmark.taskdir.digests import digest, files_below
from benchmark.taskdir.errors import TaskDirError
from benchmark.taskdir.schema import Samples, TaskFile, TaskSetManifest, Verifier
from scoring import rules
from scoring.model import RuleSet, Script

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_RULES_BYTES = 4 * 1024 * 1024
_TURN = re.compile(r"^turns/turn_([1-9][0-9]*)\.md$")
_FIXED = frozenset(
    {
        "instruction.md",
        "task.toml",
        "environment/workspace.tar.gz",
        "tests/verifier.toml",
        "tests/grading/rules.yaml",
        "tests/gold/samples.toml",
    }
)
_SAMPLE = re.compile(r"^tests/gold/(gold|baseline|adversarial)/(reply\.md|workspace/.+)$")
_SCRIPT = re.compile(r"^tests/grading/[A-Za-z0-9_]+\.py$")

_Model = TypeVar("_Model", bound=BaseModel)


@dataclass(frozen=True)
class Task:
    """One task as read from its directory. Bytes are as on disk."""

    path: Path
    meta: TaskFile
    verifier: Verifier
    samples: Samples
    instruction: bytes
    turns: tuple[bytes, ...]
    ruleset: RuleSet
    rules_data: Mapping[str, object]
    scripts: Mapping[str, bytes]

    @property
    def workspace_file(self) -> Path:
        """The packed workspace."""
        return self.path / "environment" / "workspace.tar.gz"

    @cached_property
    def rules_json(self) -> bytes:
        """The rules in the form the grader reads (/grade/rules.json)."""
        return json.dumps(self.rules_data, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()

    def sample_dir(self, name: str) -> Path:
        """Where the artefacts of a sample lie: `name` is gold, baseline or adversarial."""
        return self.path / "tests" / "gold" / name


def read_taskset(root: Path) -> TaskSetManifest:
    """Read DIR/taskset.toml; raises TaskDirError. The tasks themselves are not opened."""
    return _model(TaskSetManifest, root / "taskset.toml", "taskset.toml")


def task_dir(root: Path, task_id: str) -> Path:
    """Where a task of the set at `root` lies."""
    return root / "tasks" / task_id


def verify_digests(root: Path, manifest: TaskSetManifest) -> list[str]:
    """Ids whose directory differs from the digest in the manifest, is missing, or is not in the manifest."""
    listed = {entry.id: entry.digest for entry in manifest.tasks}
    found = {entry.name for entry in (root / "tasks").iterdir()}
    wrong = set(listed) ^ found
    wrong |= {name for name in set(listed) & found if digest(task_dir(root, name)).task != listed[name]}
    return sorted(wrong)


def read_task(path: Path) -> Task:
    """Read one task directory; raises TaskDirError, also for files that no part of the contract names."""
    names = files_below(path)
    meta = _model(TaskFile, path / "task.toml", "task.toml")
    if meta.id != path.name:
        raise TaskDirError(f"task.toml.id: is {meta.id!r} in a directory named {path.name!r}")
    _check_names(names, meta.turns)
    verifier = _model(Verifier, path / "tests/verifier.toml", "tests/verifier.toml")
    samples = _model(Samples, path / "tests/gold/samples.toml", "tests/gold/samples.toml")
    data = read_rules_data(
        _read(path / "tests/grading/rules.yaml", "tests/grading/rules.yaml", MAX_RULES_BYTES)
    )
    scripts = {
        name.removeprefix("tests/"): _read(path / name, name, MAX_RULES_BYTES)
        for name in names
        if _SCRIPT.match(name)
    }
    return Task(
        path=path,
        meta=meta,
        verifier=verifier,
        samples=samples,
        instruction=_markdown(path, "instruction.md"),
        turns=tuple(_markdown(path, f"turns/turn_{number}.md") for number in range(2, meta.turns + 1)),
        ruleset=_ruleset(data, verifier, samples, scripts),
        rules_data=data,
        scripts=scripts,
    )


def read_rules_data(content: bytes) -> Mapping[str, object]:
    """Decode rules.yaml; raises TaskDirError for broken YAML and for a key that stands twice."""
    try:
        data = yaml.load(content, Loader=_UniqueKeyLoader)  # noqa: S506 - derives from the safe loader
    except yaml.YAMLError as error:
        raise TaskDirError(f"tests/grading/rules.yaml: {error}") from error
    if not isinstance(data, dict):
        raise TaskDirError("tests/grading/rules.yaml: must be a mapping")
    return data


class _UniqueKeyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """The safe loader, but a repeated key is an error instead of the last one winning."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:
        keys = [key.value for key, _ in node.value]
        for key in keys:
            if isinstance(key, str) and keys.count(key) > 1:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key!r} stands twice", node.start_mark
                )
        return super().construct_mapping(node, deep=deep)  # type: ignore[no-any-return]


def _ruleset(
    data: Mapping[str, object], verifier: Verifier, samples: Samples, scripts: Mapping[str, bytes]
) -> RuleSet:
    try:
        ruleset = rules.load(data)
    except rules.RulesError as error:
        raise TaskDirError(f"tests/grading/rules.yaml: {error}") from error
    if ruleset.mode != verifier.mode:
        raise TaskDirError(
            f"tests/verifier.toml.mode: is {verifier.mode!r}, the rules say {ruleset.mode.value!r}"
        )
    if samples.adversarial.rule not in {rule.id for rule in ruleset.rules}:
        raise TaskDirError(f"tests/gold/samples.toml.adversarial.rule: no rule {samples.adversarial.rule!r}")
    wanted = {rule.check.path for rule in ruleset.rules if isinstance(rule.check, Script)}
    if wanted - set(scripts):
        raise TaskDirError(f"tests/grading/rules.yaml: no script {min(wanted - set(scripts))!r}")
    if set(scripts) - wanted:
        raise TaskDirError(f"tests/{min(set(scripts) - wanted)}: no rule runs this script")
    return ruleset


def _check_names(names: list[str], turns: int) -> None:
    expected_turns = {f"turns/turn_{number}.md" for number in range(2, turns + 1)}
    missing = (_FIXED | expected_turns) - set(names)
    if missing:
        raise TaskDirError(f"{min(missing)}: missing")
    for name in names:
        known = name in _FIXED or name in expected_turns or _SAMPLE.match(name) or _SCRIPT.match(name)
        if not known:
            detail = (
                "more turns than task.toml states" if _TURN.match(name) else "no part of a task directory"
            )
            raise TaskDirError(f"{name}: {detail}")


def _markdown(path: Path, name: str) -> bytes:
    content = _read(path / name, name, MAX_RULES_BYTES)
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TaskDirError(f"{name}: is not UTF-8: {error}") from error
    if not text.strip():
        raise TaskDirError(f"{name}: is empty")
    return content


def _read(file: Path, name: str, most: int = MAX_FILE_BYTES) -> bytes:
    try:
        with file.open("rb") as stream:
            content = stream.read(most + 1)
    except FileNotFoundError:
        raise TaskDirError(f"{name}: missing") from None
    except OSError as error:
        raise TaskDirError(f"{name}: cannot be read: {error.strerror}") from error
    if len(content) > most:
        raise TaskDirError(f"{name}: larger than {most} bytes")
    return content


def _model(kind: type[_Model], file: Path, name: str) -> _Model:
    try:
        data = tomllib.loads(_read(file, name, MAX_RULES_BYTES).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TaskDirError(f"{name}: {error}") from error
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise TaskDirError(f"{name}{'.' if key else ''}{key}: {first['msg']}") from error
