"""One attempt at an upstream: sent, read, and told as an outcome with what it used. Nothing is raised."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpcore

from evaluation.gateway.answers import Reader, parsed, reader_for
from evaluation.gateway.contract import AddressBarred, Dialect, Outcome, Patience, Reach, Route, Usage
from evaluation.gateway.network import Deadline
from evaluation.gateway.refusals import Code
from evaluation.gateway.request import Request
from evaluation.gateway.sse import Event, EventTooLong, Splitter

LONGEST_ANSWER = 32 * 1024 * 1024
LONGEST_ERROR = 64 * 1024
LONGEST_STREAM = 256 * 1024 * 1024
REST_SECONDS = 0.2
PATHS: Mapping[Dialect, str] = {
    Dialect.OPENAI_CHAT: "/chat/completions",
    Dialect.OPENAI_RESPONSES: "/responses",
    Dialect.ANTHROPIC_MESSAGES: "/messages",
}
ANTHROPIC_VERSION = "2023-06-01"

_BY_STATUS = {
    401: Outcome.CREDENTIAL_REFUSED,
    403: Outcome.CREDENTIAL_REFUSED,
    408: Outcome.TIMED_OUT,
    429: Outcome.RATE_LIMITED,
}


class Sink(Protocol):
    """Where a stream goes: the harness's connection."""

    @property
    def begun(self) -> bool:
        """Whether a byte of it went to the harness, so that nothing can be tried again."""

    @property
    def gone(self) -> bool:
        """Whether the harness has hung up."""

    def send(self, piece: bytes) -> None:
        """Pass a piece on; does nothing once the harness has gone."""


@dataclass
class Ended:
    """What came of one attempt."""

    outcome: Outcome
    status: int | None = None
    usage: Usage = field(default_factory=Usage)
    served: str | None = None
    body: bytes = b""
    """A plain answer, as the provider sent it."""
    received: int = 0
    """Bytes of the answer."""
    cut_off: bool = False
    again_after: float | None = None
    """What Retry-After asks for, in seconds."""
    code: Code | None = None
    """A closed code that says more than the outcome does."""


@dataclass(frozen=True)
class Sent:
    """What goes out, and within which limits."""

    route: Route
    request: Request
    patience: Patience
    reach: Reach
    deadline: Deadline


class _Broken(Exception):
    """The answer stops here, with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.value)
        self.outcome = outcome


def headers(route: Route) -> dict[str, str]:
    """All that an upstream is told: nothing of what the harness sent."""
    found = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    if route.dialect is Dialect.ANTHROPIC_MESSAGES:
        return found | {"x-api-key": route.credential, "anthropic-version": ANTHROPIC_VERSION}
    return found | {"Authorization": f"Bearer {route.credential}"}


def attempt(sent: Sent, pool: httpcore.ConnectionPool, sink: Sink) -> Ended:
    """Make it. A stream goes to `sink` as it comes; a plain answer is in the result."""
    route = sent.route
    sent.deadline.at = time.monotonic() + sent.patience.total
    try:
        target = sent.reach(route.base_url.rstrip("/") + PATHS[route.dialect])
    except AddressBarred:
        return Ended(Outcome.ADDRESS_REFUSED)
    except OSError:
        return Ended(Outcome.UNREACHABLE)
    accept = "text/event-stream" if sent.request.streaming else "application/json"
    fields = {"Host": target.host_header, **headers(route), "Accept": accept}
    waits = {"connect": sent.patience.connect, "read": sent.patience.read, "write": sent.patience.read}
    found = Ended(Outcome.OK)
    try:
        with pool.stream(
            "POST",
            target.url,
            headers=[(name.encode(), value.encode("latin-1")) for name, value in fields.items()],
            content=sent.request.encoded(route.snapshot),
            extensions={**target.extensions, "timeout": waits},
        ) as answer:
            _read(answer, sent, sink, found)
    except _Broken as broken:
        found.outcome = broken.outcome
    except (httpcore.ConnectError, httpcore.ConnectTimeout, httpcore.UnsupportedProtocol):
        found.outcome = Outcome.UNREACHABLE
    except httpcore.TimeoutException:
        found.outcome = Outcome.TIMED_OUT
    except httpcore.RemoteProtocolError:
        found.outcome = Outcome.CUT_OFF
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError, ValueError):
        found.outcome = Outcome.CUT_OFF
    return found


def _read(answer: httpcore.Response, sent: Sent, sink: Sink, found: Ended) -> None:
    found.status = answer.status
    if answer.status != 200:
        found.again_after = _again_after(answer)
        found.outcome = _by_status(answer.status)
        if found.outcome is Outcome.REQUEST_REFUSED:
            found.code = _said(answer)
        return
    if _header(answer, b"content-encoding") not in ("", "identity"):
        raise _Broken(Outcome.NOT_THE_DIALECT)
    reader = reader_for(sent.route.dialect, asked_for_usage=sent.request.asked_for_usage)
    try:
        if sent.request.streaming:
            _stream(answer, reader, sent, sink, found)
        else:
            _plain(answer, reader, found)
    finally:
        found.usage, found.served = reader.usage, reader.model


def _plain(answer: httpcore.Response, reader: Reader, found: Ended) -> None:
    """A whole answer: nothing is passed on that is not one of the dialect's."""
    body = bytearray()
    for piece in _pieces(answer, found, LONGEST_ANSWER):
        body += piece
    if not reader.whole(parsed(bytes(body))):
        raise _Broken(Outcome.NOT_THE_DIALECT)
    if reader.failed:
        raise _Broken(Outcome.UPSTREAM_FAILED)
    found.body = bytes(body)


def _stream(answer: httpcore.Response, reader: Reader, sent: Sent, sink: Sink, found: Ended) -> None:
    """Event by event to the harness; to its end also when the harness has gone."""
    if not _header(answer, b"content-type").startswith("text/event-stream"):
        raise _Broken(Outcome.NOT_THE_DIALECT)
    found.cut_off = True
    pieces = _pieces(answer, found, LONGEST_STREAM)
    try:
        for event in _events(pieces, sent, sink):
            piece = reader.event(event)
            if reader.failed:
                raise _Broken(Outcome.UPSTREAM_FAILED)
            sink.send(piece)
            if reader.ended:
                break
    except EventTooLong:
        raise _Broken(Outcome.TOO_LONG) from None
    found.cut_off = not (reader.ended or reader.finished)
    if found.cut_off:
        raise _Broken(Outcome.CUT_OFF)
    _rest(pieces, sent.deadline)


def _events(pieces: Iterator[bytes], sent: Sent, sink: Sink) -> Iterator[Event]:
    splitter, left = Splitter(), False
    for piece in pieces:
        yield from splitter.feed(piece)
        if sink.gone and not left:
            left = True
            sent.deadline.at = min(sent.deadline.at, time.monotonic() + sent.patience.drain)
    yield from splitter.close()


def _rest(pieces: Iterator[bytes], deadline: Deadline) -> None:
    """Read what closes the body, so that the connection can be used again; nobody waits long for it."""
    deadline.at = min(deadline.at, time.monotonic() + REST_SECONDS)
    try:
        for _ in pieces:
            pass
    except (_Broken, httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError):
        return


def _pieces(answer: httpcore.Response, found: Ended, longest: int) -> Iterator[bytes]:
    for piece in answer.iter_stream():
        found.received += len(piece)
        if found.received > longest:
            raise _Broken(Outcome.TOO_LONG)
        yield piece


def _by_status(status: int) -> Outcome:
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if status >= 500:
        return Outcome.UPSTREAM_FAILED
    return Outcome.REQUEST_REFUSED if status >= 400 else Outcome.NOT_THE_DIALECT


def _header(answer: httpcore.Response, name: bytes) -> str:
    values = [value for key, value in answer.headers if key.lower() == name]
    return values[0].decode("latin-1").strip().lower() if values else ""


def _again_after(answer: httpcore.Response) -> float | None:
    """Whole seconds only: a date would need the provider's clock."""
    text = _header(answer, b"retry-after")
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


def _said(answer: httpcore.Response) -> Code:
    """The one thing that a harness must know of a refusal, where the provider has a code for it."""
    body = bytearray()
    for piece in answer.iter_stream():
        body += piece
        if len(body) > LONGEST_ERROR:
            return Code.UPSTREAM_REFUSED
    found: Any = parsed(bytes(body))
    error = found.get("error") if isinstance(found, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return Code.CONTEXT_TOO_LONG if code == "context_length_exceeded" else Code.UPSTREAM_REFUSED
