#!/usr/bin/env python3
"""Set-up of a checkout: `.venv` from the hashed locks, source roots on its path, system packages, catalogues.

Runs on any Python from 3.11 with nothing installed. Does nothing, within milliseconds, if nothing changed.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
LOCKS = {"base": ["base.txt"], "dev": ["base.txt", "dev.txt"]}
#: The S3 server runs from a read-only view of the environment, so its packages are compiled beforehand.
COMPILED_BEFOREHAND = ("nanio", "starlette", "uvicorn", "anyio", "aiofiles", "defusedxml", "h11", "httptools")
APT_QUIET = ["-y", "-q", "--no-install-recommends"]


class SetupError(Exception):
    """Set-up cannot go on; the text is the one line the user needs."""


def say(text: str) -> None:
    """One line of progress."""
    print(f"setup: {text}", file=sys.stderr, flush=True)


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Announce a step and say how long it took."""
    started = time.monotonic()
    yield
    say(f"{what} ({time.monotonic() - started:.0f} s)")


def run(command: Sequence[str], **extra: str) -> None:
    """Run a command quietly; raises SetupError with the end of what it said."""
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **extra}, text=True, capture_output=True, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-12:])
        raise SetupError(f"`{' '.join(command[:4])} …` failed:\n{tail}")


def works(*command: str) -> bool:
    """Whether a command exists and ends well."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


# --- Python packages -----------------------------------------------------------------------------


def stamp_of(kind: str) -> str:
    """What the environment was made from: interpreter, place, locks."""
    digest = hashlib.sha256(f"{sys.version}|{ROOT}".encode())
    for name in LOCKS[kind]:
        digest.update((ROOT / "requirements" / name).read_bytes())
    return digest.hexdigest()


def installed(kind: str) -> bool:
    """Whether `.venv` holds what `kind` asks for; a development environment serves as a base one."""
    kinds = ["dev"] if kind == "dev" else ["base", "dev"]
    return PYTHON.exists() and any(
        (VENV / f".made-from-{name}").exists() and (VENV / f".made-from-{name}").read_text() == stamp_of(name)
        for name in kinds
    )


def install(kind: str) -> None:
    """Make or bring up to date `.venv`, with uv where it works, else with venv and pip."""
    for stamp in VENV.glob(".made-from-*"):
        stamp.unlink()
    files = [word for name in LOCKS[kind] for word in ("-r", f"requirements/{name}")]
    if works("uv", "--version"):
        with timed(f"packages ({kind}) by uv"):
            _install_by_uv(files)
    else:
        with timed(f"packages ({kind}) by pip"):
            _install_by_pip(files)
    write_path_file()
    run([str(PYTHON), "-m", "compileall", "-q", "-j", "0", *_compiled_folders()])
    (VENV / f".made-from-{kind}").write_text(stamp_of(kind))


def _install_by_uv(files: list[str]) -> None:
    if not _venv_runs():
        run(["uv", "venv", "--quiet", "--clear", "--python", sys.executable, str(VENV)])
    links = os.environ.get("PIP_FIND_LINKS", "")
    extra = {"UV_FIND_LINKS": links.replace(" ", ",")} if links and "UV_FIND_LINKS" not in os.environ else {}
    run(["uv", "pip", "install", "--quiet", "--python", str(PYTHON), "--require-hashes", *files], **extra)


def _install_by_pip(files: list[str]) -> None:
    if not _venv_runs() or not works(str(PYTHON), "-m", "pip", "--version"):
        if not works(sys.executable, "-c", "import ensurepip, venv"):
            need_system(["python3-venv"], "python3 has no venv module")
        run([sys.executable, "-m", "venv", "--clear", str(VENV)])
    quiet = ["--quiet", "--disable-pip-version-check", "--no-input"]
    run([str(PYTHON), "-m", "pip", "install", *quiet, "--require-hashes", *files])


def _venv_runs() -> bool:
    """Whether `.venv` exists, works and is of this interpreter's version."""
    if not PYTHON.exists():
        return False
    asked = subprocess.run(
        [str(PYTHON), "-c", "import sys; print(sys.version)"], capture_output=True, text=True, check=False
    )
    return asked.stdout.strip() == sys.version.strip()


def site_packages() -> Path:
    """The environment's package folder."""
    return VENV / f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"


def _compiled_folders() -> list[str]:
    return [str(site_packages() / name) for name in COMPILED_BEFOREHAND if (site_packages() / name).is_dir()]


def write_path_file() -> None:
    """Put the two source roots on the environment's path."""
    path = site_packages() / "lingee.pth"
    wanted = f"{ROOT}\n{ROOT / 'platform'}\n"
    if not path.exists() or path.read_text() != wanted:
        path.write_text(wanted)


# --- system packages -----------------------------------------------------------------------------


def has_bubblewrap() -> bool:
    """Whether sandboxes and servers can have their boxes."""
    return shutil.which("bwrap") is not None


def has_gvisor() -> bool:
    """Whether sandboxes can have a kernel of their own."""
    return shutil.which("runsc") is not None


def has_chromium() -> bool:
    """Whether browser tests have a browser."""
    return any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))


def has_chinese_font() -> bool:
    """Whether that browser can draw Chinese."""
    folders = [Path("/usr/share/fonts"), Path("/usr/local/share/fonts"), Path.home() / ".fonts"]
    return any(next(folder.rglob("*CJK*"), None) for folder in folders if folder.is_dir())


SYSTEM: dict[str, list[tuple[str, Callable[[], bool], str]]] = {
    "base": [("bubblewrap", has_bubblewrap, "sandboxes need bubblewrap")],
    "dev": [
        ("bubblewrap", has_bubblewrap, "sandboxes need bubblewrap"),
        ("chromium", has_chromium, "browser tests need chromium"),
        ("fonts-noto-cjk", has_chinese_font, "browser tests need a Chinese font"),
    ],
}


#: What development does without where it cannot be had: tests that want it are skipped and say so.
WELCOME: list[tuple[str, Callable[[], bool], str]] = [("runsc", has_gvisor, "tests of gVisor need runsc")]


def welcome_system() -> None:
    """Install what is welcome, where it can be had; say what is left out otherwise."""
    for package, present, why in WELCOME:
        if present():
            continue
        try:
            need_system([package], why)
        except SetupError as error:
            say(f"left out: {str(error).splitlines()[0]}")


def ensure_system(kind: str) -> None:
    """Install the system packages that are missing, or say which."""
    missing = [(package, why) for package, present, why in SYSTEM[kind] if not present()]
    if missing:
        need_system([package for package, _ in missing], "; ".join(why for _, why in missing))


def need_system(packages: list[str], why: str) -> None:
    """apt-get as root or by passwordless sudo; raises SetupError with the line to type otherwise."""
    line = f"apt-get install {' '.join(packages)}"
    if shutil.which("apt-get") is None:
        raise SetupError(f"{why}: install {', '.join(packages)}")
    if os.geteuid() == 0:
        prefix: list[str] = []
    elif works("sudo", "-n", "true"):
        prefix = ["sudo", "-n"]
    else:
        raise SetupError(f"{why}: as root, run `{line}`")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
    with timed(line):
        try:
            run([*apt, "install", *APT_QUIET, *packages])
        except SetupError:  # a fresh machine has no package lists yet
            run([*apt, "update", "-q"])
            run([*apt, "install", *APT_QUIET, *packages])


# --- catalogues ----------------------------------------------------------------------------------


def compile_catalogues() -> None:
    """Compile each translation catalogue that is newer than its compiled form."""
    sources = ROOT.glob("locale/*/LC_MESSAGES/*.po")
    stale = [path for path in sources if not _fresh(path.with_suffix(".mo"), path)]
    if stale:
        run([str(PYTHON), "-m", "config.catalogues", "compile"])


def _fresh(product: Path, source: Path) -> bool:
    return product.exists() and product.stat().st_mtime >= source.stat().st_mtime


def main() -> int:
    """Bring the checkout into shape; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dev", action="store_true", help="also what tests and checks need")
    kind = "dev" if parser.parse_args().dev else "base"
    if sys.version_info < (3, 11):  # noqa: UP036 - this file is what tells an older interpreter's user
        print("setup: Python 3.11 or newer is needed", file=sys.stderr)
        return 1
    lock = os.open(ROOT / "requirements", os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)  # two makes at once: the second finds everything done
    try:
        ensure_system(kind)
        if kind == "dev":
            welcome_system()
        if not installed(kind):
            install(kind)
        write_path_file()
        compile_catalogues()
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    finally:
        os.close(lock)
    return 0


if __name__ == "__main__":
    sys.exit(main())
