"""What becomes of an image's own settings, key by key. What the sandbox makes of them: tests/sandbox/test_roots.py."""

from __future__ import annotations

import io
from typing import Any

import pytest

from evaluation.images.findings import Finding
from evaluation.images.image import inspect
from evaluation.images.settings import SETTINGS, Decision, environment
from tests.images.builder import image

REFUSED = sorted(key for key, (decision, _) in SETTINGS.items() if decision is Decision.REFUSED)


def found_in(settings: dict[str, Any]) -> dict[str, str]:
    return inspect(io.BytesIO(image(settings=settings).oci())).environment


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H31")
@pytest.mark.parametrize("key", [*REFUSED, "HostConfig", "env", "Entrypoint "])
def test_a_setting_that_reaches_for_limits_network_or_privileges_is_refused(key: str) -> None:
    with pytest.raises(Finding) as caught:
        found_in({key: {"a": 1}})
    assert (caught.value.code, caught.value.facts) == ("image_setting_refused", {"key": f"config.{key}"})
    empty: list[Any] = [None, "", 0, False, [], {}]
    for nothing in empty:
        if key in REFUSED:
            assert found_in({key: nothing}) == {}


@pytest.mark.case("H31")
@pytest.mark.parametrize("key", ["host_config", "HostConfig", "network_settings", "os.features"])
def test_a_key_beside_the_settings_is_refused_unless_it_is_known(key: str) -> None:
    with pytest.raises(Finding) as caught:
        inspect(io.BytesIO(image(above={key: {"Privileged": True}}).oci()))
    assert caught.value.facts == {"key": key}
    inspect(io.BytesIO(image(above={"history": [{"x": 1}], "moby.buildkit.cache.v0": "x", key: None}).oci()))


@pytest.mark.case("H31")
def test_variables_are_used_and_never_replace_one_of_the_contract() -> None:
    rows = [
        "A=1",
        "EMPTY=",
        "B=x=y",
        "PYTHONPATH=/opt",
        "PATH=/evil",
        "HOME=/evil",
        "EPISODE_SEED=7",
        "MCP_URL=x",
    ]
    rows += [
        "OPENAI_API_KEY=k",
        "ANTHROPIC_BASE_URL=u",
        "MODEL_MAIN_NAME=m",
        "BUDGET_SECONDS=9",
        "TURN=1",
        "LANG=C",
    ]
    assert found_in({"Env": rows}) == {"A": "1", "EMPTY": "", "B": "x=y", "PYTHONPATH": "/opt"}


@pytest.mark.case("H31")
@pytest.mark.parametrize(
    "rows",
    [
        ["A"],
        ["=x"],
        ["A B=1"],
        ["A=\x00"],
        [1],
        "A=1",
        ["A=" + "x" * 40_000],
        [f"A{n}=1" for n in range(300)],
        ["A=\ud800"],
    ],
)
def test_variables_that_cannot_be_set_are_refused(rows: Any) -> None:
    config = {"os": "linux", "architecture": "amd64", "config": {"Env": rows}}
    with pytest.raises(Finding) as caught:
        environment(config)
    assert caught.value.facts == {"key": "config.Env"}
