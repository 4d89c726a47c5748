"""What holds for a preflight on its own whoever writes: the database's guards, the log's rules, fifty at once."""

from __future__ import annotations

import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import psycopg
import pytest
from django.db import DatabaseError

from audit.replay import Difference, Replay
from client.audit.rules import Judge, Seen
from client.audit.rules.submissions import PREFLIGHT
from config.ids import new_id
from evaluation.models import EvaluationRun
from submissions import services
from submissions.models import Slot, Submission
from submissions.policies.states import MOVES, PREFLIGHT_STATES, may_move
from submissions.replay import SUBMISSION, TRANSITIONS, UPLOAD
from submissions.services import slots
from tests.audit.test_live import unguarded
from tests.factories import recorded, run_of
from tests.servers import Servers
from tests.submissions import world
from tests.submissions.test_preflights import ended, started
from tests.submissions.world import Vendor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("access:1")]
Connect = Callable[[str], psycopg.Connection[Any]]
TOGETHER = 50


def test_the_verifiers_table_of_a_preflight_is_the_platforms() -> None:
    assert PREFLIGHT_STATES - {"created"} == PREFLIGHT
    onward = {
        to
        for state in PREFLIGHT_STATES
        for to in MOVES.get(state, ())
        if may_move(state, to, scope="preflight")
    }
    assert onward == PREFLIGHT
    never = {to for state in set(MOVES) - {"paused"} for to in MOVES[state] if not may_move(state, to)}
    assert never == {"preflight_passed"}


def test_the_database_lets_a_preflight_be_nothing_more(vendor: Vendor) -> None:
    task_set = world.task_set()
    found = started(vendor, vendor.order(task_set, vendor.harness()))
    services.check(found.id)
    found.refresh_from_db()
    held_out, canary = (
        run_of(task_set, kind) for kind in (EvaluationRun.Kind.HELD_OUT, EvaluationRun.Kind.CANARY)
    )
    row = Submission.of_any_scope.filter(pk=found.pk)
    beyond: list[dict[str, Any]] = [
        {"state": "queued"},
        {"held_out_run": held_out},
        {"canary_run": canary},
        {"cooldown_until": found.admitted_at},
        {"publication_consent": True},
    ]
    for change in beyond:
        with pytest.raises(DatabaseError, match="preflight_alone_goes_no_further"), recorded(found):
            row.update(**change)
    with pytest.raises(DatabaseError, match="what was admitted never changes"), recorded(found):
        row.update(scope="full")
    with pytest.raises(DatabaseError, match="a preflight has no slot"), recorded(found):
        slots.reserve(found, by=world.BY)
    assert not Slot.objects.exists()
    whole = vendor.submit(task_set, vendor.harness("other"))
    services.check(whole.id)
    with pytest.raises(DatabaseError, match="preflight_alone_goes_no_further"), recorded(whole):
        Submission.objects.filter(pk=whole.pk).update(state="preflight_passed", ended_at=whole.admitted_at)
    whole.pk, whole.state, whole.preflight_run = new_id(), "created", None
    with pytest.raises(DatabaseError, match="upload_used_by_one_submission"), recorded(whole):
        whole.save(force_insert=True)


def test_the_log_tells_it_all_and_its_rules_agree(
    vendor: Vendor, connect_as: Connect, servers: Servers
) -> None:
    task_set = world.task_set()
    order = vendor.order(task_set, vendor.harness())
    ended(started(vendor, order))
    services.cancel(
        started(vendor, vendor.order(task_set, order.harness_version.harness)).id, by=vendor.actor
    )
    services.submit(order, by=vendor.actor, key="k")
    auditor = connect_as("auditor")

    def differences() -> list[Difference]:
        follow, judge = Replay([SUBMISSION, TRANSITIONS, UPLOAD]), Judge()
        for position, raw in auditor.execute("SELECT id, body FROM audit_event ORDER BY id").fetchall():
            body = json.loads(bytes(raw))
            assert follow.see(body, position) == []
            seen = Seen(position, body["kind"], body["subject"]["id"], body["outcome"], body["data"], -1)
            assert [wrong for wrong in judge.see(seen) if "task set" not in wrong] == []
        return list(follow.differences(auditor.execute))

    assert differences() == []
    with unguarded(servers, "submissions_submission") as thief:
        thief.execute("UPDATE submissions_submission SET scope = 'full' WHERE state = 'cancelled'")
    (found,) = differences()
    assert "scope" in found.what


ADMITTED = {"upload": "u", "package_digest": "d", "harness_version": "v", "task_set": "t"}


def story(rule: Any, *events: tuple[str, str, dict[str, Any]]) -> list[str]:
    """What this rule alone says about the events."""
    found = [
        rule.see(Seen(position, kind, subject, data.get("outcome", "ok"), data, -1))
        for position, (kind, subject, data) in enumerate(events)
    ]
    return [wrong for wrong in found if wrong]


def moved(before: str, after: str) -> tuple[str, str, dict[str, Any]]:
    return ("submission.moved", "p", {"before": before, "after": after})


def test_the_verifier_finds_what_no_preflight_does() -> None:
    from client.audit.rules.beginnings import Beginnings
    from client.audit.rules.preflights import WHOLE, Alone
    from client.audit.rules.submissions import Moves
    from client.audit.rules.task_sets import TaskSets
    from client.audit.rules.uploads import Uploads

    begun, checked = ("preflight.admitted", "p", ADMITTED), moved("created", "checking")
    straight = [begun, checked, moved("checking", "preflight")]
    assert story(Moves(), *straight, moved("preflight", "preflight_passed")) == []
    assert "where only submissions come" in story(Moves(), *straight, moved("preflight", "queued"))[0]
    whole = [("submission.admitted", "p", ADMITTED), *straight[1:], moved("preflight", "preflight_passed")]
    assert "as a preflight on its own" in story(Moves(), *whole)[0]
    for kind in WHOLE:
        assert "a preflight on its own" in story(Alone(), begun, (kind, "p", {"submission": "p"}))[0]
        assert story(Alone(), begun, (kind, "q", {"submission": "q"})) == []
    assert "no earlier entry begins" in story(Beginnings(), begun)[0]
    known = [
        ("harness.registered", "h", {}),
        ("harness.version_registered", "v", {"harness": "h"}),
        ("upload.opened", "u", {"harness_version": "v"}),
    ]
    assert "a second time" in story(Beginnings(), *known, begun, begun)[-1]
    assert "which is not open" in story(TaskSets(), begun)[0]
    opened: tuple[str, str, dict[str, Any]] = ("upload.opened", "u", {})
    checks: tuple[str, str, dict[str, Any]] = ("upload.verifying", "u", {})
    complete = ("upload.ended", "u", {"outcome": "complete", "sha256": "d"})
    used = ("upload.used", "u", {"submission": "q"})
    assert story(Uploads(), opened, checks, complete, begun, begun, used) == []
    assert "no complete upload" in story(Uploads(), opened, begun)[0]
    assert "that was used" in story(Uploads(), opened, checks, complete, used, begun)[0]
    other = ("upload.ended", "u", {"outcome": "complete", "sha256": "e"})
    assert "another package" in story(Uploads(), opened, checks, other, begun)[0]


@pytest.mark.serial
@pytest.mark.parametrize(
    ("numbers", "admitted", "code"),
    [
        ({"preflight": 3, "in_flight": 60}, 3, "preflight_ceiling"),
        ({"preflight": 60, "in_flight": 1}, 1, "in_flight"),
    ],
)
def test_fifty_at_once_exceed_neither_ceiling_nor_the_line(
    numbers: dict[str, int], admitted: int, code: str, two_servers: list[str]
) -> None:
    vendor = world.vendor(verified=False)
    harness, task_set = vendor.harness(), world.task_set("many", profile="demo", **numbers)
    body = world.body_of(vendor.order(task_set, harness))
    gate = threading.Barrier(TOGETHER)

    def act(at: int) -> str:
        gate.wait(60)
        headers = {"authorization": f"Bearer {vendor.api.secret}", "idempotency-key": uuid.uuid4().hex}
        url = f"{two_servers[at % 2]}/api/v1/preflights"
        answer = client.post(url, json=body, headers=headers, timeout=120)
        return "admitted" if answer.status_code == 202 else str(answer.json()["code"])

    with (
        httpx.Client(limits=httpx.Limits(max_connections=TOGETHER)) as client,
        ThreadPoolExecutor(TOGETHER) as pool,
    ):
        said = Counter(pool.map(act, range(TOGETHER)))
    assert said == {"admitted": admitted, code: TOGETHER - admitted}
    assert Submission.of_any_scope.count() == admitted


@pytest.mark.serial
def test_preflights_and_submissions_of_a_line_wait_for_each_other(two_servers: list[str]) -> None:
    vendor = world.vendor()
    harness, task_set = vendor.harness(), world.task_set("many", profile="demo", in_flight=1, preflight=60)
    bodies = [world.body_of(vendor.order(task_set, harness)) for _ in range(10)]
    gate = threading.Barrier(20)

    def act(at: int) -> int:
        gate.wait(60)
        headers = {"authorization": f"Bearer {vendor.api.secret}", "idempotency-key": uuid.uuid4().hex}
        url = f"{two_servers[at // 2 % 2]}/api/v1/{('preflights', 'submissions')[at % 2]}"
        return client.post(url, json=bodies[at // 2], headers=headers, timeout=120).status_code

    with httpx.Client(limits=httpx.Limits(max_connections=20)) as client, ThreadPoolExecutor(20) as pool:
        said = Counter(pool.map(act, range(20)))
    assert (said[202], said[429] + said[409]) == (
        1,
        19,
    )  # a preflight of a package that is submitted comes too late
    assert Submission.of_any_scope.count() == 1
