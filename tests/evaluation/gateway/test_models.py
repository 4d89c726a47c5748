"""Which model answers: the listed ones, in their own dialect, to whoever has the episode's key."""

from __future__ import annotations

import httpx
import pytest

from evaluation.gateway.contract import Dialect, variables
from tests.evaluation.gateway.answers import whole
from tests.evaluation.gateway.parts import CHAT, DIALECTS, KEY, MESSAGES, RESPONSES, gateway, route


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_model_that_is_not_listed_is_refused_and_recorded(dialect: Dialect):
    with gateway(dialect, whole(dialect, None)) as setting:
        answer = setting.ask(dialect, model="someone-elses-model")
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "model_not_listed")
        assert setting.gateway.unlisted == ("someone-elses-model",)
        assert setting.gateway.refused == {"model_not_listed": 1}
        assert setting.upstream.asked == []


def test_names_of_unlisted_models_do_not_fill_the_memory():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        for number in range(40):
            setting.ask(CHAT, model=f"m{number}")
        assert setting.ask(CHAT, model="x" * 300).json()["error"]["code"] == "field_invalid"
        assert len(setting.gateway.unlisted) == 32
        assert setting.gateway.refused["model_not_listed"] == 40


def test_the_snapshots_own_name_is_not_one_that_may_be_asked_for():
    with gateway(CHAT, whole(CHAT, None)) as setting:
        assert setting.ask(CHAT, model="snap-1").status_code == 403


@pytest.mark.parametrize("other", [RESPONSES, MESSAGES])
def test_a_model_answers_in_its_own_dialect_only(other: Dialect):
    with gateway(CHAT, whole(CHAT, None)) as setting:
        answer = setting.ask(other)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "dialect_differs")


def test_several_models_by_role():
    with gateway(CHAT, whole(CHAT, None)) as first:
        small = route(MESSAGES, first.upstream.base, role="small", name="tiny", snapshot="tiny-7")
        with gateway(CHAT, whole(MESSAGES, None), routes=[small]) as setting:
            assert (
                setting.ask(MESSAGES, model="tiny").status_code == 502
            )  # first's upstream speaks another dialect
            assert first.upstream.asked[0].body["model"] == "tiny-7"
            assert setting.lines.ended[0].asked == "tiny"
            found = variables(setting.base, KEY, {"main": route(CHAT, ""), "small": small})
    assert found == {
        "OPENAI_BASE_URL": f"{setting.base}/v1",
        "OPENAI_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": setting.base,
        "ANTHROPIC_API_KEY": KEY,
        "MODEL_MAIN_NAME": "main-model",
        "MODEL_SMALL_NAME": "tiny",
    }


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {KEY}"},
        {"Authorization": f"Bearer {KEY}x"},
        {"x-api-key": KEY[:-1]},
        {"x-api-key": ""},
        {"x-api-key": "é" * 10},
    ],
)
def test_without_the_episodes_key_nothing_is_answered(headers: dict[str, str]):
    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    with gateway(CHAT, whole(CHAT, None)) as setting:
        for path in ("/v1/models", "/v1/chat/completions"):
            method = "GET" if path.endswith("models") else "POST"
            answer = httpx.request(method, setting.base + path, headers=sent)
            assert (answer.status_code, answer.json()["error"]["code"]) == (401, "no_credential")
        assert setting.upstream.asked == []


@pytest.mark.parametrize("headers", [{"Authorization": f"Bearer {KEY}"}, {"x-api-key": KEY}])
def test_the_listed_models_are_told_in_both_forms(headers: dict[str, str]):
    with gateway(CHAT, whole(CHAT, None)) as setting:
        found = httpx.get(f"{setting.base}/v1/models", headers=headers).json()
        one = httpx.get(f"{setting.base}/v1/models/main-model", headers=headers).json()
        anthropic = {**headers, "anthropic-version": "2023-06-01"}
        theirs = httpx.get(f"{setting.base}/v1/models", headers=anthropic).json()
        assert httpx.get(f"{setting.base}/v1/models/snap-1", headers=headers).status_code == 404
        assert setting.gateway.used.steps == 0
    assert [model["id"] for model in found["data"]] == ["main-model"] == [one["id"]]
    assert (theirs["first_id"], theirs["has_more"], theirs["data"][0]["type"]) == (
        "main-model",
        False,
        "model",
    )


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("POST", "/v1/embeddings", 404),
        ("POST", "/v1/files", 404),
        ("POST", "/v1/messages/batches", 404),
        ("POST", "/v1/messages/count_tokens", 404),
        ("GET", "/v1/responses/resp_1", 404),
        ("POST", "/v1/chat/completions/", 404),
        ("POST", "/chat/completions", 404),
        ("GET", "/", 404),
        ("GET", "/v1/chat/completions", 405),
        ("PUT", "/v1/messages", 405),
        ("POST", "/v1/models", 405),
    ],
)
def test_only_inference_paths_are_served(method: str, path: str, status: int):
    with gateway(CHAT, whole(CHAT, None)) as setting:
        answer = httpx.request(method, setting.base + path, headers={"Authorization": f"Bearer {KEY}"})
        assert answer.status_code == status
        assert setting.upstream.asked == []
