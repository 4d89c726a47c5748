"""OpenStack Swift with its S3 interface, as children of a test run: one device, one replica, on loopback.

A store that checks what others let pass: signatures, their expiry, lengths, lists of parts. It needs a file system
with extended attributes, and no more rights than the tests have.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ACCESS_KEY, SECRET_KEY = "test:tester", "testing"
PATIENCE = 40.0
SWIFT_CONF = """
[swift-hash]
swift_hash_path_prefix = tests
swift_hash_path_suffix = tests
[storage-policy:0]
name = one
default = yes
"""
COMMON = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
workers = 0
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
disable_fallocate = true
fallocate_reserve = 0
log_level = ERROR
log_address = {folder}/no-syslog
"""
SERVER = """
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""
PROXY = """
[pipeline:main]
pipeline = catch_errors gatekeeper healthcheck listing_formats s3api tempauth slo dlo versioned_writes proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
node_timeout = 20
conn_timeout = 2
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
""" + "".join(
    f"[filter:{name}]\nuse = egg:swift#{name}\n"
    for name in (
        "catch_errors",
        "gatekeeper",
        "healthcheck",
        "listing_formats",
        "slo",
        "dlo",
        "versioned_writes",
    )
)


@dataclass(frozen=True)
class Store:
    endpoint: str
    access_key: str = ACCESS_KEY
    secret_key: str = SECRET_KEY


@contextmanager
def swift(folder: Path) -> Iterator[Store]:
    """The four servers for the length of the block."""
    (folder / "devices/d1").mkdir(parents=True)
    (folder / "swift.conf").write_text(SWIFT_CONF)
    ports = {kind: _free_port() for kind in ("account", "container", "object", "proxy")}
    for kind in ("account", "container", "object"):
        _ring(folder, kind, ports[kind])
    children: list[subprocess.Popen[bytes]] = []
    try:
        for kind, port in ports.items():
            parts = COMMON.format(port=port, folder=folder) + (
                PROXY if kind == "proxy" else SERVER.format(kind=kind)
            )
            (folder / f"{kind}.conf").write_text(parts)
            children.append(_start(folder, kind))
        for port in ports.values():
            _await(port, children, folder)
        yield Store(f"http://127.0.0.1:{ports['proxy']}")
    finally:
        for child in children:
            child.terminate()
        for child in children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()


def _tool(name: str) -> list[str]:
    return [sys.executable, str(Path(sys.executable).parent / name)]


def _ring(folder: Path, kind: str, port: int) -> None:
    builder = str(folder / f"{kind}.builder")
    for words in (["create", "4", "1", "1"], ["add", f"r1z1-127.0.0.1:{port}/d1", "1"], ["rebalance"]):
        done = subprocess.run(
            [*_tool("swift-ring-builder"), builder, *words], capture_output=True, text=True, check=False
        )
        if done.returncode > 1:  # 1 is a warning
            raise RuntimeError(done.stdout + done.stderr)


def _start(folder: Path, kind: str) -> subprocess.Popen[bytes]:
    with (folder / f"{kind}.log").open("wb") as output:
        return subprocess.Popen(
            [*_tool(f"swift-{kind}-server"), str(folder / f"{kind}.conf")],
            env={**os.environ, "EVENTLET_NO_GREENDNS": "yes", "PYTHONWARNINGS": "ignore"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=folder,
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await(port: int, children: list[subprocess.Popen[bytes]], folder: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline or any(child.poll() is not None for child in children):
                logs = "\n".join(f"{log.name}: {log.read_text()[-2000:]}" for log in folder.glob("*.log"))
                raise RuntimeError(f"swift did not start:\n{logs}") from None
            time.sleep(0.1)
