"""Shapes of the TOML files of a task set (lingee-taskset/1, lingee-task/1, lingee-verifier/1); strict."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Slug = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=80)]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
LongText = Annotated[str, StringConstraints(max_length=10_000)]

Domain = Literal["general", "finance", "supply_chain", "manufacturing"]
Group = Literal["public", "held_out", "reserve", "dev"]
Operation = Literal["query", "operation", "analysis", "document"]
Difficulty = Literal["basic", "intermediate", "hard"]

# The ten scenario categories of the white paper; enterprise domains name a business module instead.
GENERAL_CATEGORIES = frozenset(
    {
        "data-analysis",
        "data-processing",
        "document-review",
        "compliance",
        "report-qa",
        "knowledge-base",
        "schedule",
        "image",
        "content-generation",
        "fault-diagnosis",
    }
)


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class TaskEntry(_Strict):
    """One line of the manifest: which task, in which group, with which content."""

    id: Slug
    group: Group
    digest: Sha256


class TaskSetManifest(_Strict):
    """taskset.toml: the tasks of one version and where they came from."""

    schema_: Literal["lingee-taskset/1"] = Field(alias="schema")
    version: Annotated[str, StringConstraints(pattern=r"^[0-9A-Za-z][0-9A-Za-z.\-]{0,40}$")]
    seed: int
    size: Literal["full", "mini"]
    synthetic: bool
    tasks: Annotated[list[TaskEntry], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> TaskSetManifest:
        seen: set[str] = set()
        for entry in self.tasks:
            if entry.id in seen:
                raise ValueError(f"task id {entry.id!r} stands twice")
            seen.add(entry.id)
        return self


class Title(_Strict):
    """The task's name in both languages; staff only."""

    zh: Text
    en: Text


class Budget(_Strict):
    """What one episode may use: wall seconds over all turns, steps, tokens."""

    seconds: Annotated[int, Field(ge=1, le=86_400)]
    steps: Annotated[int, Field(ge=1, le=1_000_000)]
    tokens: Annotated[int, Field(ge=1, le=1_000_000_000)]


class Metadata(_Strict):
    """Where the task stands in business terms, and what is known of its limits."""

    industry: Text
    company_size: Text
    role: Text
    stage: Text
    risk: Literal["low", "medium", "high"]
    source: Text
    licence: Text
    multiple_solutions: LongText = ""
    limitations: LongText = ""
    traps: list[Text] = []


class TaskFile(_Strict):
    """task.toml."""

    schema_: Literal["lingee-task/1"] = Field(alias="schema")
    id: Slug
    family: Slug
    domain: Domain
    category: Slug
    operation: Operation
    difficulty: Difficulty
    turns: Annotated[int, Field(ge=1, le=20)]
    title: Title
    budget: Budget
    metadata: Metadata

    @model_validator(mode="after")
    def _category_is_known(self) -> TaskFile:
        if self.domain == "general" and self.category not in GENERAL_CATEGORIES:
            raise ValueError(f"category must be one of {', '.join(sorted(GENERAL_CATEGORIES))}")
        return self


class Verifier(_Strict):
    """tests/verifier.toml: how the task is graded and by which evaluator version."""

    schema_: Literal["lingee-verifier/1"] = Field(alias="schema")
    mode: Literal["itemised", "all_or_nothing"]
    rules: Literal["grading/rules.yaml"]
    evaluator: Text


class Baseline(_Strict):
    """The plausible wrong answer; it must score 0."""

    note: LongText = ""


class Adversarial(_Strict):
    """The answer that walks into one trap, and the rule that must catch it."""

    trap: Text
    rule: Text
    note: LongText = ""


class Samples(_Strict):
    """tests/gold/samples.toml."""

    baseline: Baseline
    adversarial: Adversarial
