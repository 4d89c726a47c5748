"""What an episode holds, read from inside to the last byte: nothing that names or grades the task."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from benchmark.models import TaskRevision
from benchmark.synthetic import generate
from evaluation import packages
from evaluation.artefacts import unbundle
from evaluation.executing import Executor
from evaluation.holding import Holding
from evaluation.models import Attempt
from evaluation.sandbox.backends import default_backend
from tests.live.conftest import BANK_SEED, import_bank
from tests.live.fleet import Fleet
from tests.servers import Servers

pytestmark = [pytest.mark.serial, pytest.mark.timeout(300)]

MARK = "kanarienvogel"
EPISODES = 8
WALK = r"""
import os
tops = ["/task", "/harness", "/workspace", "/reply", "/home", "/tmp", "/dev/shm", "/etc", "/grade", "/opt/grader"]
paths = [os.path.join(top, name) for start in tops for top, _, names in os.walk(start) for name in names]
for pid in ("self", "1"):
    paths += [f"/proc/{pid}/{name}" for name in ("cmdline", "environ", "mountinfo", "cgroup", "comm", "status")]
paths += ["/proc/sys/kernel/hostname", "/proc/cmdline"]
for path in paths:
    os.write(1, b"\n" + os.fsencode(path) + b"\n")
    try:
        with open(path, "rb") as file:
            os.write(1, file.read(200_000))
    except OSError:
        pass
os.write(1, b"\n" + repr(dict(os.environ)).encode() + repr(os.listdir("/")).encode())
"""


@pytest.fixture
def planted(servers: Servers, transactional_db: None, tmp_path: Path) -> Any:
    """The mini version with strings of their own in statements, data, names, gold and rules."""
    bank = tmp_path / "bank"
    generate(bank, version="2026.1-planted", seed=BANK_SEED, size="mini", canary=MARK)
    return import_bank(bank)


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H32")
def test_nothing_that_names_or_grades_the_task_is_there(planted: Any, tmp_path: Path) -> None:
    run = Fleet(None, None, planted, "").submit("rule-script", command=("python3", "-c", WALK))  # type: ignore[arg-type]
    executor = Executor("w", tmp_path, default_backend())
    for _ in range(EPISODES):
        assert executor.run_one(Holding())
    slugs = [
        slug.encode() for slug in TaskRevision.objects.filter(version=planted).values_list("slug", flat=True)
    ]
    families = {slug.rpartition(b"-")[0] for slug in slugs}
    attempts = (
        Attempt.objects.filter(episode__run=run).exclude(artefact_key="").select_related("episode__task")
    )
    assert len(attempts) == EPISODES
    for attempt in attempts:
        seen = unbundle(packages.load_artefacts(run.package, attempt.artefact_key)).stdout
        assert f"{MARK}-statement".encode() in seen, "it read the statement, so it would have read the rest"
        for kind in ("gold", "rules"):
            assert f"{MARK}-{kind}".encode() not in seen
        for word in (
            b"lingee",
            b"lgbench",
            b"2026.1",
            b"held_out",
            b"rules.json",
            b"/.git",
            str(planted.id).encode(),
        ):
            assert word not in seen.lower(), word
        assert not [name for name in (*slugs, *families) if name in seen]
        assert str(attempt.episode.task_id).encode() not in seen
        assert not re.search(rb"(?i)golden|reference answer|score_weights", seen)
