"""Answers one connection: who asks, for which model, in which dialect; then the call, or a refusal with a code."""

from __future__ import annotations

import hmac
import json
import logging
import threading
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from evaluation.gateway import refusals, request
from evaluation.gateway.calls import Calls, PlatformFailed
from evaluation.gateway.connection import Connection, Head
from evaluation.gateway.contract import Dialect, Route, Rules, Stopped
from evaluation.gateway.refusals import Code, Refusal
from evaluation.gateway.standing import Standing
from evaluation.gateway.texts import plain

logger = logging.getLogger(__name__)

PATHS: Mapping[str, Dialect] = {
    "/v1/chat/completions": Dialect.OPENAI_CHAT,
    "/v1/responses": Dialect.OPENAI_RESPONSES,
    "/v1/messages": Dialect.ANTHROPIC_MESSAGES,
}
MODELS = "/v1/models"
UNLISTED = 32
"""Names of unlisted models that are kept."""
ROOM_BYTES = 64 * 1024 * 1024
"""Of all requests in progress together; a further one waits."""
JSON = "application/json"


class Room:
    """Bounds the memory that requests in progress take."""

    def __init__(self, size: int, stopped: threading.Event) -> None:
        self._free, self._stopped = size, stopped
        self._changed = threading.Condition()

    @contextmanager
    def held(self, size: int) -> Iterator[None]:
        """Room for one request. Raises Stopped."""
        with self._changed:
            while self._free < size:
                if self._stopped.is_set():
                    raise Stopped
                self._changed.wait(0.2)
            self._free -= size
        try:
            yield
        finally:
            with self._changed:
                self._free += size
                self._changed.notify_all()


class Handler:
    """Handles the connections of one episode, several at once."""

    def __init__(
        self, routes: Mapping[str, Route], key: str, rules: Rules, calls: Calls, standing: Standing
    ) -> None:
        self._routes, self._key, self._rules = routes, key.encode(), rules
        self._calls, self._standing = calls, standing
        self._room = Room(ROOM_BYTES, calls.stopped)
        self._lock = threading.Lock()
        self._refused: Counter[str] = Counter()
        self._unlisted: dict[str, None] = {}
        self.fault: str | None = None

    @property
    def refused(self) -> Mapping[str, int]:
        with self._lock:
            return dict(self._refused)

    @property
    def unlisted(self) -> tuple[str, ...]:
        with self._lock:
            return tuple(self._unlisted)

    def handle(self, connection: Connection) -> None:
        """Answer whatever comes; nothing is raised."""
        dialect: Dialect | None = None
        try:
            head = connection.head()
            dialect = PATHS.get(head.path)
            self._answer(head, dialect, connection)
        except ConnectionError:
            return
        except Refusal as refusal:
            self._refuse(connection, refusal, dialect)
        except Stopped:
            self._refuse(connection, Refusal(Code.STOPPED), dialect)
        except PlatformFailed as failed:
            self._failed("platform", failed.__cause__ or failed)
            self._refuse(connection, Refusal(Code.GATEWAY_FAILED), dialect)
        except Exception as error:  # noqa: BLE001 - a defect here must not look like the harness's fault
            self._failed("gateway", error)
            self._refuse(connection, Refusal(Code.GATEWAY_FAILED), dialect)

    def _failed(self, what: str, error: BaseException) -> None:
        """Kept for the platform, and logged by place: the error's own text may hold what a harness sent."""
        self.fault = self.fault or what
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
        logger.error("gateway_failed: %s in %s", type(error).__name__, place)

    def _refuse(self, connection: Connection, refusal: Refusal, dialect: Dialect | None) -> None:
        with self._lock:
            self._refused[refusal.code.code] += 1
        if connection.begun:  # its end stays out, so that every client sees that something is missing
            connection.send(refusals.event(refusal, dialect or Dialect.OPENAI_CHAT))
            return
        body = json.dumps(refusals.content(refusal, dialect)).encode()
        connection.answer(refusal.code.status, body, refusal.headers, media=JSON)

    def _answer(self, head: Head, dialect: Dialect | None, connection: Connection) -> None:
        """Raises Refusal, Stopped, PlatformFailed, ConnectionError."""
        listing = head.path == MODELS or head.path.startswith(f"{MODELS}/")
        if dialect is None and not listing:
            raise Refusal(Code.NOT_FOUND)
        if head.method != ("GET" if listing else "POST"):
            raise Refusal(Code.METHOD_NOT_ALLOWED)
        self._let_in(head)
        if dialect is None:
            connection.answer(200, json.dumps(self._listed(head)).encode(), [], media=JSON)
            return
        with self._room.held(head.length):
            self._call(head, dialect, connection)

    def _let_in(self, head: Head) -> None:
        scheme, _, bearer = head.headers.get("authorization", "").partition(" ")
        given = [bearer.strip()] if scheme.lower() == "bearer" else []
        given.append(head.headers.get("x-api-key", ""))
        matches = [hmac.compare_digest(one.encode("latin-1"), self._key) for one in given]
        if not any(matches):
            raise Refusal(Code.NO_CREDENTIAL)

    def _listed(self, head: Head) -> dict[str, Any]:
        anthropic = "anthropic-version" in head.headers
        found = [_model(name, anthropic=anthropic) for name in sorted(self._routes)]
        if head.path != MODELS:
            name = head.path.removeprefix(f"{MODELS}/")
            if name not in self._routes:
                raise Refusal(Code.NOT_FOUND)
            return _model(name, anthropic=anthropic)
        if anthropic:
            ids = sorted(self._routes)
            ends = {"first_id": ids[0], "last_id": ids[-1]} if ids else {}
            return {"data": found, "has_more": False, **ends}
        return {"object": "list", "data": found}

    def _call(self, head: Head, dialect: Dialect, connection: Connection) -> None:
        body = request.parsed(connection.body())
        route = self._route(request.model_of(body), dialect)
        made = request.made(body, route, self._rules)
        noticed = [f"header {name}" for name in ("anthropic-beta", "openai-beta") if name in head.headers]
        noticed += ["query"] if head.query else []
        made = replace(made, stripped=(*noticed, *made.stripped))
        self._standing.begin()
        try:
            answer = self._calls.make(route, made, connection)
        finally:
            self._standing.end()
        if made.streaming:
            connection.finish()
        else:
            connection.answer(200, answer, [], media=JSON)

    def _route(self, name: str, dialect: Dialect) -> Route:
        route = self._routes.get(name)
        if route is None:
            with self._lock:
                if len(self._unlisted) < UNLISTED:
                    self._unlisted[plain(name, request.MODEL_LENGTH)] = None
            raise Refusal(Code.MODEL_NOT_LISTED)
        if route.dialect != dialect:
            raise Refusal(Code.DIALECT_DIFFERS)
        return route


def _model(name: str, *, anthropic: bool) -> dict[str, Any]:
    if anthropic:
        return {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": 0, "owned_by": "harness"}
