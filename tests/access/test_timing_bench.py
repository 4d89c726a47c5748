"""The bench of access:4 sees a difference where there is one."""

from __future__ import annotations

import time
from uuid import uuid4

import httpx
import pytest

from tests.benchmarks.access_timing import P, _difference


@pytest.mark.acceptance("access:4")
@pytest.mark.parametrize(("slower", "differs"), [(0.002, True), (0.0, False)])
def test_a_slower_answer_for_what_exists_is_found(slower: float, differs: bool) -> None:
    foreign = [uuid4() for _ in range(10)]
    known = {f"/{row}" for row in foreign}

    def answer(request: httpx.Request) -> httpx.Response:
        time.sleep(0.001 + (slower if request.url.path.removeprefix("/things") in known else 0))
        return httpx.Response(404)

    with httpx.Client(transport=httpx.MockTransport(answer), base_url="http://site") as client:
        assert (_difference(client, "things", foreign) < P) == differs
