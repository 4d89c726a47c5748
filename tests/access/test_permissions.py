"""The permission table: closed by default, and what it says is what the API does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.urls import get_resolver
from django.urls.resolvers import URLPattern, URLResolver

from accounts import permissions
from accounts import services as accounts
from accounts.models import ApiToken, Membership, Organisation, User
from accounts.permissions import TABLE, Credential, Permission, Reason, refused
from audit.events import Actor
from submissions.api.base import METHODS, ApiView, MemberView, PublicView
from submissions.models import Harness
from submissions.problems import Code
from tests.submissions import world
from tests.submissions.world import Api, Vendor

Patterns = list[URLPattern | URLResolver]


def api_views(patterns: Patterns | None = None, prefix: str = "") -> list[tuple[str, Any]]:
    """Every address below /api/ with its view class, as the resolver has them."""
    found: list[tuple[str, Any]] = []
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            found += api_views(pattern.url_patterns, path)
        elif path.startswith("api/"):
            found.append((path, getattr(pattern.callback, "cls", None)))
    return found


def test_no_view_of_the_api_answers_without_an_entry() -> None:
    """What it handles is what it has a permission for, neither more nor less; public views are the known ones."""
    views = api_views()
    assert len(views) > 15
    public = set()
    for path, view in views:
        if view is None or not issubclass(view, MemberView):
            public.add(path)
            assert view is not None, path
            assert issubclass(view, PublicView) or view.__name__ in ("SpectacularJSONAPIView", "HealthView")
            assert not view.authentication_classes or view.__name__ == "SpectacularJSONAPIView"
            continue
        handled = {name.upper() for name in view.http_method_names if hasattr(view, name)} - {"HEAD"}
        assert set(view.permissions) == handled, f"{path}: the table and the handlers differ"
        assert all(permission in TABLE for permission in view.permissions.values())
    assert {path.removeprefix("api/v1/") for path in public} >= {"task-sets", "problems", "^"}
    assert "api/v1/harnesses" not in public


def test_the_table_has_a_row_for_each_permission_and_opens_nothing_by_accident() -> None:
    assert set(TABLE) == set(Permission)
    assert {scope.value for scope in permissions.Scope} == set(ApiToken.Scope.values)
    for permission, rule in TABLE.items():
        assert rule.roles <= set(Membership.Role.values)
        assert bool(rule.scopes) == (Credential.TOKEN in rule.credentials), permission
        writes = not permission.endswith((":read", ":list"))
        if writes and permission is not Permission.TOKEN_REVOKE:
            assert "viewer" not in rule.roles, permission
            assert permissions.Scope.READ not in rule.scopes, permission
        if writes:
            assert Credential.WATCH not in rule.credentials, permission


def test_the_first_reason_is_the_one_given() -> None:
    def why(permission: Permission, credential: Credential, role: str, *scopes: str) -> Reason | None:
        return refused(permission, credential=credential, role=role, scopes=scopes)

    submit = Permission.SUBMISSION_SUBMIT
    assert why(submit, Credential.SESSION, "owner") is None
    assert why(submit, Credential.SESSION, "viewer") is Reason.ROLE
    assert why(submit, Credential.TOKEN, "owner", "read", "preflight") is Reason.SCOPE
    assert why(submit, Credential.TOKEN, "viewer", "submit") is Reason.ROLE
    assert why(submit, Credential.TOKEN, "submitter", "submit") is None
    assert why(submit, Credential.ACT, "submitter") is None
    assert why(submit, Credential.WATCH, "owner", "submit") is Reason.CREDENTIAL
    assert why(Permission.TOKEN_WRITE, Credential.TOKEN, "owner", "submit") is Reason.CREDENTIAL


@dataclass(frozen=True)
class Shown:
    """A credential that says of itself what it is."""

    kind: Credential
    organisation: Organisation
    by: Actor
    role: str = "owner"
    harness_id: UUID | None = None
    submission_id: UUID | None = None
    scopes: tuple[str, ...] = ()

    def actor(self) -> Actor:
        return self.by


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes the API take each request as one by the given credential."""

    def present(user: User, auth: object) -> Api:
        taken = "accounts.authentication.ApiTokenAuthentication.authenticate"
        monkeypatch.setattr(taken, lambda self, request: (user, auth))
        return Api("")

    return present


@pytest.mark.acceptance("access:4")
@pytest.mark.usefixtures("transactional_db")
def test_a_credential_of_ci_is_held_to_its_harness_and_its_submission(shown: Any) -> None:
    vendor, task_set = world.vendor(), world.task_set()
    harness, other = vendor.harness(), vendor.harness("other")
    submission, second = vendor.submit(task_set, harness), vendor.submit(task_set, other)
    by, at = vendor.actor, f"submissions/{submission.id}"

    watch = Shown(Credential.WATCH, vendor.organisation, by, submission_id=submission.id)
    api = shown(vendor.user, watch)
    assert api.get(at).status == 200
    foreign, missing = api.get(f"submissions/{second.id}"), api.get(f"submissions/{uuid4()}")
    assert (foreign.status, foreign.body) == (404, missing.body)
    assert api.get(f"uploads/{second.upload_id}").status == 404
    assert api.get(f"uploads/{submission.upload_id}").status == 200
    answer = api.post(f"{at}/cancel")
    assert (answer.status, answer.code) == (403, Code.CREDENTIAL_NOT_PERMITTED)
    assert api.get("submissions").code == Code.CREDENTIAL_NOT_PERMITTED

    unbound = shown(vendor.user, Shown(Credential.WATCH, vendor.organisation, by))
    assert unbound.get(at).status == unbound.get(f"uploads/{submission.upload_id}").status == 404

    act = shown(vendor.user, Shown(Credential.ACT, vendor.organisation, by, harness_id=harness.id))
    assert act.get(f"harnesses/{harness.id}").status == 200
    assert act.get(f"harnesses/{other.id}").code == Code.TOKEN_HARNESS_MISMATCH
    assert act.post("harnesses", {"name": "third"}).code == Code.TOKEN_HARNESS_MISMATCH
    assert act.post(f"{at}/choice", {"choice": "keep"}).code == Code.CREDENTIAL_NOT_PERMITTED
    assert act.post(f"{at}/cancel").status == 200
    without = shown(vendor.user, Shown(Credential.ACT, vendor.organisation, by))
    assert without.get(f"harnesses/{harness.id}").code == Code.TOKEN_HARNESS_MISMATCH


@pytest.mark.usefixtures("transactional_db")
def test_what_does_not_follow_the_protocol_is_nobody(shown: Any) -> None:
    vendor = world.vendor()
    assert shown(vendor.user, object()).get("harnesses").code == Code.NOT_AUTHENTICATED


@pytest.mark.usefixtures("transactional_db")
def test_a_method_without_an_entry_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the view has a handler for it."""
    vendor = world.vendor()
    for method in ("OPTIONS", "PATCH", "DELETE"):
        answer = vendor.api.call(method, "harnesses", {})
        assert (answer.status, answer.code) == (405, Code.METHOD_NOT_ALLOWED)
        assert set(answer.headers["Allow"].split(", ")) == {"GET", "HEAD", "POST"}
    monkeypatch.setattr("submissions.api.registry.Harnesses.permissions", {"POST": Permission.HARNESS_WRITE})
    assert vendor.api.get("harnesses").status == 405
    assert Harness.objects.count() == 0
    assert "options" not in METHODS
    assert ApiView.http_method_names == METHODS


@pytest.mark.usefixtures("transactional_db")
def test_scopes_open_what_the_table_says() -> None:
    vendor = world.vendor()
    harness = vendor.harness()
    version = vendor.version(harness)
    upload = {"harness_version": str(version.id), "sha256": "0" * 64, "size": 100}

    def api(of: Vendor, *scopes: str) -> Api:
        secret = accounts.issue_token(of.user, of.organisation, name="t", scopes=scopes, by=world.BY)[1]
        return Api(secret)

    preflight, submit, read = (api(vendor, scope) for scope in ("preflight", "submit", "read"))
    for writer in (preflight, submit):
        opened = writer.post("uploads", upload)
        assert opened.status == 201
        assert writer.get(f"uploads/{opened.body['id']}").status == 200
        assert writer.get("submissions").body["scope"] == "read"
    assert preflight.post("submissions", {}).body["scope"] == "submit"
    assert read.get("submissions").status == 200
    assert read.post("uploads", upload).body["scope"] == "preflight"
    assert read.get(f"uploads/{opened.body['id']}").code == Code.SCOPE_MISSING
    viewer = world.vendor(role="viewer")
    assert api(viewer, "submit").post("harnesses", {"name": "a"}).code == Code.ROLE_MAY_NOT_SUBMIT
    assert api(viewer, "read").get("harnesses").status == 200
