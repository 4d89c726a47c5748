"""`manage.py seed`: whom `make serve` names, and the smallest legal staff beside them."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from accounts.duties.models import DutyAssignment
from accounts.duties.queries import decisions_now, has_begun, staff_now
from accounts.duties.smallest import smallest_staff
from tests.pages import site

pytestmark = pytest.mark.django_db


def seeded(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("seed", "--task-set", "2026.9", *arguments, stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def test_the_quickstart_has_the_smallest_legal_staff_and_keeps_it() -> None:
    site.task_set()
    people = seeded("--quickstart")["people"]
    assert [row["as"] for row in people] == ["vendor", "staff", "staff (second)", "auditor"]
    held = sorted(sorted(duties) for _, duties in staff_now())
    assert held == sorted(sorted(duties) for duties in smallest_staff())
    assert all(taken.possible for taken in decisions_now())
    rows = DutyAssignment.objects.count()
    seeded("--quickstart")
    assert DutyAssignment.objects.count() == rows


def test_the_demo_gives_no_duties() -> None:
    site.task_set()
    assert "people" not in seeded()
    assert not has_begun()
