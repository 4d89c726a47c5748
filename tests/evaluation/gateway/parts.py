"""A gateway for tests: its own ledger, gate and clock, and a harness's side of the connection."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from evaluation.gateway.contract import Budget, Call, Dialect, Patience, Record, Route, Rules
from evaluation.gateway.gateway import Gateway
from tests.evaluation.gateway.scripted import Answer, Upstream

KEY = "episode-key-0123456789abcdef"
CREDENTIAL = "sk-PLATFORM-SECRET-7f3a"
CHAT, RESPONSES, MESSAGES = Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES, Dialect.ANTHROPIC_MESSAGES
DIALECTS = (CHAT, RESPONSES, MESSAGES)
PATHS = {CHAT: "/v1/chat/completions", RESPONSES: "/v1/responses", MESSAGES: "/v1/messages"}
SHORT = Patience(connect=2, read=20, total=30, backoff=0.01, longest_wait=0.3, drain=20, request=20, write=20)

AMPLE, FREE = Budget(100, 10_000_000), Rules()
NONE: Mapping[str, str] = {}


@dataclass
class Lines:
    """A ledger in memory."""

    started: list[Call] = field(default_factory=list)
    ended: list[Record] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def attempt_started(self, call: Call) -> int:
        with self.lock:
            self.started.append(call)
            return len(self.started)

    def attempt_ended(self, attempt: int, record: Record) -> None:
        with self.lock:
            assert 0 < attempt <= len(self.started)
            self.ended.append(record)


class OpenGate:
    """Lets everybody in at once."""

    @contextmanager
    def enter(self, route: Route, stopped: threading.Event) -> Iterator[None]:
        yield


@dataclass
class Watch:
    """A clock that notes what it was told."""

    told: list[str] = field(default_factory=list)

    def hold(self) -> None:
        self.told.append("hold")

    def release(self) -> None:
        self.told.append("release")


@dataclass(frozen=True)
class There:
    """The address itself: tests resolve nothing."""

    url: str
    host_header: str = "upstream.example"
    extensions: Mapping[str, Any] = field(default_factory=dict)


@dataclass
class Setting:
    """A gateway that serves, with everything it was given."""

    gateway: Gateway
    upstream: Upstream
    lines: Lines
    watch: Watch
    outages: list[Route]
    place: tuple[str, int]

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.place[1]}"

    def ask(
        self, dialect: Dialect, /, *, headers: Any = NONE, query: Any = "", **fields: Any
    ) -> httpx.Response:
        """One request as a harness would make it."""
        return httpx.post(
            self.base + PATHS[dialect] + query,
            headers={"Authorization": f"Bearer {KEY}", **headers},
            json=request(dialect, **fields),
            timeout=60,
            verify=False,
        )

    def ask_to_the_end(self, dialect: Dialect, /, **fields: Any) -> bytes:
        """The bytes of an answer that may break off."""
        found = bytearray()
        headers = {"Authorization": f"Bearer {KEY}"}
        place, body = self.base + PATHS[dialect], request(dialect, **fields)
        try:
            with httpx.stream("POST", place, headers=headers, json=body, timeout=60, verify=False) as answer:
                for piece in answer.iter_raw():
                    found += piece
        except httpx.TransportError:  # it breaks off, or the gateway was closed
            pass
        return bytes(found)


def request(dialect: Dialect, **fields: Any) -> dict[str, Any]:
    """The smallest request of the dialect, with `fields` besides."""
    said = [{"role": "user", "content": "hello"}]
    least: dict[str, Any] = {"model": "main-model"}
    if dialect is RESPONSES:
        least["input"] = "hello"
    else:
        least["messages"] = said
    if dialect is MESSAGES:
        least["max_tokens"] = 100
    return {key: value for key, value in {**least, **fields}.items() if value is not ...}


def route(dialect: Dialect, base: str, **more: Any) -> Route:
    fields = {"role": "main", "name": "main-model", "snapshot": "snap-1", "credential": CREDENTIAL, **more}
    return Route(dialect=dialect, base_url=base, **fields)


@contextmanager
def gateway(
    dialect: Dialect,
    *answers: Answer,
    budget: Budget = AMPLE,
    rules: Rules = FREE,
    patience: Patience = SHORT,
    gate: Any = None,
    ledger: Any = None,
    reach: Callable[[str], Any] = There,
    routes: Sequence[Route] = (),
    **more: Any,
) -> Iterator[Setting]:
    """One that serves on a loopback port until the block ends."""
    upstream, lines, watch = Upstream(*answers), ledger or Lines(), Watch()
    outages: list[Route] = []
    models = {one.role: one for one in (route(dialect, upstream.base, **more), *routes)}
    made = Gateway(
        models,
        KEY,
        budget,
        ledger=lines,
        gate=gate or OpenGate(),
        clock=watch,
        rules=rules,
        reach=reach,
        on_outage=outages.append,
        patience=patience,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    place = listener.getsockname()[:2]
    made.serve(listener)
    try:
        yield Setting(made, upstream, lines, watch, outages, place)
    finally:
        made.close()
        upstream.close()


def events(text: str) -> list[dict[str, Any]]:
    """What a client reads out of a stream."""
    found = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(data) for data in found if data != "[DONE]"]
