"""Words for differences on a dated release: one board for each domain of each task-set version."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.utils import translation

from leaderboard.views.releases import results_of


def entry(
    version: str, general: tuple[int, int] | None, finance: tuple[int, int] | None = None
) -> dict[str, Any]:
    def shown(pair: tuple[int, int] | None) -> dict[str, int] | None:
        return {"value": pair[0], "h": pair[1]} if pair else None

    return {
        "id": str(uuid4()),
        "versions": {"task_set": version},
        "domains": {"general": shown(general), "finance": shown(finance)},
        "enterprise": None,
        "sides": {},
    }


def places(entries: list[dict[str, Any]], domain: str) -> list[str]:
    return [
        next(row for row in found["rows"] if row["name"] == domain).get("place", "–")
        for found in results_of(entries)
    ]


@pytest.mark.django_db
def test_each_domain_of_each_version_is_a_board_of_its_own() -> None:
    entries = [
        entry("a", (50, 3), (40, 9)),
        entry("a", (54, 3), (45, 9)),
        entry("a", (70, 3)),
        entry("b", (90, 3)),
    ]
    with translation.override("en"):
        # 4 points apart is nothing at h = 3, 16 and 20 are; on the board of b there is one.
        assert places(entries, "general") == ["2 to 3 of 3", "2 to 3 of 3", "1 of 3", ""]
        assert places(entries, "finance") == ["No demonstrated difference"] * 2 + ["–", "–"]
    with translation.override("zh-hans"):
        assert places(entries, "general")[0] == "3 个中第 2 至 3"
