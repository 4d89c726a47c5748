"""A vendor and its things, as tests arrange them; everything goes through the services that the site uses."""

from __future__ import annotations

import io
import itertools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.test import Client

from accounts import services as accounts
from accounts.models import ApiToken, Membership, Organisation, User
from accounts.registration.rules import current
from accounts.registration.services import accept_rules
from accounts.security.services import ensure_totp
from audit.events import Actor, system
from benchmark.models import Domain, TaskSetVersion
from evaluation.models import EvaluationRun
from submissions import queries, services
from submissions.models import Harness, HarnessVersion, Submission, Upload
from tests.factories import frozen_version, recorded, saved
from tests.submissions.bundles import bundle, card

BY = system("test")
_numbers = itertools.count(1)


@dataclass
class Answer:
    """An API answer: status, JSON body, headers."""

    status: int
    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def code(self) -> str:
        return str(self.body.get("code", ""))


@dataclass
class Api:
    """The API as one credential sees it."""

    secret: str

    def call(
        self, method: str, path: str, body: Any = None, *, key: str | None = None, **extra: Any
    ) -> Answer:
        headers = {"authorization": f"Bearer {self.secret}"} if self.secret else {}
        if method == "POST" and key != "":
            headers["idempotency-key"] = key or uuid.uuid4().hex
        found = Client(raise_request_exception=False).generic(
            method,
            f"/api/v1/{path}",
            data=body if isinstance(body, bytes | str) else (b"" if body is None else _json(body)),
            content_type=extra.pop("content_type", "application/json"),
            headers={**headers, **extra.pop("headers", {})},
            **extra,
        )
        return Answer(found.status_code, found.json() if found.content else {}, found.headers)

    def get(self, path: str, **extra: Any) -> Answer:
        return self.call("GET", path, **extra)

    def post(self, path: str, body: Any = None, **extra: Any) -> Answer:
        return self.call("POST", path, body, **extra)


def _json(body: Any) -> str:
    import json

    return json.dumps(body)


@dataclass
class Vendor:
    """A verified organisation with one member and a token of all scopes."""

    user: User
    organisation: Organisation
    token: ApiToken
    api: Api
    actor: Actor

    def harness(self, name: str = "probe") -> Harness:
        return services.register_harness(
            self.organisation, name=name, title=name, relation="owner", by=self.actor
        )

    def version(self, harness: Harness, version: str | None = None) -> HarnessVersion:
        return services.add_version(
            harness, version=version or f"1.{next(_numbers)}", card=card(), by=self.actor
        )

    def upload(self, version: HarnessVersion, data: bytes | None = None) -> Upload:
        data = data if data is not None else bundle(version.harness.name, version.version)
        return services.receive_stream(version, io.BytesIO(data), by=self.actor)

    def order(
        self, task_set: TaskSetVersion, harness: Harness, version: HarnessVersion | None = None
    ) -> queries.Order:
        version = version or self.version(harness)
        return queries.Order(self.organisation, version, task_set, self.upload(version))

    def submit(self, task_set: TaskSetVersion, harness: Harness, key: str | None = None) -> Submission:
        receipt = services.submit(self.order(task_set, harness), by=self.actor, key=key or uuid.uuid4().hex)
        return Submission.objects.get(pk=receipt.submission_id)


def person(name: str = "person") -> User:
    return enrolled(accounts.create_user(f"{name}-{uuid.uuid4().hex[:8]}@lingee.invalid", None, by=BY))


def enrolled(user: User) -> User:
    """The person, with an authenticator app: without one nobody submits or makes tokens."""
    ensure_totp(user)
    return user


def vendor(*, verified: bool = True, role: str = Membership.Role.OWNER, scopes: Any = None) -> Vendor:
    user = person("vendor")
    organisation = accounts.create_organisation("Vendor", owner=user, by=BY)
    accept_rules(organisation, current().version, person=user, by=BY)
    if role != Membership.Role.OWNER:
        member = Membership.objects.get(user=user, organisation=organisation)
        member.role = role
        saved(member)
    if verified:
        accounts.verify_organisation(organisation, by=BY)
    wanted = list(ApiToken.Scope.values) if scopes is None else scopes
    token, secret = accounts.issue_token(user, organisation, name="test", scopes=wanted, by=BY)
    actor = accounts.actor_for(user, channel="web", organisation=organisation)
    return Vendor(user, organisation, token, Api(secret), actor)


def colleague(of: Vendor) -> Vendor:
    """Another member of the same organisation, with a token of their own."""
    user = person("colleague")
    accounts.add_member(of.organisation, user, Membership.Role.SUBMITTER, by=BY)
    token, secret = accounts.issue_token(
        user, of.organisation, name="test", scopes=list(ApiToken.Scope.values), by=BY
    )
    actor = accounts.actor_for(user, channel="web", organisation=of.organisation)
    return Vendor(user, of.organisation, token, Api(secret), actor)


def task_set(label: str = "t1", *, profile: str = "demo", **numbers: int) -> TaskSetVersion:
    """A small frozen version that is open; `numbers` in place of the profile's."""
    version = frozen_version(label, {domain.value: (2, 2) for domain in Domain})
    services.open_task_set(version, profile=profile, numbers=numbers, by=BY)
    return version


def body_of(order: queries.Order, **changes: Any) -> dict[str, Any]:
    """The order as the API takes it."""
    return {
        "harness_version": str(order.harness_version.id),
        "task_set": order.task_set.label,
        "upload": str(order.upload.id),
    } | changes


def end_run(run: EvaluationRun | None, *, missing: int = 0, state: str = EvaluationRun.State.ENDED) -> None:
    """What evaluation writes when a run is through: the rows, without the sandboxes."""
    assert run is not None
    with recorded(run):
        EvaluationRun.objects.filter(pk=run.pk).update(state=state, missing=missing)
