"""The grading sandbox: what it is given, what it may answer, and what counts as a technical fault."""

from __future__ import annotations

import json

import pytest

RULES = {
    "schema": "rules/1", "mode": "itemised", "tables": {}, "threshold": [], "fatal": [],
    "items": [{"id": "R1", "check": "files", "present": ["out.txt"], "absent": []}],
}  # fmt: skip


@pytest.mark.parametrize(("code", "score"), [("open('out.txt', 'w').write('x')", "1"), ("pass", "0")])
def test_the_platform_s_grader_grades(bench, code, score) -> None:
    graded = bench.grade(bench.run(code), rules_json=json.dumps(RULES).encode())
    assert graded.fault is None, graded
    assert json.loads(graded.reward)["score"] == score


def test_what_the_grader_finds(bench) -> None:
    code = (
        "import json, os\n"
        "tops = ('/grade', '/grade/run', '/grade/run/workspace', '/grade/scripts')\n"
        "found = {top: sorted(os.listdir(top)) for top in tops}\n"
        "found['reply'] = open('/grade/run/reply.md').read()\n"
        "found['script'] = open('/grade/scripts/check.py').read()\n"
        "json.dump(found, open('/grade/out/reward.json', 'w'))\n"
    )
    run = bench.run(
        "import os; open('out', 'w').write('x'); open(os.environ['REPLY_FILE'], 'w').write('done')"
    )
    graded = bench.grade(run, "python3", "-c", code, scripts={"grading/check.py": b"print(1)"})
    assert json.loads(graded.reward) == {
        "/grade": ["out", "rules.json", "run", "scripts"],
        "/grade/run": ["reply.md", "workspace"],
        "/grade/run/workspace": ["data.csv", "dir", "out"],
        "/grade/scripts": ["check.py"],
        "reply": "done",
        "script": "print(1)",
    }
    assert bench.grade(run, "ls", "/grade/run/reply.md", reply=None).exit_code != 0


def test_a_reward_forged_by_the_run_is_never_read(bench) -> None:
    forge = (
        "import os\n"
        "for place in ('reward.json', 'out/reward.json', '../reward.json', '/reply/reward.json', '/tmp/reward.json'):\n"
        "    try:\n"
        "        os.makedirs(os.path.dirname(place) or '.', exist_ok=True)\n"
        "        open(place, 'w').write('{\"score\": \"1\"}')\n"
        "    except OSError: pass\n"
    )
    graded = bench.grade(bench.run(forge), "python3", "-c", "pass")
    assert (graded.reward, graded.fault) == (None, "no_reward")


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("open('/grade/out/reward.json', 'w').write('{}'); raise SystemExit(1)", "grader_exit"),
        ("import os; os.kill(os.getpid(), 9)", "grader_exit"),
        ("import os; os.symlink('/etc/passwd', '/grade/out/reward.json')", "no_reward"),
        ("import os; os.mkfifo('/grade/out/reward.json')", "no_reward"),
        ("open('/grade/out/reward.json', 'wb').write(b'x' * (5 << 20))", "no_reward"),
        ("open('/grade/out/reward.json', 'w').write('{}'); import time; time.sleep(60)", "grader_overdue"),
    ],
)
def test_technical_faults(bench, code, fault) -> None:
    graded = bench.grade(bench.run("pass"), "python3", "-c", code, seconds=0.5)
    assert (graded.reward, graded.fault) == (None, fault)


def test_broken_rules_are_a_fault_and_not_a_zero(bench) -> None:
    graded = bench.grade(bench.run("pass"), rules_json=b"{}")
    assert (graded.reward, graded.fault) == (None, "grader_exit")


def test_the_grader_cannot_change_what_it_grades(bench) -> None:
    code = (
        "import os\n"
        "places = ('run/workspace/data.csv', 'rules.json', 'run/reply.md', 'new', '../opt/grader/x')\n"
        "import sys\n"
        "for place in places:\n"
        "    try: open('/grade/' + place, 'a'); print('WROTE', place, file=sys.stderr)\n"
        "    except OSError: pass\n"
        "sys.stderr.write(str(os.listdir('/opt/grader')))\n"
        "open('/grade/out/reward.json', 'w').write('{}')\n"
    )
    graded = bench.grade(bench.run("pass"), "python3", "-c", code)
    assert graded.fault is None
    assert b"scoring" in graded.stderr
    assert b"WROTE" not in graded.stderr
