"""The model gateway of one attempt: what a worker opens before its sandbox starts and closes after it has ended."""

from __future__ import annotations

import secrets
import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeVar
from uuid import UUID

import structlog
from django.db import DatabaseError, InterfaceError, connection

from audit.events import Actor
from config import addresses
from config.addresses import AddressRefused, Target, Unfit
from evaluation.calls import queries, services
from evaluation.calls.limits import Limits, SharedGate
from evaluation.calls.models import RunModel, UpstreamDoubt, UpstreamStop
from evaluation.calls.policies import Prices, may_pause
from evaluation.gateway.contract import (
    AddressBarred,
    Budget,
    Call,
    Dialect,
    Record,
    Route,
    Rules,
    Withheld,
    variables,
)
from evaluation.gateway.gateway import Gateway
from evaluation.sandbox.control import PORT, Control, EpisodeCancelled
from evaluation.sandbox.spec import Ending, InfrastructureFault, Outcome
from evaluation.upstreams import credentials, probe
from evaluation.upstreams.models import ModelUpstream

logger = structlog.get_logger(__name__)

KEY_BYTES = 24
PROBE_SECONDS = 45.0
"""How long a worker waits for the platform's probe of an upstream that gave no answer; no clock runs meanwhile."""
LOOK_SECONDS = 0.5
GRACE_SECONDS = 5.0
"""For calls of a command that has ended: what they used is then known."""
LOCKED = frozenset({"temperature", "top_p"})
"""Where the HarnessCard declares one of these, a call with another value is refused and one without it gets it.

Recorded alone, whether a run kept to its card would be a word that a harness could send home by what it read.
"""

T = TypeVar("T")
MakeControl = Callable[[Callable[[socket.socket], None] | None], Control]
"""Makes the handle of an episode, with what serves its listener (`holding.Hold.control`)."""


class UpstreamsStopped(Exception):
    """The attempt ended because an upstream is left alone: it is not counted, and comes again."""


class GatewayFailed(InfrastructureFault):
    """Calls could not be counted or limited, or the gateway itself broke: nothing of the attempt may be scored."""

    code = "gateway_failed"


@dataclass(frozen=True)
class Effort:
    """What an attempt's calls came to. `steps` and `tokens` are None where it could call nothing, or nobody knows."""

    steps: int | None = None
    tokens: int | None = None
    tokens_complete: bool = True
    asked_unlisted: bool = False
    refused_calls: int = 0

    def signals(self) -> dict[str, int]:
        """What staff are shown of it, beside what the host counted."""
        return {"gateway_refusals": self.refused_calls} if self.refused_calls else {}


@lru_cache(maxsize=1)
def _scribe() -> ThreadPoolExecutor:
    """One thread for all rows of calls: a gateway has many short-lived threads, each would make a connection."""
    return ThreadPoolExecutor(1, thread_name_prefix="calls")


def _written(work: Callable[..., T], *arguments: Any, **more: Any) -> T:
    return _scribe().submit(_with_a_connection, work, *arguments, **more).result()


def _with_a_connection(work: Callable[..., T], *arguments: Any, **more: Any) -> T:
    """The thread lives as long as its process: a connection that broke must not stay with it."""
    try:
        return work(*arguments, **more)
    except (DatabaseError, InterfaceError):
        connection.close()
        raise


@lru_cache(maxsize=1)
def gate() -> SharedGate:
    """The one gate of this process."""
    return SharedGate(lambda upstream: _written(_limits_of, UUID(upstream)))


def _limits_of(upstream_id: UUID) -> Limits:
    """A ceiling that is reached ends no attempt: only the next one waits. A harness could else ask for another try."""
    row = ModelUpstream.objects.values("concurrency", "requests_per_minute").get(pk=upstream_id)
    down = UpstreamStop.objects.filter(upstream_id=upstream_id, cause=UpstreamStop.Cause.DOWN, ended_at=None)
    return Limits(row["concurrency"], row["requests_per_minute"], down.exists())


def reach(url: str) -> Target:
    """Where a request goes: resolved once, and only to addresses that the platform calls."""
    allowed = probe.rules()
    try:
        return addresses.resolved(addresses.place(url, allowed), allowed, addresses.system_resolver)
    except AddressRefused as refused:
        if refused.reason is Unfit.UNRESOLVED:
            raise OSError("no name server answers") from None
        raise AddressBarred(str(refused.reason)) from None


@dataclass(frozen=True)
class Reachable:
    """A model of a run with everything that is needed to call it."""

    route: Route
    prices: Prices


@lru_cache(maxsize=64)
def calls_models(run_id: UUID) -> bool:
    """Whether a run may call any model, which never changes."""
    return RunModel.objects.filter(run_id=run_id).exists()


def reachable(run_id: UUID) -> tuple[Reachable, ...]:
    """The models that a run may call, read for each attempt: a credential that was replaced is not used again."""
    if not calls_models(run_id):
        return ()
    rows = RunModel.objects.filter(run_id=run_id).select_related("upstream__credential").order_by("role")
    return tuple(_reachable(row) for row in rows)


def _reachable(row: RunModel) -> Reachable:
    upstream = row.upstream
    route = Route(
        role=row.role,
        name=upstream.name,
        dialect=Dialect(upstream.dialect),
        base_url=upstream.base_url,
        snapshot=upstream.snapshot,
        credential=credentials.opened(upstream.credential),
        exposure=row.exposure,
        upstream_id=str(upstream.pk),
        parameters=row.parameters,
    )
    return Reachable(route, Prices(upstream.input_price, upstream.cached_price, upstream.output_price))


class _Ledger:
    """Writes each call of one attempt down, before it is made and after."""

    def __init__(self, attempt_id: UUID, prices: dict[str, Prices], by: Actor) -> None:
        self._attempt, self._prices, self._by = attempt_id, prices, by

    def attempt_started(self, call: Call) -> tuple[int, str]:
        upstream = call.route.upstream_id
        return _written(services.call_started, self._attempt, call), upstream

    def attempt_ended(self, attempt: tuple[int, str], record: Record) -> None:
        number, upstream = attempt
        _written(services.call_ended, number, record, self._prices[upstream], by=self._by)


class Session:
    """The gateway of one attempt. `control` and `variables` go to the sandbox; close it whatever comes."""

    def __init__(
        self,
        attempt_id: UUID,
        run_id: UUID,
        budget: Budget,
        *,
        sort: str,
        control: MakeControl,
        by: Actor,
    ) -> None:
        self.attempt_id, self._by = attempt_id, by
        self.variables: dict[str, str] = {}
        self.stopped = False
        """Whether an upstream was left alone while the attempt ran."""
        self._over = threading.Event()
        self._sort = sort
        self._gateway: Gateway | None = None
        models = reachable(run_id)
        self.control = control(self._serve if models else None)
        if models:
            self._open(models, budget)

    def _open(self, models: tuple[Reachable, ...], budget: Budget) -> None:
        key = secrets.token_urlsafe(KEY_BYTES)
        routes = {model.route.role: model.route for model in models}
        prices = {model.route.upstream_id: model.prices for model in models}
        declared = frozenset(name for route in routes.values() for name in route.parameters)
        gateway = Gateway(
            models=routes,
            key=key,
            budget=budget,
            ledger=_Ledger(self.attempt_id, prices, self._by),
            gate=self,
            clock=self.control,
            rules=Rules(locked=LOCKED & declared),
            reach=reach,
            on_outage=self._outage,
        )
        self._gateway = gateway
        self.variables = variables(f"http://127.0.0.1:{PORT}", key, routes)

    def _serve(self, listener: socket.socket) -> None:
        assert self._gateway is not None, "only where there is one"
        self._gateway.serve(listener)

    def enter(self, route: Route, stopped: Any) -> Any:
        """The shared gate; a call that it withholds ends the attempt."""
        return _Entry(self, gate().enter(route, stopped, apart=self._sort))

    def withhold(self) -> None:
        """End the attempt: an upstream is left alone."""
        self.stopped = True
        self.control.cancel()

    def _outage(self, route: Route) -> None:
        """Have the platform's own probe look; where it confirms that the upstream is down, the attempt ends."""
        if not may_pause(route.exposure):
            return
        self.control.hold()
        try:
            if self._confirmed_down(UUID(route.upstream_id)):
                self.withhold()
        finally:
            self.control.release()

    def _confirmed_down(self, upstream_id: UUID) -> bool:
        """Ask for a probe and wait for what it finds. False also where none was made in time: nothing is confirmed."""
        _written(services.doubt, upstream_id)
        until = time.monotonic() + PROBE_SECONDS
        while not self._over.wait(LOOK_SECONDS) and time.monotonic() < until:
            down = UpstreamStop.objects.filter(
                upstream_id=upstream_id, cause=UpstreamStop.Cause.DOWN, ended_at=None
            )
            if _written(down.exists):
                return True
            if not _written(UpstreamDoubt.objects.filter(upstream_id=upstream_id).exists):
                return False
        return False

    def close(self) -> None:
        """Let calls in progress end for a moment, so that they are counted, then stop; again, it changes nothing."""
        self._over.set()
        if self._gateway is not None:
            self._gateway.close(grace=0.0 if self.stopped or self.control.cancelled else GRACE_SECONDS)

    def run(self, episode: Callable[[], Outcome]) -> Outcome:
        """Run the episode and say how it ended, by what its calls say too.

        A budget of steps or tokens for which a call was refused is a budget that is used up, however the command ended
        afterwards. Raises UpstreamsStopped, GatewayFailed, and what the sandbox raises.
        """
        try:
            outcome = episode()
        except EpisodeCancelled:
            if self.stopped:
                raise UpstreamsStopped from None
            raise
        finally:
            self.close()
        if self._gateway is None:
            return outcome
        if self.stopped:
            raise UpstreamsStopped
        if self._gateway.fault:
            raise GatewayFailed(self._gateway.fault)
        which = self._gateway.exhausted
        if which and outcome.ending in (Ending.FINISHED, Ending.CRASHED):
            return replace(outcome, ending=Ending.BUDGET_EXHAUSTED, which_budget=which)
        return outcome

    def effort(self) -> Effort:
        """What it used, by the ledger. A model that is not listed is an event of its own."""
        if self._gateway is None:
            return Effort()
        total = queries.total_of(self.attempt_id)
        if self._gateway.unlisted:
            services.model_refused(self.attempt_id, by=self._by)
        return Effort(
            steps=total.steps,
            tokens=total.tokens,
            tokens_complete=total.complete,
            asked_unlisted=bool(self._gateway.unlisted),
            refused_calls=sum(self._gateway.refused.values()),
        )


class _Entry:
    """A place at the gate; tells the session where it is withheld."""

    def __init__(self, session: Session, place: Any) -> None:
        self._session, self._place = session, place

    def __enter__(self) -> None:
        try:
            self._place.__enter__()
        except Withheld:
            self._session.withhold()
            raise

    def __exit__(self, *error: Any) -> None:
        self._place.__exit__(*error)
