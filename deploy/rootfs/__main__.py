"""`make rootfs` and `make rootfs-lock`: the base root file system of the harness contract, from pinned Debian packages.

Every package is named in packages.lock with its version and SHA-256. It comes from whatever apt sources this machine
has, is compared, and goes into a repository of its own on disk, which is all that mmdebstrap then sees: nothing else
can come in. Times are those of the lock, so the same lock gives the same bytes.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "platform"), str(ROOT)]

from evaluation.images import official  # noqa: E402 - after the source roots are on the path

WANTED, LOCK, EXPECTED = HERE / "packages.in", HERE / "packages.lock", HERE / "digest"
SUITE = "bookworm"
EPOCH = 1_764_547_200
"""2025-12-01 00:00 UTC. No file of the tree is younger."""
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
EXCLUDED = (
    "/usr/share/doc/*",
    "/usr/share/man/*",
    "/usr/share/locale/*",
    "/usr/share/info/*",
    "/usr/share/lintian/*",
)


# What a compiled module looks like depends on what its compiler's process holds, so that starts with nothing.
RECOMPILE = (
    'chroot "$1" find /usr -name __pycache__ -prune -exec rm -rf {} + && '
    'chroot "$1" env -i PATH=/usr/bin:/bin LC_ALL=C.UTF-8 PYTHONHASHSEED=0 '
    "python3 -B -I -m compileall -f -q --invalidation-mode unchecked-hash /usr/lib/python3.11"
)


class RootfsError(Exception):
    """The tree cannot be made; the text is the one line the user needs."""


@dataclass(frozen=True)
class Pinned:
    """One package of the lock."""

    name: str
    version: str
    architecture: str
    sha256: str = ""

    def line(self) -> str:
        return f"{self.name} {self.version} {self.architecture} {self.sha256}"


def run(command: Sequence[str], *, cwd: Path | None = None) -> str:
    """Run a command; its output. Raises RootfsError with the end of what it said."""
    environment = {**os.environ, **QUIET, "SOURCE_DATE_EPOCH": str(EPOCH)}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise RootfsError(f"`{' '.join(command[:3])} …` failed:\n{tail}")
    return done.stdout


def locked() -> list[Pinned]:
    """The packages of the lock. Raises RootfsError where there is none."""
    if not LOCK.exists():
        raise RootfsError("there is no packages.lock: make rootfs-lock")
    lines = [line for line in LOCK.read_text().splitlines() if line and not line.startswith("#")]
    return [Pinned(*line.split()) for line in lines]


def state() -> Path:
    """Where the packages and the root are kept."""
    named = os.environ.get("LINGEE_STATE_DIR")
    return (Path(named) if named else ROOT / ".embedded") / "rootfs"


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fetch(packages: Sequence[Pinned], folder: Path) -> list[Path]:
    """Each package as a file below `folder`, compared with its digest where it has one. Raises RootfsError."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {package: folder / _file_name(package) for package in packages}
    missing = [package for package in packages if not names[package].exists()]
    for at in range(0, len(missing), 40):
        wanted = [f"{package.name}={package.version}" for package in missing[at : at + 40]]
        run(["apt-get", "download", *wanted], cwd=folder)
    for package, path in names.items():
        if package.sha256 and sha256(path) != package.sha256:
            path.unlink()
            raise RootfsError(f"{path.name} has another SHA-256 than the lock says")
    return list(names.values())


def _file_name(package: Pinned) -> str:
    version = package.version.replace(":", "%3a")
    return f"{package.name}_{version}_{package.architecture}.deb"


def index(paths: Sequence[Path], folder: Path) -> None:
    """A repository of these packages and no other: links, and the index that apt reads (deb822)."""
    stanzas = []
    for path in paths:
        os.link(path, folder / path.name)
        control = run(["dpkg-deb", "-f", str(path)]).rstrip("\n")
        stanzas.append(
            f"{control}\nFilename: ./{path.name}\nSize: {path.stat().st_size}\nSHA256: {sha256(path)}\n"
        )
    packages = folder / "Packages"
    packages.write_text("\n".join(stanzas))
    # mmdebstrap picks the essential packages by the name of the suite.
    listed = f"SHA256:\n {sha256(packages)} {packages.stat().st_size} Packages\n"
    (folder / "Release").write_text(f"Suite: {SUITE}\nCodename: {SUITE}\nArchitectures: amd64\n{listed}")


def bootstrap(names: Sequence[str], source: str, target: Path, *hooks: str) -> None:
    """mmdebstrap, as root or by user namespaces, whichever this user may."""
    if shutil.which("mmdebstrap") is None:
        raise RootfsError("mmdebstrap is not installed: apt-get install mmdebstrap")
    options = [
        "--aptopt=APT::Install-Recommends false",
        *(f"--dpkgopt=path-exclude={place}" for place in EXCLUDED),
    ]
    customised = [f"--customize-hook={hook}" for hook in hooks]
    mode = "root" if os.geteuid() == 0 else "unshare"
    command = ["mmdebstrap", f"--mode={mode}", "--variant=essential", f"--include={','.join(names)}"]
    run([*command, *options, *customised, "--format=tar", SUITE, str(target), source])


def build(target: Path) -> str:
    """Write the root tar of the lock to `target`; returns its SHA-256."""
    packages = locked()
    paths = fetch(packages, state() / "packages")
    with tempfile.TemporaryDirectory(dir=state()) as scratch:
        repository = Path(scratch) / "repository"
        repository.mkdir()
        Path(scratch).chmod(0o755)
        index(paths, repository)
        raw = Path(scratch) / "raw.tar"
        names = [package.name for package in packages]
        bootstrap(names, f"deb [trusted=yes] copy:{repository} ./", raw, RECOMPILE)
        with raw.open("rb") as source, target.open("w+b") as out:
            return official.clean(source, out, EPOCH)


def make() -> None:
    """`make rootfs`: build, compare with the digest of the repository, make it the one in force."""
    state().mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=state(), suffix=".tar") as file:
        digest = build(Path(file.name))
        expected = EXPECTED.read_text().strip() if EXPECTED.exists() else digest
        if digest != expected:
            raise RootfsError(
                f"the tar has the SHA-256 {digest}, not {expected}: another mmdebstrap or dpkg?"
            )
        found = official.install(Path(file.name), state())
    print(f"{found.label}: sha256 {found.sha256}, {found.entries} entries, {found.size} bytes unpacked")


def lock() -> None:
    """`make rootfs-lock`: resolve packages.in with the sources of this machine, and write down what came."""
    wanted = [line for line in WANTED.read_text().splitlines() if line and not line.startswith("#")]
    sources = next(path for path in _sources() if path.exists())
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path(scratch) / "list"
        query = f"dpkg-query --root \"$1\" -W -f '${{Package}} ${{Version}} ${{Architecture}}\\n' > {listed}"
        bootstrap(wanted, str(sources), Path(scratch) / "raw.tar", query)
        packages = [Pinned(*line.split()) for line in sorted(listed.read_text().splitlines())]
    paths = fetch(packages, state() / "packages")
    rows = [
        Pinned(package.name, package.version, package.architecture, sha256(path)).line()
        for package, path in zip(packages, paths, strict=True)
    ]
    head = "# name, version, architecture, SHA-256 of the package; written by `make rootfs-lock`"
    LOCK.write_text("\n".join([head, *rows]) + "\n")
    EXPECTED.unlink(missing_ok=True)
    with tempfile.NamedTemporaryFile(dir=state(), suffix=".tar") as file:
        EXPECTED.write_text(build(Path(file.name)) + "\n")
    print(f"{len(rows)} packages; the root has the SHA-256 {EXPECTED.read_text().strip()}")


def _sources() -> list[Path]:
    apt = Path("/etc/apt")
    return [apt / "sources.list.d/debian.sources", apt / "sources.list"]


if __name__ == "__main__":
    try:
        lock() if sys.argv[1:] == ["lock"] else make()
    except RootfsError as error:
        print(f"rootfs: {error}", file=sys.stderr)
        sys.exit(1)
