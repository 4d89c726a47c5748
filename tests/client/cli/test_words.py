"""Both languages are complete, and exit codes and the client's own error codes are documented."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils import translation

from client import words
from client.check.findings import TEXTS
from client.cli.show import counters
from client.exits import Exit, meanings, of_problem, of_submission
from leaderboard.statuses import COUNTERS

ROOT = Path(__file__).resolve().parents[3]
SOURCES = [path for path in (ROOT / "platform/client").rglob("*.py") if "audit" not in path.parts]
PLACE = re.compile(r"\{\w*\}")


def calls(name: str) -> Iterator[ast.Call]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield node


def spoken() -> set[str]:
    found = {text for pair in TEXTS.values() for text in pair}
    for call in calls("say"):
        if isinstance(call.args[0], ast.Constant):
            found.add(str(call.args[0].value))
    return found


def test_everything_is_said_in_chinese_too():
    chinese = words.chinese()
    assert spoken() == set(chinese)
    for english, other in chinese.items():
        assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(other)), english
        assert re.search(r"[\u4e00-\u9fff]", other) or english == "{keyword}: {wanted}", english
        assert english[:1].isspace() == other[:1].isspace(), english


@pytest.mark.parametrize(
    ("option", "environment", "expected"),
    [
        (None, {"LANG": "zh_CN.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN.UTF-8", "LGBENCH_LANG": "en"}, "en"),
        ("zh-hans", {"LGBENCH_LANG": "en"}, "zh"),
        (None, {"LANG": "C.UTF-8"}, "en"),
        (None, {}, "en"),
    ],
)
def test_who_says_which_language(option, environment, expected):
    assert words.wanted(option, environment) == expected


def test_counters_are_called_as_on_the_pages():
    """Both languages; what the client says elsewhere of the cooldown is no counter."""
    for language, site in (("en", "en"), ("zh", "zh-hans")):
        words.use(language)
        with translation.override(site):
            assert {**counters(), "cooldown": str(COUNTERS["cooldown"])} == {
                name: str(text) for name, text in COUNTERS.items()
            }
    words.use("en")


def test_exit_codes_are_the_documented_ones(lg):
    text = (ROOT / "docs/client.md").read_text(encoding="utf-8")
    table = dict(re.findall(r"^\| (\d) \| (.+?) \|$", text, re.MULTILINE))
    assert table == {str(int(code)): words_ for code, words_ in meanings().items()}
    assert [int(code) for code in Exit] == [0, 2, 3, 4, 5, 6, 7, 8, 9]
    assert lg("exit-codes").out.splitlines() == [f"{int(code)}  {text}" for code, text in meanings().items()]


def test_what_a_state_and_a_refusal_exit_with():
    ends = {
        ("complete", ""): 0,
        ("preflight_passed", ""): 0,
        ("incomplete", ""): 9,
        ("rejected", "harness"): 4,
        ("preflight_failed", "harness"): 4,
        ("cancelled", "vendor_decision"): 3,
        ("cancelled", "platform"): 5,
        ("voided", "platform"): 5,
        ("voided", "policy"): 3,
        ("held", ""): 7,
        ("awaiting_choice", "platform"): 7,
        ("queued", ""): 6,
        ("running", ""): 6,
    }
    assert {case: int(of_submission(*case)) for case in ends} == ends
    refusals = {
        (429, "quota_line"): 3,
        (401, "token_expired"): 3,
        (422, "entry_setuid"): 4,
        (422, "invalid_field"): 2,
        (503, "service_unavailable"): 5,
        (404, "not_found"): 2,
        (409, "version_taken"): 3,
    }
    assert {case: int(of_problem(*case)) for case in refusals} == refusals


@pytest.mark.case("U24")
def test_every_code_of_the_client_has_a_place_in_the_documents():
    text = (ROOT / "docs/client.md").read_text(encoding="utf-8")
    codes = {call.args[0].value for call in calls("Trouble") if isinstance(call.args[0], ast.Constant)}
    assert {"upload_interrupted", "network_lost", "no_token"} <= codes
    assert codes == set(re.findall(r'<a id="(\w+)"></a>', text))
