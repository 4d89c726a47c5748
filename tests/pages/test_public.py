"""Pages that anyone may open: in both languages, under the strict content policy, with the language kept."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client

from benchmark.models import TaskSetVersion
from submissions.problems import catalogue
from tests.pages import site

pytestmark = pytest.mark.django_db
LANGUAGES = ("zh-hans", "en")
PAGES = {
    "": {"en": "How a submission goes", "zh-hans": "一次提交的过程"},
    "rules/": {"en": "Who pays", "zh-hans": "由谁承担"},
    "public-tasks/": {"en": "Public tasks", "zh-hans": "公开题目"},
    "problems/": {"en": "Problem codes", "zh-hans": "问题代码"},
    "time-zone/": {"en": "Time zone", "zh-hans": "时区"},
    "account/login/": {"en": "Sign in", "zh-hans": "登录"},
    "account/signup/": {"en": "Sign up", "zh-hans": "注册"},
    "account/password/reset/": {"en": "Reset your password", "zh-hans": "重置密码"},
}


def text_of(answer: Any) -> str:
    return answer.content.decode()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_speaks_its_language(
    client: Client, version: TaskSetVersion, path: str, language: str
) -> None:
    answer = client.get(f"/{language}/{path}")
    assert answer.status_code == 200
    assert PAGES[path][language] in text_of(answer)
    assert f'<html lang="{ {"zh-hans": "zh-Hans", "en": "en"}[language] }">' in text_of(answer)


@pytest.mark.parametrize("path", PAGES)
def test_pages_work_before_any_version_is_open(client: Client, path: str) -> None:
    assert client.get(f"/en/{path}").status_code == 200


@pytest.mark.parametrize("path", PAGES)
def test_no_page_needs_more_than_its_own_origin(client: Client, version: TaskSetVersion, path: str) -> None:
    answer = client.get(f"/en/{path}")
    text = text_of(answer)
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"\sstyle=|<style|\son\w+=", text)
    assert not re.search(r"<script(?![^>]*\bsrc=\"/static/)(?![^>]*application/json)", text)
    assert not re.search(r"(?:src|href|action)=\"(?:https?:)?//", text)


def test_the_root_leads_to_the_readers_language(client: Client) -> None:
    assert client.get("/", headers={"accept-language": "en"}).headers["Location"] == "/en/"
    assert client.get("/", headers={"accept-language": "de"}).headers["Location"] == "/zh-hans/"


def test_switching_the_language_keeps_page_and_query(client: Client, version: TaskSetVersion) -> None:
    assert 'href="/zh-hans/public-tasks/?domain=finance"' in text_of(
        client.get("/en/public-tasks/?domain=finance")
    )
    assert 'href="/en/public-tasks/?domain=finance"' in text_of(
        client.get("/zh-hans/public-tasks/?domain=finance")
    )


def test_the_demo_policy_is_labelled_on_every_page(client: Client, version: TaskSetVersion) -> None:
    for path in PAGES:
        assert "Demo policy: cooldown 0, release every 5 s." in text_of(client.get(f"/en/{path}"))
        assert "演示策略" in text_of(client.get(f"/zh-hans/{path}"))


def test_an_official_policy_is_no_demo(client: Client) -> None:
    site.task_set(profile="official")
    assert "Demo policy" not in text_of(client.get("/en/"))


def test_the_overview_counts_tasks_by_domain(client: Client, version: TaskSetVersion) -> None:
    text = text_of(client.get("/en/"))
    assert re.search(r"Finance</th><td class=\"number\">2</td><td class=\"number\">3</td>", text)
    assert version.digest in text


def test_the_rules_print_the_policy_rows_that_decide(client: Client) -> None:
    site.task_set(profile="official", line=4)
    text = text_of(client.get("/en/rules/"))
    assert re.search(r"submissions per harness</th><td class=\"number\">4</td><td>official policy", text)
    assert re.search(r"time between admissions of one harness</th><td class=\"number\">\d+ days</td>", text)
    assert "every 5 s" in text


def test_public_tasks_can_be_narrowed_and_read(client: Client, version: TaskSetVersion) -> None:
    text = text_of(client.get("/en/public-tasks/?domain=finance"))
    assert "Matching finance-public-0" in text
    assert "Matching general-public-0" not in text
    page = text_of(client.get(f"/zh-hans/public-tasks/{version.label}/finance-public-0/"))
    assert site.STATEMENT in page
    assert "单据核对 finance-public-0" in page


@pytest.mark.parametrize(
    "path", ["public-tasks/2026.9/finance-held-out-0/", "public-tasks/none/x/", "nothing/"]
)
def test_what_is_not_public_is_not_there(client: Client, version: TaskSetVersion, path: str) -> None:
    answer = client.get(f"/en/{path}")
    assert answer.status_code == 404
    assert "Not found" in text_of(answer)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_problem_code_has_a_page(client: Client, language: str) -> None:
    for code in catalogue():
        assert client.get(f"/{language}/problems/{code}/").status_code == 200, code
    assert client.get("/en/problems/no-such-code/").status_code == 404


def test_times_follow_the_chosen_zone(client: Client, version: TaskSetVersion) -> None:
    answer = client.post("/en/time-zone/", {"zone": "Asia/Kolkata", "next": "/en/rules/"})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/en/rules/")
    assert "UTC+05:30" in text_of(client.get("/en/rules/"))


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_nobody_is_sent_elsewhere(client: Client, target: str) -> None:
    answer = client.post("/en/time-zone/", {"zone": "UTC", "next": target})
    assert answer.headers["Location"] == "/en/"


def test_a_zone_that_is_none_is_refused(client: Client) -> None:
    answer = client.post("/en/time-zone/", {"zone": "Mars/Olympus"})
    assert answer.status_code == 200
    assert "invalid-feedback" in text_of(answer)
