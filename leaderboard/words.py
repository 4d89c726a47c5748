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
    "cash": _("cash"),
    "close": _("period close"),
    "cost": _("cost"),
    "engineering": _("engineering"),
    "fixed-assets": _("fixed assets"),
    "inventory": _("inventory"),
    "logistics": _("logistics"),
    "payable": _("payables"),
    "planning": _("planning"),
    "purchase": _("purchasing"),
    "quality": _("quality"),
    "receivable": _("receivables"),
    "sales": _("sales"),
    "shop-floor": _("shop floor"),
    "voucher": _("vouchers"),
    "warehouse": _("warehouse"),
}


#: What stands in a sentence where a case would have its own fact.
PLACES: dict[str, Any] = {
    "used": "n",
    "crashed": "n",
    "received": "n",
    "limit": "N",
    "total": "N",
    "declared": "N",
    "time": _("the time"),
    "entry": _("the entry"),
    "key": _("the key"),
    "version": _("the version"),
    "state": _("the state"),
    "name": _("the name"),
    "field": _("the field"),
}


class Places(dict[str, object]):
    """Facts of no case in particular: n and N for counts, ‹words› for the rest."""

    def __missing__(self, key: str) -> str:
        word = str(PLACES.get(key, "…"))
        return word if len(word) == 1 else f"‹{word}›"


def operation(value: str) -> Any:
    return OPERATIONS.get(value, value)


def difficulty(value: str) -> Any:
    return DIFFICULTIES.get(value, value)


def category(value: str) -> Any:
    """A category that no table names is shown as the task set writes it."""
    return CATEGORIES.get(value, value)
