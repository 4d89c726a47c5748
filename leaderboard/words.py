"""Words of the benchmark's own classifications, in both languages."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

OPERATIONS: dict[str, Any] = {
    "query": _("query"),
    "operation": _("operation"),
    "analysis": _("analysis"),
    "document": _("document"),
}
DIFFICULTIES: dict[str, Any] = {"basic": _("basic"), "intermediate": _("intermediate"), "hard": _("hard")}
CATEGORIES: dict[str, Any] = {
    "data-analysis": _("data analysis"),
    "data-processing": _("data processing"),
    "document-review": _("document review"),
    "compliance": _("compliance"),
    "report-qa": _("questions on reports"),
    "knowledge-base": _("knowledge base"),
    "schedule": _("scheduling"),
    "image": _("images"),
    "content-generation": _("content generation"),
    "fault-diagnosis": _("fault diagnosis"),
}


def operation(value: str) -> Any:
    return OPERATIONS.get(value, value)


def difficulty(value: str) -> Any:
    return DIFFICULTIES.get(value, value)


def category(value: str) -> Any:
    """Business modules of the enterprise domains are named by the task set and shown as they are."""
    return CATEGORIES.get(value, value)
