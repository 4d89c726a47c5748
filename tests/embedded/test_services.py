"""The embedded servers as a user meets them: start, status, stop, kill, permissions, passwords."""

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import boto3
import psycopg
import pytest
import redis
from botocore.exceptions import ClientError

from embedded import AlreadyRunning, Services
from embedded.services import LONGEST_SOCKET_DIR
from tests.servers import ROOT

pytestmark = pytest.mark.serial


def modes(folder):
    return {
        path: stat.S_IMODE(path.lstat().st_mode)
        for path in [folder, *folder.rglob("*")]
        if not path.is_socket()
    }


def test_start_serves_all_three_and_stop_leaves_nothing(make_keeper):
    keeper = make_keeper().start()
    found = keeper.status()
    assert found["running"]
    assert {row["name"]: row["state"] for row in found["services"]} == {
        "postgresql": "running",
        "redis": "running",
        "s3": "running",
    }
    assert found["holder"] == {"pid": keeper.process.pid, "what": "services start"}
    assert not any(secret in json.dumps(found) for secret in secrets_of(keeper).values())
    assert keeper.ask("stop").stdout == "stopped\n"
    assert keeper.process.wait(5) == 0
    assert keeper.gone_within(1)
    stopped = keeper.ask("status", "--json")
    assert (json.loads(stopped.stdout)["running"], stopped.returncode) == (False, 3)
    assert keeper.ask("stop").stdout == "nothing to stop\n"


def secrets_of(keeper):
    return json.loads((keeper.folder / "secrets.json").read_text())


def test_every_folder_is_0700_and_every_file_of_ours_0600(make_keeper):
    keeper = make_keeper().start()
    assert all(mode & 0o077 == 0 for path, mode in modes(keeper.folder).items() if path.is_dir())
    ours = [path for path in keeper.folder.iterdir() if path.is_file()]
    assert ours
    assert {stat.S_IMODE(path.stat().st_mode) for path in ours} == {0o600}
    assert stat.S_IMODE((keeper.folder / "redis/valkey.conf").stat().st_mode) == 0o600
    assert not (keeper.folder / "initdb").exists()


def test_passwords_are_generated_once_differ_between_folders_and_are_demanded(make_keeper):
    first, second = make_keeper().start(), make_keeper().start()
    assert not set(secrets_of(first).values()) & set(secrets_of(second).values())
    kept = secrets_of(first)
    first.ask("stop")
    assert secrets_of(first.start()) == kept
    for role, url in first.connection["database_urls"].items():
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT current_user").fetchone() == (f"lingee_{role}",)
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(url.replace(kept[f"postgres_{role}"], "guess"))
    with pytest.raises(redis.AuthenticationError):
        redis.from_url(first.connection["redis_url"].replace(kept["redis_password"], "guess")).ping()
    with pytest.raises(ClientError):
        store_of(first, secret_key="guess").list_buckets()


def store_of(keeper, **other):
    given = {**keeper.connection["s3"], **other}
    return boto3.client(
        "s3",
        endpoint_url=given["endpoint"],
        aws_access_key_id=given["access_key"],
        aws_secret_access_key=given["secret_key"],
        region_name=given["region"],
    )


def test_no_password_stands_in_an_argument_and_no_database_port_is_open(make_keeper):
    keeper = make_keeper().start()
    lines = "\n".join(keeper.processes())
    assert lines
    assert not any(secret in lines for secret in secrets_of(keeper).values())
    for port in (5432, 6379):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
    assert urlsplit(keeper.connection["s3"]["endpoint"]).hostname == "127.0.0.1"


def test_application_roles_are_no_superusers_and_the_owner_can_make_databases_and_roles(make_keeper):
    keeper = make_keeper().start()
    with psycopg.connect(keeper.connection["database_urls"]["owner"]) as connection:
        rows = connection.execute(
            "SELECT rolname, rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles"
            " WHERE rolname LIKE 'lingee%' AND rolname <> 'lingee_superuser'"
        ).fetchall()
        owner = connection.execute(
            "SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()"
        ).fetchone()
    assert owner == ("lingee_owner",)
    rights = {name: tuple(others) for name, *others in rows}
    assert rights.pop("lingee_owner") == (False, True, True, False)
    assert set(rights.values()) == {(False, False, False, False)}
    with psycopg.connect(keeper.connection["database_urls"]["web"]) as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SET ROLE lingee_sealed")


def test_settings_are_durable_and_nothing_is_evicted(make_keeper):
    keeper = make_keeper().start()
    with psycopg.connect(keeper.connection["database_urls"]["owner"]) as connection:
        for name, value in {
            "fsync": "on",
            "synchronous_commit": "on",
            "password_encryption": "scram-sha-256",
        }.items():
            assert connection.execute(f"SHOW {name}").fetchone() == (value,)
    client = redis.from_url(keeper.connection["redis_url"])
    assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
    assert client.config_get("appendonly") == {"appendonly": "yes"}


@pytest.mark.parametrize("after_seconds", [0.0, 0.3])
def test_kill_9_of_the_starter_leaves_nothing_running_and_nothing_corrupt(make_keeper, after_seconds):
    keeper = make_keeper().start()
    url = keeper.connection["database_urls"]["owner"]
    connection = psycopg.connect(url, autocommit=True)
    connection.execute("CREATE TABLE kept (n int PRIMARY KEY)")
    connection.execute("INSERT INTO kept SELECT generate_series(1, 5000)")
    store_of(keeper).put_object(Bucket="packages", Key="a/b", Body=b"kept")
    connection.autocommit = False
    connection.execute("INSERT INTO kept VALUES (9999)")  # not committed: must be gone
    time.sleep(after_seconds)
    keeper.kill()
    assert keeper.gone_within(5)
    keeper.start()
    with psycopg.connect(keeper.connection["database_urls"]["owner"]) as connection:
        assert connection.execute("SELECT count(*), max(n) FROM kept").fetchone() == (5000, 5000)
    assert store_of(keeper).get_object(Bucket="packages", Key="a/b")["Body"].read() == b"kept"


def test_kill_9_during_the_very_first_start_does_not_spoil_the_folder(make_keeper):
    keeper = make_keeper()
    starting = subprocess.Popen(
        [sys.executable, "-m", "embedded", "start", "--state-dir", str(keeper.folder)],
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"},
        stdout=subprocess.DEVNULL,
    )
    while not (keeper.folder / "postgresql.new/base").exists():
        assert starting.poll() is None
    starting.kill()
    starting.wait()
    assert keeper.gone_within(5)
    assert keeper.start().status()["running"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_the_keeper_in_order(make_keeper, number):
    keeper = make_keeper().start()
    keeper.process.send_signal(number)
    assert keeper.process.wait(30) == 0
    assert keeper.gone_within(1)
    log = (keeper.folder / "log/postgresql.log").read_text()
    assert log.rstrip().endswith("database system is shut down")


def test_a_dead_server_is_started_again_at_the_same_address(make_keeper):
    keeper = make_keeper().start()
    before = keeper.connection
    client = redis.from_url(before["redis_url"])
    client.set("kept", "1")
    with contextlib.suppress(redis.ConnectionError):
        client.execute_command("SHUTDOWN", "NOSAVE", "FORCE")
    for _ in range(100):
        try:
            assert client.get("kept") == b"1"
            break
        except redis.ConnectionError:
            signal.sigtimedwait([], 0.1)
    assert keeper.connection == before
    assert keeper.status()["running"]


def test_a_second_starter_is_told_who_holds_the_folder_and_stops_nothing(make_keeper):
    keeper = make_keeper().start()
    second = keeper.ask("start")
    assert second.returncode == 1
    assert f"held by services start (process {keeper.process.pid})" in second.stderr
    with pytest.raises(AlreadyRunning):
        Services(keeper.folder).start()
    assert keeper.status()["running"]


def test_stop_leaves_alone_what_another_tool_holds(tmp_path, make_keeper):
    keeper = make_keeper()
    with Services(keeper.folder, what="make demo", only=["redis"], environment={}):
        answer = keeper.ask("stop").stdout
        assert answer == f"held by make demo (process {os.getpid()}): stop that instead\n"
        assert not {"postgresql", "s3"} & {
            row["name"] for row in keeper.status()["services"] if row["state"] == "running"
        }


def test_long_paths_get_a_short_private_socket_folder_that_goes_away(make_keeper, tmp_path):
    folder = tmp_path / ("x" * LONGEST_SOCKET_DIR) / "state"
    folder.parent.mkdir()
    keeper = make_keeper(folder).start()
    address = Path(keeper.status()["services"][0]["address"])
    assert len(os.fsencode(address)) <= LONGEST_SOCKET_DIR
    assert stat.S_IMODE(address.stat().st_mode) == 0o700
    keeper.kill()
    assert keeper.gone_within(5)
    keeper.start()
    assert not address.exists()
    last = Path(keeper.status()["services"][0]["address"])
    keeper.ask("stop")
    assert not last.exists()


def test_external_servers_are_used_and_not_started(make_keeper):
    lender = make_keeper().start()
    given = {"DATABASE_URL": lender.connection["database_urls"]["owner"], "REDIS_URL": "redis://r.example/0"}
    borrower = make_keeper()
    with Services(borrower.folder, environment=given) as services:
        connection = services.connection()
        assert connection["database_urls"]["owner"] == given["DATABASE_URL"]
        assert connection["redis_url"] == "redis://r.example/0"
        assert not (borrower.folder / "postgresql").exists()
        assert not (borrower.folder / "redis").exists()
        assert store_of(borrower).list_buckets()["Buckets"]
