"""Sockets that can be stopped from another thread, for both sides of the gateway.

Closing a descriptor does not wake a thread that waits in it; shutting the connection down does. Going out, httpcore
speaks HTTP over the stream given here: no proxies, no redirects, no cookies, nothing out of the environment.
"""

from __future__ import annotations

import functools
import select
import socket
import ssl
import threading
import time
from collections.abc import Iterable
from typing import Any, Protocol

import certifi
import httpcore

from evaluation.gateway.contract import Route

CONNECTIONS, KEPT, KEPT_SECONDS = 32, 4, 30.0


class Shuttable(Protocol):
    def shut(self) -> None:
        """Wake whoever waits in it; harmless when it is closed already."""


class Open:
    """Everything that is open, to be shut at once. What comes after that is shut at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all: set[Shuttable] = set()
        self._over = False

    def add(self, one: Shuttable) -> bool:
        """False where everything was shut already, and so is this."""
        with self._lock:
            self._all.add(one)
            over = self._over
        if over:
            one.shut()
        return not over

    def discard(self, one: Shuttable) -> None:
        with self._lock:
            self._all.discard(one)

    def shut(self) -> None:
        with self._lock:
            self._over = True
            found = list(self._all)
        for one in found:
            one.shut()


class Deadline(threading.local):
    """When the attempt that this thread makes has to be over; by `time.monotonic`."""

    at: float = float("inf")

    def within(self, timeout: float | None) -> float | None:
        """The timeout, cut to what is left. Raises httpcore.ReadTimeout when nothing is."""
        left = self.at - time.monotonic()
        if left <= 0:
            raise httpcore.ReadTimeout
        shortest = left if timeout is None else min(timeout, left)
        return None if shortest == float("inf") else shortest


def shut(sock: socket.socket) -> None:
    """Shut both directions, below TLS: a thread that waits in it wakes up."""
    try:
        socket.socket.shutdown(sock, socket.SHUT_RDWR)
    except OSError:  # never connected, or closed
        return


class Stream(httpcore.NetworkStream):
    """One connection to an upstream."""

    def __init__(self, sock: socket.socket, streams: Open, deadline: Deadline) -> None:
        self._sock, self._open, self._deadline = sock, streams, deadline

    def shut(self) -> None:
        shut(self._sock)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        try:
            self._sock.settimeout(self._deadline.within(timeout))
            return self._sock.recv(max_bytes)
        except TimeoutError as error:
            raise httpcore.ReadTimeout from error
        except (OSError, ValueError) as error:
            raise httpcore.ReadError from error

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        view = memoryview(buffer)
        try:
            while view:
                self._sock.settimeout(self._deadline.within(timeout))
                view = view[self._sock.send(view) :]
        except TimeoutError as error:
            raise httpcore.WriteTimeout from error
        except (OSError, ValueError) as error:
            raise httpcore.WriteError from error

    def close(self) -> None:
        self._open.discard(self)
        self._sock.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        try:
            self._sock.settimeout(self._deadline.within(timeout))
            self._sock = ssl_context.wrap_socket(
                self._sock, server_hostname=server_hostname, do_handshake_on_connect=False
            )
            self._sock.do_handshake()
        except TimeoutError as error:
            self.close()
            raise httpcore.ConnectTimeout from error
        except (OSError, ValueError) as error:
            self.close()
            raise httpcore.ConnectError from error
        return self

    def get_extra_info(self, info: str) -> Any:
        if info == "ssl_object":
            return self._sock if isinstance(self._sock, ssl.SSLSocket) else None
        if info == "socket":
            return self._sock
        if info == "is_readable":
            return self._sock.fileno() < 0 or bool(_poll(self._sock))
        return None


def _poll(sock: socket.socket) -> list[tuple[int, int]]:
    poller = select.poll()
    poller.register(sock, select.POLLIN)
    return poller.poll(0)


class Backend(httpcore.NetworkBackend):
    """Opens connections that are shut when `streams` is."""

    def __init__(self, streams: Open, deadline: Deadline) -> None:
        self._open, self._deadline = streams, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
            sock = socket.socket(family, kind, protocol)
        except OSError as error:
            raise httpcore.ConnectError from error
        stream = Stream(sock, self._open, self._deadline)
        try:
            if not self._open.add(stream):
                raise httpcore.ConnectError
            sock.settimeout(self._deadline.within(timeout))
            sock.connect(place)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        except TimeoutError as error:
            stream.close()
            raise httpcore.ConnectTimeout from error
        except OSError as error:
            stream.close()
            raise httpcore.ConnectError from error
        except httpcore.TimeoutException:
            stream.close()
            raise httpcore.ConnectTimeout from None
        except httpcore.ConnectError:
            stream.close()
            raise
        return stream


class Pools:
    """The connections to upstreams, a pool for each: two names on one address never share a connection."""

    def __init__(self, deadline: Deadline) -> None:
        self._backend_open = Open()
        self._backend = Backend(self._backend_open, deadline)
        self._lock = threading.Lock()
        self._pools: dict[str, httpcore.ConnectionPool] = {}

    def of(self, route: Route) -> httpcore.ConnectionPool:
        """The route's own pool."""
        with self._lock:
            if route.name not in self._pools:
                self._pools[route.name] = httpcore.ConnectionPool(
                    ssl_context=tls(),
                    max_connections=CONNECTIONS,
                    max_keepalive_connections=KEPT,
                    keepalive_expiry=KEPT_SECONDS,
                    network_backend=self._backend,
                )
            return self._pools[route.name]

    def shut(self) -> None:
        """Wake every thread that waits for an upstream; no connection is opened any more."""
        self._backend_open.shut()

    def close(self) -> None:
        """Close what is kept; nobody may use it any more."""
        with self._lock:
            for pool in self._pools.values():
                pool.close()
            self._pools.clear()


@functools.cache
def tls() -> ssl.SSLContext:
    """Certificates checked against the authorities of certifi, whatever this machine trusts besides."""
    return ssl.create_default_context(cafile=certifi.where())
