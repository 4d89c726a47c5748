"""OpenCode, as it comes from its registry, on a public task in a sandbox with no network but the gateway."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.sandbox.spec import Ending
from tests.evaluation.gateway import agents
from tests.evaluation.gateway.answers import chunk
from tests.evaluation.gateway.parts import CHAT
from tests.evaluation.gateway.scripted import Answer, stream

pytestmark = pytest.mark.slow

VERSION = "1.18.34"
CONFIG = {
    "autoupdate": False,
    "share": "disabled",
    "enabled_providers": ["gateway"],
    "provider": {
        "gateway": {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": "{env:OPENAI_BASE_URL}", "apiKey": "{env:OPENAI_API_KEY}"},
            "models": {"main-model": {"limit": {"context": 100_000, "output": 4_000}}},
        }
    },
}
RUN = """#!/bin/sh
export OPENCODE_CONFIG=/harness/config.json OPENCODE_DISABLE_MODELS_FETCH=1 OPENCODE_DISABLE_AUTOUPDATE=1
export OPENCODE_DISABLE_DEFAULT_PLUGINS=1 OPENCODE_DISABLE_LSP_DOWNLOAD=1 OPENCODE_DISABLE_SHARE=1
exec /harness/node_modules/opencode-linux-x64/bin/opencode run --auto --title task \\
    --model "gateway/$MODEL_MAIN_NAME" "$(cat /task/instruction.md)"
"""


def _say(command: str | None, number: int) -> Answer:
    last = {**chunk({}), "choices": [], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}
    if command is None:
        return stream(chunk({"role": "assistant", "content": "All done."}), chunk({}, "stop"), last, "[DONE]")
    arguments = json.dumps({"command": command, "description": "step"})
    function = {"name": "bash", "arguments": arguments}
    call = {"index": 0, "id": f"t{number}", "type": "function", "function": function}
    return stream(chunk({"role": "assistant", "tool_calls": [call]}), chunk({}, "tool_calls"), last, "[DONE]")


def test_opencode_solves_a_public_task_without_a_network(tmp_path: Path):
    harness = agents.installed(
        "opencode",
        {"run.sh": RUN, "config.json": json.dumps(CONFIG)},
        ("npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", f"opencode-linux-x64@{VERSION}"),
    )
    task = agents.public_task(tmp_path)
    answers = [_say("ls -la", 0), _say(agents.answering(task), 1), _say(None, 2)]
    ran = agents.run(task, tmp_path, harness, ["/bin/sh", "/harness/run.sh"], CHAT, answers)
    assert ran.outcome.ending is Ending.FINISHED, ran.output
    assert "All done." in ran.output
    assert float(ran.score) == 1.0
    assert [record.usage.input_tokens for record in ran.lines.ended] == [100, 100, 100]
    assert ran.gateway.used.steps == 3
    assert ran.gateway.observed["main-model"].tools[0] > 3
    assert "written" in json.dumps(ran.asked[2]["messages"])
    assert ran.asked[0]["stream_options"] == {"include_usage": True}
