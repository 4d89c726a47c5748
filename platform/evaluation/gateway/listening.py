"""A listener that somebody else opened, served by threads: one that accepts, one for each connection."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable

from evaluation.gateway.connection import Connection
from evaluation.gateway.contract import Patience
from evaluation.gateway.network import Open

CONNECTIONS = 32
"""At once; further ones wait in the kernel's queue."""
WATCH_SECONDS = 0.5


class Listening:
    """Serves one listener until it is closed. The listener is its own from here on."""

    def __init__(
        self, listener: socket.socket, handle: Callable[[Connection], None], patience: Patience
    ) -> None:
        self._listener, self._handle, self._patience = listener, handle, patience
        self._places = threading.Semaphore(CONNECTIONS)
        self._over = threading.Event()
        self._open = Open()
        self._lock = threading.Lock()
        self._threads: set[threading.Thread] = set()
        self._wake, self._woken = socket.socketpair()
        self._acceptor = threading.Thread(target=self._accept, name="gateway-accept", daemon=True)
        self._acceptor.start()

    @property
    def busy(self) -> bool:
        """Whether a connection is being served."""
        with self._lock:
            return bool(self._threads)

    def stop(self) -> None:
        """Accept nothing more; connections in progress go on."""
        if self._over.is_set():
            return
        self._over.set()
        self._wake.send(b"\0")
        self._acceptor.join()
        for sock in (self._listener, self._wake, self._woken):
            sock.close()

    def close(self) -> None:
        """Accept nothing more, shut what is open, and wait for its threads, which read answers to their end."""
        self.stop()
        self._open.shut()
        with self._lock:
            threads = list(self._threads)
        for thread in threads:
            thread.join()

    def _accept(self) -> None:
        self._listener.settimeout(0.0)
        poller = select.poll()
        for sock in (self._listener, self._woken):
            poller.register(sock, select.POLLIN)
        while not self._over.is_set():
            if any(sign == self._woken.fileno() for sign, _ in poller.poll()):
                return
            if not self._place():
                return
            try:
                sock, _ = self._listener.accept()
            except OSError:  # the client was faster in leaving, or there are no descriptors
                self._places.release()
                self._over.wait(0.01)
                continue
            self._begin(sock)

    def _place(self) -> bool:
        """Wait for a free place; False when it is over."""
        while not self._places.acquire(timeout=WATCH_SECONDS):
            if self._over.is_set():
                return False
        return True

    def _begin(self, sock: socket.socket) -> None:
        if sock.family != socket.AF_UNIX:  # pieces of a stream go out as they come
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(sock, self._patience)
        thread = threading.Thread(target=self._serve, args=(connection,), name="gateway-call", daemon=True)
        with self._lock:
            self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:  # no thread to be had: this connection is lost, the gateway is not
            with self._lock:
                self._threads.discard(thread)
            sock.close()
            self._places.release()

    def _serve(self, connection: Connection) -> None:
        try:
            if self._open.add(connection):
                self._handle(connection)
        finally:
            connection.close()
            self._open.discard(connection)
            with self._lock:
                self._threads.discard(threading.current_thread())
            self._places.release()
