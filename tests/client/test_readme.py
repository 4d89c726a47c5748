"""The README's lines for those who check, typed as they stand there, without network and without Django."""

from __future__ import annotations

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.client.test_wheel import OFFLINE, auditor, dist  # noqa: F401 - fixtures

ROOT = Path(__file__).resolve().parents[2]
SECTION = "## Auditors, and everyone who checks"


@pytest.fixture(scope="module")
def place(tmp_path_factory, auditor, dist):  # noqa: F811 - fixtures
    """A folder as the README supposes it: dist/, receipt.json, export.tar, log.key, witness.key; nothing else."""
    folder = tmp_path_factory.mktemp("reader")
    shutil.copytree(dist, folder / "dist")
    shutil.copy(auditor / "receipt.json", folder)
    shutil.copy(auditor / "key", folder / "log.key")
    shutil.copy(auditor / "witness.key", folder)
    with tarfile.open(folder / "export.tar", "w") as archive:
        archive.add(auditor / "export", arcname=".")
    done = run(folder, blocks()[0])
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def blocks() -> list[str]:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split(SECTION)[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, flags=re.DOTALL)


@pytest.mark.acceptance("log:6")
def test_the_lines_work_as_they_stand(place):
    _, *questions = blocks()
    assert len(questions) == 3
    for lines in questions:
        done = run(place, lines)
        assert (done.returncode, done.stdout.splitlines()[:1]) == (0, ["OK"]), done.stdout + done.stderr
    listed = run(place, "v/bin/pip list").stdout.lower()
    assert "lgbench" in listed
    assert "django" not in listed


@pytest.mark.acceptance("log:6")
def test_and_they_notice(place, tmp_path):
    _, *questions = blocks()
    broken = tmp_path / "broken"
    shutil.copytree(place, broken, symlinks=True)
    text = (broken / "receipt.json").read_text()
    (broken / "receipt.json").write_text(text.replace("index ", "index 1"))
    data = bytearray((broken / "export.tar").read_bytes())
    at = data.index(b'"submission.admitted"')
    data[at + 1] ^= 1
    (broken / "export.tar").write_bytes(bytes(data))
    for lines in questions:
        done = run(broken, lines)
        assert (done.returncode, done.stdout.splitlines()[0].startswith("BROKEN")) == (1, True), done.stdout


def run(folder: Path, lines: str) -> subprocess.CompletedProcess[str]:
    command = [*OFFLINE, "bash", "-euo", "pipefail", "-c", lines]
    environment = {"PATH": f"{Path(shutil.which('python3') or '/usr/bin/python3').parent}:/usr/bin:/bin"}
    return subprocess.run(
        command,
        cwd=folder,
        env={**environment, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
