"""Who is at the site and what there is: one vendor with one of everything, and everybody who might come for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import get_resolver
from django.urls.resolvers import RegexPattern, RoutePattern, URLPattern, URLResolver

from accounts import services as accounts
from accounts.duties.table import Duty
from accounts.linking.models import LinkCase
from accounts.members.services import invite
from accounts.models import Membership, User
from accounts.rooms import services as rooms
from benchmark.models import TaskSetVersion
from config import store
from evaluation.fleet import services as fleet
from evaluation.models import Episode
from governance.confirmation import services as confirmations
from governance.confirmation.dating import date_on_command
from submissions import queries, services
from submissions.models import Submission
from submissions.returns import services as returns
from submissions.services.checking import check
from submissions.tasks import find_links
from submissions.webhooks import services as webhooks
from tests.access.confidential.test_openings import proposed
from tests.access.oidc.arranged import exchanged
from tests.access.registration import filing
from tests.access.upstreams.arranged import of_the_platform, registered
from tests.accounts.duties import acting, member_of_staff, opened
from tests.accounts.test_auditors import appointed
from tests.factories import run_of
from tests.governance.appeals.arranged import filed as appealed
from tests.governance.desk.arranged import open_case
from tests.governance.rotation import rows as rotation
from tests.pages import site
from tests.submissions import world

HOOK = "https://hooks.example.com/lingee"
MISSING = "01900000-0000-7000-8000-000000000000"
"""An id that nothing has."""

BY_SESSION = {
    "a": "anonymous",
    "v": "viewer",
    "s": "submitter",
    "o": "owner",
    "x": "owner of another vendor",
    "d": "staff without duty",
    "m": "administrator",
    "u": "auditor",
    "i": "identity reviewer",
    "g": "held-out governor",
    "e": "evaluation engineer",
    "z": "suspended owner",
}
BY_TOKEN = {
    "r": "the owner's token with scope read",
    "p": "with scope preflight",
    "t": "with scope submit",
    "c": "a CI job's credential to act for the harness",
    "w": "a CI job's credential to watch the submission it made",
}
OWN, OTHER = "vsozrptcw", "xd"
"""The vendor's own people and credentials; those to whom its things do not exist."""


@dataclass(frozen=True)
class Address:
    """One entry of the URL table: its name, and the names of what it takes."""

    name: str
    pattern: str
    takes: tuple[str, ...]

    @property
    def area(self) -> str:
        first = self.name.partition(":")[0]
        if self.pattern.startswith("api/"):
            return "api"
        return "console" if first == "auditing" or "console/" in self.pattern else "pages"


def addresses(resolver: Any = None, within: Address | None = None) -> list[Address]:
    """Everything that the site and the console answer to."""
    outer, found = within or Address("", "", ()), []
    for entry in (resolver or get_resolver()).url_patterns:
        pattern, takes = outer.pattern + str(entry.pattern), (*outer.takes, *_takes(entry.pattern))
        if isinstance(entry, URLResolver):
            space = f"{outer.name}{entry.namespace}:" if entry.namespace else outer.name
            found += addresses(entry, Address(space, pattern, takes))
        else:
            assert isinstance(entry, URLPattern)
            found.append(Address(f"{outer.name}{entry.name}", pattern, takes))
    return found


def _takes(pattern: Any) -> tuple[str, ...]:
    if isinstance(pattern, RoutePattern):
        return tuple(pattern.converters)
    return tuple(pattern.regex.groupindex) if isinstance(pattern, RegexPattern) else ()


@dataclass
class Scene:
    """`things`: what an address takes, by the name of its argument."""

    vendor: world.Vendor
    other: world.Vendor
    submission: Submission
    things: dict[str, object]
    people: dict[str, User]
    cookies: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def ask(self, role: str, method: str, path: str, body: bytes = b"", key: str = "one") -> Any:
        """One request, the first within its rates; whatever it changed is rolled back."""
        cache.clear()
        client = Client(raise_request_exception=False)
        headers = {"accept-language": "en", "idempotency-key": key}
        if role in self.cookies:
            client.cookies["sessionid"] = self.cookies[role]
        if role in self.tokens:
            headers["authorization"] = f"Bearer {self.tokens[role]}"
        kind = "application/json" if path.startswith("/api/") else "application/x-www-form-urlencoded"
        if role == "u" and "/audit/" in path:  # these pages open transactions that may not be nested
            return client.generic(method, path, body, content_type=kind, headers=headers)
        with transaction.atomic():
            answer = client.generic(method, path, body, content_type=kind, headers=headers)
            transaction.set_rollback(True)
        return answer


def arranged() -> Scene:
    """Committed rows, since auditors look through a connection of their own."""
    version = site.task_set()
    vendor, other = world.vendor(), world.vendor()
    harness = vendor.harness()
    job = exchanged(vendor, harness)
    made = world.Api(job.act).post("submissions", world.body_of(vendor.order(version, harness)))
    submission = site.moved(Submission.objects.get(pk=made.body["id"]), *site.TO_COMPLETE)
    preflight = site.preflight_result(submission)
    site.release(submission)
    confirmations.request(submission, consent=True, by=vendor.actor, key="confirmation")
    appeal = appealed(vendor, version, submission=submission)
    harness_version = vendor.version(vendor.harness("second"))
    upload = vendor.upload(harness_version)
    order = queries.Order(vendor.organisation, harness_version, version, upload)
    alone = services.start_preflight(order, by=vendor.actor, key="alone")
    people = _people(vendor, other)
    by = vendor.actor
    invitation, _ = invite(
        vendor.organisation, "new@lingee.invalid", Membership.Role.VIEWER, inviter=vendor.user, by=by
    )
    webhook, _ = webhooks.create(vendor.organisation, url=HOOK, kinds=["test"], by=by)
    member = Membership.objects.get(organisation=vendor.organisation, user=people["s"])
    things: dict[str, object] = {
        **dict.fromkeys(("harness", "harness_id"), submission.harness_version.harness_id),
        **dict.fromkeys(("version", "version_id"), submission.harness_version_id),
        **dict.fromkeys(("upload", "upload_id"), upload.id),
        **dict.fromkeys(("submission", "submission_id"), submission.id),
        **dict.fromkeys(("token", "token_id"), vendor.token.public_id),
        **dict.fromkeys(("upstream", "upstream_id"), registered(vendor).id),
        **dict.fromkeys(("publisher", "publisher_id"), job.grant.publisher_id),
        **dict.fromkeys(("webhook", "webhook_id"), webhook.id),
        "preflight_id": alone.submission_id,
        **dict.fromkeys(("appeal", "appeal_id"), appeal.id),
        "delivery_id": webhooks.test(webhook).id,
        "member": member.id,
        "invitation": invitation.id,
        "task": preflight.task_label,
        "label": date_on_command("dated-1", by=world.BY).label,
        "duty": opened().propose(member_of_staff(), Duty.TASK_AUTHOR).id,
    }
    store.ensure_buckets()
    things |= _of_the_console(version, submission, people["u"])
    found = Scene(vendor, other, submission, things, people)
    for role, person in people.items():
        browser = site.signed_in(person)
        browser.get(
            "/en/account/organisation/"
        )  # signing in is a request, by which the session becomes known
        found.cookies[role] = browser.cookies["sessionid"].value
    accounts.suspend_user(people["z"], by=world.BY)
    found.tokens = {"c": job.act, "w": job.watch}
    for role, scope in (("r", "read"), ("p", "preflight"), ("t", "submit")):
        found.tokens[role] = accounts.issue_token(
            vendor.user, vendor.organisation, name=scope, scopes=[scope], by=by
        )[1]
    return found


def _people(vendor: world.Vendor, other: world.Vendor) -> dict[str, User]:
    joined = {}
    for role, rank in (("v", "viewer"), ("s", "submitter"), ("z", "owner")):
        joined[role] = world.person(rank)
        accounts.add_member(vendor.organisation, joined[role], rank, by=world.BY)
    office = opened()
    return {
        **joined,
        "o": vendor.user,
        "x": other.user,
        "d": member_of_staff(),
        "m": office.holder(Duty.ADMINISTRATOR),
        "u": appointed().person,
        "i": office.holder(Duty.IDENTITY_REVIEWER),
        "g": office.holder(Duty.HELD_OUT_GOVERNOR),
        "e": office.holder(Duty.EVALUATION_ENGINEER),
    }


def _of_the_desk(version: TaskSetVersion, governor: User) -> dict[str, object]:
    """A hold, a case and a question, of a vendor that nobody here belongs to."""
    found = open_case(world.vendor(), version, governor)
    return {
        **dict.fromkeys(("signals:case which", "signals:case_act which"), found.case.id),
        **dict.fromkeys(("signals:hold submission", "signals:hold_act submission"), found.hold.submission_id),
        "signals:hold_decide which": found.decision.id,
        "desk:question question": found.question.id,
    }


def _of_the_fleet(version: TaskSetVersion, engineer: User) -> dict[str, object]:
    """A run with an episode set apart, and a worker that is drained."""
    episodes = [episode.pk for episode in Episode.objects.filter(run=run_of(version)).order_by("position")]
    apart = fleet.quarantine_episode(episodes[0], reason="loops", by=acting(engineer))
    order = fleet.order_fleet("drain", "worker", "w-0", reason="repairs", by=acting(engineer))
    assert apart is not None
    return {
        "console:episode_quarantine number": episodes[1],
        "console:episode_release which": apart.id,
        "console:fleet_order_lift which": order.id,
    }


def _of_the_console(version: TaskSetVersion, submission: Submission, auditor: User) -> dict[str, object]:
    """What staff and auditors look at, by the address and the argument where another address has it too."""
    office = opened()
    one, same = world.vendor(), world.vendor()
    rows = [filing.filed(vendor) for vendor in (one, same)]
    find_links()
    governor = office.holder(Duty.HELD_OUT_GOVERNOR)
    term = auditor.auditor_terms.get()
    room = rooms.propose(
        term,
        submission.pk,
        submission.organisation.lineage_id,
        hours=4,
        reason="figures",
        by=acting(governor),
    )
    rooms.open_room(room, by=acting(office.first))
    engineer = office.holder(Duty.EVALUATION_ENGINEER)
    checked = one.submit(version, one.harness())
    check(checked.id)
    return {
        "which": rows[0].id,
        "console:link which": LinkCase.objects.get().id,
        "console:link_act which": LinkCase.objects.get().id,
        **dict.fromkeys(
            (f"console:platform_upstream{name} upstream" for name in ("", "_credential", "_test", "_retire")),
            of_the_platform(engineer).id,
        ),
        **dict.fromkeys(
            (f"rotating:{name} which" for name in ("entry", "reveal", "act")), rotation.queued(version).id
        ),
        **dict.fromkeys(
            (f"rotating:{name} which" for name in ("plan", "plan_act")), rotation.planned(version).id
        ),
        "room": room.id,
        "opening": proposed(checked, engineer).id,
        **_of_the_desk(version, governor),
        **_of_the_fleet(version, engineer),
        "console:return_act which": returns.propose(submission.pk, reason="down", by=acting(engineer)).id,
    }
