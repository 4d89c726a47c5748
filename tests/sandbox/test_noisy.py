"""The noisy harness does what it is for, and stays inside its sandbox while it does it."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from evaluation.sandbox.spec import MIB, Ending, Limits

SOURCE = Path(__file__).parents[1] / "harnesses/noisy"
SECRET = b"CANARY-7f3a"
LIMITS = Limits(seconds=10, workspace_bytes=64 * MIB, memory_bytes=512 * MIB, snapshot_bytes=8 * MIB, pids=32)
ACTS = ["raise_it", "flood", "fork", "burn", "fill", "odd_exit"]


def act_of(instruction: bytes) -> str:
    """What run.py will choose for a workspace of one file (it reads names and contents)."""
    heard = b"instruction.md\n" + instruction + b"\ndata.csv\n" + SECRET
    return ACTS[hashlib.sha256(heard).digest()[0] % len(ACTS)]


@pytest.fixture(scope="module")
def harness(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("noisy") / "bundle"
    shutil.copytree(SOURCE, target)
    (target / "settings.json").write_text(json.dumps({"scale": 0.25}))
    for path in (target, *target.iterdir()):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return target


@pytest.mark.serial
@pytest.mark.parametrize("act", ACTS)
def test_every_act_is_loud_and_leaves_a_reply(bench, harness, make_tar, act) -> None:
    instruction = next(text for n in range(999) if act_of(text := b"task %d " % n + SECRET) == act)
    outcome = bench.run(
        "",
        harness_dir=harness,
        instruction=instruction,
        workspace_tar=make_tar({"data.csv": SECRET}),
        limits=LIMITS,
    )
    assert SECRET in outcome.stdout, outcome.stderr
    assert SECRET in outcome.stderr
    assert outcome.reply == "已收到，处理中。\n".encode()
    assert outcome.wrote
    assert outcome.seconds < 4
    expected = {"raise_it": Ending.CRASHED, "burn": Ending.FINISHED}
    assert outcome.ending is expected.get(act, outcome.ending)
    assert act != "flood" or outcome.stdout_truncated
    assert act != "fill" or b"No space left" in outcome.stdout
    assert act != "fork" or outcome.limit_hits in (("pids",), ())
    assert any(line.startswith("link link") for line in outcome.refused)
