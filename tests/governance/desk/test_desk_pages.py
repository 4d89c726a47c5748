"""The signals desk in the console: cases with pictures and tables, decisions on pages of their own, reads on record."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from accounts.duties.table import Duty
from config import clock
from governance.desk import cases
from governance.desk.models import Case, Hold, HoldDecision
from tests.accounts.duties import opened
from tests.audit.test_log import Connect
from tests.factories import BY
from tests.governance.desk.arranged import REASON, Bench, alarm, hold_of
from tests.pages import site

pytestmark = pytest.mark.django_db(transaction=True)


def evidence_of(desk: Bench, hold: Hold) -> dict[str, Any]:
    """In the form in which the detectors write it down, about all held-out tasks of the version."""
    tasks = list(desk.version.tasks.filter(group="held_out").order_by("domain", "slug"))
    domains = sorted({task.domain for task in tasks})
    each = len(tasks) // len(domains)
    now = clock.now().isoformat()
    return {
        "findings": [
            {
                "submission": str(hold.submission_id),
                "p": 0.001,
                "explanation": 0.1,
                "tasks": [str(tasks[0].id)],
            }
        ],
        "segments": [[domain, "voucher", "query", each] for domain in domains],
        "strips": [
            {
                "before": str(hold.submission_id),
                "after": str(hold.submission_id),
                "cells": ("2" + "1" + "0" * len(tasks))[: len(tasks)],
                "explanation": 0.12,
                "by": "",
            }
        ],
        "gains": [[str(hold.submission_id), 0.2, 0.01]],
        "timeline": [[str(hold.submission_id), now], [str(hold.submission_id), now]],
        "links": [],
    }


@pytest.fixture
def case(desk: Bench) -> Case:
    hold = desk.held()
    alarm(hold.submission, **evidence_of(desk, hold))
    cases.group_alarms(by=BY)
    return Case.objects.get()


def shown(browser: Client, name: str, *args: object) -> str:
    answer = browser.get(site.address(name, *args))
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_case_shows_pictures_with_tables_and_ids_to_governors_only(
    desk: Bench, case: Case, connect_as: Connect
) -> None:
    text = shown(site.signed_in(desk.one), "signals:case", case.id)
    assert text.count("case-chart") == 3
    for words in ("cell-asked", "metadata does not explain it", "Noise band", "Hours after the cooldown"):
        assert words in text
    slug = (
        desk.version.tasks.filter(group="held_out")
        .order_by("domain", "slug")
        .values_list("slug", flat=True)[0]
    )
    assert f"<code>{slug}</code>" in text
    arbiter = site.signed_in(opened().holder(Duty.ARBITER))
    assert slug not in shown(arbiter, "signals:case", case.id)
    reads = connect_as("auditor").execute("SELECT body FROM audit_event WHERE kind = 'case.read'").fetchall()
    assert [json.loads(bytes(body))["subject"]["id"] for (body,) in reads] == [str(case.id)] * 2


def test_a_governor_decides_on_a_page_that_says_what_follows(desk: Bench, case: Case) -> None:
    browser = site.signed_in(desk.one)
    assert site.address("signals:case", case.id) in shown(browser, "signals:signals")
    path = site.address("signals:case_act", case.id, "watch")
    assert "opens the case anew" in browser.get(path).content.decode()
    assert browser.post(path, {"reason": ""}).status_code == 200
    assert browser.post(path, {"reason": REASON}).status_code == 302
    assert REASON in shown(browser, "signals:case", case.id)
    assert browser.get(site.address("signals:case_act", case.id, "ban")).status_code == 404


def test_two_governors_void_what_is_held_on_their_pages(desk: Bench, case: Case) -> None:
    hold = Hold.objects.get()
    one, two = site.signed_in(desk.one), site.signed_in(desk.two)
    path = site.address("signals:hold_act", hold.submission_id, "void")
    assert one.post(path, {"reason": REASON, "ground": "probing"}).status_code == 302
    decision = HoldDecision.objects.get()
    approve = site.address("signals:hold_decide", decision.id, "approve")
    refused = one.post(approve)
    assert (refused.status_code, "duty_one_person" in refused.content.decode()) == (409, True)
    assert two.post(approve).status_code == 302
    assert hold_of(hold.submission).state == "voided"
    assert "made to learn about single held-out tasks" in shown(two, "signals:hold", hold.submission_id)
