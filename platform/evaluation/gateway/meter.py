"""The budgets of one episode: reserved before a call is forwarded, settled after it.

What a call will use is not known before. Its input is estimated from its size, its output is bounded by what it asks
for; where less is left the bound is lowered. The settled counts are what the budget is made of: a last call may settle
above what was reserved for it, and then no further one is made.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

from evaluation.gateway.contract import Budget, Stopped, Used
from evaluation.gateway.refusals import Code, Refusal
from evaluation.gateway.request import Request, choices

BYTES_A_TOKEN = 3
"""Of UTF-8: English has about four, Chinese three or more, JSON three."""
INLINE_TOKENS = 1600
"""For each image, document or recording."""
UNSTATED_OUTPUT = 8192
"""Reserved where the harness leaves the bound of output to the upstream."""
WORTHWHILE = 1024
"""A call waits for those in progress to be settled before its output is lowered below this."""


@dataclass(frozen=True)
class Reserved:
    """Room for one call, and the request as it may go on within it."""

    request: Request
    number: int
    input_tokens: int
    output_tokens: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


class Meter:
    """Counts model calls and tokens; every method may be called by several threads."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._changed = threading.Condition()
        self._steps = self._tokens = self._reserved = 0
        self._estimated = self._stopped = False
        self.exhausted: str | None = None
        """`steps` or `tokens`, once a call was refused for it."""

    @property
    def used(self) -> Used:
        with self._changed:
            return Used(self._steps, self._tokens, self._estimated)

    def stop(self) -> None:
        """Nothing is reserved any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def reserve(self, request: Request) -> Reserved:
        """Room for one call; waits while calls in progress hold what may be left. Raises Refusal, Stopped."""
        answers = choices(request)
        entered = estimated(request)
        wanted = request.most_output or UNSTATED_OUTPUT
        with self._changed:
            while True:
                if self._stopped:
                    raise Stopped
                if self._steps >= self._budget.steps:
                    raise self._refused("steps")
                room = (self._budget.tokens - self._tokens - self._reserved - entered) // answers
                if room >= min(wanted, WORTHWHILE) or not self._reserved:
                    break
                self._changed.wait()
            if room < max(1, min(wanted, request.least_output)):
                raise self._refused("tokens")
            # Also where the harness states no bound: what is reserved is then what can be used.
            stated = request.most_output is not None and room >= wanted
            return self._taken(request, entered, min(room, wanted), answers, lowered=not stated)

    def _taken(self, request: Request, entered: int, each: int, answers: int, *, lowered: bool) -> Reserved:
        self._steps += 1
        found = Reserved(
            request.bounded(each) if lowered else request, self._steps, entered, max(0, each) * answers
        )
        self._reserved += found.tokens
        return found

    def _refused(self, which: str) -> Refusal:
        self.exhausted = self.exhausted or which
        return Refusal(Code.BUDGET_EXHAUSTED)

    def spent(self, tokens: int, *, estimate: bool) -> None:
        """Add what one attempt used."""
        with self._changed:
            self._tokens += tokens
            self._estimated |= estimate

    def settle(self, reserved: Reserved) -> None:
        """Give back what was held for a call whose attempts were all told to `spent`."""
        with self._changed:
            self._reserved -= reserved.tokens
            self._changed.notify_all()


def estimated(request: Request) -> int:
    """Tokens of input, from the size of the request."""
    return math.ceil(request.size / BYTES_A_TOKEN) + INLINE_TOKENS * request.inline


def of_bytes(size: int) -> int:
    """Tokens of output, from the size of what came."""
    return math.ceil(size / BYTES_A_TOKEN)
