"""Whatever is sent to the API is answered as its description says, and never by a failure of the platform."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from unittest import SkipTest

import pytest
import schemathesis
from django.conf import settings as site_settings
from django.db import connection
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.seeds import BY_SESSION, Seeds, Session, good_requests, seeded
from tests.submissions.world import Api

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("access:6")]
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
PAST_AUTHENTICATION = 0.6
NEGATIVE = 3
"""One of so many cases is made to break the description."""


@pytest.fixture(autouse=True)
def _this_machine_may_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_settings, "OUTGOING_LOOPBACK", True)


@dataclass
class Tally:
    """What came of the cases."""

    statuses: Counter[int] = field(default_factory=Counter)
    fine: set[str] = field(default_factory=set)
    complaints: dict[str, list[str]] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        return self.statuses.total()

    def answered(self, name: str, status: int) -> None:
        self.statuses[status] += 1
        if 200 <= status < 300:
            self.fine.add(name)

    def complain(self, name: str, what: BaseException) -> None:
        self.complaints.setdefault(name, []).append(str(what)[:1500])


def send(case: Any, secret: str | Session, tally: Tally, name: str) -> None:
    """One case to the site as its server calls it, checked against the description."""
    for field_name in ("Authorization", "X-CSRFToken"):
        case.headers.pop(field_name, None)
    case.cookies = {}
    if isinstance(secret, Session):
        case.cookies = {"sessionid": secret.cookie, "csrftoken": secret.form_token}
        case.headers["X-CSRFToken"] = secret.form_token
    elif secret:
        case.headers["Authorization"] = f"Bearer {secret}"
    try:
        response = case.call()
        tally.answered(name, response.status_code)
        case.validate_response(response, checks=CHECKS)
    except (Exception, FailureGroup) as error:  # all of them are shown together at the end
        tally.complain(name, error)


def description() -> dict[str, Any]:
    return Api("").get("openapi.json").body


def fuzz(seeds: Seeds, ready: Callable[[], int], cases: int, said: dict[str, Any]) -> Tally:
    """About `cases` cases over all operations that are `said`, one good request of each first."""
    from config.wsgi import application

    connection.settings_dict["CONN_MAX_AGE"] = 600  # as the site's processes have it
    schema = schemathesis.openapi.from_dict(said)
    schema.app = application
    operations = [found.ok() for found in schema.get_all_operations()]
    tally, good = Tally(), good_requests(seeds)
    for operation in operations:
        name = operation.definition.raw["operationId"]
        plain = operation.method == "get" and "{" not in operation.path
        assert plain or name in good, f"tests/api/seeds.py has no good request for {name}"
        case = operation.Case(**good.get(name, dict)(), headers={"Idempotency-Key": f"good-{name}"})
        ready()
        send(case, seeds.session if name in BY_SESSION else seeds.vendor.api.secret, tally, name)
    each = -(-(cases - len(operations)) // len(operations))
    for operation in operations:
        before = tally.cases
        generate(operation, GenerationMode.NEGATIVE, each // NEGATIVE, seeds, tally)
        generate(operation, GenerationMode.POSITIVE, each - (tally.cases - before), seeds, tally)
    return tally


def generate(operation: Any, mode: GenerationMode, count: int, seeds: Seeds, tally: Tally) -> None:
    if count < 1:
        return
    name = operation.definition.raw["operationId"]

    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode), number=st.integers(0, 2**32))
    def one(case: Any, number: int) -> None:
        dice = random.Random(number)
        for place in (case.path_parameters, case.query, case.body):
            seeds.fill(place, dice)
        send(case, seeds.credential(dice), tally, name)

    with suppress(Unsatisfiable, SkipTest):  # of an operation that takes nothing no case can be wrong
        one()


def check(tally: Tally, cases: int) -> None:
    shown = "\n\n".join(f"{name} ({len(found)}): {found[0]}" for name, found in tally.complaints.items())
    print(f"{tally.cases} cases: {dict(sorted(tally.statuses.items()))}")
    assert not tally.complaints, shown
    assert tally.cases >= cases
    past = 1 - tally.statuses[401] / tally.cases
    assert past >= PAST_AUTHENTICATION, tally.statuses
    assert max(tally.statuses) < 500
    assert tally.fine == described(), tally.fine


def described() -> set[str]:
    paths = description()["paths"].values()
    return {operation["operationId"] for operations in paths for operation in operations.values()}


def test_two_thousand_requests(sequence: Callable[[], int]) -> None:
    check(fuzz(seeded(), sequence, 2000, description()), 2000)


@pytest.mark.slow
def test_twenty_thousand_requests(sequence: Callable[[], int]) -> None:
    check(fuzz(seeded(), sequence, 20_000, description()), 20_000)


def test_a_description_that_is_wrong_is_noticed(sequence: Callable[[], int]) -> None:
    said = description()
    shapes, paths = said["components"]["schemas"], said["paths"]
    shapes["HarnessOut"]["properties"]["name"] = {"type": "integer"}
    del paths["/api/v1/submissions"]["post"]["responses"]["202"]
    paths["/api/v1/task-sets"]["get"]["responses"]["200"]["content"] = {"text/html": {}}
    found = fuzz(seeded(), sequence, 120, said).complaints
    assert {"harness", "submission_create", "task_set_list"} <= set(found)
