"""Words of the benchmark's own classifications, in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as now
from django.utils.translation import gettext_lazy as _

from benchmark.models import Domain

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


COVARIATES: dict[str, Any] = {
    "tier": _("difficulty"),
    "turns": _("turns"),
    "budget": _("time allowed"),
}
"""What a profile of a task holds beside the scores of baselines, which are called by their names."""
GROUPINGS: dict[str, Any] = {
    "domain": _("the domain"),
    "category": _("the category"),
    "operation": _("the type of operation"),
    "tier": _("the difficulty"),
    "family": _("the task family"),
    "category and operation": _("category and type of operation"),
    "domain and operation": _("domain and type of operation"),
    "domain and tier": _("domain and difficulty"),
    "order": _("the order of the runs"),
}
"""By what metadata changes from one submission to the next can be explained."""
GROUNDS: dict[str, Any] = {
    "digest": _("the same package"),
    "template": _("the same template answer"),
    "artefacts": _("equal artefacts"),
    "tokens": _("token counts that go together"),
}
"""What the behaviour of two lineages has in common."""
TIERS = ("", *DIFFICULTIES)


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


def classified(value: str) -> str:
    """Whatever names a part of the classification, `domain/category` among them; what no table knows as it is."""
    known = {**dict(Domain.choices), **CATEGORIES, **COVARIATES}
    return " · ".join(str(known.get(part, part)) for part in value.split("/"))


def stratum(parts: Sequence[Any]) -> str:
    """Category, type of operation and difficulty, out of a stratum's four parts."""
    _domain, kind, work, tier = parts
    hard = TIERS[tier] if 0 < tier < len(TIERS) else tier
    return " · ".join(str(part) for part in (category(kind), operation(work), difficulty(hard)))


def failed_check(name: str) -> str:
    """A check of a rotation plan that does not hold."""
    kind, _colon, about = name.partition(":")
    sentences = {
        "smd": now("standardised difference of %(what)s"),
        "shift": now("move of a fixed harness in %(what)s"),
        "classifier": now("a classifier tells the two groups apart"),
    }
    return sentences.get(kind, name) % {"what": classified(about)}
