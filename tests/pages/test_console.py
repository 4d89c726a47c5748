"""The staff pages: only for staff, only in the console's own process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts import services as accounts
from accounts.duties.table import ASSIGNED, Duty
from benchmark.models import TaskSetVersion
from config import clock
from evaluation.models import WorkerReport
from leaderboard import site as frame
from tests.accounts.duties import opened
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("console/submissions/", "console/organisations/", "console/workers/", "console/duties/")


@pytest.fixture
def staff(db: None) -> Client:
    return signed_in(accounts.create_user("staff@lingee.invalid", None, by=site.BY, staff=True))


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_only_staff_come_in(client: Client, staff: Client, vendor: world.Vendor, path: str) -> None:
    assert staff.get(f"/en/{path}").status_code == 200
    assert staff.get(f"/zh-hans/{path}").status_code == 200
    assert signed_in(vendor.user).get(f"/en/{path}").status_code == 404
    assert client.get(f"/en/{path}").status_code == 302


DECIDED = {
    "rooms": (Duty.HELD_OUT_GOVERNOR, Duty.ADMINISTRATOR),
    "returns": (Duty.HELD_OUT_GOVERNOR, Duty.EVALUATION_ENGINEER),
    "packages": (Duty.HELD_OUT_GOVERNOR, Duty.EVALUATION_ENGINEER, Duty.ARBITER),
    "links": (Duty.IDENTITY_REVIEWER,),
    "gaps": (Duty.HELD_OUT_GOVERNOR,),
}
"""Whose page it is, where others of the staff would read what colleagues wrote about vendors."""


@pytest.mark.django_db
def test_what_is_decided_is_for_who_decides_and_others_are_not_led_there(staff: Client) -> None:
    office = opened()
    for duty in (None, *ASSIGNED):
        browser = staff if duty is None else signed_in(office.holder(duty))
        start = browser.get("/en/console/submissions/").content.decode()
        for page, whose in DECIDED.items():
            path = f"/en/console/{page}/"
            expected = 200 if duty in whose else 404
            assert (browser.get(path).status_code, f'href="{path}"' in start) == (expected, duty in whose), (
                duty,
                page,
            )


@pytest.mark.django_db
def test_where_vendors_are_served_nobodys_duties_are_looked_up(
    staff: Client, vendor: world.Vendor, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_person: object) -> None:
        raise AssertionError("this role of the database may not read duties")

    settings.LINGEE_ROLE = "web"
    monkeypatch.setattr(frame, "duties_of", refused)
    for browser in (staff, signed_in(vendor.user)):
        assert browser.get("/en/console/nothing/").status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_no_other_process_serves_them(staff: Client, settings: Any, path: str) -> None:
    settings.LINGEE_ROLE = "web"
    assert staff.get(f"/en/{path}").status_code == 404


@pytest.mark.parametrize(("role", "mounted"), [("web", "False"), ("console", "True")])
def test_the_address_exists_in_the_console_only(role: str, mounted: str) -> None:
    code = (
        "import django; django.setup()\n"
        "from django.urls import resolve, Resolver404\n"
        "try: resolve('/zh-hans/console/submissions/'); print(True)\n"
        "except Resolver404: print(False)\n"
    )
    environment = {
        **os.environ,
        "LINGEE_ROLE": role,
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == mounted, done.stderr


@pytest.mark.django_db
def test_running_submissions_show_what_they_wait_for(
    staff: Client, vendor: world.Vendor, version: TaskSetVersion
) -> None:
    found = site.moved(site.submission(vendor, version), *site.TO_RUNNING)
    text = staff.get("/en/console/submissions/").content.decode()
    assert str(found.id) in text
    assert vendor.organisation.name in text
    assert "waiting for a worker" in text


@pytest.mark.django_db
def test_workers_show_what_they_proved(staff: Client) -> None:
    probes = [
        {"name": "no_network", "result": "pass", "detail": "refused"},
        {"name": "memory", "result": "not_available", "detail": ""},
    ]
    WorkerReport.objects.create(
        worker="execute-1",
        queue="execute",
        grade="embedded, not the official root",
        passed=True,
        report={"probes": probes},
        speed_class="below reference",
        refusals=["host_below_reference"],
        started_at=clock.now(),
        seen_at=clock.now(),
    )
    text = staff.get("/en/console/workers/").content.decode()
    for words in (
        "execute-1",
        "embedded, not the official root",
        "no_network",
        "passed",
        "not available here",
        "below 0.9 of the reference",
        "Takes no held-out work.",
        "only preflights and canaries run there",
    ):
        assert words in text
