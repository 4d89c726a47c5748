"""The rules across events: each finds what it is for, names the entry, and is silent where it cannot know."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.events import Event
from client.audit.rules import Judge, Seen, load
from client.audit.rules.base import known_kinds
from client.audit.rules.submissions import MOVES
from submissions.policies import states
from tests.client import synthetic


def judged(entries, withheld=()):
    """(position, what) of everything the rules say of a history."""
    judge, last, found = Judge(), -1, []
    for position, entry in enumerate(entries):
        if position in withheld:
            last = position
            continue
        body = json.loads(entry)
        event = Seen(position, body["kind"], body["subject"]["id"], body["outcome"], body["data"], last)
        found += [(position, wrong) for wrong in judge.see(event)]
    return found


def history(seed=5):
    return list(synthetic.history(seed, submissions=6, episodes=10))


def where(entries, kind, nth=0, **data):
    """The position of the nth event of a kind with these facts."""
    found = [
        position
        for position, entry in enumerate(entries)
        if (body := json.loads(entry))["kind"] == kind and data.items() <= body["data"].items()
    ]
    return found[nth]


def altered(entry, **data):
    body = json.loads(entry)
    body["data"].update(data)
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def test_every_kind_the_platform_declares_is_known():
    """Who adds a kind of event adds its rule to client/audit/rules, or declares it there as one without."""
    declared = {kind for kind, event in Event.registry.items() if not event.__module__.startswith("tests.")}
    assert declared - known_kinds(load()) == set()


def test_the_table_of_moves_is_the_platforms():
    assert {state: set(to) for state, to in MOVES.items()} == {
        state: set(to) for state, to in states.MOVES.items()
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_history_without_fault(seed):
    assert judged(history(seed)) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 3), st.data())
def test_no_false_alarm_whatever_is_withheld(seed, data):
    entries = history(seed)
    density = data.draw(st.sampled_from([0.02, 0.3, 0.9]))
    chosen = data.draw(st.randoms(use_true_random=False))
    withheld = {position for position in range(len(entries)) if chosen.random() < density}
    assert judged(entries, withheld) == []


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 3), st.data())
def test_no_false_alarm_on_a_disclosed_range(seed, data):
    entries = history(seed)
    first = data.draw(st.integers(0, len(entries)))
    last = data.draw(st.integers(first, len(entries)))
    assert judged(entries, {*range(first), *range(last, len(entries))}) == []


DROPPED = [
    ("upload.opened", {}, "names the upload"),
    ("upload.ended", {}, "but it is verifying"),
    ("upload.verifying", {}, "without having been checked"),
    ("upload.used", {}, "did not use"),
    ("submission.admitted", {}, "names the submission"),
    ("slot.reserved", {}, "was never reserved"),
    ("slot.consumed", {}, "no use of the quota"),
    ("run.created", {"run_kind": "held_out"}, "not created"),
    ("run.executed", {}, "but it is created"),
    ("run.ended", {"missing": 1}, "is reopened, but it is executed"),
    ("run.reopened", {}, "its run is ended"),
    ("result.released", {}, "read before it was released"),
    ("harness.version_registered", {}, "names the harness version"),
    ("task_set.admitted", {}, "did not pass admission"),
    ("task_set.frozen", {}, "not frozen"),
    ("task_set.opened", {}, "not open"),
    ("release_policy.set", {}, "names the release policy"),
    ("organisation.created", {}, "names the organisation"),
    ("token.issued", {}, "names the token"),
    ("submission.moved", {"before": "checking", "after": "preflight"}, "but it is checking"),
    ("submission.moved", {"before": "queued"}, "did not start to run"),
]


@pytest.mark.parametrize(("kind", "data", "what"), DROPPED, ids=[f"{row[0]}-{row[2]}" for row in DROPPED])
def test_an_event_that_never_was(kind, data, what):
    entries = history()
    found = judged([*entries[: (at := where(entries, kind, **data))], *entries[at + 1 :]])
    assert any(what in wrong for _, wrong in found), found
    assert min(position for position, _ in found) >= at


TWICE = [
    *(
        "task_set.frozen",
        "task_set.opened",
        "upload.ended",
        "upload.used",
        "submission.admitted",
        "slot.reserved",
    ),
    *("slot.consumed", "slot.refunded", "run.created", "run.executed", "run.ended", "attempt.ended"),
    *("result.released", "token.revoked", "submission.moved", "release_policy.set", "harness.registered"),
]


@pytest.mark.parametrize("kind", TWICE)
def test_an_event_that_happens_twice(kind):
    entries = history()
    at = where(entries, kind)
    found = judged([*entries[: at + 1], entries[at], *entries[at + 1 :]])
    assert found
    assert found[0][0] == at + 1


WRONG = [
    ("submission.moved", {"before": "grading"}, {"after": "queued"}, "no legal move"),
    ("submission.moved", {"before": "queued"}, {"before": "created"}, "but it is queued"),
    ("upload.ended", {}, {"sha256": "0" * 64}, "another package"),
    ("result.released", {}, {"values": {"finance": {"value": 101, "h": 5}}}, "0 to 100"),
    ("result.released", {}, {"values": {"finance": {"value": 50}}}, "0 to 100"),
    ("result.released", {}, {"coverage": "1.01"}, "no coverage"),
    ("result.released", {}, {"bounds": {"finance": {"low": 3, "high": 101}}}, "0 to 100"),
    ("result.released", {}, {"runs_root": "none"}, "no root over its runs"),
    ("result.released", {}, {"policy_row": ""}, "no policy row"),
    ("leak.charged", {}, {"millibits": 26_632}, "more than was charged"),
    ("leak.charged", {}, {"millibits": 0}, "is none"),
    ("leak.charged", {}, {"spent": 26_632}, "more than all that was charged"),
    ("leak.charged", {}, {"budget": 26_632}, "more than the budget"),
    ("task_set.frozen", {}, {"assets_root": ""}, "without a root"),
    ("result.released", {}, {"policy": "somebody's"}, "names the release policy"),
    ("slot.consumed", {}, {"submission": "another"}, "another submission"),
    ("task_set.frozen", {}, {"digest": "0" * 64}, "did not pass admission"),
    ("run.created", {"run_kind": "held_out"}, {"package": "0" * 64}, "no use of the quota"),
    ("run.created", {"run_kind": "held_out"}, {"episodes": 5}, "more first attempts"),
    ("run.created", {"run_kind": "held_out"}, {"episodes": 50}, "fewer attempts"),
    ("run.reopened", {}, {"episodes": 7}, "another number of episodes"),
    ("attempt.ended", {"number": 1}, {"number": 0}, "has the number 0"),
    ("attempt.ended", {"number": 1}, {"number": 3}, "before enough have ended"),
    ("attempt.ended", {"number": 1}, {"number": 10**12}, "before enough have ended"),
    ("attempt.ended", {"number": 1}, {"number": "1"}, "lacks a fact"),
    ("submission.admitted", {}, {"task_set": "2025.2"}, "not open"),
]


@pytest.mark.parametrize(
    ("kind", "data", "change", "what"), WRONG, ids=[f"{row[0]}-{row[3]}" for row in WRONG]
)
def test_an_event_with_another_fact(kind, data, change, what):
    entries = history()
    at = where(entries, kind, **data)
    found = judged([*entries[:at], altered(entries[at], **change), *entries[at + 1 :]])
    assert any(what in wrong for _, wrong in found), found


def test_an_attempt_after_its_run_ended():
    entries = history()
    attempt, ended = where(entries, "attempt.ended"), where(entries, "run.ended")
    moved = [*entries[:attempt], *entries[attempt + 1 : ended + 1], entries[attempt], *entries[ended + 1 :]]
    assert [position for position, wrong in judged(moved) if "its run is ended" in wrong] == [ended]


def test_a_release_before_its_run_ended():
    entries = history()
    released, ended = where(entries, "result.released"), where(entries, "run.ended", 2)
    moved = [*entries[:ended], entries[released], *entries[ended:released], *entries[released + 1 :]]
    found = [(position, wrong) for position, wrong in judged(moved) if "before its run has ended" in wrong]
    assert [position for position, _ in found] == [ended]


def test_a_paused_submission_goes_back_where_it_came_from():
    write = synthetic.Scribe(3)
    entries = history()
    at = where(entries, "submission.moved", before="queued")
    name = json.loads(entries[at])["subject"]["id"]
    pause = synthetic.move(write, name, "queued", "paused", "upstream_down")
    back = synthetic.move(write, name, "paused", "queued", "upstream_back")
    astray = synthetic.move(write, name, "paused", "running", "upstream_back")
    assert judged([*entries[:at], pause, back, *entries[at:]]) == []
    found = judged([*entries[:at], pause, astray, *entries[at + 1 :]])
    assert (at + 1, f"the submission {name} was paused from queued and resumes as running") in found


def test_auditors():
    write = synthetic.Scribe(6)
    entries = history()
    organisation, term = json.loads(entries[0])["subject"]["id"], write.id()
    marked = write.event("organisation.marked_as_auditing", "organisation", organisation)
    facts = {"organisation": organisation, "account": write.id(), "begins": "2026-01", "ends": "2027-01"}
    appointed = write.event("auditor.appointed", "auditor_term", term, **facts)
    ended = write.event("auditor.ended", "auditor_term", term)
    at = len(entries)
    assert judged([*entries, marked, appointed, ended]) == []
    assert [position for position, _ in judged([*entries, marked, appointed, ended, ended])] == [at + 3]
    assert [position for position, _ in judged([*entries, appointed])] == [at]
    assert [position for position, _ in judged([*entries, ended])] == [at]
    for people, wrong in (
        (["a", "b"], []),
        (["a", "a"], [at + 1]),
        (["a"], [at + 1]),
        (["a", "b", "b"], [at + 1]),
    ):
        by = write.event("auditor.appointed", "auditor_term", write.id(), **facts, people=people)
        assert [position for position, _ in judged([*entries, marked, by])] == wrong


def test_grading_again():
    write = synthetic.Scribe(7)
    entries = history()
    released = where(entries, "result.released")
    name, seed = json.loads(entries[released])["subject"]["id"], write.sha256()
    committed = write.event("regrading.committed", "submission", name, seed_digest=seed)
    facts: dict[str, Any] = {"count": 5, "differences": 0, "grader": write.sha256()}
    done = write.event("regrading.done", "submission", name, seed_digest=seed, **facts)
    good = [*entries[:released], committed, *entries[released:], done]
    assert judged(good) == []
    assert [position for position, _ in judged([*entries, committed, done])] == [len(entries)]
    assert [position for position, _ in judged([*entries, done])] == [len(entries)]
    assert [position for position, _ in judged([*good[:-1], altered(done, differences=6)])] == [len(good) - 1]
    assert judged([*entries, done], withheld={3}) == []


def test_sealed_exports():
    write = synthetic.Scribe(8)
    entries = history()
    name = json.loads(entries[where(entries, "submission.admitted")])["subject"]["id"]
    facts: dict[str, Any] = {"people": ["a", "b"], "reason": "r", "content": write.sha256(), "runs": 9}
    made = write.event("sealed_export.made", "submission", name, **facts)
    stranger = write.event("sealed_export.made", "submission", write.id(), **facts)
    assert judged([*entries, made]) == []
    for wrong in (altered(made, people=["a", "a"]), altered(made, content="x"), stranger):
        assert [position for position, _ in judged([*entries, wrong])] == [len(entries)]


def test_exports_of_the_log():
    write = synthetic.Scribe(9)
    entries, name = history(), write.id()
    at = len(entries)
    asked = write.event("export.requested", "export", name, disclosed={})
    made = write.event("export.made", "export", name, manifest="m", size=at, shown=5)
    given = write.event("export.delivered", "export", name, manifest="m")
    assert judged([*entries, asked, made, given, given]) == []
    assert [position for position, _ in judged([*entries, made])] == [at]
    assert [position for position, _ in judged([*entries, asked, given])] == [at + 1]
    assert [position for position, _ in judged([*entries, asked, made, altered(given, manifest="n")])] == [
        at + 2
    ]
    assert [position for position, _ in judged([*entries, asked, altered(made, size=at + 9)])] == [at + 1]
    assert judged([*entries, given], withheld={at - 1}) == []


def test_withholding_an_entry():
    write = synthetic.Scribe(9)
    entries, people = history(), {"asked_by": "a", "agreed_by": "b", "reason": "r"}
    good = write.event("entry.withheld", "entry", "3", **people)
    late = write.event("entry.withheld", "entry", "9999", **people)
    assert judged([*entries, good]) == []
    for wrong in (altered(good, agreed_by="a"), late):
        assert [position for position, _ in judged([*entries, wrong])] == [len(entries)]


def test_two_submissions_of_one_upload():
    entries = history()
    first, second = where(entries, "submission.admitted"), where(entries, "submission.admitted", 1)
    facts = json.loads(entries[first])["data"]
    changed = altered(entries[second], upload=facts["upload"], package_digest=facts["package_digest"])
    found = judged([*entries[:second], changed, *entries[second + 1 :]])
    assert any(position == second and "another one used" in wrong for position, wrong in found)
