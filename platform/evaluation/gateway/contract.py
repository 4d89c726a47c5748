"""What the gateway is given and what it hands back: shapes only.

The platform gives routes, budgets, a ledger, a gate and a clock; the gateway hands back one `Record` for every attempt
that went to an upstream. A count that the provider did not report is None, never 0.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

PORT = 8080
"""Where a harness finds the gateway, on 127.0.0.1."""


class Dialect(StrEnum):
    """The three ways of speaking."""

    OPENAI_CHAT = "openai-chat"
    OPENAI_RESPONSES = "openai-responses"
    ANTHROPIC_MESSAGES = "anthropic-messages"


@dataclass(frozen=True, slots=True)
class Route:
    """One model that the harness may call, and where it is.

    `name` is what the harness asks for, `snapshot` what the upstream is asked for. `base_url` is what the dialect's
    path (`/chat/completions`, `/responses`, `/messages`) is put behind. `parameters` are those that the HarnessCard
    declares, by the names of `PARAMETERS`.
    """

    role: str
    name: str
    dialect: Dialect
    base_url: str
    snapshot: str
    credential: str = field(repr=False)
    exposure: str = "third_party"
    upstream_id: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Budget:
    """Of the whole episode, all turns together: model calls, and tokens with cached ones included."""

    steps: int
    tokens: int


PARAMETERS = (
    *("temperature", "top_p", "top_k", "min_p", "maximum_output_tokens", "reasoning", "seed", "stop", "n"),
    *("presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "verbosity"),
    *("response_format", "tool_choice", "parallel_tool_calls"),
)
"""Names of parameters in every dialect; those of the HarnessCard's `inference` where it has one."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy in force says about parameters.

    One of `locked` must have the value that the route declares: another is refused, an absent one is filled in; where
    the route declares none it must be absent. All others pass and are recorded.
    """

    locked: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long the gateway waits, in seconds, and how often it tries again."""

    connect: float = 5.0
    read: float = 300.0
    """Between two pieces of an answer, and for the first."""
    total: float = 900.0
    """For one attempt, however much of an answer came."""
    retries: int = 3
    backoff: float = 0.5
    """Before the first retry; doubled for each further one."""
    longest_wait: float = 20.0
    """However long an upstream's Retry-After asks for."""
    drain: float = 60.0
    """How much longer an answer is read whose client has gone, so that its usage is known."""
    request: float = 60.0
    """For a harness to send one whole request."""
    write: float = 30.0
    """For a harness to take a piece of an answer."""


class Outcome(StrEnum):
    """How one attempt at an upstream ended: closed, so that no text of a provider leaves by it."""

    OK = "ok"
    ADDRESS_REFUSED = "address_refused"
    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    CREDENTIAL_REFUSED = "credential_refused"
    RATE_LIMITED = "rate_limited"
    REQUEST_REFUSED = "request_refused"
    UPSTREAM_FAILED = "upstream_failed"
    NOT_THE_DIALECT = "not_the_dialect"
    CUT_OFF = "cut_off"
    TOO_LONG = "too_long"
    STOPPED = "stopped"


def may_have_run(outcome: Outcome, status: int | None) -> bool:
    """Whether a model may have used tokens: not where the upstream answered with an error or was never reached."""
    if status is None:
        return outcome not in (Outcome.ADDRESS_REFUSED, Outcome.UNREACHABLE)
    return status == 200


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one attempt as the provider reported them; None where it did not.

    `input_tokens` has cached ones included, `output_tokens` has reasoning included where the provider counts so. `raw`
    is the provider's own object, merged over the events of a stream.
    """

    raw: Mapping[str, Any] | None = None
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None

    @property
    def reported(self) -> bool:
        """Whether the provider said anything about usage, be it zero."""
        return self.raw is not None

    @property
    def complete(self) -> bool:
        """Whether both counts are known that a budget needs."""
        return self.input_tokens is not None and self.output_tokens is not None


@dataclass(frozen=True, slots=True)
class Call:
    """One attempt at an upstream, before it is made."""

    route: Route
    number: int
    """Of the model call in the episode, from 1: its step."""
    attempt: int
    """Of this call, from 1."""
    streaming: bool
    parameters: Mapping[str, Any]
    """As sent, by the names of `PARAMETERS`."""
    tools: int
    stripped: tuple[str, ...]
    """Paths of fields, and headers, that were not passed on; the first hundred."""
    reserved_tokens: int


@dataclass(frozen=True, slots=True)
class Record:
    """One attempt at an upstream, after it ended. Times are milliseconds."""

    dialect: Dialect
    asked: str
    served: str | None
    """The model that the answer names."""
    usage: Usage
    streaming: bool
    status: int | None
    outcome: Outcome
    parameters: Mapping[str, Any]
    tools: int
    milliseconds: int
    """From the first byte sent to the last one read."""
    queued_milliseconds: int
    """At the gate, before this attempt."""
    retry_milliseconds: int
    """Between the former attempt of this call and this one; 0 for the first."""
    cut_off: bool
    """The answer began and did not come to its end."""
    client_left: bool
    """The harness did not take the whole answer."""

    @property
    def incomplete(self) -> bool:
        """Whether tokens may have been used that nobody reported."""
        return not self.usage.complete and may_have_run(self.outcome, self.status)


class Ledger(Protocol):
    """Keeps every attempt. What it raises makes the gateway stop calling: nothing is called uncounted."""

    def attempt_started(self, call: Call) -> Any:
        """Write down that the attempt begins; returns what `attempt_ended` is told it by."""

    def attempt_ended(self, attempt: Any, record: Record) -> None:
        """Write down how it ended."""


class Withheld(Exception):
    """The platform makes no call to this upstream for now (its ceiling is reached, its submission pauses)."""


class Stopped(Exception):
    """The gateway was closed while a call waited."""


class Gate(Protocol):
    """Limits of rate and concurrency, shared over all workers."""

    def enter(self, route: Route, stopped: threading.Event) -> AbstractContextManager[None]:
        """Held during one attempt; entering blocks until it may begin.

        Raises Withheld, and Stopped within half a second after `stopped` was set.
        """


class Clock(Protocol):
    """The harness's clock. `hold` and `release` take turns, `hold` first: the gateway counts, the clock need not."""

    def hold(self) -> None:
        """Stop it: every call of the episode in progress waits for the platform, none for a model."""

    def release(self) -> None:
        """Let it go on."""


class AddressBarred(Exception):
    """The upstream's address is not one that may be called."""


class Target(Protocol):
    """Where a request goes: an address that was looked at, under the name that was asked for (`config.addresses`)."""

    @property
    def url(self) -> str: ...
    @property
    def host_header(self) -> str: ...
    @property
    def extensions(self) -> Mapping[str, Any]: ...


Reach = Callable[[str], Target]
"""Looks an upstream's address up, once for each attempt. Raises AddressBarred, or OSError where nothing answers."""


@dataclass(frozen=True, slots=True)
class Used:
    """What an episode has used so far. Where a provider did not report, `tokens` holds an estimate and says so."""

    steps: int
    tokens: int
    estimated: bool


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen of one route over an episode, to be held against the HarnessCard; at most 32 values of each."""

    models: frozenset[str]
    parameters: Mapping[str, tuple[Any, ...]]
    """Each value that was sent, in order of appearance; None where a call left the parameter out."""
    tools: tuple[int, int]
    """The fewest and the most tools that a call offered."""


def variables(base: str, key: str, routes: Mapping[str, Route]) -> dict[str, str]:
    """The environment by which a harness finds the gateway at `base` ("http://127.0.0.1:8080"); routes by role."""
    found = {
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_KEY": key,
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": key,
    }
    return found | {f"MODEL_{route.role.upper()}_NAME": route.name for route in routes.values()}
