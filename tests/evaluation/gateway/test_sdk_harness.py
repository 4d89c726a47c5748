"""Harnesses built on the official clients, in the sandbox: they read the task, call the model, run its tools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmark.taskdir import Task
from evaluation.gateway.contract import Dialect
from evaluation.sandbox.spec import Ending
from tests.evaluation.gateway import agents
from tests.evaluation.gateway.answers import MODEL, chunk
from tests.evaluation.gateway.parts import CHAT, MESSAGES
from tests.evaluation.gateway.scripted import Answer, plain, stream

pytestmark = pytest.mark.slow

OPENAI = """
import json, os, pathlib, subprocess, sys
sys.path.insert(0, "/harness/lib")
import openai
client = openai.OpenAI()
tools = [{"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}}]
said = [{"role": "user", "content": pathlib.Path("/task/instruction.md").read_text("utf-8")}]
while True:
    with client.chat.completions.stream(model=os.environ["MODEL_MAIN_NAME"], messages=said, tools=tools, user="me") as stream:
        message = stream.get_final_completion().choices[0].message
    if not message.tool_calls:
        break
    said.append({"role": "assistant", "content": message.content, "tool_calls": [{"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}} for call in message.tool_calls]})
    for call in message.tool_calls:
        done = subprocess.run(json.loads(call.function.arguments)["command"], shell=True, capture_output=True, text=True)
        said.append({"role": "tool", "tool_call_id": call.id, "content": done.stdout + done.stderr})
"""  # noqa: E501
ANTHROPIC = """
import os, pathlib, subprocess, sys
sys.path.insert(0, "/harness/lib")
import anthropic
client = anthropic.Anthropic()
tools = [{"name": "shell", "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}}}]
said = [{"role": "user", "content": pathlib.Path("/task/instruction.md").read_text("utf-8")}]
while True:
    message = client.messages.create(model=os.environ["MODEL_MAIN_NAME"], max_tokens=4000, messages=said, tools=tools, metadata={"user_id": "me"})
    said.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in message.content]})
    if message.stop_reason != "tool_use":
        break
    results = []
    for block in message.content:
        if block.type == "tool_use":
            done = subprocess.run(block.input["command"], shell=True, capture_output=True, text=True)
            results.append({"type": "tool_result", "tool_use_id": block.id, "content": done.stdout + done.stderr})
    said.append({"role": "user", "content": results})
"""  # noqa: E501
RUNS = {CHAT: OPENAI, MESSAGES: ANTHROPIC}


def _chat(command: str | None) -> Answer:
    usage = {"usage": {"prompt_tokens": 100, "completion_tokens": 10}}
    last = {**chunk({}), "choices": [], **usage}
    if command is None:
        return stream(chunk({"content": "done"}), chunk({}, "stop"), last, "[DONE]")
    function = {"name": "shell", "arguments": json.dumps({"command": command})}
    call = {"index": 0, "id": "t1", "type": "function", "function": function}
    return stream(chunk({"tool_calls": [call]}), chunk({}, "tool_calls"), last, "[DONE]")


def _message(command: str | None) -> Answer:
    block: dict[str, Any] = {"type": "text", "text": "done"}
    if command is not None:
        block = {"type": "tool_use", "id": "t1", "name": "shell", "input": {"command": command}}
    return plain(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": MODEL,
            "content": [block],
            "stop_reason": "tool_use" if command else "end_turn",
            "usage": {"input_tokens": 90, "cache_read_input_tokens": 10, "output_tokens": 10},
        }
    )


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Task:
    return agents.public_task(tmp_path_factory.mktemp("tasks"))


@pytest.mark.parametrize("dialect", [CHAT, MESSAGES])
def test_a_harness_on_an_official_client_solves_a_public_task(dialect: Dialect, task: Task, tmp_path: Path):
    harness = agents.installed(
        f"sdk-{dialect}", {"run.py": RUNS[dialect]}, agents.pip("openai" if dialect is CHAT else "anthropic")
    )
    say = _chat if dialect is CHAT else _message
    answers = [say("ls; cat /task/instruction.md"), say(agents.answering(task)), say(None)]
    ran = agents.run(task, tmp_path, harness, ["python3", "/harness/run.py"], dialect, answers)
    assert ran.outcome.ending is Ending.FINISHED, ran.output
    assert float(ran.score) == 1.0
    assert [record.usage.input_tokens for record in ran.lines.ended] == [100, 100, 100]
    assert (ran.gateway.used.steps, ran.gateway.used.tokens) == (3, 330)
    shown = json.dumps(ran.asked[1]["messages"], ensure_ascii=False)
    assert task.instruction.decode().strip().splitlines()[0] in shown
    assert "written" in json.dumps(ran.asked[2]["messages"])
    assert all(body["model"] == MODEL and "metadata" not in body and "user" not in body for body in ran.asked)
