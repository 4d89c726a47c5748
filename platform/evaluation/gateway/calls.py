"""One call of a harness: reserved, queued, attempted until it succeeds or its retries are used up, settled.

Whether to try again is decided by the family of the fault alone, and never once a byte went to the harness.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from evaluation.gateway import meter
from evaluation.gateway.attempt import Ended, Sent, Sink, attempt
from evaluation.gateway.contract import (
    Call,
    Gate,
    Ledger,
    Outcome,
    Patience,
    Reach,
    Record,
    Route,
    Stopped,
    Withheld,
    may_have_run,
)
from evaluation.gateway.meter import Meter, Reserved
from evaluation.gateway.network import Deadline, Pools
from evaluation.gateway.observed import Observations
from evaluation.gateway.refusals import Code, Refusal
from evaluation.gateway.request import Request
from evaluation.gateway.standing import Standing

RETRIED = frozenset({Outcome.UNREACHABLE, Outcome.RATE_LIMITED, Outcome.UPSTREAM_FAILED, Outcome.CUT_OFF})
"""And a status of 408. What took too long is not asked again: it may have been answered, and paid for."""

OUTAGES = RETRIED | {Outcome.TIMED_OUT, Outcome.CREDENTIAL_REFUSED, Outcome.ADDRESS_REFUSED}
"""After these the platform is told, so that it may find out by a call of its own."""

_CODES = {
    Outcome.TIMED_OUT: Code.UPSTREAM_TIMED_OUT,
    Outcome.NOT_THE_DIALECT: Code.UPSTREAM_INVALID,
    Outcome.TOO_LONG: Code.UPSTREAM_INVALID,
    Outcome.STOPPED: Code.STOPPED,
}


class PlatformFailed(Exception):
    """Ledger or gate did not take an attempt: no further one is made, so that nothing is called uncounted."""


@dataclass(frozen=True)
class Platform:
    """What the platform lends to one episode's calls."""

    ledger: Ledger
    gate: Gate
    reach: Reach
    patience: Patience
    on_outage: Callable[[Route], object]


@dataclass
class _Waited:
    """Milliseconds before one attempt."""

    queued: int = 0
    between: int = 0


class Calls:
    """Makes the calls of one episode; `stopped` ends every wait."""

    def __init__(
        self, platform: Platform, meter: Meter, standing: Standing, pools: Pools, deadline: Deadline
    ) -> None:
        self._platform, self._meter, self._standing = platform, meter, standing
        self._pools, self._deadline = pools, deadline
        self.observations = Observations()
        self.stopped = threading.Event()

    def make(self, route: Route, request: Request, sink: Sink) -> bytes:
        """A plain answer; of a stream, which went to `sink`, nothing. Raises Refusal, Stopped, PlatformFailed."""
        reserved = self._meter.reserve(request)
        try:
            ended = self._until_it_succeeds(route, reserved, sink)
        finally:
            self._meter.settle(reserved)
        if ended.outcome is Outcome.OK:
            return ended.body
        if ended.outcome in OUTAGES:
            self._platform.on_outage(route)
        raise Refusal(ended.code or _CODES.get(ended.outcome, Code.UPSTREAM_UNAVAILABLE))

    def _until_it_succeeds(self, route: Route, reserved: Reserved, sink: Sink) -> Ended:
        waited = _Waited()
        patience = self._platform.patience
        for number in range(1, patience.retries + 2):
            ended = self._one(route, reserved, number, waited, sink)
            again = ended.outcome in RETRIED or ended.status == 408
            if not again or sink.begun or number > patience.retries:
                break
            waited = self._pause(number, ended.again_after)
        return ended

    def _pause(self, number: int, asked: float | None) -> _Waited:
        """Wait before the next attempt, with the harness's clock standing. Raises Stopped."""
        patience, begun = self._platform.patience, time.monotonic()
        seconds = max(asked or 0.0, patience.backoff * 2 ** (number - 1))
        with self._standing.waiting():
            if self.stopped.wait(min(seconds, patience.longest_wait)):
                raise Stopped
        return _Waited(between=_since(begun))

    def _one(self, route: Route, reserved: Reserved, number: int, waited: _Waited, sink: Sink) -> Ended:
        """Queue, then make one attempt with its line in the ledger."""
        begun = time.monotonic()
        with ExitStack() as passage:
            with self._standing.waiting():
                self._enter(route, passage)
            waited.queued = _since(begun)
            return self._recorded(route, reserved, number, waited, sink)

    def _enter(self, route: Route, passage: ExitStack) -> None:
        try:
            passage.enter_context(self._platform.gate.enter(route, self.stopped))
        except Withheld:
            raise Refusal(Code.UPSTREAM_PAUSED) from None
        except Stopped:
            raise
        except Exception as error:
            raise PlatformFailed from error

    def _recorded(self, route: Route, reserved: Reserved, number: int, waited: _Waited, sink: Sink) -> Ended:
        request, platform = reserved.request, self._platform
        call = Call(
            route=route,
            number=reserved.number,
            attempt=number,
            streaming=request.streaming,
            parameters=request.parameters,
            tools=request.tools,
            stripped=request.stripped,
            reserved_tokens=reserved.tokens,
        )
        line = self._written(platform.ledger.attempt_started, call)
        begun = time.monotonic()
        sent = Sent(route, request, platform.patience, platform.reach, self._deadline)
        ended = attempt(sent, self._pools.of(route), sink)
        if self.stopped.is_set() and ended.outcome in (
            Outcome.CUT_OFF,
            Outcome.UNREACHABLE,
            Outcome.TIMED_OUT,
        ):
            ended.outcome = Outcome.STOPPED
        self._spent(ended, reserved)
        record = _record(call, ended, waited, _since(begun), left=sink.gone)
        self.observations.add(call, record)
        self._written(platform.ledger.attempt_ended, line, record)
        return ended

    def _spent(self, ended: Ended, reserved: Reserved) -> None:
        """Reported counts where there are any; else what may have been used, from sizes."""
        usage = ended.usage
        if usage.complete:
            self._meter.spent((usage.input_tokens or 0) + (usage.output_tokens or 0), estimate=False)
        elif may_have_run(ended.outcome, ended.status):
            entered = reserved.input_tokens if usage.input_tokens is None else usage.input_tokens
            self._meter.spent(entered + meter.of_bytes(ended.received), estimate=True)

    def _written(self, write: Callable[..., Any], *what: object) -> Any:
        try:
            return write(*what)
        except Exception as error:
            raise PlatformFailed from error


def _record(call: Call, ended: Ended, waited: _Waited, took: int, *, left: bool) -> Record:
    return Record(
        dialect=call.route.dialect,
        asked=call.route.name,
        served=ended.served,
        usage=ended.usage,
        streaming=call.streaming,
        status=ended.status,
        outcome=ended.outcome,
        parameters=call.parameters,
        tools=call.tools,
        milliseconds=took,
        queued_milliseconds=waited.queued,
        retry_milliseconds=waited.between,
        cut_off=ended.cut_off,
        client_left=left,
    )


def _since(begun: float) -> int:
    return round((time.monotonic() - begun) * 1000)
