"""What stays of a participant who is gone: the trail and the counts, under a pseudonym."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.services import erase_person
from governance.confirmation.models import ReleaseDate
from submissions.models import Slot, Submission
from tests.factories import BY
from tests.governance.confirming import confirmed
from tests.governance.test_silences import answer, opened
from tests.submissions import world

pytestmark = pytest.mark.django_db


def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Client().get("/en/releases/demo-1/results.json").content)
    return found


@pytest.mark.case("E53")
def test_a_deleted_participant_stays_in_the_trail_under_a_pseudonym() -> None:
    version = opened()
    leaving, staying = world.vendor(), world.vendor()
    run = confirmed(leaving, answer(leaving, version))
    confirmed(staying, answer(staying, version))
    call_command("release_dated", "demo-1")
    frozen = ReleaseDate.objects.get(label="demo-1").document
    before = document()
    assert json.dumps(before, ensure_ascii=False, sort_keys=True, separators=(",", ":")) == frozen
    slots = list(Slot.objects.order_by("id").values())
    page = Client().get("/en/releases/demo-1/").content.decode()
    named = f"<p>{leaving.organisation.name} ·"  # both have the same name
    assert page.count(named) == 2

    erase_person(leaving.user, by=BY)

    now = document()
    assert now["names_withheld"] == 1
    gone = next(row for row in now["results"] if row["id"] == str(run.id))
    assert gone["organisation"].startswith("participant-")
    assert [row["id"] for row in now["results"]] == [row["id"] for row in before["results"]]
    kept = {row["id"]: row for row in before["results"]}
    assert gone == {**kept[gone["id"]], **{name: gone[name] for name in ("organisation", "harness")}}
    assert all(row == kept[row["id"]] for row in now["results"] if row is not gone)
    page = Client().get("/en/releases/demo-1/").content.decode()
    assert page.count(named) == 1
    assert gone["organisation"] in page
    assert ReleaseDate.objects.get(label="demo-1").document == frozen
    assert list(Slot.objects.order_by("id").values()) == slots
    assert Submission.objects.get(pk=run.submission_id).organisation == leaving.organisation
