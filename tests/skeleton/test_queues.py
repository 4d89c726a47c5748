"""Tickets over the real broker: an emptied Redis, a broker that is away, a broker that never answers."""

import dataclasses
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis

from embedded.supervisor import Supervisor

pytestmark = [pytest.mark.serial, pytest.mark.django_db(transaction=True)]

SEND = """
import json, sys, time
import django
django.setup()
from config.celery import send_ticket
found = []
for number in range(int(sys.argv[2])):
    began = time.monotonic()
    sent = send_ticket("tests.skeleton.tickets.note", sys.argv[1], queue="governance")
    found.append([sent, time.monotonic() - began])
print(json.dumps(found))
"""


def send(environment, note, times=1):
    done = subprocess.run(
        [sys.executable, "-c", SEND, str(note), str(times)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def wait_for(note: Path, length: int, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not note.exists() or len(note.read_text()) < length:
        assert time.monotonic() < deadline, f"{note} did not reach {length}"
        time.sleep(0.02)


@contextmanager
def worker(processes, tmp_path):
    """One real worker on the queue, with one harmless task."""
    plain = processes.worker("probe", role="sealed", queues=["governance"])
    with Supervisor(tmp_path / "log") as supervisor:
        supervisor.start(
            dataclasses.replace(plain, command=[*plain.command, "--include", "tests.skeleton.tickets"])
        )
        yield supervisor


@pytest.mark.case("S7")
def test_publishing_and_consuming_survive_an_emptied_redis(processes, servers, tmp_path):
    note, client = tmp_path / "note", redis.from_url(servers.redis_url)
    with worker(processes, tmp_path):
        send(processes.environment("web"), note)
        wait_for(note, 1)
        for turn in range(2, 5):
            client.flushall()
            assert send(processes.environment("web"), note)[0][0]
            wait_for(note, turn)


@pytest.mark.case("S15")
def test_nothing_but_tickets_is_in_redis(processes, servers, tmp_path):
    note, client = tmp_path / "note", redis.from_url(servers.redis_url)
    with worker(processes, tmp_path):
        send(processes.environment("web"), note, times=50)
        wait_for(note, 50)
        assert client.pubsub_channels() == []
        assert [key for key in client.keys("*") if "_kombu.binding" not in str(key)] == []


@pytest.mark.case("S17")
def test_a_broker_that_never_answers_costs_a_request_less_than_two_seconds(processes, tmp_path):
    with socket.socket() as hole:
        hole.bind(("127.0.0.1", 0))
        hole.listen(64)
        address = f"redis://127.0.0.1:{hole.getsockname()[1]}/0"
        found = send({**processes.environment("web"), "REDIS_URL": address}, tmp_path / "note", times=3)
    assert [sent for sent, _ in found] == [False] * 3
    assert max(seconds for _, seconds in found) < 2


@pytest.mark.case("S17")
def test_a_broker_that_is_away_costs_little_and_raises_nothing(processes, tmp_path):
    address = f"unix://:x@{tmp_path}/nobody.sock?db=0"
    found = send({**processes.environment("web"), "REDIS_URL": address}, tmp_path / "note", times=2)
    assert [sent for sent, _ in found] == [False] * 2
    assert max(seconds for _, seconds in found) < 2


def test_a_process_holds_only_the_keys_of_its_role(processes):
    holders = {
        "VAULT_KEY_WORKER": {"execute", "sealed"},
        "VAULT_KEY_SEALED": {"sealed"},
        "VAULT_KEY_PEOPLE": {"web", "console"},
        "VAULT_KEY_UPSTREAM": {"execute", "sealed"},
        "VAULT_BOX_UPSTREAM": {"web", "console"},
        "VAULT_KEY_CASE": {"console"},
        "VAULT_BOX_CASE": {"sealed"},
    }
    for role in ("web", "execute", "sealed", "console", "auditor", "owner"):
        environment = processes.environment(role)
        assert {name for name in holders if name in environment} == {
            name for name, roles in holders.items() if role in roles
        }
        assert f"lingee_{role}" in environment["DATABASE_URL"]
        assert not [name for name in environment if name.startswith("DATABASE_URL_")]
        assert os.environ["LINGEE_ROLE"] == "test"
