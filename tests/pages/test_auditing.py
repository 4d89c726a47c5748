"""The auditors' pages: who comes in, what they see, and what they do not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from accounts import auditors
from accounts import services as accounts
from accounts.models import AuditorTerm
from audit.merkle.note import Verifier
from audit.merkle.proof import Proof, verify
from tests.accounts.test_auditors import appointed
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Sequence = Callable[[], int]
PAGES = ("audit/", "audit/checkpoints/")
FACED = ("audit/events/1/", "audit/events/1/proof", "audit/positions/0/")
PUBLIC = ("log/", "log/verify/", "log/verify.html")


@pytest.fixture
def term(servers: Any) -> AuditorTerm:
    return appointed(accounts.create_user("auditor@lingee.invalid", None, by=site.BY, name="Zqname"))


def read(client: Client, path: str, status: int = 200, **query: str) -> str:
    answer = client.get(path if path.startswith("/") else f"/en/{path}", query)
    assert answer.status_code == status, (path, answer.status_code)
    return answer.content.decode()


def test_only_auditors_within_their_term_come_in(
    client: Client, term: AuditorTerm, settings: Any, sequence: Sequence
) -> None:
    staff = signed_in(accounts.create_user("staff@lingee.invalid", None, by=site.BY, staff=True))
    vendor, auditor = signed_in(world.vendor().user), signed_in(term.person)
    sequence()
    for path in (*PAGES, *FACED):
        assert client.get(f"/en/{path}").status_code == 302
        for stranger in (staff, vendor):
            read(stranger, path, 404)
        for language in ("en", "zh-hans"):
            assert auditor.get(f"/{language}/{path}", follow=True).status_code == 200
    settings.LINGEE_ROLE = "web"
    for path in (*PAGES, *FACED):
        read(auditor, path, 404)
    settings.LINGEE_ROLE = "console"
    assert "Audit</a>" in read(auditor, "audit/")
    auditors.end_term(term, by=site.BY)
    for path in (*PAGES, *FACED):
        read(auditor, path, 404)


def test_signing_in_leads_auditors_to_their_pages(client: Client, term: AuditorTerm) -> None:
    from accounts.adapters import AccountAdapter

    request = client.get("/en/").wsgi_request
    request.user = term.person
    assert AccountAdapter().get_login_redirect_url(request) == "/en/audit/"


def test_the_explorer_names_organisations_and_no_person(term: AuditorTerm) -> None:
    vendor = world.vendor()
    vendor.harness("zqprobe")
    text = read(signed_in(term.person), "audit/")
    assert "registered the harness" in text
    assert f"of {vendor.organisation.name}" in text
    assert f"…{str(vendor.user.pseudonym)[-8:]}" in text
    for unsaid in (vendor.user.email, "zqprobe"):
        assert unsaid not in text
    filtered = read(signed_in(term.person), "audit/", kind="auditor.appointed")
    assert "as auditor from" in filtered
    assert "registered the harness" not in filtered
    one = read(signed_in(term.person), "audit/", organisation=str(vendor.organisation.id))
    assert "registered the harness" in one
    assert "as auditor from" not in one
    assert "No event passes" in read(signed_in(term.person), "audit/", kind="no.such")
    assert "No event passes" in read(signed_in(term.person), "audit/", since="yesterday")
    read(signed_in(term.person), "audit/", 404, before="x")
    read(signed_in(term.person), "audit/", before="9" * 18)


def test_the_event_page_shows_everything_a_check_needs(term: AuditorTerm, sequence: Sequence) -> None:
    client = signed_in(term.person)
    sequence()
    assert client.get("/en/audit/positions/0/")["Location"].startswith("/en/audit/events/")
    identifier = int(
        re.findall(r"/en/audit/events/(\d+)/", read(client, "audit/", kind="auditor.appointed"))[0]
    )
    text = read(client, f"audit/events/{identifier}/")
    answer = client.get(f"/en/audit/events/{identifier}/proof")
    assert answer["Content-Disposition"].startswith("attachment;")
    proof = Proof.parse(answer.content.decode())
    assert proof.extra is not None
    (key,) = re.findall(r"[^\s&;]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+", client.get("/log/keys").content.decode())
    verify(proof, proof.extra, [Verifier.parse(key)])
    assert json.loads(proof.extra)["subject"]["id"] == str(term.id)
    for digest in proof.path:
        assert digest.hex() in text
    assert str(term.id) in text
    for odd in (0, 10**6, 10**30):
        read(client, f"audit/events/{odd}/", 404)
        read(client, f"audit/positions/{odd + 10**6}/", 404)


def test_the_public_sees_checkpoints_and_that_nobody_vouches(client: Client, sequence: Sequence) -> None:
    assert "No checkpoint is public yet" in read(client, "log/")
    world.vendor()
    size = sequence()
    text = read(client, "log/")
    assert f"/log/checkpoint/{size}" in text
    assert "only the operator vouches" in text
    for path in PUBLIC:
        for language in ("en", "zh-hans"):
            read(client, f"/{language}/{path}")
    read(client, "log/", 404, before=str(size - 1))
    read(client, "log/", 404, before="x")


def test_auditors_see_checkpoints_that_the_public_does_not(
    client: Client, term: AuditorTerm, sequence: Sequence, settings: Any
) -> None:
    size = sequence()
    settings.LOG_PUBLIC_TICK_SECONDS = 6 * 3600
    assert "No checkpoint is public yet" in read(client, "log/")
    assert f'<td class="number">{size}</td>' in read(signed_in(term.person), "audit/checkpoints/")


def test_the_page_for_a_disk_allows_its_own_script_and_nothing_else(client: Client) -> None:
    import base64
    import hashlib

    answer = client.get("/en/log/verify.html")
    text = answer.content.decode()
    assert answer["Content-Disposition"] == 'attachment; filename="verify.html"'
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.S)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.S)
    for part in (script, style):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in answer["Content-Security-Policy"]
        assert f"sha256-{digest}" in text
    assert "default-src 'none'" in answer["Content-Security-Policy"]
    assert not re.findall(r"(?:src|href)=", text)
    page = client.get("/en/log/verify/")
    assert page["Content-Security-Policy"].count("'unsafe") == 0
    assert "<script>" not in page.content.decode()
