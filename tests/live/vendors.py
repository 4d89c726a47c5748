"""Vendors for tests: people with a verified organisation and a token, and what they do over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from django.db import transaction
from django.test import override_settings

from accounts import services
from accounts.models import ApiToken, Organisation, User
from accounts.publishing.services import actor_of, bind_watch
from accounts.registration.rules import current
from accounts.registration.services import accept_rules
from accounts.security.services import ensure_totp
from benchmark.models import TaskSetVersion
from config.site.ci_job import Job, bundle
from evaluation.upstreams.models import Dialect
from submissions.models import Harness, WebhookDelivery
from submissions.services import upstreams
from submissions.webhooks import services as webhooks
from submissions.webhooks.kinds import Kind
from tests.access.oidc.arranged import exchanged
from tests.access.upstreams.arranged import LIMITS, SECRET, SNAPSHOT
from tests.factories import BY
from tests.live.crawl import Visitor
from tests.live.fleet import HARNESSES
from tests.notices.receiver import Receiver
from tests.submissions import world

SHOUTING = HARNESSES / "noisy"


@dataclass(frozen=True)
class Vendor:
    user: User
    organisation: Organisation
    secret: str


def vendor(name: str) -> Vendor:
    """A verified organisation with one member and a token of all scopes."""
    user = services.create_user(f"{name.lower()}@vendor.invalid", "a long password 1", by=BY, name=name)
    EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
    organisation = services.create_organisation(f"Vendor {name}", owner=user, by=BY)
    accept_rules(organisation, current().version, person=user, by=BY)
    services.verify_organisation(organisation, by=BY)
    ensure_totp(user)
    scopes = list(ApiToken.Scope.values)
    _, secret = services.issue_token(user, organisation, name="CI", scopes=scopes, by=BY)
    return Vendor(user, organisation, secret)


@dataclass(frozen=True)
class Outgoing:
    """What of a vendor's reaches beyond the site: ids of a webhook and of a model upstream."""

    webhook: str
    upstream: str

    def delivered(self) -> list[str]:
        rows = WebhookDelivery.objects.filter(endpoint=self.webhook, delivered_at__isnull=False)
        return [str(key) for key in rows.order_by("created_at").values_list("pk", flat=True)]


def outgoing(who: Vendor, url: str) -> Outgoing:
    """A webhook for every kind of message, tried once, and an upstream with a credential and a trial call."""
    actor = services.actor_for(who.user, channel="web", organisation=who.organisation)
    kinds = [kind.value for kind in Kind if kind is not Kind.TEST]
    with override_settings(OUTGOING_LOOPBACK=True):
        webhook, _secret = webhooks.create(who.organisation, url=url, kinds=kinds, by=actor)
        webhooks.test(webhook)
    endpoint = upstreams.Endpoint(Dialect.OPENAI_CHAT, "https://api.example.com/v1", SNAPSHOT, "third_party")
    row = upstreams.register_upstream(
        who.organisation, name="my-model", endpoint=endpoint, limits=LIMITS, by=actor
    )
    upstreams.set_credential(row.id, SECRET, by=actor)
    upstreams.ask_trial(row.id, by=actor)
    return Outgoing(str(webhook.id), str(row.id))


def told(webhook: str, received: Receiver) -> bool:
    """Whether everything that is due was sent, the release of a submission included."""
    released = any(b"submission.released" in body for _headers, body in received.taken)
    return released and not WebhookDelivery.objects.filter(endpoint=webhook, due_at__isnull=False).exists()


def submit_over_http(
    address: str, who: Vendor, task_set: TaskSetVersion, folder: Path, *, wait: Callable[[float], object]
) -> SimpleNamespace:
    """Register, upload and submit a sample harness, follow it to its result; then one that intake rejects."""
    job = Job(address, who.secret, wait=wait)
    assert wait_for_web(job, wait)
    card = json.loads((folder / "card.json").read_text())
    version = job.register(folder.name, folder.name, "0.3.1", card)
    upload = job.upload(version, bundle(folder, "0.3.1"))
    submission = job.submit(version, upload, task_set.label)["id"]
    job.follow(submission, lambda state, done: None)
    preflight = _tried_out(job, folder, card, task_set)
    rejected = _rejected(job, folder, card, task_set)
    groups = {
        group: list(task_set.tasks.filter(group=group).order_by("slug").values_list("slug", flat=True))
        for group in ("public", "held_out")
    }
    harness = job.ask("GET", "harnesses")["harnesses"][0]["id"]
    return SimpleNamespace(
        label=task_set.label,
        harness=harness,
        version=version,
        upload=upload,
        submissions=[submission, rejected],
        preflight=preflight,
        result=job.result(submission),
        members=[str(row.pk) for row in who.user.memberships.all()],
        job=job,
        **groups,
    )


def _tried_out(job: Job, folder: Path, card: dict[str, Any], task_set: TaskSetVersion) -> str:
    """A preflight on its own, to its end."""
    harness = job.ask("GET", "harnesses")["harnesses"][0]["id"]
    made = job.post(f"harnesses/{harness}/versions", {"version": "0.3.3", "card": card})
    upload = job.upload(made["id"], bundle(folder, "0.3.3"))
    order = {"harness_version": made["id"], "upload": upload, "task_set": task_set.label}
    found = job.post("preflights", order)
    for _ in range(600):
        state = job.ask("GET", f"preflights/{found['id']}")["state"]
        if state.startswith("preflight_"):
            break
        job.wait(0.5)
    assert state in ("preflight_passed", "preflight_failed")
    return str(found["id"])


def _rejected(job: Job, folder: Path, card: dict[str, Any], task_set: TaskSetVersion) -> str:
    harness = job.ask("GET", "harnesses")["harnesses"][0]["id"]
    made = job.post(f"harnesses/{harness}/versions", {"version": "0.3.2", "card": card})
    upload = job.upload(made["id"], bundle(folder, "9.9.9"))
    return str(job.submit(made["id"], upload, task_set.label)["id"])


def wait_for_web(job: Job, wait: Callable[[float], object]) -> bool:
    """Whether the site answers within a minute."""
    import httpx

    for _ in range(240):
        try:
            httpx.get(f"{job.address}/api/v1/health")
        except httpx.TransportError:
            wait(0.25)
        else:
            return True
    return False


def job_visitors(who: Vendor, scene: SimpleNamespace, address: str) -> list[Visitor]:
    """A CI job of the vendor's with its two credentials, after it has submitted what the scene shows first."""
    actor = services.actor_for(who.user, channel="web", organisation=who.organisation)
    behind = world.Vendor(who.user, who.organisation, None, world.Api(who.secret), actor)  # type: ignore[arg-type]
    found = exchanged(behind, Harness.objects.get(pk=scene.harness))
    with transaction.atomic():
        bind_watch(actor_of(found.grant), UUID(str(scene.submissions[0])), harness_id=UUID(scene.harness))
    secrets = {"CI job": found.act, "CI job that watches": found.watch}
    return [
        Visitor(name, address, headers={"Authorization": f"Bearer {secret}"}, below="/api/")
        for name, secret in secrets.items()
    ]


def confirmed_and_dated(scene: SimpleNamespace, wait: Callable[..., bool]) -> str:
    """Take the result to its confirmation run and into a dated release, by the workers alone; its label."""
    from config import clock
    from governance.confirmation.dating import plan
    from governance.confirmation.models import ConfirmationRun, ReleaseDate
    from governance.confirmation.policies import ENDS

    scene.job.post(f"submissions/{scene.submissions[0]}/confirmation", {"publication_consent": True})
    runs = ConfirmationRun.objects.filter(submission=scene.submissions[0])
    assert wait(lambda: runs.get().state in ENDS, 300), runs.get().state
    assert runs.get().state == "confirmed", runs.get().cause
    plan("crawl-1", kind="results", planned_for=clock.now(), by=BY)
    assert wait(lambda: ReleaseDate.objects.get().dated_at is not None, 60)
    return "crawl-1"
