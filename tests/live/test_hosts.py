"""Three hosts that share only PostgreSQL, Redis and S3: what befalls them loses and doubles nothing."""

from __future__ import annotations

import os
import shutil

import pytest

from tests.live.test_upheaval import program


@pytest.mark.slow
@pytest.mark.serial
@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("G3")
@pytest.mark.case("H3")
@pytest.mark.timeout(900)
@pytest.mark.skipif(os.geteuid() != 0, reason="makes network namespaces, which only root may")
@pytest.mark.skipif(
    not shutil.which("ip") or not shutil.which("nsenter"), reason="needs iproute2 and util-linux"
)
def test_hosts_that_are_cut_off_or_killed_lose_nothing_and_double_nothing() -> None:
    found = program("tests.live.hosts", 40, 20261203)
    assert found["done"] == [
        "cut off",
        "cut-off host stopped by itself",
        "killed",
        "redis restarted",
        "postgresql restarted",
    ]
    assert (found["missing"], found["results"]) == (0, found["episodes"])
    assert found["hosts"] == 3
    assert found["causes"]["worker_lost"] >= 2
    assert not any(found["ledger"].values()), found["ledger"]
    assert not any(found["left"].values()), found["left"]
