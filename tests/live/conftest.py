"""Real processes on real servers. Each module gets a fresh database with the mini bank, and a fleet of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.servers import Servers

BANK_SEED = 20261101


@pytest.fixture(scope="session")
def mini_bank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The mini version as directories."""
    from benchmark.synthetic import generate

    out = tmp_path_factory.mktemp("bank") / "mini"
    generate(out, version="2026.1-mini", seed=BANK_SEED, size="mini")
    return out


@pytest.fixture(scope="module")
def imported(
    servers: Servers, django_db_setup: None, django_db_blocker: Any, mini_bank: Path
) -> Iterator[Any]:
    """A fresh database with the mini bank imported, frozen and open under the demo policy."""
    from django.db import connections

    with django_db_blocker.unblock():
        connections.close_all()
        servers.renew_database()
        yield import_bank(mini_bank)
        connections.close_all()
        servers.renew_database()


def import_bank(bank: Path) -> Any:
    """Import, admit, freeze and open a bank directory; the tests of admission itself are elsewhere."""
    from benchmark import queries, services
    from governance.services import set_release_policy
    from submissions.services import open_task_set
    from tests.factories import BY

    version = services.import_directory(bank, by=BY)
    digest = queries.content_digest(version)
    services.record_admission(version, digest_admitted=digest, tasks=version.tasks.count(), by=BY)
    version = services.freeze(version.label, by=BY)
    set_release_policy(version, profile="demo", tick_seconds=1, by=BY)
    open_task_set(version, profile="demo", by=BY)
    services.open_version(version, by=BY)
    return version


@pytest.fixture(scope="module")
def make_fleet(servers: Servers, imported: Any) -> Iterator[Callable[..., Any]]:
    """`make_fleet(application=…, LINGEE_LEASE_SECONDS="3")`: a running fleet, stopped with the module."""
    from config.processes import Processes
    from embedded.supervisor import Supervisor
    from tests.live.fleet import Fleet

    with Supervisor(servers.state_dir / "log") as supervisor:

        def make(application: str = "config.celery", **extra: str) -> Fleet:
            settings = {
                **servers.buckets,
                "DJANGO_SETTINGS_MODULE": "config.settings.test",
                "LINGEE_TICK_SECONDS": "1",
                **extra,
            }
            processes = Processes(servers.own_connection, servers.state_dir, settings)
            fleet = Fleet(processes, supervisor, imported, servers.redis_url, application)
            fleet.start()
            return fleet

        yield make
