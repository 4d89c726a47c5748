"""No endpoint runs, follows or hands out a part of a submission, and no answer about held-out runs names a task."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from drf_spectacular.generators import SchemaGenerator

PARTS = re.compile(
    r"task|episode|attempt|run_?index|slug|subset|sample|seed|domain|item|position", re.IGNORECASE
)
"""Names that could choose or name a part of the held-out group."""

PARAMETERS = {"task_set": "the whole version"}
FIELDS = {
    "task_set": "the whole version",
    "task_sets": "whole versions",
    "former_task_set": "the whole version",
    "runs_per_task": "the same for every task",
    "ResultOut.domains": "four domains, and all of them at once",
    "ResultOut.episodes": "how many runs the whole has",
    "AppealIn.domain": "which domain's score an appeal is about",
    "AppealOut.domain": "which domain's score an appeal is about",
    "RevisionOut.tasks": "how many tasks a version's revision has",
    "DeliveryOut.attempts": "of sending a webhook's message",
}
PUBLIC = ("PreflightRunOut",)
"""Shapes of single runs on public tasks: everything is shown there."""
PUBLIC_PATHS = {"/api/v1/submissions/{submission_id}/preflight", "/api/v1/preflights/{preflight_id}/runs"}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    return dict(SchemaGenerator().get_schema(request=None, public=True))


def fields(schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(shape, field) of all bodies that are sent and answered, inline ones among them."""
    for name, shape in schema["components"]["schemas"].items():
        yield from _below(name, shape)
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            yield from _below(f"{method} {path}", operation.get("requestBody", {}))
            yield from _below(f"{method} {path}", operation.get("responses", {}))


def _below(name: str, node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for field in node.get("properties", {}):
            yield name, field
        for value in node.values():
            yield from _below(name, value)
    elif isinstance(node, list):
        for value in node:
            yield from _below(name, value)


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H36")
def test_no_parameter_chooses_a_part(schema: dict[str, Any]) -> None:
    found = {
        (method, path, parameter["name"])
        for path, operations in schema["paths"].items()
        for method, operation in operations.items()
        for parameter in operation.get("parameters", [])
        if PARTS.search(parameter["name"]) and parameter["name"] not in PARAMETERS
    }
    assert not found
    named = {part for path in schema["paths"] for part in path.split("/") if PARTS.search(part)}
    assert named == {"task-sets"}


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H36")
def test_no_body_names_a_task_but_of_public_ones(schema: dict[str, Any]) -> None:
    found = {
        f"{shape}.{field}"
        for shape, field in fields(schema)
        if PARTS.search(field)
        and shape not in PUBLIC
        and field not in FIELDS
        and f"{shape}.{field}" not in FIELDS
    }
    assert not found
    seen = {f"{shape}.{field}" for shape, field in fields(schema)} | {field for _, field in fields(schema)}
    assert set(FIELDS) <= seen, "what is excused is there"


@pytest.mark.case("H36")
def test_single_runs_are_answered_for_public_tasks_only(schema: dict[str, Any]) -> None:
    shapes, holding = schema["components"]["schemas"], set(PUBLIC)
    while more := {
        name
        for name, shape in shapes.items()
        if name not in holding and any(_refers(shape, one) for one in holding)
    }:
        holding |= more
    paths = {
        path
        for path, operations in schema["paths"].items()
        for operation in operations.values()
        if any(_refers(operation, one) for one in holding)
    }
    assert paths == PUBLIC_PATHS


def _refers(node: Any, name: str) -> bool:
    return f"#/components/schemas/{name}'" in str(node)
