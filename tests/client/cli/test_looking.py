"""status, wait, result, quota, and the words of every failure."""

from __future__ import annotations

import re

import pytest

from accounts import services as accounts
from submissions.models import Submission
from submissions.problems import Code
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
PLAIN = re.compile(r"^lgbench: [a-z][a-z0-9_]+: \S", re.MULTILINE)


@pytest.fixture
def submitted(lg, online):
    assert lg("submit").code == 0
    return Submission.objects.get()


@pytest.mark.parametrize(
    ("moves", "code"),
    [
        ((), 6),
        ((("checking", Code.CHECK_STARTED), ("rejected", Code.MANIFEST_MISSING)), 4),
        ((("checking", Code.CHECK_STARTED), ("voided", Code.DEADLINE_CHECKING)), 5),
        ((("cancelled", Code.CANCELLED_BY_VENDOR),), 3),
        ((*site.TO_RUNNING, ("grading", Code.ALL_RUNS_EXECUTED), ("held", Code.HELD_FOR_REVIEW)), 7),
        ((*site.TO_RUNNING, ("awaiting_choice", Code.RUNS_LOST)), 7),
    ],
)
def test_every_end_has_its_exit_code(lg, submitted, moves, code):
    row = site.moved(submitted, *moves)
    said = lg("wait", "--timeout", "0", "--json")
    assert (said.code, said.json["state"]) == (code, row.state)
    if row.state not in ("created", "running"):
        words = lg("wait", "--timeout", "0").out
        assert f"state {row.state}" in words
        assert "Next: " in words
        assert "Help: http" in words


FAILURES = {
    "manifest_missing": (("checking", Code.CHECK_STARTED), ("rejected", Code.MANIFEST_MISSING)),
    "preflight_crashed": (*site.TO_RUNNING[:2], ("preflight_failed", Code.PREFLIGHT_CRASHED)),
    "canary_failed": (*site.TO_RUNNING[:3], ("preflight_failed", Code.CANARY_FAILED)),
    "deadline_checking": (("checking", Code.CHECK_STARTED), ("voided", Code.DEADLINE_CHECKING)),
    "cancelled_after_start": (*site.TO_RUNNING, ("cancelled", Code.CANCELLED_AFTER_START)),
    "runs_lost": (*site.TO_RUNNING, ("awaiting_choice", Code.RUNS_LOST)),
}


@pytest.mark.case("U2")
@pytest.mark.parametrize("code", FAILURES)
def test_a_failure_is_told_in_both_languages(lg, submitted, code):
    """Code, sentence, next step, what it does to the quota, and the page: as the site words them."""
    row = site.moved(submitted, *FAILURES[code])
    english, chinese = lg("status").out, lg("status", "--lang", "zh").out
    for said, words in (
        (english, ("Next: ", "Quota: ", "Help: ")),
        (chinese, ("下一步：", "配额：", "说明：")),
    ):
        assert re.search(rf"^  {code}: \S", said, re.MULTILINE), said
        assert all(word in said for word in words), said
        assert f"/problems/{code}/" in said
    assert re.search(rf"{code}: .*[\u4e00-\u9fff]", chinese)
    assert not re.search(r"[\u4e00-\u9fff]", english)
    assert lg("status", "--json").json["outcome"]["code"] == code
    assert row.reason_code == code


@pytest.mark.parametrize(
    ("bars", "code", "verdict"),
    [
        ((), 0, None),
        (("finance=40",), 0, "reached"),  # 51 ± 11: the lower end is 40
        (("finance=41",), 9, "inconclusive"),
        (("finance=62",), 9, "inconclusive"),
        (("finance=63",), 8, "below"),
        (("finance=41", "general=90"), 8, None),
        (("enterprise=38",), 0, "reached"),
    ],
)
def test_bars_are_held_against_the_lower_end(lg, submitted, bars, code, verdict):
    site.release(site.moved(submitted, *site.TO_COMPLETE))
    said = lg("result", "--json", *(word for bar in bars for word in ("--min", bar)))
    assert said.code == code
    if verdict:
        assert list(said.json["bars"].values()) == [verdict]
    assert re.search(r"finance +51  \[40, 62\]", lg("result").out)


def test_what_is_not_reportable_is_inconclusive(lg, submitted):
    site.release(site.moved(submitted, *site.TO_COMPLETE), withheld="finance")
    assert lg("result", "--min", "finance=1").code == 9
    assert lg("result", "--min", "general=37").code == 0
    assert lg("result", "--min", "nonsense").code == 2


@pytest.mark.case("U13")
def test_quota_lists_what_is_zero_and_why(lg, online, task_set, kit):
    other = site.task_set("2026.7", line=0)
    closed = site.task_set("2026.6", cooldown_seconds=3600)
    harness = online.harness("one")
    site.moved(online.submit(closed, harness), *site.TO_COMPLETE)
    said = lg("quota", "--json")
    assert said.code == 0
    rows = {row["task_set"]: row["harnesses"][0] for row in said.json["task_sets"]}
    assert set(rows) == {task_set.label, other.label, closed.label}
    assert (rows["2026.7"]["remaining"], rows["2026.7"]["bites"]) == (0, "line")
    assert said.json["task_sets"] == [
        {**row, "harnesses": [{**line, "now": line["now"]} for line in row["harnesses"]]}
        for row in said.json["task_sets"]
    ]
    words = lg("quota").out
    assert "one: 0 left, refused by `line`: the allowance is used up until the next task-set version" in words
    until = Submission.objects.get().cooldown_until.isoformat()
    assert f"refused by `cooldown` until {until}" in words
    assert "one: 3 left, allowed now" in words


@pytest.mark.case("U8")
@pytest.mark.case("U24")
def test_every_failure_has_code_hint_and_help(lg, online, kit, monkeypatch, live_server):
    suspended = world.vendor()
    accounts.revoke_token(suspended.token, by=world.BY)
    monkeypatch.setattr("client.remote.http.TRIES", 2)
    cases = {
        ("quota", "--token", "lgb_nonsense"): 3,
        ("quota", "--token", suspended.api.secret): 3,
        ("quota", "--site", "http://127.0.0.1:9"): 5,
        ("quota", "--site", "nonsense"): 2,
        ("status",): 2,
        ("status", "01890000-0000-7000-8000-000000000000"): 2,
        ("result", "--min", "x"): 2,
        ("verify", "absent.json", "--key", "absent.key"): 2,
        ("check", "-C", str(kit / "harness")): 2,
        ("init", "."): 2,
    }
    for arguments, code in cases.items():
        said = lg(*arguments)
        assert said.code == code, (arguments, said.everything)
        assert "Traceback" not in said.everything
        assert not re.search(r"\b\w+(Error|Exception)\b", said.everything), arguments
        if arguments[0] != "verify":
            assert PLAIN.search(said.err), (arguments, said.err)
            assert "\n  Next: " in said.err
            assert re.search(r"\n  Help: (http|docs/client\.md#)\S+", said.err), arguments
    assert lg("quota", "--token", suspended.api.secret, "--lang", "zh").err.count("下一步：") == 1


def test_a_used_up_option_is_a_usage_error(lg):
    said = lg("submit", "--nonsense")
    assert said.code == 2
    assert "--nonsense" in said.err


@pytest.mark.parametrize("token", ["lgb_…", "lgb_a b", "lgb_\x01"])
def test_what_is_no_token_is_not_sent(lg, folder, token) -> None:
    answer = lg("quota", "--site", "http://127.0.0.1:9", "--token", token)
    assert (answer.code, "token_malformed" in answer.err) == (3, True)
