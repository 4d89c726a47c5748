"""mini-swe-agent, as it comes from its registry, on a public task in the sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from evaluation.sandbox.spec import Ending
from tests.evaluation.gateway import agents
from tests.evaluation.gateway.answers import MODEL
from tests.evaluation.gateway.parts import CHAT
from tests.evaluation.gateway.scripted import Answer, plain

pytestmark = pytest.mark.slow

RUN = """
import os, pathlib, sys
sys.path.insert(0, "/harness/lib")
os.environ |= {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MSWEA_COST_TRACKING": "ignore_errors",
    "MSWEA_SILENT_STARTUP": "1",
    "MSWEA_GLOBAL_CONFIG_DIR": os.environ["HOME"],
}
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.models.litellm_model import LitellmModel
agent = DefaultAgent(
    LitellmModel(model_name="openai/" + os.environ["MODEL_MAIN_NAME"]),
    LocalEnvironment(),
    system_template="You work in a shell.",
    instance_template="{{task}}",
    cost_limit=0,
)
print(agent.run(pathlib.Path("/task/instruction.md").read_text("utf-8")))
"""
PACKAGES = (
    "litellm==1.110.2",
    "jinja2",
    "tenacity",
    "rich",
    "typer",
    "platformdirs",
    "python-dotenv",
    "requests",
)
"""What this agent imports; its data sets for other benchmarks stay out."""


def _say(command: str, number: int) -> Answer:
    function = {"name": "bash", "arguments": json.dumps({"command": command})}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"t{number}", "type": "function", "function": function}],
    }
    return plain(
        {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": MODEL,
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
    )


def test_mini_swe_agent_solves_a_public_task(tmp_path: Path):
    harness = agents.installed(
        "mini-swe-agent",
        {"run.py": RUN},
        agents.pip(*PACKAGES),
        agents.pip("--no-deps", "mini-swe-agent==2.4.6"),
    )
    task = agents.public_task(tmp_path)
    commands = ["ls -la", agents.answering(task), "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"]
    answers = [_say(command, number) for number, command in enumerate(commands)]
    ran = agents.run(task, tmp_path, harness, ["python3", "/harness/run.py"], CHAT, answers)
    assert ran.outcome.ending is Ending.FINISHED, ran.output
    assert "Submitted" in ran.output
    assert float(ran.score) == 1.0
    assert [record.usage.input_tokens for record in ran.lines.ended] == [100, 100, 100]
    assert ran.gateway.used.steps == 3
    assert ran.gateway.observed["main-model"].tools == (1, 1)
    assert "written" in json.dumps(ran.asked[2]["messages"])
