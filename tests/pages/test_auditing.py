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
from audit import explore, exports
from audit.exports import Selection
from audit.merkle.note import Verifier
from audit.merkle.proof import Proof, verify
from tests.accounts.test_auditors import appointed
from tests.pages import site
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "auditor"])
Sequence = Callable[[], int]
PAGES = ("audit/", "audit/checkpoints/")
PUBLIC = ("log/", "log/verify/", "log/verify.html")


@pytest.fixture
def term(servers: Any) -> AuditorTerm:
    return appointed(accounts.create_user("auditor@lingee.invalid", None, by=site.BY, name="Zqname"))


def read(client: Client, path: str, status: int = 200, **query: str) -> str:
    answer = client.get(path if path.startswith("/") else f"/en/{path}", query)
    assert answer.status_code == status, (path, answer.status_code)
    return answer.content.decode()


def faced() -> tuple[str, ...]:
    """Addresses about the first entry. Its event has any id: numbers that were taken back are never used again."""
    event = explore.event_at(0)
    return (f"audit/events/{event}/", f"audit/events/{event}/proof", "audit/positions/0/")


def test_only_auditors_within_their_term_come_in(
    client: Client, term: AuditorTerm, settings: Any, sequence: Sequence
) -> None:
    staff = signed_in(accounts.create_user("staff@lingee.invalid", None, by=site.BY, staff=True))
    vendor, auditor = signed_in(world.vendor().user), signed_in(term.person)
    sequence()
    paths = (*PAGES, *faced())
    for path in paths:
        assert client.get(f"/en/{path}").status_code == 302
        for stranger in (staff, vendor):
            read(stranger, path, 404)
        for language in ("en", "zh-hans"):
            assert auditor.get(f"/{language}/{path}", follow=True).status_code == 200
    settings.LINGEE_ROLE = "web"
    for path in paths:
        read(auditor, path, 404)
    settings.LINGEE_ROLE = "console"
    assert "Audit</a>" in read(auditor, "audit/")
    auditors.end_term(term, by=site.BY)
    for path in paths:
        read(auditor, path, 404)


def test_signing_in_leads_auditors_to_their_pages(client: Client, term: AuditorTerm) -> None:
    from accounts.adapters import AccountAdapter

    request = client.get("/en/").wsgi_request
    request.user = term.person
    assert AccountAdapter().get_login_redirect_url(request) == "/en/audit/"


def test_the_address_of_a_staff_page_leads_auditors_to_theirs(client: Client, term: AuditorTerm) -> None:
    for path in ("console/", "console/submissions/", "console/workers/"):
        asked = client.get(f"/en/{path}", follow=True)
        assert asked.redirect_chain[-1][0].startswith("/en/account/login/")
        assert signed_in(term.person).get(f"/en/{path}", follow=True).redirect_chain[-1][0] == "/en/audit/"
    stranger = signed_in(world.vendor().user)
    read(stranger, "console/submissions/", 404)
    assert signed_in(term.person).post("/en/console/submissions/").status_code in (404, 405)


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
    assert re.search(rf"<td [^>]*>{size}</td>", read(signed_in(term.person), "audit/checkpoints/"))


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


def attempted() -> None:
    """The end of an attempt, as a worker records it."""
    from django.db import transaction

    from audit import log
    from audit.events import system
    from evaluation.events import AttemptEnded

    with transaction.atomic():
        ended = AttemptEnded(subject="a1", run="r1", number=1, ending="finished")
        log.append(ended, by=system("test"))


def test_the_list_of_everything_says_that_attempts_are_left_out(term: AuditorTerm) -> None:
    attempted()
    client = signed_in(term.person)
    text = read(client, "audit/")
    assert "Attempt 1 of an episode" not in text
    assert "are left out here" in text
    (more,) = re.findall(r'href="(\?[^"]*attempts=on[^"]*)"', text)
    whole = read(client, "audit/", attempts="on")
    assert more == "?attempts=on"
    assert "Attempt 1 of an episode of the run r1 ended: finished." in whole
    assert "Every event is listed" in whole
    assert "Attempt 1 of an episode" in read(client, "audit/", kind="attempt.")


def test_a_range_that_is_none_is_refused_where_it_was_entered(term: AuditorTerm) -> None:
    client = signed_in(term.person)
    ranges = {"since": "2026-02-01T00:00", "until": "2026-01-01T00:00"}
    for text in (
        client.get("/en/audit/", ranges).content.decode(),
        client.post("/en/audit/exports/", ranges).content.decode(),
    ):
        assert "The end must be later than the beginning" in text
        assert "<code>range_reversed</code>" in text
        (said_by,) = re.findall(r'aria-describedby="([^"]+)"', text)
        assert f'id="{said_by}"' in text
    assert client.post("/en/audit/exports/", {"since": "0001-01-01T00:00"}).status_code == 200
    assert not exports.Export.objects.exists()


def test_auditors_pages_speak_of_utc_alone(term: AuditorTerm, sequence: Sequence) -> None:
    client = signed_in(term.person)
    sequence()
    for path in ("audit/", "audit/checkpoints/", "audit/positions/0/"):
        text = client.get(f"/zh-hans/{path}", follow=True).content.decode()
        assert "UTC+08:00" not in text
        assert re.search(r"<time [^>]*>[^<]+ UTC</time>", text)
        assert "<dd>UTC</dd>" in text
    assert "UTC+08:00" in client.get("/zh-hans/log/").content.decode()


def test_commands_can_be_copied_as_they_stand(
    client: Client, term: AuditorTerm, sequence: Sequence, tmp_path: Any, monkeypatch: Any, capsys: Any
) -> None:
    from client.audit.main import main

    auditor = signed_in(term.person)
    sequence()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.key").write_text(client.get("/log/keys").content.decode())
    event = auditor.get("/en/audit/positions/0/")["Location"]
    (tmp_path / "entry-0.tlog-proof").write_text(auditor.get(f"{event}proof").content.decode())
    by = term.person.actor("web", str(term.organisation_id))
    export = exports.request(Selection(), by=by)
    exports.make_due()
    tar = b"".join(auditor.get(f"/en/audit/exports/{export.id}/").streaming_content)  # type: ignore[attr-defined]
    (tmp_path / f"export-{export.id}.tar").write_bytes(tar)
    for path in (event, "audit/exports/"):
        text = read(auditor, path)
        (command,) = re.findall(r"<pre class=\"log\"><code>lgbench-audit (.*?)</code>", text)
        assert "js/copy.js" in text
        assert "<script>" not in text
        assert main(command.split()) == 0, capsys.readouterr()
    assert "log/verify/#offline" in read(auditor, event)
    assert 'id="offline"' in read(client, "log/verify/")
