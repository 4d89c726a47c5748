"""What an episode's calls had in common and in what they differed, to be held against the HarnessCard."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from evaluation.gateway.contract import PARAMETERS, Call, Observed, Record

MOST = 32
"""Different values of one thing that are kept."""


class Observations:
    """Gathers them by route name; used by several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[str, Observed] = {}

    def add(self, call: Call, record: Record) -> None:
        with self._lock:
            before = self._found.get(call.route.name)
            self._found[call.route.name] = _with(before, call, record)

    def all(self) -> Mapping[str, Observed]:
        with self._lock:
            return dict(self._found)


def _with(before: Observed | None, call: Call, record: Record) -> Observed:
    models = before.models if before else frozenset()
    if record.served is not None and len(models) < MOST:
        models |= {record.served}
    names = [name for name in PARAMETERS if name in call.parameters or (before and name in before.parameters)]
    parameters = {}
    for name in names:
        seen = before.parameters.get(name, (None,)) if before else ()
        value = call.parameters.get(name)
        parameters[name] = seen if value in seen or len(seen) >= MOST else (*seen, value)
    fewest, most = before.tools if before else (call.tools, call.tools)
    return Observed(models, parameters, (min(fewest, call.tools), max(most, call.tools)))
