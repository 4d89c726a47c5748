"""A real browser against a live server. Skipped, with the reason, where there is no Chromium."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.models import User
from benchmark.models import TaskSetVersion
from tests.factories import saved
from tests.pages import site
from tests.submissions import world

PASSWORD = "correct horse battery"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    # Playwright keeps an event loop in this thread; Django would refuse queries beside one.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def complaints() -> list[str]:
    """What the browser's console said; the content policy's refusals are errors there."""
    return []


@pytest.fixture
def page(chromium: Any, complaints: list[str]) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    found = context.new_page()
    found.set_default_timeout(15_000)
    found.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    found.on("pageerror", lambda error: complaints.append(str(error)))
    yield found
    context.close()


@pytest.fixture
def version(transactional_db: None) -> TaskSetVersion:
    return site.task_set()


@pytest.fixture
def vendor(transactional_db: None) -> world.Vendor:
    """A verified vendor who can sign in."""
    found = world.vendor()
    found.user.set_password(PASSWORD)
    saved(found.user)
    EmailAddress.objects.create(user=found.user, email=found.user.email, verified=True, primary=True)
    return found


def sign_in(page: Any, base: str, who: world.Vendor, language: str = "en") -> None:
    """Through the sign-in form."""
    sign_in_as(page, base, who.user, language)


def sign_in_as(page: Any, base: str, person: User, language: str = "en") -> None:
    """Through the sign-in form and, where they have an authenticator app, the second step."""
    page.goto(f"{base}/{language}/account/login/")
    page.fill("#id_login", person.email)
    page.fill("#id_password", PASSWORD)
    page.click("main button[type=submit]")
    page.wait_for_url(lambda url: "/account/login/" not in url)
    if "/2fa/authenticate/" in page.url:
        page.fill("#id_code", site.code_of(person))
        page.click("main button[type=submit]")
        page.wait_for_url(lambda url: "/2fa/authenticate/" not in url)
