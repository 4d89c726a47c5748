"""One connection of a harness: one request, one answer, strictly read by h11.

Every answer closes its connection, so nothing can hide behind a request; bodies come with a length, so nothing can hide
within one. What is not well-formed is refused with a code.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass

import h11

from evaluation.gateway.contract import Patience
from evaluation.gateway.network import shut
from evaluation.gateway.refusals import Code, Refusal

LONGEST_BODY = 25 * 1024 * 1024
LONGEST_HEAD = 32 * 1024
PIECE = 64 * 1024
LINGER_SECONDS, LINGER_BYTES = 1.0, 64 * 1024 * 1024


@dataclass(frozen=True)
class Head:
    """A request without its body. Header names are in lower case; of repeated ones the last counts."""

    method: str
    path: str
    query: bool
    headers: Mapping[str, str]
    length: int


class Connection:
    """Reads one request, writes one answer. `gone` once the harness has hung up or takes nothing more."""

    def __init__(self, sock: socket.socket, patience: Patience) -> None:
        self._sock, self._patience = sock, patience
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST_HEAD)
        self._until = time.monotonic() + patience.request
        self.gone = False
        self.begun = False
        """Whether an answer has begun."""

    def shut(self) -> None:
        shut(self._sock)

    def head(self) -> Head:
        """The request line and headers. Raises Refusal, ConnectionError where there is nobody to answer."""
        event = self._next()
        if not isinstance(event, h11.Request):
            self.gone = True
            raise ConnectionError
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
        size = len(event.target) + sum(len(name) + len(value) + 4 for name, value in headers)
        if size > LONGEST_HEAD:
            raise Refusal(Code.HEADERS_TOO_LARGE)
        if event.http_version not in (b"1.1", b"1.0"):
            raise Refusal(Code.NOT_HTTP)
        if any(name == "transfer-encoding" for name, _ in headers):
            raise Refusal(Code.LENGTH_REQUIRED)
        found = dict(headers)
        length = int(found.get("content-length", "0"))  # h11 let only digits through, and one value
        if length > LONGEST_BODY:
            raise Refusal(Code.BODY_TOO_LARGE)
        path, sign, _ = event.target.decode("latin-1").partition("?")
        return Head(event.method.decode("latin-1"), path, bool(sign), found, length)

    def body(self) -> bytes:
        """The body. Raises Refusal, ConnectionError."""
        if self._http.they_are_waiting_for_100_continue:
            self._write(self._http.send(h11.InformationalResponse(status_code=100, headers=[])))
        data = bytearray()
        while True:
            event = self._next()
            if isinstance(event, h11.Data):
                data += event.data
            elif isinstance(event, h11.EndOfMessage):
                return bytes(data)
            else:
                self.gone = True
                raise ConnectionError

    def _next(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next event of the request. Raises Refusal, ConnectionError."""
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(self._received())
        except h11.RemoteProtocolError as error:
            large = error.error_status_hint == 431
            raise Refusal(Code.HEADERS_TOO_LARGE if large else Code.NOT_HTTP) from None
        return event

    def _received(self) -> bytes:
        left = self._until - time.monotonic()
        try:
            if left <= 0:
                raise TimeoutError
            self._sock.settimeout(left)
            return self._sock.recv(PIECE)
        except TimeoutError:
            raise Refusal(Code.TOO_SLOW) from None
        except OSError:
            self.gone = True
            raise ConnectionError from None

    def answer(self, status: int, body: bytes, headers: list[tuple[str, str]], *, media: str) -> None:
        """A whole answer."""
        fields = [
            ("content-type", media),
            ("content-length", str(len(body))),
            ("connection", "close"),
            *headers,
        ]
        self._start(status, fields)
        self._send(h11.Data(data=body))
        self._send(h11.EndOfMessage())

    def send(self, piece: bytes) -> None:
        """A piece of a stream, which begins with the first one."""
        if not piece:
            return
        if not self.begun:
            fields = [("content-type", "text/event-stream"), ("cache-control", "no-cache")]
            self._start(200, [*fields, ("connection", "close")])
        self._send(h11.Data(data=piece))

    def finish(self) -> None:
        """The end of a stream that came to its end; without it a client knows that something is missing."""
        self._send(h11.EndOfMessage())

    def _start(self, status: int, fields: list[tuple[str, str]]) -> None:
        self.begun = True
        self._send(h11.Response(status_code=status, headers=fields))

    def _send(self, event: h11.Event) -> None:
        if self.gone:
            return
        try:
            self._write(self._http.send(event) or b"")
        except h11.LocalProtocolError:  # the request was broken in a way that allows no answer
            self.gone = True

    def _write(self, data: bytes | None) -> None:
        try:
            self._sock.settimeout(self._patience.write)
            self._sock.sendall(data or b"")
        except OSError:
            self.gone = True

    def close(self) -> None:
        """Close without losing the answer: bytes that nobody read would make the kernel take it back."""
        try:
            if not self.gone and self.begun:
                self._sock.shutdown(socket.SHUT_WR)
                self._linger()
        except OSError:
            pass
        finally:
            self._sock.close()

    def _linger(self) -> None:
        until, read = time.monotonic() + LINGER_SECONDS, 0
        while (left := until - time.monotonic()) > 0 and read < LINGER_BYTES:
            self._sock.settimeout(left)
            piece = self._sock.recv(PIECE)
            if not piece:
                return
            read += len(piece)
