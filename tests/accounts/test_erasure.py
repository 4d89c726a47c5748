"""A person can be erased: nothing leads to them any more, nothing of theirs was in the log, and the log still holds."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction
from django.test import Client

from accounts import names, services
from accounts.models import ApiToken, PersonKey, User
from accounts.registration.rules import current
from audit.canonical import leaf_hash
from benchmark import services as benchmark
from benchmark.queries import content_digest
from benchmark.synthetic import generate
from config import vault
from governance.services import set_release_policy
from submissions import services as submissions
from submissions.models import HarnessVersion, Submission
from tests.pages import site
from tests.submissions import world
from tests.submissions.bundles import bundle, card

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]

BY = world.BY
NEEDLE = "zq7canary"
"""No hash and no base64 of one holds it by chance often enough to matter: it is no hex."""
PASSWORD = f"{NEEDLE} pass phrase 1"


def bodies(connect: Connect) -> list[bytes]:
    rows = connect("auditor").execute("SELECT body FROM audit_event ORDER BY id").fetchall()
    return [bytes(body) for (body,) in rows]


@pytest.fixture
def person(transactional_db: None) -> User:
    """Somebody with a name, a confirmed address, a second factor and a token."""
    user = services.create_user("erika@lingee.invalid", PASSWORD, by=BY, name="Erika Mustermann")
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    world.enrolled(user)
    organisation = services.create_organisation("Muster", owner=user, by=BY)
    services.issue_token(user, organisation, name="ci", scopes=["read"], by=BY)
    return user


def test_a_name_is_stored_sealed_under_its_own_key(person: User) -> None:
    assert person.display_name == "Erika Mustermann"
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM accounts_user")
        assert "Mustermann" not in str(cursor.fetchall())
    other = services.create_user("max@lingee.invalid", None, by=BY, name="Max")
    assert bytes(other.person_key.wrapped_key) != bytes(person.person_key.wrapped_key)
    with pytest.raises(vault.SealBroken):
        names.open_sealed(person.sealed_name, other.person_key.wrapped_key)


def test_a_process_without_the_people_key_knows_no_name(person: User, settings: Any) -> None:
    settings.VAULT_KEY_PEOPLE = None
    assert User.objects.get(pk=person.pk).display_name == ""
    with pytest.raises(names.NoPeopleKey):
        services.set_name(person, "Erika", by=BY)


def test_nothing_is_left_that_leads_to_an_erased_person(person: User) -> None:
    copy = bytes(person.sealed_name)  # as a replica or an export may hold it
    client = site.signed_in(person)
    services.erase_person(person, by=BY)
    assert not EmailAddress.objects.exists()
    assert not Authenticator.objects.exists()
    assert not Session.objects.exists()
    assert not PersonKey.objects.filter(user=person).exists()
    assert not ApiToken.objects.filter(user=person, revoked_at=None).exists()
    gone = User.objects.get(pk=person.pk)
    assert (gone.display_name, gone.is_active, gone.has_usable_password()) == ("", False, False)
    assert "erika" not in str(User.objects.values().get(pk=person.pk)).lower()
    assert client.get("/en/account/organisation/").status_code == 302
    with pytest.raises(vault.SealBroken):
        names.open_sealed(copy, names.new_key())


def test_sign_in_and_token_are_refused_from_then_on(transactional_db: None) -> None:
    vendor = world.vendor()
    services.set_password(vendor.user, PASSWORD, by=BY)
    address = vendor.user.email
    EmailAddress.objects.create(user=vendor.user, email=address, verified=True, primary=True)
    assert vendor.api.get("harnesses").status == 200
    services.erase_person(vendor.user, by=BY)
    answer = vendor.api.get("harnesses")
    assert (answer.status, answer.code) == (401, "token_revoked")
    client = Client()
    client.post("/en/account/login/", {"login": address, "password": PASSWORD})
    assert "_auth_user_id" not in client.session
    again = services.create_user(address, PASSWORD, by=BY)
    assert again.pseudonym != vendor.user.pseudonym


def test_the_log_still_holds_every_entry_as_it_was(person: User, connect_as: Connect) -> None:
    before = bodies(connect_as)
    services.erase_person(person, by=BY)
    services.erase_person(person, by=BY)
    after = bodies(connect_as)
    assert after[: len(before)] == before
    kinds = [row[0] for row in connect_as("auditor").execute("SELECT kind FROM audit_event ORDER BY id")]
    assert kinds[len(before) :] == ["token.revoked", "person.erased"]
    rows = connect_as("auditor").execute("SELECT body, leaf_hash FROM audit_event").fetchall()
    assert all(leaf_hash(bytes(body)) == bytes(leaf) for body, leaf in rows)


def test_nobody_comes_back(person: User) -> None:
    services.erase_person(person, by=BY)
    with pytest.raises(ValueError, match="erased"):
        services.set_name(person, "Erika", by=BY)
    with pytest.raises(IntegrityError, match="nobody comes back"):
        services.set_password(person, PASSWORD, by=BY)
    with pytest.raises(IntegrityError, match="erased_person_is_gone"):
        User.objects.filter(pk=person.pk).update(is_active=True)


def test_the_site_cannot_erase_but_the_console_can(person: User, connect_as: Connect) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute("DELETE FROM accounts_personkey")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute("UPDATE accounts_user SET erased_at = now()")
    for role in ("execute", "sealed", "auditor"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT 1 FROM accounts_personkey")
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute("SET LOCAL ROLE lingee_console")
        services.erase_person(person, by=BY)
    assert User.objects.get(pk=person.pk).erased_at is not None


def test_staff_erase_by_command_and_pseudonym(person: User) -> None:
    said = StringIO()
    for _ in range(2):
        call_command("erase_person", str(person.pseudonym), stdout=said)
    first, second = said.getvalue().splitlines()
    assert first.startswith(f"{person.pseudonym} is erased")
    assert "already" in second
    with pytest.raises(CommandError, match="no account"):
        call_command("erase_person", str(uuid.uuid4()))


@pytest.fixture
def task_set(tmp_path: Path, transactional_db: None) -> Any:
    """A version whose held-out tasks carry the needle in their texts."""
    bank = tmp_path / "bank"
    generate(bank, version="canary", seed=7, size="mini", canary=NEEDLE)
    version = benchmark.import_directory(bank, by=BY)
    assert any(NEEDLE in path.read_text("utf-8", "ignore") for path in bank.rglob("*.md"))
    benchmark.record_admission(version, digest_admitted=content_digest(version), tasks=1, by=BY)
    frozen = benchmark.freeze("canary", by=BY)
    set_release_policy(frozen, profile="demo", tick_seconds=5, by=BY)
    submissions.open_task_set(frozen, profile="demo", by=BY)
    return frozen


def enter_everything(client: Client, task_set: Any) -> tuple[User, str]:
    """What a person can type into the public surface, each with the needle; returns them and their token's secret."""
    form = {"email": f"{NEEDLE}@lingee.invalid", "password1": PASSWORD, "password2": PASSWORD}
    client.post("/en/account/signup/", form)
    user = User.objects.get(email=form["email"])
    EmailAddress.objects.filter(user=user).update(verified=True)
    services.set_name(user, f"{NEEDLE} name", by=services.actor_for(user, channel="web"))
    client.post("/en/account/login/", {"login": user.email, "password": "wrong " + NEEDLE})
    client.post("/en/account/login/", {"login": user.email, "password": PASSWORD})
    founded = {"name": f"{NEEDLE} GmbH", "rules_version": current().version, "accept": "on"}
    client.post("/en/account/organisation/", founded)
    organisation = user.memberships.get().organisation
    services.verify_organisation(organisation, by=BY)
    world.enrolled(user)
    _, secret = services.issue_token(
        user,
        organisation,
        name=NEEDLE,
        scopes=list(ApiToken.Scope.values),
        by=services.actor_for(user, channel="web", organisation=organisation),
    )
    api = world.Api(secret)
    harness = api.post("harnesses", {"name": NEEDLE, "title": f"{NEEDLE} title", "relation": "owner"})
    disclosed = card()
    disclosed["layers"]["execution"]["summary"] = f"{NEEDLE} summary"
    version = api.post(f"harnesses/{harness.body['id']}/versions", {"version": NEEDLE, "card": disclosed})
    assert version.status == 201, version.body
    row = HarnessVersion.objects.get(pk=version.body["id"])
    vendor = world.Vendor(user, organisation, ApiToken.objects.get(name=NEEDLE), api, BY)
    actor = services.actor_for(user, channel="web", organisation=organisation)
    vendor.actor = actor
    upload = vendor.upload(row, bundle(NEEDLE, NEEDLE))
    order = {"harness_version": str(row.id), "task_set": task_set.label, "upload": str(upload.id)}
    admitted = api.post("submissions", order, key=NEEDLE)
    assert admitted.status == 202, admitted.body
    _to_the_end(Submission.objects.get(pk=admitted.body["id"]), api)
    client.post("/en/account/password/reset/", {"email": user.email})
    return user, secret


def _to_the_end(submission: Submission, api: world.Api) -> None:
    done = site.moved(submission, *site.TO_COMPLETE)
    site.release(done)
    assert api.get(f"submissions/{done.id}/result").status == 200
    submissions.refund(done, cause="refund_by_staff", by=BY, reason=f"{NEEDLE} reason")


@pytest.mark.acceptance("log:8")
def test_nothing_that_people_typed_and_no_task_is_in_any_event(
    client: Client, task_set: Any, connect_as: Connect
) -> None:
    user, secret = enter_everything(client, task_set)
    services.erase_person(user, by=BY)
    found = bodies(connect_as)
    kinds = {row[0] for row in connect_as("auditor").execute("SELECT kind FROM audit_event")}
    assert {"account.created", "harness.registered", "slot.refunded", "result.read", "person.erased"} <= kinds
    for body in found:
        assert NEEDLE.encode() not in body.lower()
        assert secret.encode() not in body
        assert secret.removeprefix("lgb_").encode()[:8] not in body
    titles = [title for title in task_set.public_tasks.values_list("title_en", flat=True) if title]
    assert titles
    assert not [title for title in titles if any(title.encode() in body for body in found)]
