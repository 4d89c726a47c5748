"""Sandboxes on a root of their own: an unpacked image. What holds on the host's root holds there too."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.images import settings as image_settings
from evaluation.images.image import inspect, unpack
from evaluation.images.settings import Decision
from evaluation.sandbox.spec import Ending, Outcome, Root
from tests.images.builder import Built, file, folder, link, shell_image
from tests.sandbox.conftest import Bench

OVERRIDDEN = sorted(
    key for key, (decision, _) in image_settings.SETTINGS.items() if decision is Decision.OVERRIDDEN
)
HOSTILE: dict[str, Any] = {
    "Entrypoint": ["/bin/sh", "-c", "echo entrypoint > /workspace/entrypoint"],
    "Cmd": ["/bin/sh", "-c", "echo cmd > /workspace/cmd"],
    "Shell": ["/bin/none", "-c"],
    "ArgsEscaped": True,
    "User": "0:0",
    "WorkingDir": "/harness",
    "Volumes": {"/volume": {}, "/harness": {}, "/etc": {}},
    "ExposedPorts": {"1/tcp": {}},
    "Healthcheck": {"Test": ["CMD-SHELL", "echo health > /workspace/health"], "Interval": 1_000_000},
    "StopSignal": "SIGWINCH",
    "StopTimeout": 3600,
    "Labels": {"io.example.privileged": "true"},
    "OnBuild": ["RUN touch /onbuild"],
    "Hostname": "evil",
    "Domainname": "evil.example",
    "Image": "sha256:evil",
    "Tty": True,
    "OpenStdin": True,
    "StdinOnce": True,
    "AttachStdin": True,
    "AttachStdout": False,
    "AttachStderr": False,
}
PROBE = """
exec 2>&1
echo "command ran"
id -u; id -g
pwd
cat /proc/sys/kernel/hostname /proc/sys/kernel/domainname
(echo x > /volume/x) 2>/dev/null && echo VOLUME WRITABLE
(echo x > /harness/x) 2>/dev/null && echo HARNESS WRITABLE
(echo x > /etc/x) 2>/dev/null && echo ETC WRITABLE
[ -e /onbuild ] && echo ONBUILD
[ -t 0 ] && echo TERMINAL
cat
ls /workspace
while read -r line; do case $line in *00000000*) ;; *) echo "$line";; esac; done < /proc/net/dev
env
"""


@pytest.fixture
def run_image(bench: Bench, open_dir: Path) -> Callable[..., Outcome]:
    """Unpack an image and run its harness."""

    def run(
        built: Built, command: tuple[str, ...] = ("/bin/sh", "/harness/run.sh"), **changes: Any
    ) -> Outcome:
        data = built.oci()
        found = inspect(io.BytesIO(data))
        root = open_dir / "root"
        root.mkdir()
        unpack(io.BytesIO(data), found, root)
        of_run = Root(root, f"image root {found.tree_digest[:12]}", found.environment)
        return bench.run("", command=command, harness_dir=root / "harness", root=of_run, **changes)

    return run


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H31")
def test_every_setting_that_is_overridden_has_no_effect(run_image: Callable[..., Outcome]) -> None:
    """All at once, each set to what would show."""
    assert sorted(HOSTILE) == OVERRIDDEN, "each key is set here"
    built = shell_image(
        PROBE, [folder("volume")], settings={**HOSTILE, "Env": ["A=1", "HOME=/evil", "TURN=9"]}
    )
    outcome = run_image(built)
    said = outcome.stdout.decode().splitlines()
    assert outcome.ending is Ending.FINISHED, said
    assert said[:5] == ["command ran", "1000", "1000", "/workspace", "sandbox"]
    assert "(none)" in said
    for word in ("WRITABLE", "ONBUILD", "TERMINAL", "evil", "entrypoint", "cmd", "health"):
        assert word not in outcome.stdout.decode(), said
    assert {"A=1", "HOME=/home/agent", "TURN=1", "EPISODE_SEED=7"} <= set(said)


CHECKS: dict[str, str] = {
    "Entrypoint": "[ ! -e /workspace/entrypoint ]",
    "Cmd": "[ ! -e /workspace/cmd ]",
    "Shell": "[ -x /bin/sh ]",
    "ArgsEscaped": "true",
    "User": '[ "$(id -u)$(id -g)" = 10001000 ]',
    "WorkingDir": '[ "$(pwd)" = /workspace ]',
    "Volumes": "! (echo x > /volume/x) && ! (echo x > /harness/x) && ! (echo x > /etc/x)",
    "ExposedPorts": '[ "$(cat /proc/net/tcp | grep_lines)" = 1 ]',
    "Healthcheck": "sleep 0.3; [ ! -e /workspace/health ]",
    "StopSignal": "true",
    "StopTimeout": "true",
    "Labels": "! env | has privileged",
    "OnBuild": "[ ! -e /onbuild ]",
    "Hostname": '[ "$(cat /proc/sys/kernel/hostname)" = sandbox ]',
    "Domainname": '[ "$(cat /proc/sys/kernel/domainname)" = "(none)" ]',
    "Image": "! env | has evil",
    "Tty": "[ ! -t 0 ]",
    "OpenStdin": '[ -z "$(cat)" ]',
    "StdinOnce": '[ -z "$(cat)" ]',
    "AttachStdin": '[ -z "$(cat)" ]',
    "AttachStdout": "echo heard",
    "AttachStderr": "echo heard >&2",
}
FUNCTIONS = """
grep_lines() { n=0; while read -r _; do n=$((n+1)); done; echo $n; }
has() { while read -r line; do case $line in *$1*) return 0;; esac; done; return 1; }
"""


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H31")
@pytest.mark.parametrize("key", OVERRIDDEN)
def test_a_setting_that_is_overridden_has_no_effect(run_image: Callable[..., Outcome], key: str) -> None:
    """One key at a time; its check runs inside and decides the exit code."""
    built = shell_image(f"{FUNCTIONS}\n{CHECKS[key]}\n", [folder("volume")], settings={key: HOSTILE[key]})
    outcome = run_image(built)
    assert outcome.exit_code == 0, (outcome.stdout, outcome.stderr)
    if key.startswith("AttachStd") and key != "AttachStdin":
        assert b"heard" in outcome.stdout + outcome.stderr


def test_an_image_sees_its_own_files_and_nothing_of_the_host(run_image: Callable[..., Outcome]) -> None:
    script = "ls -d /usr /opt /root /var /srv /mnt; cat /etc/passwd /etc/own /etc/hostname; ls /"
    layer = [file("etc/own", b"mine\n"), file("etc/passwd", b"root::0:0::/:/bin/sh\n"), folder("etc")]
    outcome = run_image(shell_image(script, layer[:2]))
    said = outcome.stdout.decode()
    assert "agent:x:1000" in said
    assert "mine" in said
    assert "root::0:0" not in said
    top = set(said.rpartition("sandbox\n")[2].split())
    wanted = {
        "bin",
        "dev",
        "etc",
        "harness",
        "home",
        "proc",
        "reply",
        "sys",
        "task",
        "tmp",
        "usr",
        "workspace",
    }
    assert wanted <= top
    assert {"opt", "root", "srv", "mnt", "media"}.isdisjoint(top)


def test_the_root_cannot_be_written_to_and_the_places_of_the_contract_can(
    run_image: Callable[..., Outcome],
) -> None:
    script = """
for place in / /usr /bin /etc /harness /task /home /dev /sys /proc/sys/kernel /.start; do
  (echo x > $place/x) 2>/dev/null && echo "WROTE $place"
done
(echo x > /bin/sh) 2>/dev/null && echo "WROTE sh"
for place in /workspace /reply /home/agent /tmp /dev/shm; do echo x > $place/x || echo "NOT $place"; done
echo done > /reply/reply.md
"""
    outcome = run_image(shell_image(script))
    assert outcome.stdout == b""
    assert outcome.reply == b"done\n"
    assert outcome.isolation.startswith("image root ")
    assert outcome.manifest["isolation"] == outcome.isolation


@pytest.mark.parametrize(
    ("command", "code"),
    [(("/no/such",), 127), (("no-such",), 127), (("/harness/harness.toml",), 126), (("/harness",), 126)],
)
def test_a_command_that_cannot_be_started_is_the_harness_s_doing(
    run_image: Callable[..., Outcome], command: tuple[str, ...], code: int
) -> None:
    outcome = run_image(shell_image(""), command=command)
    assert (outcome.ending, outcome.exit_code) == (Ending.CRASHED, code)


def test_an_image_without_a_shell_runs_its_command_by_name(run_image: Callable[..., Outcome]) -> None:
    """And one whose shell says nothing of its start is not taken for a fault of the platform."""
    built = shell_image("", [file("bin/.wh.sh"), file("usr/bin/.wh.sh")])
    outcome = run_image(built, command=("env",))
    assert outcome.ending is Ending.FINISHED
    assert b"REPLY_FILE=/reply/reply.md" in outcome.stdout


def test_a_shell_that_is_a_trap_makes_no_fault_of_the_platform(run_image: Callable[..., Outcome]) -> None:
    """The platform never asks the image's shell; it is the command of this image, so it ends as the harness's own."""
    built = shell_image(
        "", [file("bin/sh", b"#!/bin/none\n", mode=0o755), file("usr/bin/sh", b"", mode=0o755)]
    )
    outcome = run_image(built)
    assert outcome.ending is Ending.CRASHED


def test_links_of_the_image_lead_nowhere_else(run_image: Callable[..., Outcome]) -> None:
    script = "cat /leak 2>/dev/null; ls /host 2>/dev/null; true"
    outcome = run_image(shell_image(script, [link("leak", "/root/.profile"), link("host", "/")]))
    listed = outcome.stdout.decode().split()
    assert "harness" in listed
    assert "root" not in listed
