"""An organisation files who it is: sealed at once, read by nobody who serves vendors, its domain proven in two ways."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import dns.message
import dns.rrset
import psycopg
import pytest
from django.conf import settings as project
from django.core import mail
from django.test import Client

from accounts import services as accounts
from accounts.models import Registration, RegistrationDetails
from accounts.registration import domains, review, shared_domains
from accounts.registration.countries import COUNTRIES
from accounts.registration.marks import mark, network_mark, normal
from accounts.registration.shared_domains import is_shared
from config import clock, store, vault
from tests.access.registration import filing
from tests.access.registration.filing import NEW, PDF, STATUS
from tests.pages.site import signed_in
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
SECRETS = (b"Jiang Hai", b"91310000MA1K35XY7Z", b"Li Registered", b"li@jianghai.example", b"+86 21 1234")


def test_what_is_filed_is_sealed_and_only_the_console_reads_it(
    new: world.Vendor, connect_as: Connect
) -> None:
    row = filing.filed(new, files=[PDF, b"\x89PNG\r\n\x1a\nx"])
    assert (row.domain, row.state, row.evidence_files) == ("jianghai.example", "filed", 2)
    owner = connect_as("owner")
    for table in ("accounts_registration", "accounts_registrationdetails", "accounts_registrationevidence"):
        stored = b"".join(bytes(str(line), "utf-8") for line in owner.execute(f"SELECT * FROM {table}"))
        assert not [secret for secret in SECRETS if secret in stored]
    for table in ("accounts_registrationdetails", "accounts_registrationevidence"):
        for role in ("web", "execute", "sealed", "auditor"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connect_as(role).execute(f"SELECT * FROM {table}")
        assert connect_as("console").execute(f"SELECT count(*) FROM {table}").fetchone() != (0,)
    for found in row.evidence.all():
        body = store.client().get_object(Bucket=project.S3_BUCKET_SEALED, Key=found.object_key)["Body"].read()
        assert b"extract of the register" not in body
        assert body.startswith(vault.MAGIC)
    opened = review.opened(row)
    assert opened["organisation"]["number"] == "91310000MA1K35XY7Z"
    assert opened["contact"]["email"] == "li@jianghai.example"
    assert review.evidence(row.evidence.get(number=1)) == PDF


def test_pages_and_events_hold_nothing_of_it(new: world.Vendor, connect_as: Connect) -> None:
    filing.filed(new)
    browser = signed_in(new.user)
    for path in (STATUS, "/en/account/organisation/", "/en/v/"):
        body = browser.get(path).content
        assert not [secret for secret in SECRETS if secret in body]
    events = connect_as("owner").execute("SELECT string_agg(convert_from(body, 'UTF8'), '') FROM audit_event")
    (text,) = events.fetchone() or ("",)
    assert "registration.filed" in text
    assert not [secret for secret in (*SECRETS, b"jianghai") if secret.decode() in text]


def test_erasing_the_person_closes_their_part_and_the_organisations_key_closes_the_rest(
    new: world.Vendor,
) -> None:
    row = filing.filed(new)
    accounts.erase_person(new.user, by=world.BY)
    assert review.opened(row)["contact"] is None
    assert review.opened(row)["organisation"]["country"] == "CN"
    found = row.evidence.get()
    review.forget(row, by=world.BY)
    assert review.opened(row) == {"organisation": None, "contact": None}
    with pytest.raises(vault.SealBroken):
        review.evidence(found)
    with pytest.raises(store.ObjectMissing):
        store.get_sealed_bytes(project.S3_BUCKET_SEALED, found.object_key, under=vault.new_key())
    assert bytes(RegistrationDetails.objects.get(pk=row.pk).wrapped_key) == b""


@pytest.mark.parametrize(
    ("files", "changes", "words"),
    [
        ([], {}, "This field is required"),
        ([PDF] * 6, {}, "At most five files"),
        ([b"#!/bin/sh"], {}, "registration_evidence_kind"),
        ([PDF], {"domain": "https://jianghai.example/x"}, "Enter a domain like example.com"),
        ([PDF], {"country": "China"}, "This is no country of ISO 3166. Enter its two letters, e.g. DE"),
        ([PDF], {"country": "ZZ"}, "This is no country of ISO 3166"),
        ([PDF], {"country": "uk"}, "ISO 3166 has GB for this country, not UK"),
        ([PDF], {"number": " "}, "This field is required"),
    ],
)
def test_what_cannot_be_taken_is_refused_and_nothing_is_kept(
    new: world.Vendor, files: list[bytes], changes: dict[str, Any], words: str
) -> None:
    answer = signed_in(new.user).post(NEW, filing.form(files, **changes))
    assert answer.status_code in (409, 422)
    assert words in answer.content.decode()
    assert not Registration.objects.exists()


def test_a_file_has_at_most_ten_mebibytes(new: world.Vendor) -> None:
    largest = PDF + b"\0" * (10 * 1024 * 1024 - len(PDF))
    answer = signed_in(new.user).post(NEW, filing.form([largest + b"\0"]))
    assert "At most five files of 10 MiB" in answer.content.decode()
    assert filing.filed(new, files=[largest]).evidence_files == 1


def test_only_an_owner_files_and_one_at_a_time(new: world.Vendor, client: Client) -> None:
    other = world.colleague(new)
    assert "registration_not_owner" in signed_in(other.user).post(NEW, filing.form()).content.decode()
    assert client.post(NEW, filing.form()).status_code == 302
    assert not Registration.objects.exists()
    filing.filed(new)
    again = signed_in(new.user).post(NEW, filing.form())
    assert (again.status_code, "registration_under_way" in again.content.decode()) == (409, True)


# --- the domain ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "domain", ["gmail.com", "vip.163.com", "Outlook.DE", "mail.qq.com", "yahoo.co.uk", "com.cn"]
)
def test_a_mail_at_a_providers_domain_proves_nothing_but_its_dns_record_does(
    new: world.Vendor, name_server: dict[str, str], domain: str
) -> None:
    row, browser = filing.filed(new, domain=domain), signed_in(new.user)
    assert "Send the link" not in (page := browser.get(STATUS).content.decode())
    assert "only the DNS record proves" in page
    refused = browser.post(f"{STATUS}mail/", {"address": f"somebody@{domain}"}, follow=True)
    assert "registration_mail_shared" in refused.content.decode()
    assert mail.outbox == []
    name_server[domains.record_name(row.domain)] = domains.record_value(row.id)
    browser.post(f"{STATUS}dns/")
    row.refresh_from_db()
    assert (row.domain_method, row.domain_confirmed_at is not None) == ("dns", True)


@pytest.mark.parametrize(
    "domain", ["jianghai.example", "notgmail.com", "gmail.com.example", "live.company", "co.example"]
)
def test_other_domains_are_an_organisations_own(domain: str) -> None:
    assert not is_shared(domain)


def test_the_lists_are_in_order() -> None:
    """Sorted, so that a change is easy to review; each domain as `normalised` gives it, none said twice."""
    for name in ("mail_providers", "countries"):
        lines = (Path(shared_domains.__file__).parent / f"lists/{name}.txt").read_text("ascii").splitlines()
        assert lines == sorted(set(lines))
    assert all(domains.normalised(name) == name for name in shared_domains.PROVIDERS)
    assert (len(COUNTRIES), all(len(code) == 2 and code.isupper() for code in COUNTRIES)) == (249, True)
    assert {"CN", "DE", "HK", "TW", "US"} <= COUNTRIES


def test_a_mailed_link_confirms_the_domain_within_a_day(new: world.Vendor, client: Client) -> None:
    row, browser = filing.filed(new), signed_in(new.user)
    elsewhere = {"address": "li@jianghai.example.attacker.example"}
    refused = browser.post(f"{STATUS}mail/", elsewhere, follow=True)
    assert "registration_mail_elsewhere" in refused.content.decode()
    browser.post(f"{STATUS}mail/", {"address": "legal@jianghai.example"})
    assert (
        "registration_mail_too_often"
        in browser.post(f"{STATUS}mail/", {"address": "legal@jianghai.example"}, follow=True).content.decode()
    )
    found = re.search(r"http://testserver(\S+)", filing.last_mail())
    assert found
    link = found.group(1)
    assert client.get(link).status_code == 200
    row.refresh_from_db()
    assert row.domain_confirmed_at is None
    with clock.shifted(timedelta(hours=24)):
        assert client.post(link).status_code == 410
    assert client.post(link[:-3] + "x/").status_code == 410
    assert "The domain is confirmed" in client.post(link).content.decode()
    row.refresh_from_db()
    assert (row.domain_method, row.domain_confirmed_at is not None) == ("mail", True)


@pytest.fixture
def name_server(settings: Any) -> Iterator[dict[str, str]]:
    """A name server on this machine that answers TXT queries from the dictionary."""
    records: dict[str, str] = {}
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            data, sender = sock.recvfrom(4096)
            if data == b"stop":
                return
            question = dns.message.from_wire(data)
            answer = dns.message.make_response(question)
            name = question.question[0].name
            if said := records.get(name.to_text().rstrip(".")):
                answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", f'"{said}"'))
            sock.sendto(answer.to_wire(), sender)

    thread = threading.Thread(target=serve)
    thread.start()
    settings.DNS_SERVERS = [f"127.0.0.1:{sock.getsockname()[1]}"]
    yield records
    sock.sendto(b"stop", sock.getsockname())
    thread.join()
    sock.close()


def test_a_dns_record_confirms_the_domain(new: world.Vendor, name_server: dict[str, str]) -> None:
    row, browser = filing.filed(new), signed_in(new.user)
    other = filing.filed(world.vendor(verified=False))
    page = browser.get(STATUS).content.decode()
    assert "_lingee-bench.jianghai.example" in page
    assert domains.record_value(row.id) in page

    def asked() -> str:
        return browser.post(f"{STATUS}dns/", follow=True).content.decode()

    assert "registration_no_record" in asked()
    name_server["_lingee-bench.jianghai.example"] = domains.record_value(other.id)
    assert "registration_no_record" in asked()
    name_server["_lingee-bench.jianghai.example"] = domains.record_value(row.id)
    assert "The domain is confirmed" in asked()
    row.refresh_from_db()
    assert row.domain_method == "dns"


# --- marks ---------------------------------------------------------------------------------------


def test_marks_are_equal_for_what_is_the_same_and_say_nothing_else(settings: Any) -> None:
    assert (
        normal("ＪＩＡＮＧ  Hai Intelligence Co., Ltd.")
        == normal("jiang hai-intelligence")
        == "jianghaiintelligence"
    )
    assert normal("江海智能有限公司") == "江海智能"
    assert mark("name", "Jiang Hai Ltd") == mark("name", "JIANG HAI") != mark("number", "JIANG HAI")
    assert mark("domain", "a.bc.example") != mark("domain", "ab.c.example")
    assert mark("name", " - ") == ""
    assert network_mark("8.8.8.8") == network_mark("8.8.8.200") != network_mark("8.8.9.8")
    assert network_mark("2001:4860:4860::8888") == network_mark("2001:4860:4860:ffff::1") != ""
    assert network_mark("::ffff:8.8.8.8") == network_mark("8.8.8.8")
    assert [network_mark(a) for a in ("127.0.0.1", "10.1.2.3", "fe80::1", "nonsense", "")] == [""] * 5
    before = mark("name", "Jiang Hai")
    settings.VAULT_KEY_PEOPLE = vault.new_key()
    assert mark("name", "Jiang Hai") != before
