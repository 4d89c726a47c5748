"""What is there when the API is fuzzed: three callers, ids that mean something, and one good request an operation."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.test import Client

from accounts import services as accounts
from accounts.duties.table import Duty
from accounts.models import Membership, User
from benchmark.models import TaskSetVersion
from governance.appeals import services as appeals
from governance.appeals.models import Appeal
from governance.appeals.services import rechecking
from governance.confirmation import services as confirmations
from governance.confirmation.models import ConfirmationRun
from governance.confirmation.policies import may_withdraw
from governance.desk.services import place_hold
from submissions import services
from submissions.models import HarnessVersion, Submission, WebhookEndpoint
from submissions.problems import Code
from submissions.webhooks import services as webhooks
from tests.access.oidc import arranged as publishing
from tests.access.upstreams.arranged import registered, upstream_with_credential
from tests.accounts.duties import acting
from tests.accounts.duties import opened as office
from tests.governance.appeals.arranged import COMMITMENT, WORD
from tests.pages import site
from tests.submissions import world
from tests.submissions.bundles import bundle, card, sha256
from tests.submissions.test_submit import send

AWAITING = (*site.TO_RUNNING, ("awaiting_choice", Code.DEADLINE_GRADING))
HOOK = "http://localhost:9/hook"
"""Accepted where this machine may be asked; nothing is sent there."""
Good = dict[str, Any]


BY_SESSION = frozenset(
    {
        *(
            "webhooks_create",
            "webhooks_destroy",
            "webhooks_test_create",
            "deliveries_replay_create",
            "upstream_create",
            "upstream_change",
            "upstream_credential",
            "upstream_retire",
        ),
        *("token_list", "token_create", "token_revoke"),
        *("publisher_create", "publisher_remove"),
    }
)
"""Operations that no token may use."""


@dataclass(frozen=True)
class Session:
    """A browser in which somebody has signed in."""

    cookie: str
    form_token: str


def session_of(user: User) -> Session:
    client = Client()
    site.sign_in(client, user)
    return Session(client.cookies["sessionid"].value, "a" * 32)


@dataclass
class Seeds:
    """Ids by the name of the parameter or field that takes them, and the callers' secrets."""

    vendor: world.Vendor
    task_set: TaskSetVersion
    secrets: list[str | Session]
    session: Session
    ids: dict[str, list[str]] = field(default_factory=dict)

    def credential(self, dice: random.Random) -> str | Session:
        """Mostly one of the three callers; now and then none, a wrong one, or a stranger's."""
        draw = dice.random()
        if draw < 0.08:
            return ""
        if draw < 0.16:
            return f"lgb_{dice.getrandbits(200):064x}"
        return dice.choice(self.secrets)

    def fill(self, place: Any, dice: random.Random, often: float = 0.8) -> None:
        """Put ids that exist where a dictionary has ids."""
        if not isinstance(place, dict):
            return
        for name in place:
            if name in self.ids and dice.random() < often:
                place[name] = dice.choice(self.ids[name])


def seeded() -> Seeds:
    """A vendor with harnesses, versions, uploads and submissions in several states, and another one with some."""
    task_set = site.task_set(line=900, lineage=900, account=900, in_flight=900, preflight=900)
    vendor, other = world.vendor(), world.vendor()
    mate = world.colleague(vendor)
    viewer = world.person("viewer")
    accounts.add_member(vendor.organisation, viewer, Membership.Role.VIEWER, by=world.BY)
    _, reading = accounts.issue_token(viewer, vendor.organisation, name="r", scopes=["read"], by=world.BY)
    harness = vendor.harness()
    versions = [vendor.version(harness) for _ in range(3)]
    uploads = [vendor.upload(version) for version in versions]
    uploads += [services.open_upload(versions[0], sha256="0" * 64, size=9, by=vendor.actor)]
    made = [
        site.moved(vendor.submit(task_set, harness), *states) for states in ((), site.TO_RUNNING, AWAITING)
    ]
    made += [complete(vendor, task_set), other.submit(task_set, other.harness())]
    tried = vendor.order(task_set, harness)
    session = session_of(vendor.user)
    found = Seeds(vendor, task_set, [vendor.api.secret, mate.api.secret, reading, session], session)
    found.ids = {
        "harness_id": [str(harness.id), str(made[-1].harness_version.harness_id)],
        "harness": [str(harness.id)],
        "version_id": [str(row.id) for row in versions],
        "harness_version": [str(row.id) for row in versions],
        "upload_id": [str(row.id) for row in uploads],
        "upload": [str(row.id) for row in uploads],
        "submission_id": [str(row.id) for row in made],
        "preflight_id": [str(services.start_preflight(tried, by=vendor.actor, key="k").submission_id)],
        "task_set": [task_set.label],
        "code": ["cooldown", "not_found"],
        "publisher_id": [str(publishing.registered(vendor, harness).id)],
        "upstream_id": [str(registered(one, name="seed").id) for one in (vendor, other)],
    }
    return found


def complete(vendor: world.Vendor, task_set: TaskSetVersion) -> Submission:
    """With a preflight report and a released result."""
    found = site.moved(vendor.submit(task_set, vendor.harness(f"h{uuid.uuid4().hex[:8]}")), *site.TO_COMPLETE)
    site.preflight_result(found)
    site.release(found)
    return found


def good_requests(seeds: Seeds) -> dict[str, Callable[[], Good]]:
    """By operation: what `Case` takes for a request that succeeds, arranged anew for each call.

    A GET that takes nothing needs no entry; every other operation of the description needs one here.
    """
    vendor, task_set = seeds.vendor, seeds.task_set
    by_name = {name: {name: ids[0]} for name, ids in seeds.ids.items()}

    def new_version() -> HarnessVersion:
        return vendor.version(vendor.harness(f"n{uuid.uuid4().hex[:8]}"))

    def moved(*states: tuple[str, Code]) -> Good:
        row = site.moved(vendor.submit(task_set, vendor.harness(f"m{uuid.uuid4().hex[:8]}")), *states)
        return {"path_parameters": {"submission_id": str(row.id)}}

    def preflight() -> Good:
        answer = vendor.api.post("preflights", order())
        return {"path_parameters": {"preflight_id": answer.body["id"]}}

    def ready(name: str = "submission_id") -> Good:
        return {"path_parameters": {name: str(complete(vendor, task_set).id)}}

    def confirming() -> Good:
        """Of a submission that has one: earlier ones are withdrawn, since each holds a part of the budget."""
        for row in ConfirmationRun.objects.filter(submission__organisation=vendor.organisation):
            if may_withdraw(row.state, is_dated=False):
                confirmations.withdraw(row.id, by=vendor.actor)
        found = complete(vendor, task_set)
        key = uuid.uuid4().hex
        confirmations.request(found, consent=True, by=vendor.actor, key=key)
        return {"path_parameters": {"submission_id": str(found.id)}}

    def held() -> Good:
        states = (*site.TO_RUNNING, ("grading", Code.ALL_RUNS_EXECUTED))
        row = site.moved(vendor.submit(task_set, vendor.harness(f"h{uuid.uuid4().hex[:8]}")), *states)
        world.end_run(row.held_out_run)
        place_hold(row, rule="contrast", alarms=[], by=world.BY)
        return {"path_parameters": {"submission_id": str(row.id)}}

    def claimed() -> Good:
        """Earlier ones are withdrawn: only a few are free."""
        for row in Appeal.objects.filter(organisation=vendor.organisation, state__in=("filed", "admitted")):
            appeals.withdraw(row.id, by=vendor.actor)
        return {"body": {"subject": "rule", "task_set": task_set.label, "grounds": "It is read wrongly."}}

    def appealing() -> Good:
        answer = vendor.api.post("appeals", claimed()["body"])
        return {"path_parameters": {"appeal_id": answer.body["id"]}}

    def bound() -> Good:
        """A score appeal whose other side is bound too, and waits for the word."""
        claimed()
        body = {"subject": "score", "submission": ready()["path_parameters"]["submission_id"]}
        facts = {"domain": "finance", "grounds": "It is too low.", "commitment": COMMITMENT}
        answer = vendor.api.post("appeals", body | facts)
        appeals.admit(answer.body["id"], by=acting(office().holder(Duty.EVALUATION_ENGINEER)))
        rechecking.commit(answer.body["id"], by=world.BY)
        return {"path_parameters": {"appeal_id": answer.body["id"]}, "body": {"word": WORD}}

    def opened(data: bytes, version: HarnessVersion) -> dict[str, Any]:
        body = {"harness_version": str(version.id), "sha256": sha256(data), "size": len(data)}
        return vendor.api.post("uploads", body).body

    def sent() -> Good:
        version = new_version()
        data = bundle(version.harness.name, version.version)
        upload = opened(data, version)
        parts = send(upload["parts"], data)
        return {"path_parameters": {"upload_id": upload["id"]}, "body": {"parts": parts}}

    def another_token() -> str:
        by = vendor.actor
        row, _ = accounts.issue_token(vendor.user, vendor.organisation, name="t", scopes=["read"], by=by)
        return str(row.public_id)

    def upstream() -> Good:
        row = upstream_with_credential(vendor, name=f"u{uuid.uuid4().hex[:8]}")
        return {"path_parameters": {"upstream_id": str(row.id)}}

    def identity() -> Good:
        return {"body": {"token": publishing.public_issuer().mint(), "harness": seeds.ids["harness"][0]}}

    def publisher() -> dict[str, str]:
        return publishing.fields(publishing.PUBLIC) | {"repository": f"acme/{uuid.uuid4().hex}"}

    def trusted() -> Good:
        row = publishing.registered(vendor, vendor.harness(f"p{uuid.uuid4().hex[:8]}"))
        return {"path_parameters": {"publisher_id": str(row.id)}}

    def order() -> dict[str, Any]:
        version = new_version()
        return world.body_of(vendor.order(task_set, version.harness, version))

    def hook() -> Good:
        for old in WebhookEndpoint.objects.filter(organisation=vendor.organisation):
            webhooks.remove(old, by=vendor.actor)
        return {"path_parameters": {"webhook_id": str(hooked().pk)}}

    def hooked() -> WebhookEndpoint:
        kinds = ["submission.state"]
        return webhooks.create(vendor.organisation, url=HOOK, kinds=kinds, by=vendor.actor)[0]

    def delivered() -> Good:
        return {"path_parameters": {"delivery_id": str(webhooks.test(hooked()).pk)}}

    return {
        "harness_create": lambda: {"body": {"name": f"c{uuid.uuid4().hex[:8]}"}},
        "harness": lambda: {"path_parameters": by_name["harness_id"]},
        "version_list": lambda: {"path_parameters": by_name["harness_id"]},
        "version_create": lambda: {
            "path_parameters": by_name["harness_id"],
            "body": {"version": f"9.{uuid.uuid4().hex[:6]}", "card": card()},
        },
        "version": lambda: {"path_parameters": by_name["version_id"]},
        "upload_create": lambda: {
            "body": {"harness_version": str(new_version().id), "sha256": "1" * 64, "size": 9}
        },
        "upload": lambda: {"path_parameters": {"upload_id": opened(b"x" * 9, new_version())["id"]}},
        "upload_abort": lambda: {"path_parameters": {"upload_id": opened(b"x" * 9, new_version())["id"]}},
        "upload_complete": sent,
        "submission_create": lambda: {"body": order()},
        "preflight_create": lambda: {"body": order()},
        **dict.fromkeys(("preflight_alone", "preflight_runs", "preflight_cancel"), preflight),
        "submission_check": lambda: {"body": order()},
        "submission": moved,
        "submission_cancel": moved,
        "submission_choose": lambda: {**moved(*AWAITING), "body": {"choice": "keep"}},
        "submission_hold": held,
        "confirmation": confirming,
        "confirmation_withdraw": confirming,
        **dict.fromkeys(("appeal", "appeal_withdraw"), appealing),
        "appeal_file": claimed,
        "appeal_word": bound,
        "confirmation_request": lambda: {**ready(), "body": {"publication_consent": True}},
        "upstream_create": lambda: {
            "body": {
                "name": f"u{uuid.uuid4().hex[:8]}",
                "dialect": "openai-chat",
                "base_url": "https://api.example.com/v1",
                "snapshot": "model-2026-11-01",
                "exposure": "third_party",
                "requests_per_minute": 60,
                "concurrency": 4,
                "ceiling": "100.00",
                "currency": "CNY",
            }
        },
        "upstream": upstream,
        "upstream_change": lambda: {**upstream(), "body": {"concurrency": 2}},
        "upstream_credential": lambda: {**upstream(), "body": {"credential": "sk-" + "0" * 30}},
        "upstream_retire": upstream,
        "upstream_test": upstream,
        "preflight": ready,
        "result": ready,
        "receipt": ready,
        "webhooks_create": lambda: {"body": {"url": HOOK, "kinds": ["submission.state"]}},
        "webhooks_retrieve_2": hook,
        "webhooks_destroy": hook,
        "webhooks_deliveries_retrieve": hook,
        "webhooks_test_create": hook,
        "deliveries_replay_create": delivered,
        "token_create": lambda: {"body": {"name": "fuzzed", "scopes": ["read"]}},
        "token_revoke": lambda: {"path_parameters": {"token_id": another_token()}},
        "token_leaked": lambda: {"body": {"token": "no token"}},
        "oidc_exchange": identity,
        "oidc_check": identity,
        "publisher_create": lambda: {"body": {"harness": seeds.ids["harness"][0], **publisher()}},
        "publisher": trusted,
        "publisher_remove": trusted,
        "problem": lambda: {"path_parameters": by_name["code"]},
        "schema": lambda: {"path_parameters": {"name": "harness-card", "number": 1}},
    }
