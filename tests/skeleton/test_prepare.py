"""Set-up: skipped when nothing changed, done again when a lock changes, clear where it cannot help itself."""

import importlib.util
import subprocess
import sys

import pytest

from tests.servers import ROOT

specification = importlib.util.spec_from_file_location("prepare", ROOT / "deploy/prepare.py")
assert specification is not None
assert specification.loader is not None
prepare = importlib.util.module_from_spec(specification)
sys.modules["prepare"] = prepare
specification.loader.exec_module(prepare)


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A small checkout whose environment has just been made."""
    (tmp_path / "requirements").mkdir()
    for name in ("base.txt", "dev.txt"):
        (tmp_path / "requirements" / name).write_text(f"{name}\n")
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    monkeypatch.setattr(prepare, "ROOT", tmp_path)
    monkeypatch.setattr(prepare, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(prepare, "PYTHON", python)
    return tmp_path


def stamp(checkout, kind):
    (checkout / f".venv/.made-from-{kind}").write_text(prepare.stamp_of(kind))


def test_a_development_environment_serves_the_demo_too_but_not_the_other_way_round(checkout):
    assert not prepare.installed("base")
    stamp(checkout, "base")
    assert prepare.installed("base")
    assert not prepare.installed("dev")
    (checkout / ".venv/.made-from-base").unlink()
    stamp(checkout, "dev")
    assert prepare.installed("base")
    assert prepare.installed("dev")


@pytest.mark.parametrize("kind", ["base", "dev"])
def test_a_changed_lock_asks_for_a_new_set_up(checkout, kind):
    stamp(checkout, kind)
    (checkout / "requirements/base.txt").write_text("other\n")
    assert not prepare.installed(kind)


def test_without_apt_root_or_sudo_there_is_one_line_that_says_what_to_type(monkeypatch):
    monkeypatch.setattr(prepare.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(
        prepare.shutil, "which", lambda name: "/usr/bin/apt-get" if name == "apt-get" else None
    )
    monkeypatch.setitem(prepare.SYSTEM, "base", [("bubblewrap", lambda: False, "sandboxes need bubblewrap")])
    with pytest.raises(prepare.SetupError) as raised:
        prepare.ensure_system("base")
    assert str(raised.value) == "sandboxes need bubblewrap: as root, run `apt-get install bubblewrap`"


def test_a_failed_command_shows_its_end(monkeypatch):
    with pytest.raises(prepare.SetupError, match="no such thing"):
        prepare.run([sys.executable, "-c", "import sys; sys.exit('no such thing')"])


def test_catalogues_are_compiled_only_when_older_than_their_source(checkout, monkeypatch):
    ran = []
    monkeypatch.setattr(prepare, "run", lambda command, **extra: ran.append(command))
    source = checkout / "locale/en/LC_MESSAGES/django.po"
    source.parent.mkdir(parents=True)
    source.touch()
    prepare.compile_catalogues()
    assert len(ran) == 1
    source.with_suffix(".mo").touch()
    prepare.compile_catalogues()
    assert len(ran) == 1


def test_every_requirement_is_pinned_with_its_hash():
    for name in ("base.txt", "dev.txt"):
        text = (ROOT / "requirements" / name).read_text()
        blocks = [
            block for block in text.replace("\\\n", " ").splitlines() if block and not block.startswith("#")
        ]
        assert blocks
        assert all("==" in block and "--hash=sha256:" in block for block in blocks)


def test_makefile_offers_what_was_agreed():
    text = (ROOT / "Makefile").read_text()
    for target in ("demo", "test", "serve", "check", "bench", "acceptance", "clean"):
        assert f"\n{target}:" in text
    shown = subprocess.run(
        ["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert '-n 2 --dist loadgroup -m "not serial and not slow' in shown


def test_what_is_welcome_stops_nothing_where_it_cannot_be_had(monkeypatch, capsys):
    monkeypatch.setattr(prepare.shutil, "which", lambda name: None)
    prepare.welcome_system()
    assert "left out: tests of gVisor need runsc: install runsc" in capsys.readouterr().err
