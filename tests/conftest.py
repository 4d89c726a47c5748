"""Fixtures of every test: real servers on demand, a database per process, child processes of the site.

In-process tests connect as `lingee_test`, a member of the web, execute, sealed and console roles, never as
the owner or a superuser: a grant that is missing fails here too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import hypothesis
import psycopg
import pytest
from django.conf import settings
from django.utils import translation

from tests import servers as real

# How fast examples are drawn and tried says something about the machine, which two test processes share.
hypothesis.settings.register_profile(
    "shared machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("shared machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--acceptance main-job:3` runs only what carries that line."""
    parser.addoption("--acceptance", default=None, help="only tests that carry this line")


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Bytes are named by their argument: archives carry the second they were made in, and workers must agree."""
    return argname if isinstance(val, bytes) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what carries the wanted line."""
    wanted = config.getoption("--acceptance")
    if wanted is None:
        return
    cases = cases_of(wanted)
    marked = {name for item in items for marker in item.iter_markers("case") for name in marker.args}
    if missing := sorted(cases - marked):
        raise pytest.UsageError(f"{wanted}: no test has the case {', '.join(missing)}")
    kept = [item for item in items if _carries(item, wanted, cases)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def _carries(item: pytest.Item, line: str, cases: set[str]) -> bool:
    return any(line in marker.args for marker in item.iter_markers("acceptance")) or any(
        name in cases for marker in item.iter_markers("case") for name in marker.args
    )


def cases_of(line: str) -> set[str]:
    """The collected cases that an acceptance line asks for; none where there is no such line."""
    from tests.acceptance.runner import read_area

    try:
        found = [row for row in read_area(line.partition(":")[0]) if row.name == line]
    except ValueError:
        return set()
    return {name for row in found for name in row.cases}


def pytest_configure(config: pytest.Config) -> None:
    """Choose the state folder once, in the process that controls the run."""
    if not hasattr(config, "workerinput"):
        real.prepare_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the servers with the run."""
    if not hasattr(config, "workerinput"):
        real.end_run()


@pytest.fixture(scope="session")
def servers(django_test_environment: None, worker_id: str) -> real.Servers:
    """The real servers; settings of this process point to them from now on."""
    found = real.running("main" if worker_id == "master" else worker_id)
    found.make_buckets()
    _point_settings_to(found)
    return found


@pytest.fixture(scope="session")
def django_db_setup(servers: real.Servers, django_db_blocker: Any) -> Iterator[None]:
    """A database of this process, copied from the migrated template."""
    from django.db import connections
    from django.test import TransactionTestCase

    servers.renew_database()

    def renew(_case: TransactionTestCase) -> None:
        """Django would TRUNCATE, which the tables of record rightly refuse."""
        connections.close_all()
        servers.renew_database()

    original = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]
    TransactionTestCase._fixture_teardown = renew  # type: ignore[attr-defined]
    yield
    TransactionTestCase._fixture_teardown = original  # type: ignore[attr-defined]
    with django_db_blocker.unblock():
        connections.close_all()


@pytest.fixture(autouse=True)
def _fresh_cache(request: pytest.FixtureRequest) -> None:
    """No rate limit or other cached fact of one test reaches the next."""
    if (
        "servers" in request.fixturenames
        or "django_db_setup" in request.fixturenames
        or _wants_database(request)
    ):
        request.getfixturevalue("servers")
        from django.core.cache import cache

        cache.clear()


@pytest.fixture(autouse=True)
def _language() -> Iterator[None]:
    """Each test begins in the site's own language: a request leaves its language behind in the thread."""
    yield
    if settings.configured:
        translation.activate(settings.LANGUAGE_CODE)


def _wants_database(request: pytest.FixtureRequest) -> bool:
    return request.node.get_closest_marker("django_db") is not None


@pytest.fixture
def connect_as(
    servers: real.Servers, django_db_setup: None
) -> Iterator[Callable[[str], psycopg.Connection[Any]]]:
    """`connect_as("web")`: a connection of that role to this process's database, as its processes have it."""
    opened: list[psycopg.Connection[Any]] = []

    def connect(role: str) -> psycopg.Connection[Any]:
        opened.append(psycopg.connect(servers.url(role), autocommit=True))
        return opened[-1]

    yield connect
    for connection in opened:
        connection.close()


@pytest.fixture
def processes(servers: real.Servers, django_db_setup: None) -> Any:
    """`config.processes.Processes` for this process's database, Redis and buckets, with test settings."""
    from config.processes import Processes

    extra = {**servers.buckets, "DJANGO_SETTINGS_MODULE": "config.settings.test"}
    return Processes(servers.own_connection, servers.state_dir, extra)


@pytest.fixture
def sequence(servers: real.Servers, django_db_setup: None, tmp_path: Any) -> Callable[[], int]:
    """`sequence()`: give every committed event its place and sign the tree, as the sequencer does; the tree's size.

    One folder for the whole test, so the log continues from call to call. Needs committed events.
    """
    from django.conf import settings

    from audit.keys import Keyring
    from audit.sequencer import Sequencer

    def catch_up() -> int:
        keyring = Keyring(tmp_path / "sequencer", settings.LOG_ORIGIN)
        return Sequencer(servers.url("sequencer"), keyring).catch_up()

    return catch_up


def _point_settings_to(found: real.Servers) -> None:
    from django.conf import settings
    from django.core.cache import caches
    from django.db import connections

    from config.celery import app
    from config.connection import auditor_database, celery_broker, django_database

    connections.settings["default"].update(django_database(found.url("test"), max_age=0))
    connections.settings["auditor"].update(auditor_database(found.url("auditor")))
    settings.STATE_DIR = found.state_dir
    settings.REDIS_URL = found.redis_url
    caches.settings["default"]["LOCATION"] = found.redis_url
    with suppress(AttributeError):  # made before the address was known
        del caches["default"]
    settings.CELERY["broker_url"] = celery_broker(found.redis_url)
    app.conf.update(broker_url=settings.CELERY["broker_url"])
    store = found.connection["s3"]
    settings.S3_ENDPOINT_URL = store["endpoint"]
    settings.S3_ACCESS_KEY = store["access_key"]
    settings.S3_SECRET_KEY = store["secret_key"]
    settings.S3_REGION = store["region"]
    for name, bucket in found.buckets.items():
        setattr(settings, name, bucket)
    os.environ["LINGEE_STATE_DIR"] = str(found.state_dir)
