"""`lgbench check`, `submit` and `run-local` with image archives, the base root, and engines in place of bubblewrap."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from client.check import check_package
from client.local import containers
from client.local.containers import Container
from evaluation.images import official
from tests.images.builder import SHELL, Built, file, folder, manifest, programs, shell_image, tar

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

SCRIPT = """
cat /task/instruction.md > /workspace/seen.md
echo "$TURN $GREETING $(pwd) $HOME $PATH" > $REPLY_FILE
(echo x > /usr/x) 2>/dev/null && echo "root is writable" >> $REPLY_FILE
(echo x > /harness/x) 2>/dev/null && echo "harness is writable" >> $REPLY_FILE
while read -r line; do
  case $line in Inter*|face*|*lo:*) ;; *) echo "network $line" >> $REPLY_FILE;; esac
done < /proc/net/dev
true
"""
REPLY = "1 hello /workspace /home/agent /usr/local/bin:/usr/bin:/bin"
DOCUMENTED = """
--rm --name --pull --network --read-only --cap-drop --security-opt --no-healthcheck --hostname --user --workdir
--memory --memory-swap --pids-limit --cpus --shm-size --ulimit --tmpfs --volume --env --entrypoint
"""
"""Flags of `docker run`, reference of Docker 28."""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory):
    from benchmark.synthetic import generate

    out = tmp_path_factory.mktemp("tasks") / "mini"
    generate(out, version="2026.1-mini", seed=3, size="mini")
    return out


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An image of the kit's harness."""
    settings = {
        "Env": ["GREETING=hello", "PATH=/none", "HOME=/none"],
        "Entrypoint": ["/none"],
        "WorkingDir": "/usr",
    }
    built = shell_image(SCRIPT, settings=settings)
    toml = tar([file("harness/harness.toml", manifest(name="my-harness", version="0.1.0"))])
    path = tmp_path / "image.tar"
    path.write_bytes(Built([*built.layers, toml], settings=built.settings).docker())
    return path


def reply_of(said) -> str:
    assert said.code == 0, said.everything
    (row,) = said.json["tasks"]
    assert row["ending"] == "finished", Path(row["folder"], "output.log").read_text()
    assert (
        Path(row["folder"], "workspace/seen.md").read_bytes()
        == Path(row["folder"], "task/instruction.md").read_bytes()
    )
    return Path(row["folder"], "reply/reply.md").read_text().strip()


@pytest.mark.acceptance("fleet:1")
def test_an_image_is_checked_by_the_code_of_intake(lg, kit, archive):
    said = lg("check", "--image", str(archive), "--json")
    assert said.code == 0, said.everything
    checked = check_package(archive)
    assert said.json["size"] == archive.stat().st_size
    assert len(said.json["digest"]) == 64
    assert checked.kind == "image"
    broken = shell_image("", [file("bin/su", b"x", mode=0o4755)])
    archive.write_bytes(broken.oci())
    said = lg("check", "--image", str(archive), "--json")
    (finding,) = said.json["findings"]
    assert (said.code, finding["rule"], finding["file"]) == (4, "entry_setuid", "bin/su")
    assert "chmod a-s" in finding["fix"]


def test_the_manifest_of_an_image_says_so(lg, kit, archive):
    (toml,) = [file("harness/harness.toml", manifest().replace(b'kind = "image"\n', b""))]
    archive.write_bytes(Built([*shell_image("").layers, tar([toml])]).oci())
    (finding,) = lg("check", "--image", str(archive), "--json").json["findings"]
    assert (finding["rule"], finding["path"]) == ("manifest_value_invalid", "$.kind")


@pytest.mark.acceptance("fleet:1")
def test_an_image_runs_on_its_own_root(lg, kit, tasks, archive):
    said = lg("run-local", "--image", str(archive), "--tasks", str(tasks), "--limit", "1", "--json")
    assert reply_of(said) == REPLY
    again = lg("run-local", str(archive), "--tasks", str(tasks), "--limit", "1", "--json")
    assert reply_of(again) == REPLY
    kept = [path for path in (kit / ".lgbench/local/roots").iterdir() if not path.name.startswith(".")]
    assert len(kept) == 1, "unpacked once"


@pytest.fixture
def root_tar(tmp_path: Path) -> Path:
    """A root as `make rootfs` writes it, of a few programs of this host."""
    raw = tar([*programs(*SHELL), folder("etc"), file("etc/marker", b"base"), file("bin/su", mode=0o4755)])
    path = tmp_path / "root.tar"
    with path.open("w+b") as out:
        official.clean(io.BytesIO(raw), out, 1_700_000_000)
    return path


def test_a_bundle_runs_on_the_base_root(lg, kit, tasks, root_tar):
    (kit / "harness/run.sh").write_text(
        "cat /etc/marker > $REPLY_FILE; cat /task/instruction.md > seen.md; ls /usr >&2"
    )
    toml = manifest(["/bin/sh", "/harness/run.sh"], name="my-harness", version="0.1.0", kind="bundle")
    (kit / "harness/harness.toml").write_bytes(toml)
    arguments = ("--root", str(root_tar), "--tasks", str(tasks), "--limit", "1", "--json")
    assert reply_of(lg("run-local", *arguments)) == "base"
    root_tar.write_bytes(b"no tar")
    said = lg("run-local", *arguments)
    assert (said.code, "root_unusable" in said.everything) == (2, True)


RECORDER = """#!/bin/sh
echo "$@" >> {log}
case $1 in
  load) echo "Loaded image: probe:1";;
  import) echo "sha256:0123";;
esac
"""


@pytest.mark.parametrize("engine", ["docker", "podman"])
def test_commands_of_an_engine_are_built_of_documented_flags(
    lg, kit, tasks, archive, tmp_path, monkeypatch, engine
):
    """Recorded from a program of that name: there is no engine everywhere. Each flag is one of the reference's."""
    log = tmp_path / "log"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / engine).write_text(RECORDER.format(log=log))
    (tmp_path / "bin" / engine).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    lg("run-local", str(archive), "--engine", engine, "--tasks", str(tasks), "--limit", "1")
    loaded, ran, removed = log.read_text().splitlines()[:3]
    assert loaded == f"load --input {archive}"
    words = ran.split()
    flags = [word.partition("=")[0] for word in words[1 : words.index("probe:1")]]
    allowed = {*DOCUMENTED.split(), *(["--userns"] if engine == "podman" else [])}
    assert set(flags) <= allowed
    assert {"--network=none", "--read-only", "--cap-drop=ALL", "--pids-limit=128", "--memory=1g"} <= set(
        words
    )
    assert "--env=TURN=1" in words
    assert words[words.index("probe:1") - 1] == "--entrypoint=/bin/sh"
    assert words[words.index("probe:1") + 1 :] == ["/harness/run.sh"]
    name = next(word.partition("=")[2] for word in words if word.startswith("--name"))
    assert removed == f"rm --force {name}"


def test_a_bundle_in_a_container_needs_the_base_root(lg, kit, tasks, root_tar, tmp_path, monkeypatch):
    log = tmp_path / "log"
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/docker").write_text(RECORDER.format(log=log))
    (tmp_path / "bin/docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    said = lg("run-local", "--engine", "docker", "--tasks", str(tasks), "--limit", "1")
    assert (said.code, "root_unusable" in said.everything) == (2, True)
    lg("run-local", "--engine", "docker", "--root", str(root_tar), "--tasks", str(tasks), "--limit", "1")
    imported, ran, _ = log.read_text().splitlines()[:3]
    assert imported == f"import {root_tar} lgbench-root:latest"
    assert ":/harness:ro" in ran
    assert "sha256:0123 /harness/run.py" in ran


@pytest.mark.skipif(shutil.which("docker") is None, reason="the program docker is not installed")
def test_the_program_docker_itself_lists_every_flag():
    listed = subprocess.run(["docker", "run", "--help"], capture_output=True, text=True, check=True).stdout
    for flag in DOCUMENTED.split():
        assert f"{flag} " in listed, flag


def _podman_works() -> bool:
    if containers.find("podman") == "":
        return False
    return subprocess.run(["podman", "info"], capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not _podman_works(), reason="podman is not installed, or does not run here")
@pytest.mark.serial
def test_podman_runs_an_image_with_the_same_outcome(lg, kit, tasks, archive, tmp_path, monkeypatch):
    if shutil.which("runc"):  # crun takes no hierarchy of both versions of control groups
        (tmp_path / "containers.conf").write_text('[engine]\nruntime = "runc"\n')
        monkeypatch.setenv("CONTAINERS_CONF", str(tmp_path / "containers.conf"))
    said = lg(
        "run-local", str(archive), "--engine", "podman", "--tasks", str(tasks), "--limit", "1", "--json"
    )
    assert reply_of(said) == REPLY


def test_an_engine_that_is_not_there_or_fails_is_said(lg, kit, tasks, archive, tmp_path, monkeypatch):
    monkeypatch.setattr(containers, "ENGINES", ("no-such-engine",))
    said = lg("run-local", str(archive), "--engine", "docker", "--tasks", str(tasks))
    assert (said.code, "no_sandbox" in said.everything) == (2, True)
    failing = tmp_path / "failing"
    failing.write_text("#!/bin/sh\necho 'the daemon is not running' >&2\nexit 1\n")
    failing.chmod(0o755)
    monkeypatch.setattr(containers, "ENGINES", (str(failing),))
    said = lg("run-local", str(archive), "--engine", str(failing), "--tasks", str(tasks))
    assert (said.code, "container_failed" in said.everything) == (2, True)
    assert "the daemon is not running" in said.everything


def test_a_start_that_outlives_its_time_is_removed(tmp_path, monkeypatch):
    removed: list[list[str]] = []
    monkeypatch.setattr(containers, "_call", lambda command, seconds: removed.append(command))
    Container("docker", "x").remove("lgbench-1-1")
    assert removed == [["docker", "rm", "--force", "lgbench-1-1"]]
