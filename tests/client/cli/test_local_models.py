"""`lgbench run-local --models`: a harness calls models through the gateway, on one's own machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from client.local.models import speaking as speaking_through
from client.trouble import Trouble
from evaluation.gateway.contract import Budget, Route
from tests.evaluation.gateway.answers import whole
from tests.evaluation.gateway.parts import CHAT
from tests.evaluation.gateway.scripted import Upstream

pytestmark = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")

KEY = "sk-own-key-of-the-vendor"
HARNESS = """
import json, os, pathlib, socket, urllib.request
body = {"model": os.environ["MODEL_MAIN_NAME"], "messages": [{"role": "user", "content": "hello"}], "user": "me"}
asked = urllib.request.Request(
    os.environ["OPENAI_BASE_URL"] + "/chat/completions",
    json.dumps(body).encode(),
    {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"},
)
found = json.load(urllib.request.urlopen(asked, timeout=60))
try:
    socket.create_connection(("127.0.0.1", int(PORT)), 2)
    network = "open"
except OSError as error:
    network = type(error).__name__
seen = "".join(pathlib.Path(f"/proc/{pid}/environ").read_text() for pid in (1, "self"))
with open(os.environ["REPLY_FILE"], "a") as reply:
    reply.write(found["choices"][0]["message"]["content"] + " " + network + " " + str("KEY" in seen) + "\\n")
"""
MANIFEST = """
[[models]]
role = "main"
dialect = "openai-chat"
upstream = "own-model"
"""


@pytest.fixture
def speaking(kit: Path, monkeypatch: pytest.MonkeyPatch):
    """The kit with a harness that calls a model, an upstream that answers, and the file that says where it is."""
    upstream = Upstream(whole(CHAT, {"prompt_tokens": 12, "completion_tokens": 3}, "said"))
    port = upstream.base.split(":")[2].split("/")[0]
    code = HARNESS.replace("int(PORT)", port).replace('"KEY"', repr(KEY))
    (kit / "harness/run.py").write_text(code)
    manifest = kit / "harness/harness.toml"
    manifest.write_text(manifest.read_text() + MANIFEST)
    (kit / "models.toml").write_text(
        f'[own-model]\ndialect = "openai-chat"\nbase_url = "{upstream.base}"\nsnapshot = "own-1"\nkey = "OWN_KEY"\n'
    )
    monkeypatch.setenv("OWN_KEY", KEY)
    yield upstream
    upstream.close()


def test_a_harness_calls_its_model_in_every_turn_and_never_sees_the_key(lg, kit, tasks, speaking):
    several = next(path.parent.name for path in sorted((tasks / "tasks").glob("*/turns")))
    said = lg("run-local", "--tasks", str(tasks), "--only", several, "--models", "models.toml", "--json")
    assert said.code == 0, said.everything
    folder = Path(said.json["tasks"][0]["folder"])
    lines = (folder / "reply/reply.md").read_text().splitlines()
    assert len(lines) >= 2, (folder / "output.log").read_text()
    assert set(lines) == {"said ConnectionRefusedError False"}
    assert {asked.body["model"] for asked in speaking.asked} == {"own-1"}
    assert speaking.asked[0].headers["authorization"] == f"Bearer {KEY}"
    text = (folder / "models.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    assert [(row["step"], row["usage"]["input_tokens"]) for row in rows] == [
        (step, 12) for step in range(1, len(lines) + 1)
    ]
    assert (rows[0]["stripped"], KEY in text + said.everything) == (["user"], False)


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("[own-model]", "[another]", "own-model"),
        ('"openai-chat"', '"openai-responses"', "dialect"),
        ("OWN_KEY", "UNSET_KEY", "UNSET_KEY"),
        ("http://", "ftp://", "http"),
        ("[own-model]", "[own-model", "models.toml"),
        ("snapshot", "snapshots", "snapshot"),
    ],
)
def test_what_is_wrong_with_the_file_is_said(lg, kit, tasks, speaking, old: str, new: str, word: str):
    path = kit / "models.toml"
    path.write_text(path.read_text().replace(old, new))
    said = lg("run-local", "--tasks", str(tasks), "--limit", "1", "--models", "models.toml")
    assert (said.code, "models_unusable" in said.err, word in said.err) == (2, True, True), said.everything
    assert KEY not in said.everything


def test_what_is_no_bubblewrap_has_no_gateway(tmp_path: Path):
    own = Route("main", "own-model", CHAT, "http://127.0.0.1:1/v1", "own-1", KEY)
    with speaking_through({"main": own}, Budget(1, 1), tmp_path / "models.jsonl") as voice:
        with pytest.raises(Trouble, match="models_unusable"), voice.turn(["/usr/bin/podman", "run"]):
            raise AssertionError("it was started")


def test_models_without_a_file_are_not_run(lg, kit, tasks, speaking):
    said = lg("run-local", "--tasks", str(tasks), "--limit", "1")
    assert (said.code, "models_unusable" in said.err, speaking.asked) == (2, True, [])
