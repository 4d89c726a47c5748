"""`lgbench init` and `lgbench check`: what a vendor sees before anything is sent."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from client.check.documents import check_card, check_manifest
from client.check.findings import TEXTS
from client.check.package import check_package
from client.check.page import PARTS, page
from client.packing import pack
from submissions import cards
from submissions.intake import Finding, Rule, read_manifest
from submissions.intake.rules import CARD_RULES, MANIFEST_RULES, problem_code
from tests.submissions.world import Api

ROOT = Path(__file__).resolve().parents[3]


def test_the_kit_passes_its_own_check(lg, kit):
    said = lg("check")
    assert (said.code, said.out.startswith("OK: 2 entries")) == (0, True), said.everything
    assert tomllib.loads((kit / "harness/harness.toml").read_text())["name"] == "my-harness"
    for name in ("lgbench-submit.yml", "lgbench-collect.yml"):
        assert yaml.safe_load((kit / ".github/workflows" / name).read_text())["jobs"]
    assert {"lgbench-submit", "lgbench-collect"} <= set(yaml.safe_load((kit / ".gitlab-ci.yml").read_text()))


@pytest.mark.parametrize("place", [".", "in here"])
def test_init_says_the_very_next_command(lg, folder, place):
    said = lg("init", place, "--name", "mine")
    assert said.code == 0
    following = said.out.splitlines()[-1].removeprefix("Next: ")
    assert following == {".": "lgbench check", "in here": "cd 'in here' && lgbench check"}[place]
    lines = following.replace("lgbench check", f"{sys.executable} -m client check")
    done = subprocess.run(["bash", "-c", lines], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:3]) == (0, "OK:"), done.stderr


def test_one_finding_is_one(lg, kit):
    card = json.loads((kit / "card.json").read_text())
    for wrong, words in (({"a": 1}, "1 finding; nothing"), ({"a": 1, "b": 2}, "2 findings; nothing")):
        (kit / "card.json").write_text(json.dumps({**card, **wrong}))
        said = lg("check")
        assert (said.code, said.out.splitlines()[-1].startswith(words)) == (4, True), said.out


def test_init_touches_nothing_that_exists(lg, folder):
    (folder / "card.json").write_text("mine")
    said = lg("init", ".")
    assert (said.code, "already_there" in said.err) == (2, True)
    assert [path.name for path in folder.iterdir()] == ["card.json"]
    said = lg("init", "Ümläut", "--name", "No Good")
    assert (said.code, "name_invalid" in said.err) == (2, True)


@pytest.mark.case("U22")
def test_each_finding_says_all_there_is_to_say(lg, kit):
    toml = (kit / "harness/harness.toml").read_text()
    (kit / "harness/harness.toml").write_text(
        toml.replace("seconds = 60", "seconds = 0").replace("version", "verion")
    )
    card = json.loads((kit / "card.json").read_text())
    del card["layers"]["tools"]["summary"]
    card["tuning"]["public_group_used"] = "no"
    (kit / "card.json").write_text(json.dumps(card))
    said = lg("check", "--json")
    assert said.code == 4
    found = {(row["file"], row["path"], row["rule"]) for row in said.json["findings"]}
    assert found == {
        ("harness.toml", "$.verion", "manifest_unknown_key"),
        ("harness.toml", "$.version", "manifest_key_missing"),
        ("harness.toml", "$.limits.seconds", "manifest_value_invalid"),
        ("card.json", "$.layers.tools.summary", "card_key_missing"),
        ("card.json", "$.tuning.public_group_used", "card_value_invalid"),
    }
    for row in said.json["findings"]:
        assert all(row[part] for part in ("file", "path", "rule", "help", "expected", "found", "fix"))
    lines = lg("check").out
    assert "expected: at least 1" in lines
    assert "found:    0" in lines
    assert "help:     http://127.0.0.1:8000/en/problems/manifest_value_invalid/" in lines
    assert "应为：" in lg("check", "--lang", "zh").out


@pytest.mark.case("U22")
def test_the_rules_are_one_list():
    listed = list(Rule)
    assert set(TEXTS) == set(listed)
    assert [rule for rules in PARTS.values() for rule in rules] == sorted(listed, key=listed.index)
    assert cards.schema("harness-toml", 1)["x-rules"] == [str(rule) for rule in MANIFEST_RULES]
    assert cards.schema("harness-card", 1)["x-rules"] == [str(rule) for rule in CARD_RULES]
    text = (ROOT / "docs/check-rules.md").read_text(encoding="utf-8")
    assert text == page()
    assert re.findall(r'<a id="(\w+)">', text) == [str(rule) for rules in PARTS.values() for rule in rules]
    for module in (
        "submissions/intake/archive.py",
        "submissions/intake/manifest.py",
        "platform/client/check/documents.py",
    ):
        used = set(re.findall(r"\bRule\.([A-Z_]+)", (ROOT / module).read_text()))
        assert used <= set(Rule.__members__)


@pytest.mark.case("U22")
@pytest.mark.django_db
def test_every_rule_is_explained_by_the_site_and_its_schemas_are_those_of_the_wheel():
    api = Api("")
    for rule in Rule:
        answer = api.get(f"problems/{problem_code(rule)}")
        assert (answer.status, set(answer.body["texts"])) == (200, {"en", "zh-hans"}), rule
    for name in ("harness-card", "harness-toml"):
        bundled = json.loads((ROOT / f"submissions/schemas/{name}-1.json").read_text(encoding="utf-8"))
        assert api.get(f"schemas/{name}/1").body == bundled


@pytest.mark.parametrize(
    ("name", "make", "rule"),
    [
        ("leaves", lambda path: path.symlink_to("../../etc/passwd"), "entry_link_leaves_tree"),
        ("pipe", os.mkfifo, "entry_device"),
        ("a\\b", lambda path: path.write_text("x"), "entry_name_invalid"),
        ("RUN.py", lambda path: path.write_text("x"), "entry_duplicate"),
    ],
)
def test_the_archive_is_read_as_intake_reads_it(lg, kit, name, make, rule):
    make(kit / "harness" / name)
    said = lg("check", "--json")
    assert (said.code, [row["rule"] for row in said.json["findings"]]) == (4, [rule])
    assert said.json["findings"][0]["file"]


def test_a_folder_without_manifest(lg, kit):
    (kit / "harness/harness.toml").unlink()
    assert [row["rule"] for row in lg("check", "--json").json["findings"]] == ["manifest_missing"]
    (kit / "card.json").unlink()
    assert [row["rule"] for row in lg("check", "--json").json["findings"]] == [
        "manifest_missing",
        "card_not_json",
    ]


def test_the_same_content_is_the_same_bundle(kit, tmp_path):
    first = pack(kit / "harness", tmp_path / "one.tar.gz")
    (kit / "harness/__pycache__").mkdir()
    (kit / "harness/__pycache__/x.pyc").write_bytes(b"x")
    for path in (kit / "harness").rglob("*"):
        os.utime(path, (1, 1))
    (kit / "harness/harness.toml").chmod(0o600)
    second = pack(kit / "harness", tmp_path / "two.tar.gz")
    assert first.digest == second.digest
    assert first.path.read_bytes() == second.path.read_bytes()
    (kit / "harness/run.py").write_text("pass\n")
    assert pack(kit / "harness", tmp_path / "three.tar.gz").digest != first.digest
    assert not check_package(second.path).findings


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 100_000) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["summary", "tools", "seconds", "x"]), inner)
    ),
    max_leaves=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=st.sampled_from(["layers", "models", "inference", "tuning", "schema", "extra"]), value=values)
def test_a_card_passes_here_exactly_where_it_passes_there(tmp_path, key, value):
    card = json.loads((ROOT / "platform/client/kit/files/card.json").read_text())
    card[key] = value
    path = tmp_path / "card.json"
    path.write_text(json.dumps(card))
    try:
        expected = cards.check(card)
    except cards.CardInvalid:
        expected = None
    found, findings = check_card(path)
    assert found == expected
    assert bool(findings) == (expected is None)


@settings(max_examples=150, deadline=None)
@given(
    seconds=st.integers(-1, 90_000) | st.sampled_from(["1", True]),
    command=st.lists(st.text(min_size=1, max_size=4, alphabet="ab\x00"), max_size=3),
    extra=st.sampled_from(["", "x = 1", "models = []", "[[models]]\nrole = 'main'", "kind = 'image'"]),
)
def test_a_manifest_passes_here_exactly_where_it_passes_there(seconds, command, extra):
    said = json.dumps(seconds) if not isinstance(seconds, bool) else "true"
    top = extra if not extra.startswith("[[") else ""
    text = f"schema = 'harness/1'\nname = 'h'\nversion = '1'\ncommand = {json.dumps(command)}\n{top}\n"
    text += f"{extra if not top else ''}\n[limits]\nseconds = {said}\n"
    try:
        expected = read_manifest(text.encode(), name="h", version="1")
    except Finding:
        expected = None
    found, findings = check_manifest(text.encode())
    assert found == expected, text
    assert bool(findings) == (expected is None)
