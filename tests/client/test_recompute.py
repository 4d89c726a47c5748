"""`lgbench-audit recompute` and `draw`: untouched exports are equal, every single change is found and named."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import uuid
from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.canonical import canonical_bytes
from audit.merkle import commitment
from audit.merkle.note import Signer, Verifier, generate_key
from client.audit import sealed as form
from client.audit.attempts import Ended
from client.audit.main import main
from client.audit.recompute import recompute
from client.audit.report import WrongQuestion
from tests.client import sealed, synthetic
from tests.servers import ROOT

SIGNER = Signer("bench.example/log", generate_key())
SCORES = {
    "general": [["0.455", "0.455"], ["0.455", "0.455"]],
    "finance": [["0.4", "0.5"], ["0.4398", "0.4398"]],
    "supply_chain": [["0.5", "0.5"], ["0.5", "0.5"]],
    "manufacturing": [["1", "0"], ["0.51", "0.51"]],
}
"""General 45.5 → 46; finance (45 + 43.98) / 2 = 44.49 → 44; supply chain 50; manufacturing 50.5 → 51."""


def keys():
    return [Verifier.parse(SIGNER.vkey)]


def outcome(document: dict[str, Any]):
    return recompute(form.parse(document), keys())


@pytest.fixture
def case() -> sealed.Case:
    return sealed.case(SCORES)


@pytest.fixture
def document(case: sealed.Case) -> dict[str, Any]:
    return case.document(SIGNER)


def test_an_untouched_export_is_equal_and_shows_values_computed_by_hand(case, document):
    found = outcome(document)
    assert (found.equal, found.part, found.what) == (True, "", "")
    assert (found.runs, found.tasks, found.notices) == (16, 8, ())
    shown = {name: row["value"] for name, row in case.released["values"].items()}
    assert shown == {
        "general": 46,
        "finance": 44,
        "supply_chain": 50,
        "manufacturing": 51,
        "enterprise": 48,
    }
    assert case.aggregates["finance"]["task_score"] == "0.4449000000"


def half_up(points: Fraction) -> int:
    return floor(points + Fraction(1, 2))


def mean(values: list[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


A_SCORE = st.one_of(
    st.integers(0, 1000).map(lambda number: commitment.score_text(Decimal(number) / 1000)),
    st.just("unavailable"),
)
A_TASK = st.lists(A_SCORE, min_size=2, max_size=2)
A_DOMAIN = st.lists(A_TASK, min_size=2, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(sealed.DOMAINS, A_DOMAIN)), st.integers(0, 2**32))
def test_random_results_are_recomputed_and_agree_with_exact_fractions(scores, seed):
    case = sealed.case(scores, seed=seed)
    assert outcome(case.document(SIGNER)).equal
    for domain, tasks in scores.items():
        valid = [[Fraction(score) for score in runs if score != "unavailable"] for runs in tasks]
        means = [mean(runs) for runs in valid if runs]
        shown = case.released["values"].get(domain)
        assert (shown and shown["value"]) == (half_up(100 * mean(means)) if means else None)


def leaf(number: int, **changes: Any):
    """Change fields of a run in the finished document."""
    return lambda body: body["runs"][number]["leaf"].update(changes)


def swap_salts(body: Any) -> None:
    one, other = (body["runs"][number]["leaf"] for number in (2, 3))
    one["salt"], other["salt"] = other["salt"], one["salt"]


def swap_hashes(body: Any) -> None:
    one, other = (body["runs"][number] for number in (2, 3))
    one["hash"], other["hash"] = other["hash"], one["hash"]


def rehash(body: Any) -> None:
    """Another score under a hash that fits: only the root tells."""
    member = body["runs"][5]
    member["leaf"]["score"] = "0.123"
    member["hash"] = commitment.hash_of(member["leaf"]).hex()


def widen(body: Any) -> None:
    body["policy"]["half_widths"]["finance"][3] += 1


CHANGES = [
    (leaf(5, score="0.123"), "leaf", "run 5 "),
    (leaf(0, seed="1"), "leaf", "run 0 "),
    (leaf(15, artefact="0" * 64), "leaf", "run 15 "),
    (leaf(7, grader="g2"), "leaf", "run 7 "),
    (leaf(7, judge="j"), "leaf", "run 7 "),
    (leaf(4, attempt=2), "leaf", "run 4 "),
    (leaf(4, task="0" * 64), "leaf", "run 4 "),
    (leaf(4, episode="0" * 32), "leaf", "run 4 "),
    (leaf(4, more="x"), "leaf", "run 4 "),
    (leaf(4, score=0.5), "leaf", "run 4 "),
    (swap_salts, "leaf", "run 2 "),
    (swap_hashes, "leaf", "run 2 "),
    (rehash, "root", "committed is"),
    (lambda body: body["runs"].pop(6), "root", "16 runs are committed, the export holds 15"),
    (lambda body: body["runs"].insert(6, body["runs"][6]), "leaf", "run 7 "),
    (lambda body: body["runs"].insert(0, body["runs"].pop(8)), "leaf", "run 1 "),
    (lambda body: body["assets"][2]["leaf"].update(gold="0" * 64), "leaf", "task 2 "),
    (lambda body: body["assets"].pop(1), "root", "9 tasks are committed, the export holds 8"),
    (widen, "policy", "not the one that the release names"),
    (lambda body: body["policy"].update(rho="0.200"), "policy", "not the one"),
    (lambda body: body["aggregates"]["finance"].update(task_score="0.4448000000"), "domain", "finance"),
    (lambda body: body["aggregates"].pop("general"), "domain", "general"),
    (lambda body: body.update(label="t2"), "log", "t1"),
    (lambda body: body.update(submission=sealed.POLICY), "log", "release: the entry is"),
    (lambda body: body.update(release=body["frozen"]), "log", "release: the entry is"),
]


@pytest.mark.acceptance("log:2")
@pytest.mark.parametrize(("change", "part", "what"), CHANGES)
def test_every_single_change_is_the_first_difference(document, change, part, what):
    found = outcome(sealed.changed(document, change))
    assert not found.equal
    assert found.part == part
    assert what in found.what


def test_an_edited_value_no_longer_leads_to_the_checkpoint(document):
    text = document["release"]
    entry = base64.b64decode(text.split("\n")[1].removeprefix("extra "))
    forged = entry.replace(b'"value":46', b'"value":47')
    assert forged != entry
    lines = text.split("\n")
    lines[1] = f"extra {base64.b64encode(forged).decode()}"
    found = outcome({**document, "release": "\n".join(lines)})
    assert (found.equal, found.part) == (False, "log")


def restate(**values: Any):
    return lambda case: case.released.update(values)


def double(case: sealed.Case) -> None:
    """A run counted twice under another episode id."""
    case.runs[-1] = {**case.runs[0], "episode": "f" * 32}


def another_value(case: sealed.Case) -> None:
    case.released["values"]["finance"]["value"] = 45


def another_width(case: sealed.Case) -> None:
    case.released["values"]["enterprise"]["h"] += 1


def narrower(case: sealed.Case) -> None:
    """A policy whose half widths do not follow from its families, and a release under it."""
    case.policy["half_widths"]["finance"][99] -= 1
    case.released["policy_row"] = hashlib.sha256(canonical_bytes(case.policy)).hexdigest()


@pytest.mark.acceptance("log:2")
def test_a_domain_that_was_left_out_by_rule_is_equal_and_said(case):
    case.released["values"] = {
        name: row for name, row in case.released["values"].items() if name not in {"finance", "enterprise"}
    }
    case.released["silences"] = {"finance": "near_duplicate"}
    found = outcome(case.document(SIGNER))
    assert found.equal, found.what
    assert any("finance shows no value (near_duplicate)" in notice for notice in found.notices)


def omit(case: sealed.Case) -> None:
    case.runs.pop(3)


def omit_task(case: sealed.Case) -> None:
    gone = case.runs[0]["task"]
    case.runs[:] = [leaf for leaf in case.runs if leaf["task"] != gone]


def practise(case: sealed.Case) -> None:
    """A run of a public task among those that count."""
    case.runs[0]["task"] = next(leaf["task"] for leaf in case.assets if leaf["group"] == "public")


def exponent(case: sealed.Case) -> None:
    case.runs[0]["score"] = "5e-1"


DISHONEST = [
    (another_value, "value", "finance: computed value 44"),
    (another_width, "value", "enterprise"),
    (restate(coverage="0.99"), "value", "coverage"),
    (restate(bounds={"finance": {"low": 1, "high": 2}}), "bounds", "finance"),
    (restate(silences={"finance": "near_duplicate"}), "value", "enterprise: computed nothing"),
    (restate(policy="another"), "policy", "another's"),
    (narrower, "policy", "half widths of finance"),
    (double, "task", "the seed of another run"),
    (omit, "task", "times"),
    (omit_task, "task", "was run 0 times"),
    (practise, "task", "not in the held-out group"),
    (exponent, "leaf", "is no score"),
]


@pytest.mark.acceptance("log:2")
@pytest.mark.parametrize(("change", "part", "what"), DISHONEST)
def test_what_a_dishonest_operator_signed_is_found(case, change, part, what):
    """Here hashes, roots and signatures all fit: only computing again tells."""
    change(case)
    found = outcome(case.document(SIGNER))
    assert (found.equal, found.part) == (False, part)
    assert what in found.what


def test_another_log_is_refused_and_without_key_nobody_vouches(document):
    stranger = Signer("bench.example/log", generate_key())
    assert recompute(form.parse(document), [Verifier.parse(stranger.vkey)]).part == "log"
    unsigned = recompute(form.parse(document), [])
    assert unsigned.equal
    assert "no signature was checked" in unsigned.notices[0]


def first_attempt_in_a_log(case: sealed.Case, folder: Any, **odd: Any) -> Any:
    """An export of a log in which the first run's attempt ended; `odd` are other facts about it."""
    run = case.runs[0]
    said = {"run": "r1", "number": run["attempt"], "ending": "finished", "artefact": run["artefact"], **odd}
    entry = sealed.event("attempt.ended", "attempt", str(uuid.UUID(hex=run["episode"])), said)
    synthetic.export(folder, [entry], [SIGNER])
    return folder


@pytest.mark.parametrize(
    ("odd", "what"),
    [
        ({}, ""),
        ({"artefact": "0" * 64}, "the log has the artefact 000"),
        ({"number": 2}, "the log has attempt 2"),
        ({"ending": "infrastructure_fault", "artefact": ""}, "the artefact of nothing"),
    ],
)
def test_runs_are_compared_with_the_attempts_in_the_log(case, document, tmp_path, capsys, odd, what):
    (tmp_path / "sealed-export.json").write_text(json.dumps(document))
    log = first_attempt_in_a_log(case, tmp_path / "log", **odd)
    code = main(["recompute", str(tmp_path), "--key", SIGNER.vkey, "--log", str(log), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert (code, found["part"]) == ((1, "attempt") if what else (0, ""))
    assert what in found["what"]
    if not what:
        assert found["notices"] == ["the log's export does not disclose the attempts of 15 runs"]


def test_an_attempt_of_another_run_or_after_the_release_is_found(document):
    episodes = [member["leaf"]["episode"] for member in document["runs"]]
    artefacts = [member["leaf"]["artefact"] for member in document["runs"]]
    known = {
        episode: Ended(0, "r1", 1, "finished", artefact)
        for episode, artefact in zip(episodes, artefacts, strict=True)
    }
    parsed = form.parse(document)
    assert recompute(parsed, keys(), known).equal
    other = recompute(parsed, keys(), {**known, episodes[4]: known[episodes[4]]._replace(run="r2")})
    assert "run 4 " in other.what
    assert "another evaluation run" in other.what
    late = recompute(parsed, keys(), {**known, episodes[4]: known[episodes[4]]._replace(position=2)})
    assert "after the release" in late.what


def test_the_command_says_equal_or_the_first_difference(document, tmp_path, capsys):
    file = tmp_path / "sealed-export.json"
    file.write_text(json.dumps(document))
    assert main(["recompute", str(tmp_path), "--key", SIGNER.vkey]) == 0
    assert capsys.readouterr().out.startswith("equal\n")
    file.write_text(json.dumps(sealed.changed(document, leaf(5, score="0.123"))))
    assert main(["recompute", str(tmp_path), "--key", SIGNER.vkey, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert (found["equal"], found["part"]) == (False, "leaf")
    assert main(["recompute", str(tmp_path), "--key", SIGNER.vkey]) == 1
    assert capsys.readouterr().out.startswith("difference in leaf: run 5 (episode ")


def test_what_a_sealed_export_says_moves_no_cursor(document, tmp_path, capsys):
    """Whatever stands in it, every line printed is printable."""
    first = document["runs"][0]["leaf"]
    first["score"] = "\x1b[2J\x9b\ud800"
    (tmp_path / "sealed-export.json").write_text(json.dumps(document))
    main(["recompute", str(tmp_path), "--key", SIGNER.vkey])
    main(["draw", str(tmp_path), "--seed", "a seed of sixteen", "--count", str(len(document["runs"]))])
    out = capsys.readouterr().out
    assert "\\x1b[2J\\x9b\\ud800" in out
    assert all(line.isprintable() for line in out.split("\n"))


WITHOUT = """
import sys
for name in ("django", "scipy", "numpy", "pydantic", "rest_framework", "psycopg"):
    sys.modules[name] = None
from client.audit.main import main
sys.exit(main(sys.argv[1:]))
"""


def test_an_auditors_machine_needs_neither_the_platform_nor_scipy(document, tmp_path):
    """Without scipy only the half widths are taken as the policy row has them, and a notice says so."""
    (tmp_path / "sealed-export.json").write_text(json.dumps(document))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "recompute", str(tmp_path), "--key", SIGNER.vkey],
        env={"PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}", "PATH": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, _, notice = done.stdout.splitlines()
    assert (first, notice) == ("equal", "notice: half widths were not computed again: that needs scipy")


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": "other"}', '{"schema": "lingee-sealed-export/1"}', "[" * 9999]
)
def test_what_is_no_sealed_export_is_a_wrong_question(tmp_path, text):
    (tmp_path / "sealed-export.json").write_text(text)
    assert main(["recompute", str(tmp_path)]) == 2
    assert main(["recompute", str(tmp_path / "nothing")]) == 2


def test_a_malformed_leaf_is_a_wrong_question(document):
    malformed: tuple[Any, ...] = ([], {"leaf": {}}, {"leaf": {}, "hash": "zz"}, {"leaf": [], "hash": "00"})
    for item in malformed:
        with pytest.raises(WrongQuestion):
            form.parse({**document, "runs": [item]})


def test_draw_prints_what_the_seed_draws(document, tmp_path, capsys):
    (tmp_path / "sealed-export.json").write_text(json.dumps(document))
    assert main(["draw", str(tmp_path), "--seed", "a seed of sixteen", "--count", "3"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == f"seed {commitment.seed_digest('a seed of sixteen')}"
    episodes = [member["leaf"]["episode"] for member in document["runs"]]
    expected = commitment.drawn("a seed of sixteen", episodes, 3)
    assert [line.split()[0] for line in lines] == expected
    assert main(["draw", str(tmp_path), "--seed", "s", "--count", "0"]) == 2
