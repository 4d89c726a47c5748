"""What a harness prints costs the worker next to nothing, however much it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evaluation.sandbox.spec import Ending, Limits
from tests.sandbox.conftest import Bench

pytestmark = [pytest.mark.serial, pytest.mark.timeout(300)]
MIB = 1 << 20


def _peak() -> int:
    """The most memory this process has held since it was last forgotten, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:")) << 10


@pytest.mark.acceptance("fleet:7")
@pytest.mark.case("H7")
@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="this kernel forgets no peak")
@pytest.mark.parametrize("mebibytes", [200, pytest.param(4096, marks=pytest.mark.slow)])
def test_a_flood_of_output_costs_the_worker_less_than_50_mb(bench: Bench, mebibytes: int) -> None:
    bench.run("pass")
    Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    code = f"import os\nblock = bytes(1 << 20)\nfor _ in range({mebibytes}):\n    os.write(1, block)\n"
    outcome = bench.run(code, budget_seconds=200.0, limits=Limits(seconds=200.0))
    assert outcome.ending is Ending.FINISHED, outcome
    assert outcome.stdout_truncated
    assert len(outcome.stdout) == outcome.manifest["stdout_bytes"]
    assert _peak() - before < 50 * MIB
