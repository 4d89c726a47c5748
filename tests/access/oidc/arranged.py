"""Publishers and jobs, as tests of CI identities arrange them."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.core.cache import cache

from accounts.publishing import keys, services
from accounts.publishing.claims import Identity
from accounts.publishing.models import TrustedPublisher
from accounts.publishing.policies import Terms
from accounts.publishing.services import Exchanged
from config import clock
from submissions.models import Harness
from tests.issuer import GITHUB, GITLAB, Issuer
from tests.submissions import world

PUBLIC = "https://token.actions.githubusercontent.com"


def fields(issuer: str, dialect: str = "github") -> dict[str, str]:
    """What a vendor enters for the jobs that the test issuer speaks for."""
    if dialect == "github":
        own = (GITHUB["repository"], GITHUB["repository_owner_id"], ".github/workflows/submit.yml")
    else:
        own = (GITLAB["project_path"], GITLAB["namespace_id"], ".gitlab-ci.yml")
    return {"issuer": issuer, **dict(zip(("repository", "owner_id", "workflow"), own, strict=True))}


def registered(
    vendor: world.Vendor, harness: Harness, issuer: str = PUBLIC, dialect: str = "github", **changes: str
) -> TrustedPublisher:
    terms = Terms(dialect=dialect, **{**fields(issuer, dialect), **changes})
    return services.register(vendor.organisation, harness.id, terms, person=vendor.user, by=vendor.actor)


def public_issuer() -> Issuer:
    """GitHub's, as far as the site can tell: what it keeps as the published keys are these."""
    issuer = Issuer(PUBLIC)
    cache.set(keys.kept_at(PUBLIC), keys.usable(issuer.jwks()))
    return issuer


def exchanged(vendor: world.Vendor, harness: Harness) -> Exchanged:
    """The two credentials of a job, without a token: what verifies those is tested by itself."""
    publisher = registered(vendor, harness)
    identity = Identity(
        publisher.issuer,
        publisher.dialect,
        secrets.token_hex(8),
        clock.now() + timedelta(minutes=5),
        *(
            publisher.repository,
            publisher.owner_id,
            publisher.workflow,
            "refs/heads/main",
            "refs/heads/main",
            "",
        ),
        {},
    )
    return services.exchange(identity, publisher)


@dataclass
class Job:
    """A CI job of a vendor's: it has an issuer that speaks for it, and no secret."""

    issuer: Issuer
    dialect: str = "github"

    def exchange(self, token: str | None = None, **claims: Any) -> world.Answer:
        """Exchange that token, or a fresh one with these claims."""
        body = {"token": token or self.issuer.mint(self.dialect, **claims)}
        return world.Api("").post("oidc/exchange", body)

    def check(self, **claims: Any) -> world.Answer:
        return world.Api("").post("oidc/check", {"token": self.issuer.mint(self.dialect, **claims)})
