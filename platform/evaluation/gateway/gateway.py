"""One gateway serves one episode: all its turns, all its models, one budget.

It answers on listeners that somebody else opened, speaks three dialects, and is the only one that knows the upstreams'
credentials. Whatever a harness sends, it gets a model's answer or a refusal with a code.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Mapping

from evaluation.gateway.calls import Calls, Platform
from evaluation.gateway.contract import (
    Budget,
    Clock,
    Gate,
    Ledger,
    Observed,
    Patience,
    Reach,
    Route,
    Rules,
    Used,
)
from evaluation.gateway.handler import Handler
from evaluation.gateway.listening import Listening
from evaluation.gateway.meter import Meter
from evaluation.gateway.network import Deadline, Pools
from evaluation.gateway.standing import Standing

DEFAULT_PATIENCE = Patience()


def nobody(route: Route) -> None:
    """Nobody is told of an outage."""


class Gateway:
    """The gateway of one episode; `models` are its routes by role."""

    def __init__(
        self,
        models: Mapping[str, Route],
        key: str,
        budget: Budget,
        *,
        ledger: Ledger,
        gate: Gate,
        clock: Clock,
        rules: Rules,
        reach: Reach,
        on_outage: Callable[[Route], object] = nobody,
        patience: Patience = DEFAULT_PATIENCE,
    ) -> None:
        routes = {route.name: route for route in reversed(list(models.values()))}
        deadline = Deadline()
        platform = Platform(ledger, gate, reach, patience, on_outage)
        self._patience, self._pools = patience, Pools(deadline)
        self._meter, standing = Meter(budget), Standing(clock)
        self._calls = Calls(platform, self._meter, standing, self._pools, deadline)
        self._handler = Handler(routes, key, rules, self._calls, standing)
        self._lock = threading.Lock()
        self._listenings: list[Listening] = []

    def serve(self, listener: socket.socket) -> Listening:
        """Answer on a listening stream socket, which belongs to the gateway from here on; returns at once.

        A new turn brings a new listener: close what this returns when a turn is over. Budgets go on.
        """
        listening = Listening(listener, self._handler.handle, self._patience)
        with self._lock:
            self._listenings.append(listening)
        return listening

    def close(self, grace: float = 0.0) -> None:
        """Stop. Calls in progress have `grace` seconds to end by themselves, then end within one second."""
        with self._lock:
            listenings = list(self._listenings)
        for listening in listenings:
            listening.stop()
        until = time.monotonic() + grace
        while time.monotonic() < until and any(listening.busy for listening in listenings):
            time.sleep(0.02)
        self._calls.stopped.set()
        self._meter.stop()
        self._pools.shut()
        for listening in listenings:
            listening.close()
        self._pools.close()

    @property
    def exhausted(self) -> str | None:
        """`steps` or `tokens` once a call was refused because that budget was used up."""
        return self._meter.exhausted

    @property
    def used(self) -> Used:
        return self._meter.used

    @property
    def observed(self) -> Mapping[str, Observed]:
        """By name of the model."""
        return self._calls.observations.all()

    @property
    def refused(self) -> Mapping[str, int]:
        """How often each code was answered, by the codes of `refusals`."""
        return self._handler.refused

    @property
    def unlisted(self) -> tuple[str, ...]:
        """The first unlisted models that were asked for, as the harness wrote them."""
        return self._handler.unlisted

    @property
    def fault(self) -> str | None:
        """`platform` where ledger or gate failed, `gateway` for a defect: then nothing of the episode may be scored."""
        return self._handler.fault
