"""One mini bank and, for slow tests, one full bank for all tests of the generator."""

from __future__ import annotations

import pytest

from benchmark.synthetic import Summary, generate
from tests.benchmark.synthetic.banks import SEED, VERSION


@pytest.fixture(scope="session")
def mini(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return generate(tmp_path_factory.mktemp("bank") / "mini", version=VERSION, seed=SEED, size="mini")


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    return generate(tmp_path_factory.mktemp("bank") / "full", version=VERSION, seed=SEED, size="full")


@pytest.fixture(scope="session")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Summary:
    out = tmp_path_factory.mktemp("bank") / "dev"
    return generate(out, version=VERSION, seed=SEED, size="mini", split="dev")
