"""An upstream that answers by a script, over real sockets: each request takes the next answer."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """What one request gets. `end`: `whole`, `cut` (the body stops before its end), `reset`, or `hang`."""

    status: int = 200
    pieces: Sequence[bytes] = ()
    media: str = "application/json"
    headers: Sequence[tuple[str, str]] = ()
    end: str = "whole"
    after: threading.Event | None = None
    """Waited for before the second piece."""


@dataclass
class Asked:
    """A request as the upstream got it."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Script:
    """Answers still to give; the last one is given again and again."""

    answers: list[Answer]
    asked: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    over: threading.Event = field(default_factory=threading.Event)
    taken: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    """Released as soon as the first piece of an answer is out."""

    def next(self, asked: Asked) -> Answer:
        with self.lock:
            self.asked.append(asked)
            return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        script: Script = self.server.script
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = script.next(Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if answer.end == "reset" and not answer.pieces:
            return self._reset()
        self.send_response(answer.status)
        for name, value in (("content-type", answer.media), *answer.headers):
            self.send_header(name, value)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for number, piece in enumerate(answer.pieces):
            if number == 1 and answer.after is not None:
                answer.after.wait(30)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            if number == 0:
                script.taken.release()
        if answer.end == "hang":
            script.taken.release()
            script.over.wait(60)
        elif answer.end == "whole":
            self.wfile.write(b"0\r\n\r\n")
            return None
        elif answer.end == "reset":
            return self._reset()
        self.close_connection = True
        return None

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # the gateway hung up
            self.close_connection = True


class Upstream:
    """The server; `base` is its address as a route has it."""

    def __init__(self, *answers: Answer) -> None:
        self.script = Script(list(answers))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.script = self.script  # type: ignore[attr-defined]
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def asked(self) -> list[Asked]:
        return self.script.asked

    def close(self) -> None:
        self.script.over.set()
        self._server.shutdown()
        self._server.server_close()


def plain(body: dict[str, Any], status: int = 200, **more: Any) -> Answer:
    """A whole JSON answer."""
    return Answer(status=status, pieces=(json.dumps(body).encode(),), **more)


def stream(*events: dict[str, Any] | str, end: str = "whole", **more: Any) -> Answer:
    """A stream of events: dicts with a `type` get a name as well; texts are sent as data."""
    return Answer(media="text/event-stream", pieces=[written(event) for event in events], end=end, **more)


def written(event: dict[str, Any] | str) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event)}\n\n".encode()
