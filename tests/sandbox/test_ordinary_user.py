"""The same sandboxes made by an ordinary user, from a copy of the code that user may read."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from evaluation.sandbox import runtime

pytestmark = pytest.mark.serial
NOBODY = 65534
CHECK = """
import json, sys, tempfile
from pathlib import Path
from evaluation.sandbox import selftest
from evaluation.sandbox.backends import run_episode, run_grader
from evaluation.sandbox.spec import GradeSpec, RunSpec
report = selftest.run()
harness, work = map(Path, sys.argv[1:3])
spec = RunSpec("a", ("python3", "/harness/run.py"), harness, b"x", bytes(10240), 1, 10.0, 1, 1)
outcome = run_episode(spec, work)
rules = {"schema": "rules/1", "mode": "itemised", "tables": {}, "threshold": [], "fatal": [],
         "items": [{"id": "R1", "check": "files", "present": ["locked/deep"], "absent": []}]}
graded = run_grader(GradeSpec(json.dumps(rules).encode(), outcome.snapshot))
print(json.dumps({"report": report.as_json(), "ending": outcome.ending, "refused": outcome.refused,
                  "stderr": outcome.stderr.decode(), "reward": json.loads(graded.reward or b"null"),
                  "fault": graded.fault}))
"""
HARNESS = """
import os
os.mkdir("locked"); open("locked/deep", "w").write("x"); os.chmod("locked/deep", 0); os.chmod("locked", 0)
os.symlink("/etc/shadow", "link")
"""


@pytest.fixture
def elsewhere(copies: runtime.Runtime, open_dir: Path) -> dict[str, Path]:
    """Code, packages, interpreter and a state folder that user nobody may use."""
    import et_xmlfile  # type: ignore[import-untyped]
    import openpyxl
    import pyseccomp

    root = open_dir
    platform = Path(runtime.__file__).parents[2]
    for name in ("scoring", "evaluation/sandbox", "evaluation/grader", "evaluation/images"):
        shutil.copytree(platform / name, root / "code" / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(platform / "evaluation/__init__.py", root / "code/evaluation")
    for package in (openpyxl, et_xmlfile):
        shutil.copytree(Path(str(package.__file__)).parent, root / "code" / package.__name__)
    shutil.copy(pyseccomp.__file__, root / "code")
    shutil.copytree(copies.python, root / "python", symlinks=True)
    for name in ("state", "work", "harness"):
        (root / name).mkdir()
    (root / "harness/run.py").write_text(HARNESS)
    subprocess.run(["chown", "-R", str(NOBODY), root / "state", root / "work"], check=True)
    subprocess.run(["chmod", "-R", "a+rX", root], check=True)
    return {path.name: path for path in root.iterdir()}


@pytest.mark.acceptance("main-job:7")
@pytest.mark.skipif(os.geteuid() != 0, reason="every other test here already runs as an ordinary user")
def test_an_ordinary_user_gets_the_same_isolation(elsewhere) -> None:
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    command += [
        str(elsewhere["python"] / "bin/python3"),
        "-c",
        CHECK,
        str(elsewhere["harness"]),
        str(elsewhere["work"]),
    ]
    environment = {
        "PATH": "/usr/bin:/bin", "PYTHONPATH": str(elsewhere["code"]), "LINGEE_STATE_DIR": str(elsewhere["state"]),
    }  # fmt: skip
    done = subprocess.run(command, env=environment, cwd="/", capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert [probe for probe in found["report"]["probes"] if probe["result"] == "fail"] == []
    assert found["report"]["fit"]
    assert found["report"]["uid"] == NOBODY
    assert found["ending"] == "finished", found["stderr"]
    assert found["refused"] == ["link link"]
    assert (found["fault"], found["reward"]["score"]) == (None, "1")
