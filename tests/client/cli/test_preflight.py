"""`lgbench preflight` against the real site over HTTP: what it uses, how it ends, what a repetition does."""

from __future__ import annotations

import json

import pytest

from accounts.models import Organisation
from submissions import services
from submissions.models import Slot, Submission, Upload
from tests.factories import saved
from tests.submissions.test_preflights import ended

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("access:1")]


@pytest.fixture
def reviewed(online):
    """The vendor, whose organisation is still under review."""
    online.organisation.state = Organisation.State.UNDER_REVIEW
    saved(online.organisation)
    return online


def test_an_organisation_under_review_tries_its_package(lg, reviewed, kit):
    said = lg("preflight", "--json")
    assert said.code == 0, said.everything
    row = Submission.of_any_scope.get()
    assert (said.json["id"], said.json["state"], row.scope) == (str(row.id), "created", "preflight")
    again = lg("preflight", "--json")
    assert (again.code, again.json["id"]) == (0, str(row.id))
    assert "under way" in again.err
    late = lg("preflight", "--wait", "--timeout", "0")
    assert (late.code, "created 0/0" in late.err) == (6, True), late.everything
    ended(row)
    done = lg("preflight", "--wait")
    assert done.code == 0, done.everything
    assert f"Preflight {row.id}" in done.out
    assert "state preflight_passed; 8 of 8 runs, 0 crashed" in done.out
    runs = json.loads((kit / ".lgbench/preflight.json").read_text())["runs"]
    assert {run["stdout"] for run in runs} == {f"log of {run['task']}" for run in runs}
    assert (Submission.of_any_scope.count(), Upload.objects.count(), Slot.objects.count()) == (1, 1, 0)
    assert lg("submit").code == 3


def test_a_harness_that_fails_is_tried_anew(lg, online, kit):
    assert lg("preflight").code == 0
    first = Submission.of_any_scope.get()
    ended(first, crashed=8)
    assert lg("preflight").code == 0
    second = Submission.of_any_scope.exclude(pk=first.pk).get()
    assert "under way" in lg("preflight").err
    ended(second)
    assert "has passed a preflight already" in lg("preflight").err
    assert Submission.of_any_scope.count() == 2


def test_the_exit_code_and_the_words_of_a_failure(lg, online, kit, monkeypatch):
    assert lg("preflight").code == 0
    row = Submission.of_any_scope.get()
    monkeypatch.setattr("client.remote.http.rest", lambda seconds: ended(row, crashed=8))
    said = lg("preflight", "--wait", "--lang", "zh")
    assert said.code == 4, said.everything
    assert "preflight_crashed" in said.out
    assert "预检" in said.out


def test_a_ceiling_refuses_before_a_byte(lg, online, task_set):
    services.set_policy(task_set, profile="demo", numbers={"preflight": 0}, by=online.actor)
    said = lg("preflight")
    assert (said.code, "preflight_ceiling" in said.err) == (3, True), said.everything
    assert Upload.objects.count() == 0


def test_the_submission_of_the_same_package_is_a_new_one(lg, online):
    assert lg("preflight").code == 0
    ended(Submission.of_any_scope.get())
    said = lg("submit", "--json")
    assert (said.code, said.json["note"]) == (0, "admitted"), said.everything
    assert Submission.objects.get().package_digest == Submission.of_any_scope.first().package_digest
