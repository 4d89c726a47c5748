"""The checkout's shape: exactly the folders that were agreed, small modules, the standard library not hidden."""

import ast
import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.servers import ROOT

FOLDERS = {
    *("platform", "submissions", "governance", "leaderboard", "templates", "deploy", "locale", "static"),
    *("tests", "docs", "requirements", ".ci"),
}
FILES = {"README.md", "Makefile", "manage.py", "pyproject.toml", ".gitignore", ".gitattributes"}
SOURCE_ROOT = {
    *("config", "embedded", "accounts", "audit", "benchmark", "erp", "scoring", "client", "evaluation"),
}
LONGEST_MODULE = 400  # lines


def tracked() -> list[Path]:
    """Files under version control, or, in an export without it, all files."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [Path(name) for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def test_top_level_is_exactly_the_agreed_one():
    found = {path.parts[0] for path in tracked()}
    assert found == FOLDERS | FILES


def test_source_root_is_no_package_and_holds_what_was_agreed():
    assert not (ROOT / "platform/__init__.py").exists()
    assert {path.parts[1] for path in tracked() if path.parts[0] == "platform"} <= SOURCE_ROOT


def test_modules_stay_small():
    long = {
        str(path): lines
        for path in tracked()
        if path.suffix == ".py" and "migrations" not in path.parts
        if (lines := len((ROOT / path).read_text(encoding="utf-8").splitlines())) > LONGEST_MODULE
    }
    assert long == {}


STANDARD = Path(sysconfig.get_paths()["stdlib"]) / "platform.py"


def run(*command: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
    }
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_pytest_sees_the_standard_platform_module():
    assert Path(platform.__file__).resolve() == STANDARD.resolve()


@pytest.mark.parametrize(
    "command",
    [
        ["manage.py", "shell", "--no-imports", "-c", "import tests.skeleton.probe"],
        ["-m", "celery", "-A", "tests.skeleton.probe", "report"],
        [
            "-m",
            "gunicorn",
            "-c",
            "deploy/gunicorn.conf.py",
            "--check-config",
            "tests.skeleton.probe:application",
        ],
    ],
    ids=["manage.py", "celery", "gunicorn"],
)
def test_every_entry_point_sees_the_standard_platform_module(command):
    said = run(sys.executable, *command)
    assert f"platform is {STANDARD}" in said or f"platform is {STANDARD.resolve()}" in said


def test_nothing_asks_for_more_than_the_oldest_python_offers():
    """Debian's Python is 3.11.2; the argument `filter` of tarfile came with 3.11.4."""
    guilty = []
    for path in tracked():
        if path.suffix != ".py":
            continue
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            given = {keyword.arg for keyword in node.keywords}
            if node.func.attr in {"extract", "extractall"} and "filter" in given:
                guilty.append(f"{path}:{node.lineno}")
    assert guilty == []
