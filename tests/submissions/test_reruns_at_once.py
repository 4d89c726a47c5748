"""Many take one offer of a re-run at once, through two server processes under the site's own database role."""

from __future__ import annotations

import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import httpx
import pytest

from submissions.models import RerunOffer, Slot
from submissions.reruns import services as reruns
from tests.submissions import world
from tests.submissions.bundles import bundle
from tests.submissions.outcomes import bring_to

TOGETHER = 10


@pytest.mark.serial
def test_one_of_many_takes_it_and_gives_it_back_by_cancelling(two_servers: list[str]) -> None:
    vendor = world.vendor()
    former = bring_to(vendor.submit(world.task_set("before"), vendor.harness()), "complete")
    version = former.harness_version
    offer = reruns.make(
        former, world.task_set("after", line=0, in_flight=TOGETHER, preflight=99), by=world.BY
    )
    assert offer is not None
    assert reruns.make(former, offer.task_set, by=world.BY) is None
    headers = {"authorization": f"Bearer {vendor.api.secret}"}

    def upload() -> str:
        return str(vendor.upload(version, bundle(version.harness.name, version.version)).id)

    def post(path: str, body: dict[str, str], base: str) -> httpx.Response:
        key = {"idempotency-key": uuid.uuid4().hex}
        return httpx.post(f"{base}/api/v1/{path}", json=body, headers=headers | key, timeout=60)

    for _ in range(2):
        bodies = [
            {
                "harness_version": str(version.id),
                "task_set": "after",
                "upload": upload(),
                "rerun_offer": str(offer.id),
            }
            for _ in range(TOGETHER)
        ]
        gate = Barrier(TOGETHER)

        def act(at: int, sent: list[dict[str, str]] = bodies, together: Barrier = gate) -> httpx.Response:
            together.wait(60)
            return post("submissions", sent[at], two_servers[at % 2])

        with ThreadPoolExecutor(TOGETHER) as pool:
            answers = list(pool.map(act, range(TOGETHER)))
        assert Counter(answer.status_code for answer in answers) == {202: 1, 409: TOGETHER - 1}, [
            answer.text for answer in answers
        ]
        (admitted,) = (answer.json()["id"] for answer in answers if answer.status_code == 202)
        assert Slot.objects.exclude(state="refunded").get(task_set=offer.task_set).offer_id == offer.id
        assert RerunOffer.objects.get().submission_id == uuid.UUID(admitted)
        assert post(f"submissions/{admitted}/cancel", {}, two_servers[0]).status_code == 200
        assert RerunOffer.objects.get().state == "open"
