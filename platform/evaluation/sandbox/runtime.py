"""The world-readable, content-addressed copy of the interpreter and of the grader's packages.

Made once by set-up (or by the first worker): a checkout and its Python may lie under a 0700 home, which
a sandbox must not see. Layout: `python-<digest>/` (bin, sbin, lib, etc), `grader-<digest>/` (packages) and
`masks-<digest>/` (what stands in for files of /proc).
"""

from __future__ import annotations

import compileall
import hashlib
import importlib.util
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from evaluation.sandbox import launcher, masks, rootfs
from evaluation.sandbox.spec import SandboxUnavailable

_LAYOUT = "6"  # raise when the layout below changes: it is part of the digest
_SOURCE_ROOT = Path(__file__).resolve().parents[2]
_OWN_PACKAGES = ("scoring", "evaluation/grader")
_OWN_FILES = ("evaluation/__init__.py",)
_FOREIGN_PACKAGES = ("openpyxl", "et_xmlfile")
_PRUNED = frozenset(
    (
        "test",
        "tests",
        "idlelib",
        "lib2to3",
        "tkinter",
        "turtledemo",
        "ensurepip",
        "site-packages",
        "pydoc_data",
    )
)
_CHECK_SECONDS = 20.0
_CHECK = "import ctypes, decimal, hashlib, json, sqlite3, ssl, sys, tarfile, zipfile, zlib"


@dataclass(frozen=True, slots=True)
class Runtime:
    """Directories named by their digests: `python` (interpreter and /etc), `grader` (packages), `masks`."""

    python: Path
    grader: Path
    masks: Path

    @property
    def digest(self) -> str:
        """What the run manifest states as the runtime."""
        return f"{self.python.name} {self.grader.name}"


def ensure(base: Path) -> Runtime:
    """Return the copies below `base`, making first what is missing (seconds).

    Safe to call from several processes at once: the last step is one atomic rename. Raises
    SandboxUnavailable when the copied interpreter does not run or a package is missing.
    """
    base.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    base.mkdir(exist_ok=True)
    sources = tuple(_sources())
    python = _install(base / f"python-{_interpreter_digest()}", _make_python)
    grader = _install(base / f"grader-{_grader_digest(sources)}", partial(_make_grader, sources))
    covers = _install(base / f"masks-{masks.digest()}", masks.write)
    return Runtime(python, grader, covers)


def _install(target: Path, make: Callable[[Path], None]) -> Path:
    if not target.is_dir():
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".making-") as scratch:
            made = Path(scratch) / "made"
            made.mkdir()
            make(made)
            _open_to_all(made)
            try:
                made.rename(target)
            except OSError:
                if not target.is_dir():
                    raise
    return target


def default_base() -> Path:
    """`runtime/` in the platform's state directory (LINGEE_STATE_DIR, else `.embedded` of the checkout)."""
    state = os.environ.get("LINGEE_STATE_DIR")
    return (Path(state) if state else _SOURCE_ROOT.parent / ".embedded") / "runtime"


def _sources() -> Iterator[tuple[str, Path]]:
    """(name below grader/, file) of every Python file the grading sandbox needs."""
    for name in _OWN_FILES:
        yield name, _SOURCE_ROOT / name
    roots = [(name, _SOURCE_ROOT / name) for name in _OWN_PACKAGES]
    for name in _FOREIGN_PACKAGES:
        found = importlib.util.find_spec(name)
        if found is None or found.origin is None:
            raise SandboxUnavailable(f"the grader needs the package {name}, which is not installed")
        roots.append((name, Path(found.origin).parent))
    for name, root in roots:
        for path in sorted(root.rglob("*.py")):
            yield f"{name}/{path.relative_to(root)}", path


def _interpreter() -> tuple[Path, Path]:
    """(executable, prefix) of the real interpreter behind a virtual environment."""
    return Path(os.path.realpath(sys.executable)), Path(sys.base_prefix)


def _interpreter_digest() -> str:
    executable, prefix = _interpreter()
    facts = executable.stat()
    seen = hashlib.sha256(f"{_LAYOUT} {sys.version} {prefix} {facts.st_size} {facts.st_mtime_ns}".encode())
    seen.update(repr(sorted(rootfs.ETC_FILES.items())).encode())
    return seen.hexdigest()[:32]


def _grader_digest(sources: tuple[tuple[str, Path], ...]) -> str:
    seen = hashlib.sha256(f"{_LAYOUT} {sys.version}".encode())
    for name, path in sources:
        seen.update(f"\0{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return seen.hexdigest()[:32]


def _make_grader(sources: tuple[tuple[str, Path], ...], target: Path) -> None:
    for name, path in sources:
        copy = target / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        # Unchecked: the directory never changes, so nothing needs to be compared at each start.
        mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
        py_compile.compile(str(copy), dfile=f"/opt/grader/{name}", doraise=True, invalidation_mode=mode)


def _make_python(target: Path) -> None:
    _copy_interpreter(target)
    etc = target / "etc"
    etc.mkdir()
    for name, text in rootfs.ETC_FILES.items():
        (etc / name).write_text(text)
    for name, kind in rootfs.ETC_MOUNT_POINTS.items():
        (etc / name).mkdir() if kind == "dir" else (etc / name).touch()
    (target / "bin" / "python3").chmod(0o755, follow_symlinks=True)
    (target / "sbin").mkdir()
    (target / "sbin" / "start").write_bytes(launcher.program())
    (target / "sbin" / "start-runsc").write_bytes(launcher.program_over_stdin())
    _check(target / "bin" / "python3")


def _copy_interpreter(target: Path) -> None:
    executable, prefix = _interpreter()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    library = prefix / "lib" / version
    (target / "bin").mkdir()
    (target / "lib").mkdir()
    binary = target / "bin" / version
    binary.write_bytes(_relative_search_path(executable.read_bytes(), prefix / "lib"))
    for alias in ("python3", "python"):
        (target / "bin" / alias).symlink_to(version)
    for shared in (prefix / "lib").glob(f"lib{version}*.so*"):
        shutil.copyfile(shared, target / "lib" / shared.name)
    shutil.copytree(library, target / "lib" / version, ignore=_prune, copy_function=_copy_with_time)
    compileall.compile_dir(target / "lib" / version, quiet=2, stripdir=str(target), prependdir="/opt/python")


def _prune(_directory: str, names: list[str]) -> set[str]:
    unused = (".a", ".opt-1.pyc", ".opt-2.pyc")
    return {name for name in names if name in _PRUNED or name.startswith("config-") or name.endswith(unused)}


def _copy_with_time(source: str, target: str) -> None:
    """Copy bytes and times only: compiled files stay valid, odd permission bits do not come along."""
    shutil.copyfile(source, target)
    facts = Path(source).stat()
    os.utime(target, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def _relative_search_path(binary: bytes, library: Path) -> bytes:
    """Point the loader's search path for libpython next to the copy instead of into the original tree."""
    old, new = os.fsencode(library) + b"\0", b"$ORIGIN/../lib\0"
    return binary.replace(old, new.ljust(len(old), b"\0")) if len(new) <= len(old) else binary


def _open_to_all(target: Path) -> None:
    for folder, _, files in os.walk(target):
        Path(folder).chmod(0o755)
        for name in files:
            path = Path(folder, name)
            if not path.is_symlink():
                path.chmod(0o755 if path.parent.name in ("bin", "sbin") else 0o644)


def _check(python: Path) -> None:
    """Run the copy once with an empty environment."""
    command = [str(python), "-I", "-S", "-c", _CHECK]
    try:
        subprocess.run(command, env={}, check=True, capture_output=True, timeout=_CHECK_SECONDS)
    except (OSError, subprocess.SubprocessError) as fault:
        raise SandboxUnavailable("the copied interpreter does not run") from fault
