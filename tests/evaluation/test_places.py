"""What killed workers leave on their host goes with the next start; what living ones use stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from evaluation.places import clear_left, take_place
from tests.servers import ROOT

HOLDER = """
import sys, time
from pathlib import Path
from evaluation.places import take_place
place = take_place(Path(sys.argv[1]))
(place / "left").write_text("x")
print(place, flush=True)
time.sleep(600)
"""


def test_a_dead_workers_folder_is_removed_and_a_living_ones_is_not(tmp_path: Path) -> None:
    mine = take_place(tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"}
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE, text=True, env=environment
    )
    assert other.stdout is not None
    place = Path(other.stdout.readline().strip())
    assert (place / "left").exists()
    assert clear_left(tmp_path) == 0
    other.send_signal(signal.SIGKILL)
    other.wait(10)
    other.stdout.close()
    assert (place / "left").exists(), "a killed process removes nothing"
    assert clear_left(tmp_path) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [mine.name, f"{mine.name}.lock"]
