"""The official base root: cleaned, named by its digest, held like an image, stood on by bundles."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from evaluation.images import official
from evaluation.images.cache import RootCache
from evaluation.images.findings import Finding
from evaluation.sandbox.spec import Ending, Root
from tests.images.builder import SHELL, file, folder, hard, link, programs, special, tar
from tests.sandbox.conftest import Bench

ROOT = Path(__file__).parents[2]
EPOCH = 1_700_000_000
RAW = [
    folder("./usr"),
    file("./usr/su", b"x", mode=0o4755, mtime=EPOCH + 5, uid=7, uname="someone"),
    hard("./usr/su2", "./usr/su"),
    link("./bin", "usr"),
    special("./dev/null", tarfile.CHRTYPE),
    file("./etc/apt/sources.list", b"of this machine"),
    file("./var/cache/x"),
    file("./ping", b"x", pax_headers={"SCHILY.xattr.security.capability": "\x01"}),
]


def cleaned(entries: list, target: Path) -> str:
    with target.open("w+b") as out:
        return official.clean(io.BytesIO(tar(entries)), out, EPOCH)


def test_a_root_is_cleaned_and_its_digest_depends_on_nothing_else(tmp_path: Path) -> None:
    first = cleaned(RAW, tmp_path / "a")
    assert first == cleaned(RAW, tmp_path / "b")
    other = [*RAW[:1], file("./usr/su", b"x", mode=0o4711, mtime=EPOCH + 9, uid=0), *RAW[2:]]
    assert first == cleaned(other, tmp_path / "c")
    assert first != cleaned([*RAW, file("./new")], tmp_path / "d")
    with tarfile.open(tmp_path / "a") as found:
        rows = {member.name: member for member in found}
    assert set(rows) == {"usr", "usr/su", "usr/su2", "bin", "ping"}
    su = rows["usr/su"]
    assert (su.mode, su.mtime, su.uid, su.uname, rows["ping"].pax_headers) == (0o755, EPOCH, 0, "", {})


def test_one_is_in_force_and_a_changed_one_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "rootfs"
    assert official.current(folder) is None
    digest = cleaned(RAW, tmp_path / "root.tar")
    found = official.install(tmp_path / "root.tar", folder)
    assert official.current(folder) == found
    assert (found.sha256, found.label) == (digest, f"official root {digest[:12]}")
    with official.held(folder, found, RootCache(tmp_path / "roots", 1 << 30)) as path:
        assert (path / "usr/su").read_bytes() == b"x"
    cleaned([*RAW, file("./evil")], folder / f"{digest}.tar")
    with pytest.raises(ValueError, match="another digest"):
        with official.held(folder, found, RootCache(tmp_path / "others", 1 << 30)):
            pass
    (folder / f"{digest}.tar").write_bytes(b"x" * 2000)
    with pytest.raises(Finding), official.held(folder, found, RootCache(tmp_path / "third", 1 << 30)):
        pass


@pytest.mark.acceptance("fleet:1")
def test_a_bundle_stands_on_it(bench: Bench, open_dir: Path, tmp_path: Path) -> None:
    cleaned([*programs(*SHELL), file("etc/marker", b"base")], tmp_path / "root.tar")
    found = official.install(tmp_path / "root.tar", tmp_path / "rootfs")
    (bench.tmp / "harness").mkdir()
    (bench.tmp / "harness/run.sh").write_text("cat /etc/marker /harness/run.sh; ls /opt 2>&1; exit 3\n")
    with official.held(tmp_path / "rootfs", found, RootCache(open_dir / "roots", 1 << 30)) as path:
        outcome = bench.run("", command=("sh", "/harness/run.sh"), root=Root(path, found.label))
    assert (outcome.ending, outcome.exit_code) == (Ending.CRASHED, 3)
    assert outcome.stdout.startswith(b"basecat /etc/marker")
    assert b"/opt/python" not in outcome.stdout
    assert outcome.isolation == found.label == outcome.manifest["isolation"]


PROBE = """
import json, os, sqlite3, ssl, subprocess, sys
node = subprocess.run(["node", "-e", "console.log(6 * 7)"], capture_output=True, text=True)
fonts = sorted(name for _, _, names in os.walk("/usr/share/fonts") for name in names)
print(json.dumps({"python": sys.version_info[:2], "prefix": sys.prefix, "node": node.stdout.strip(),
  "fonts": [any(word in name for name in fonts) for word in ("DejaVu", "CJK")],
  "apt": os.path.exists("/etc/apt/sources.list"), "setid": os.stat("/usr/bin/su").st_mode & 0o6000}))
"""


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.timeout(1200)
@pytest.mark.acceptance("fleet:1")
@pytest.mark.skipif(shutil.which("mmdebstrap") is None, reason="mmdebstrap is not installed")
def test_make_rootfs_gives_the_recorded_digest_again(
    bench: Bench,
    open_dir: Path,
    tmp_path: Path,
) -> None:
    """Built from the lock with the package sources of this machine: the bytes are those the repository names."""
    environment = {"LINGEE_STATE_DIR": str(tmp_path / "state"), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    command = [sys.executable, str(ROOT / "deploy/rootfs")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = official.current(tmp_path / "state/rootfs")
    assert found is not None
    assert found.sha256 == (ROOT / "deploy/rootfs/digest").read_text().strip()
    with official.held(tmp_path / "state/rootfs", found, RootCache(open_dir / "roots", 1 << 40)) as path:
        outcome = bench.run(PROBE, root=Root(path, found.label))
    assert outcome.exit_code == 0, outcome.stderr
    said = json.loads(outcome.stdout)
    assert said == {
        "python": [3, 11],
        "prefix": "/usr",
        "node": "42",
        "fonts": [True, True],
        "apt": False,
        "setid": 0,
    }
    (tmp_path / "state/rootfs/current.json").unlink()
    victim = next((tmp_path / "state/rootfs/packages").glob("zlib1g_*.deb"))
    victim.write_bytes(victim.read_bytes()[:-1] + b"x")
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, "another SHA-256 than the lock" in done.stderr) == (1, True)


def test_the_lock_names_every_package_with_its_digest_and_the_documents_the_root() -> None:
    lines = [line.split() for line in (ROOT / "deploy/rootfs/packages.lock").read_text().splitlines()[1:]]
    wanted = [
        line for line in (ROOT / "deploy/rootfs/packages.in").read_text().splitlines() if line[:1].isalpha()
    ]
    assert {*wanted} <= {name for name, *_ in lines}
    assert all(len(line) == 4 and len(line[3]) == 64 for line in lines)
    assert len({(name, architecture) for name, _, architecture, _ in lines}) == len(lines)
    digest = (ROOT / "deploy/rootfs/digest").read_text().strip()
    assert digest in (ROOT / "docs/harness-contract.md").read_text()
