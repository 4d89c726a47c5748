"""The same seed gives the same bytes whatever the process, hash seed, locale or clock."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmark.synthetic import Summary, generate

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = """
import sys
from pathlib import Path
from benchmark.synthetic import generate
if __name__ == "__main__":
    generate(Path(sys.argv[1]), version="2026.1", seed=20261101, size="mini")
"""


def _bytes(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


@pytest.mark.parametrize(
    ("hash_seed", "locale", "zone"), [("0", "C", "UTC"), ("4711", "C.UTF-8", "Asia/Tokyo")]
)
def test_another_process_writes_the_same_bytes(
    tmp_path: Path, mini: Summary, hash_seed: str, locale: str, zone: str
):
    script = tmp_path / "make.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}", "PYTHONHASHSEED": hash_seed,
        "LC_ALL": locale, "TZ": zone,
    }  # fmt: skip
    subprocess.run([sys.executable, str(script), str(tmp_path / "bank")], env=environment, check=True)
    assert _bytes(tmp_path / "bank") == _bytes(mini.out)


def test_another_seed_gives_other_tasks(tmp_path: Path, mini: Summary):
    other = generate(tmp_path / "other", version="2026.1", seed=7, size="mini")
    before, after = _bytes(mini.out), _bytes(other.out)
    for kind in ("instruction.md", "workspace.tar.gz"):
        same = [n for n in before if n.endswith(kind) and before[n] == after.get(n)]
        assert len(same) <= (10 if kind == "instruction.md" else 0)


def test_no_two_tasks_have_the_same_workspace(mini: Summary):
    archives = [content for name, content in _bytes(mini.out).items() if name.endswith("workspace.tar.gz")]
    assert len(set(archives)) == len(archives) == mini.tasks
