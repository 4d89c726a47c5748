"""`lg`: the command as people type it, in a folder of its own, with the environment of nobody else."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from client import words
from client.cli import main


@dataclass
class Said:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out)
        return found

    @property
    def everything(self) -> str:
        return self.out + self.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and the present one."""
    found = tmp_path / "my-harness"
    found.mkdir()
    monkeypatch.chdir(found)
    return found


@pytest.fixture
def lg(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., Said]]:
    """`lg("check", "--json")`: run it; its exit code and what it printed."""
    for name in [name for name in os.environ if name.startswith(("LGBENCH_", "ACTIONS_", "GITHUB_", "LC_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("LANG", "en_GB.UTF-8")
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> Said:
        capsys.readouterr()
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return Said(code, out, err)

    yield run
    words.use("en")


@pytest.fixture
def kit(lg: Callable[..., Said], folder: Path) -> Path:
    """The starter kit, as `init` writes it."""
    assert lg("init", ".").code == 0
    return folder


@pytest.fixture
def task_set(transactional_db: None) -> Any:
    """An open version without cooldown."""
    from tests.pages import site

    return site.task_set("2026.9")


@pytest.fixture
def vendor(transactional_db: None) -> Any:
    """A verified vendor with a token."""
    from tests.submissions import world

    return world.vendor()


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Everything that the client sends goes through it."""
    from tests.client.cli import proxy as proxies

    with proxies.running() as found:
        for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("HTTP_PROXY", found.address)
        monkeypatch.setenv("http_proxy", found.address)
        yield found


@pytest.fixture
def online(live_server: Any, task_set: Any, vendor: Any, kit: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The kit in a folder whose site answers, the vendor's token in the environment, short pauses; the vendor."""
    monkeypatch.setenv("LGBENCH_SITE", live_server.url)
    monkeypatch.setenv("LGBENCH_TOKEN", vendor.api.secret)
    monkeypatch.setattr("client.remote.http.rest", lambda seconds: time.sleep(min(seconds, 0.02)))
    return vendor


@pytest.fixture(scope="session")
def tasks(tmp_path_factory):
    """The mini bank as a folder; its public tasks are read like any."""
    from benchmark.synthetic import generate

    out = tmp_path_factory.mktemp("tasks") / "mini"
    generate(out, version="2026.1-mini", seed=3, size="mini")
    return out
