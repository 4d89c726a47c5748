"""`lgbench` as something to hand out: `dist/` with its wheel and all that it needs.

    python3 -m venv v && v/bin/pip install --no-index --find-links dist lgbench

Other projects' wheels are downloaded by the hashes of requirements/base.txt, or, with `--installed`, packed again from
what is installed here, for a place without network. The same checkout gives the same `lgbench` wheel, byte for byte.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROJECT = ROOT / "platform/client/pyproject.toml"
LOCK = ROOT / "requirements/base.txt"
SOURCE_ROOTS = ("platform", "")
BEGINNING = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a wheel, so that its bytes depend on nothing but its content."""
LEFT_OUT = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""What an installer leaves in a .dist-info, which is no part of the wheel."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Build; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build the wheel of lgbench and collect what it needs.")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the directory (default: dist)")
    parser.add_argument("--installed", action="store_true", help="take other projects' wheels from here")
    given = parser.parse_args(arguments)
    given.to.mkdir(parents=True, exist_ok=True)
    (given.to / ".gitignore").write_text("*\n", encoding="utf-8")
    print(build(given.to))
    if given.installed:
        for name in settings()["bundled"]:
            print(repack(name, given.to))
    else:
        download(settings()["bundled"], given.to)
    return 0


def settings() -> dict[str, Any]:
    """The table `tool.lgbench` of the project file."""
    found: dict[str, Any] = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["tool"]["lgbench"]
    return found


def build(folder: Path) -> Path:
    """Write the wheel of `lgbench` into `folder`; returns its path."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    name, version = project["name"], project["version"]
    files = {place: path.read_bytes() for place, path in sources().items()}
    info = f"{name}-{version}.dist-info"
    scripts = "".join(f"{script} = {target}\n" for script, target in project["scripts"].items())
    files[f"{info}/METADATA"] = _metadata(project).encode()
    files[f"{info}/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: client_wheel\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    files[f"{info}/entry_points.txt"] = f"[console_scripts]\n{scripts}".encode()
    return write_wheel(folder / f"{name}-{version}-py3-none-any.whl", files, info)


def sources() -> dict[str, Path]:
    """Place in the wheel to file, for every module and data file that goes in."""
    found: dict[str, Path] = {}
    given = settings()
    for entry in given["files"]:
        path = ROOT / entry
        for file in sorted(path.rglob("*")) if entry.endswith("/") else [path]:
            name = file.relative_to(ROOT).as_posix()
            if file.is_file() and "__pycache__" not in file.parts and name not in given["left_out"]:
                found[name.removeprefix("platform/")] = file
    return found


def _metadata(project: Mapping[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Requires-Dist: {needed}" for needed in project["dependencies"]),
    ]
    return "\n".join(lines) + "\n"


def write_wheel(path: Path, files: Mapping[str, bytes], info: str) -> Path:
    """A wheel of these files with its RECORD, in a fixed order and at a fixed time."""
    rows = []
    with zipfile.ZipFile(path, "w") as archive:
        for place, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append(f"{place},sha256={digest},{len(data)}\n")
            _put(archive, place, data)
        rows.append(f"{info}/RECORD,,\n")
        _put(archive, f"{info}/RECORD", "".join(rows).encode())
    return path


def _put(archive: zipfile.ZipFile, place: str, data: bytes) -> None:
    member = zipfile.ZipInfo(place, BEGINNING)
    member.compress_type = zipfile.ZIP_DEFLATED
    member.external_attr = 0o644 << 16
    archive.writestr(member, data)


def repack(name: str, folder: Path) -> Path:
    """The wheel of an installed project, from its installed files; returns its path."""
    found = metadata.distribution(name)
    files: dict[str, bytes] = {}
    for file in found.files or ():
        place = file.as_posix()
        if file.name in LEFT_OUT or "__pycache__" in place or place.startswith(".."):
            continue
        files[place] = Path(str(found.locate_file(file))).read_bytes()
    info = next(place.partition("/")[0] for place in files if ".dist-info/" in place)
    tags = re.findall(r"^Tag: ([^-]+)-([^-]+)-(\S+)$", files[f"{info}/WHEEL"].decode(), re.MULTILINE)
    tag = "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))
    return write_wheel(folder / f"{info.removesuffix('.dist-info')}-{tag}.whl", files, info)


def download(names: Sequence[str], folder: Path) -> None:
    """The wheels that the lock pins, checked by its hashes. Raises CalledProcessError."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as wanted:
        wanted.write("".join(pinned(name) for name in names))
        wanted.flush()
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--require-hashes"]
        command += ["--only-binary", ":all:", "-d", str(folder), "-r", wanted.name]
        subprocess.run(command, check=True)


def pinned(name: str) -> str:
    """The lines of the lock for one project. Raises LookupError where it has none."""
    text = LOCK.read_text(encoding="utf-8")
    match = re.search(rf"^{re.escape(name)}==(?:.*\\\n)*.*\n", text, re.MULTILINE)
    if match is None:
        raise LookupError(f"{name} is not pinned in {LOCK.name}")
    return match[0]


if __name__ == "__main__":
    sys.exit(main())
