"""A CI job with nothing but the identity that its service signed submits to real processes, and reads the result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from accounts import services as accounts
from accounts.publishing.models import CiGrant
from config.site.ci_job import Job, bundle
from config.site.stage import free_port
from submissions.services import register_harness
from tests.access.oidc.arranged import registered
from tests.issuer import running
from tests.live.fleet import HARNESSES, Fleet
from tests.live.vendors import vendor, wait_for_web
from tests.submissions import world

pytestmark = [pytest.mark.serial, pytest.mark.timeout(600), pytest.mark.acceptance("access:3")]
FOLDER = HARNESSES / "rule-script"


def test_from_identity_to_result_without_a_stored_secret(
    make_fleet: Callable[..., Fleet], imported: Any, settings: Any
) -> None:
    with running() as issuer:
        trusted = f"github={issuer.address}"
        fleet = make_fleet(LINGEE_OIDC_ISSUERS=trusted)
        port = free_port()
        fleet.supervisor.start(fleet.processes.web(f"127.0.0.1:{port}"))
        address, wait = f"http://127.0.0.1:{port}", fleet.supervisor.wait
        settings.OIDC_ISSUERS = {issuer.address: "github"}
        who = vendor("Publisher")
        actor = accounts.actor_for(who.user, channel="web", organisation=who.organisation)
        harness = register_harness(who.organisation, name="rule-script", title="", relation="owner", by=actor)
        registered(_as_world(who, actor), harness, issuer.address)
        assert wait_for_web(Job(address, "nobody"), wait)
        identity = httpx.post(f"{issuer.address}/mint", json={}).json()["value"]
        given = httpx.post(f"{address}/api/v1/oidc/exchange", json={"token": identity}).json()
        act, watch = (Job(address, given[name]["token"], wait=wait) for name in ("act", "watch"))
        card = json.loads((FOLDER / "card.json").read_text())
        version = act.post(f"harnesses/{harness.id}/versions", {"version": "0.3.1", "card": card})["id"]
        upload = act.upload(version, bundle(FOLDER, "0.3.1"))
        submission = act.submit(version, upload, imported.label)["id"]
        assert watch.follow(submission, lambda state, done: None)["state"] == "complete"
        assert set(watch.result(submission)["domains"]) == {
            *("general", "finance", "supply_chain", "manufacturing"),
        }
    assert str(CiGrant.objects.get().submission_id) == submission
    logs = "".join(path.read_text(errors="replace") for path in fleet.supervisor.log_dir.glob("*.log"))
    assert "oidc/exchange" in logs
    for secret in (identity.split(".")[2], given["act"]["token"], given["watch"]["token"]):
        assert secret not in logs


def _as_world(who: Any, actor: Any) -> world.Vendor:
    return world.Vendor(who.user, who.organisation, None, world.Api(who.secret), actor)  # type: ignore[arg-type]
