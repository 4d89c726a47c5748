"""Three hosts that share only PostgreSQL, Redis and S3; one is cut off in mid-run, one is killed.

Run as a program and as root (`python -m tests.live.hosts EPISODES SEED`) it prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config.processes import ROOT, Processes
from embedded.services import Services
from embedded.supervisor import Supervisor
from tests.live.network import Forwarders, Host, hosts
from tests.live.upheaval import SETTINGS, bank, control_groups, cut, ledger, left, patiently, results, site

S3_DELAY, S3_REFUSED = 0.15, 0.1
"""Seconds that each connection to the store waits, and the share of them answered 503."""
WORKERS = (("execute", "execute"), ("grade", "sealed"))
PATIENCE = 420.0
SLOWLY = "import runpy, time; time.sleep(0.5); runpy.run_path('/harness/run.py', run_name='__main__')"
SLOW = ("python3", "-c", SLOWLY)


def networked(services: Services, gate: str, seed: int) -> dict[str, Any]:
    """The servers' addresses as hosts see them: all on the bridge."""
    connection = services.connection()
    forwarders = Forwarders(gate)
    socket_dir = conninfo_to_dict(connection["database_urls"]["execute"])["host"]
    postgres = forwarders.forward(lambda: asyncio.open_unix_connection(f"{socket_dir}/.s.PGSQL.5432"))
    redis = urlsplit(connection["redis_url"])
    broker = forwarders.forward(lambda: asyncio.open_unix_connection(redis.path))
    store = urlsplit(connection["s3"]["endpoint"])
    s3 = forwarders.forward(
        lambda: asyncio.open_connection(store.hostname, store.port),
        delay=S3_DELAY,
        refuse=S3_REFUSED,
        seed=seed,
    )
    urls = {
        role: make_conninfo(url, host=gate, port=postgres)
        for role, url in connection["database_urls"].items()
    }
    return {
        **connection,
        "database_urls": urls,
        "redis_url": f"redis://:{redis.password}@{gate}:{broker}/0",
        "s3": {**connection["s3"], "endpoint": f"http://{gate}:{s3}"},
    }


def furnish(host: Host, connection: dict[str, Any], folder: Path) -> None:
    """An execute and a grade worker on it, with a state folder of the host's own."""
    state = folder / host.name
    state.mkdir(mode=0o711)
    processes = Processes(connection, state, {**SETTINGS, "LINGEE_HOST_NAME": host.name})
    for queue, role in WORKERS:
        child = processes.worker(f"{queue}-{host.name}", role=role, queues=[queue])
        host.run(child.command, child.environment, folder / f"{queue}-{host.name}.log", ROOT)


def holds(host: Host) -> bool:
    """Whether one of its workers holds an episode just now."""
    from evaluation.models import Episode

    named = {"state": Episode.State.LEASED, "worker__startswith": f"execute-{host.name}-"}
    return bool(patiently(lambda: Episode.objects.filter(**named).exists()))


def sandboxed(host: Host) -> int:
    """Processes of episodes that live below the workers of a host."""
    found = 0
    for process in host.started:
        try:
            below = psutil.Process(process.pid).children(recursive=True)
            found += sum(SLOWLY in child.cmdline() for child in below)
        except psutil.Error:
            continue
    return found


def trouble(
    children: Supervisor, services: Services, run: Any, disturbed: list[Host], folder: Path
) -> list[str]:
    """Cut one host off, kill one, restart both servers, each in mid-run; returns what was done."""
    done, lost = [], disturbed[0]
    assert children.wait(60, lambda: holds(lost)), _tails(folder)
    lost.cut_off()
    done.append("cut off")
    # By its own clock, long before anybody could tell it.
    assert children.wait(float(SETTINGS["LINGEE_LEASE_SECONDS"]) * 2, lambda: not sandboxed(lost)), (
        "still runs"
    )
    done.append("cut-off host stopped by itself")
    assert children.wait(60, lambda: holds(disturbed[1])), _tails(folder)
    disturbed[1].kill()
    done.append("killed")
    for name in ("redis", "postgresql"):
        children.wait(2.0)
        services.restart(name)
        done.append(f"{name} restarted")
    patiently(run.refresh_from_db)
    assert run.state == "executing", "the run was over before it was disturbed"
    return done


def _tails(folder: Path) -> str:
    return "\n".join(f"--- {path.name}\n{path.read_text()[-1500:]}" for path in folder.glob("*.log"))


def played(folder: Path, episodes: int, seed: int) -> dict[str, Any]:
    (folder / "tmp").mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder / "tmp")
    groups = control_groups()
    with hosts(3) as (gate, made), site(folder) as (services, children, processes):
        from evaluation.models import Attempt, WorkerReport
        from tests.live.fleet import Fleet

        fleet = Fleet(processes, children, bank(folder), "")
        children.start(processes.worker("office-1", role="sealed", queues=["governance"]))
        children.start(processes.beat())
        connection = networked(services, gate, seed)
        for host in made:
            furnish(host, connection, folder)
        assert children.wait(120, lambda: WorkerReport.objects.count() == 2 * len(made)), _tails(folder)
        run = cut(fleet, episodes, command=SLOW)
        began = time.monotonic()
        done = trouble(children, services, run, made, folder)
        assert children.wait(PATIENCE, lambda: _over(run)), _tails(folder)
        tries = Attempt.objects.filter(episode__run=run)
        report = {
            "episodes": episodes,
            "done": done,
            "seconds": round(time.monotonic() - began, 1),
            "missing": run.missing,
            "results": len(results(run)),
            "hosts": len(set(tries.values_list("worker", flat=True))),
            "causes": Counter(tries.filter(ending="infrastructure_fault").values_list("cause", flat=True)),
            "ledger": ledger(run, processes.environment("auditor")["DATABASE_URL"]),
        }
        for host in made:
            host.kill()
    return {**report, "left": {name: found for name, found in left(folder, groups).items() if name != "work"}}


def _over(run: Any) -> bool:
    patiently(run.refresh_from_db)
    return bool(run.state == "ended")


def main() -> None:
    episodes, seed = (int(word) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory(prefix="lgm-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        print(json.dumps(played(folder, episodes, seed)))


if __name__ == "__main__":
    main()
