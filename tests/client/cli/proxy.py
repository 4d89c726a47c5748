"""An HTTP proxy between the client and everything, that a test tells what to break. Real sockets, no mocks."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Break = Callable[[str, str], str]
"""(method, URL) → "" to pass on, "cut" to close without forwarding, "lose" to forward and close, or a status."""


@dataclass
class Proxy:
    """`seen` holds (method, path with query) of each request that was passed on."""

    rule: Break = lambda method, url: ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    bytes_up: int = 0
    address: str = ""

    def of(self, method: str, part: str) -> list[str]:
        return [url for verb, url in self.seen if verb == method and part in url]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    proxy: Proxy

    def log_message(self, *arguments: Any) -> None:
        """Quiet."""

    def _forward(self) -> None:
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(size)
        what = self.proxy.rule(self.command, self.path)
        if what == "cut":
            self._hang_up()
            return
        if what.isdigit():
            self.send_response(int(what))
            self.send_header("content-length", "0")
            self.end_headers()
            return
        parts = urlsplit(self.path)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        self.proxy.seen.append((self.command, target))
        self.proxy.bytes_up += size
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=60)
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in ("connection", "proxy-connection")
        }
        connection.request(self.command, target, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if what == "lose":
            self._hang_up()
            return
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding", "content-length"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_POST = do_PUT = do_DELETE = _forward


@contextmanager
def running() -> Iterator[Proxy]:
    """A proxy on a free port."""
    proxy = Proxy()
    handler = type("Handler", (_Handler,), {"proxy": proxy})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    proxy.address = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
