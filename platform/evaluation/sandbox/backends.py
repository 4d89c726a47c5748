"""Which backend a worker uses: LINGEE_SANDBOX, `bubblewrap` where nothing is said. Read by all that make sandboxes."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from evaluation.sandbox import bubblewrap, gvisor, runtime
from evaluation.sandbox.backend import Backend, KeptBackend
from evaluation.sandbox.control import Control
from evaluation.sandbox.spec import GradeOutcome, GradeSpec, Kind, Outcome, RunSpec, SandboxUnavailable

SETTING = "LINGEE_SANDBOX"


def chosen() -> Kind:
    """The backend that the setting names. Raises SandboxUnavailable on a name that is none."""
    name = os.environ.get(SETTING) or Kind.BUBBLEWRAP.value
    try:
        return Kind(name)
    except ValueError as fault:
        known = " or ".join(Kind)
        raise SandboxUnavailable(f"{SETTING} is {name!r}: it must be {known}") from fault


def make(kind: Kind, copies: runtime.Runtime, tool: str | None = None) -> KeptBackend:
    """A backend of its own, with that tool or the one on PATH. Raises SandboxUnavailable where it is not there."""
    if kind is Kind.GVISOR:
        return gvisor.Backend(copies, tool)
    return bubblewrap.Backend(copies, tool)


@cache
def default_backend() -> Backend:
    """The backend of this process, with the runtime in the platform's state directory."""
    return make(chosen(), runtime.ensure(runtime.default_base()))


def run_episode(spec: RunSpec, workdir: Path, control: Control | None = None) -> Outcome:
    """See `Backend.run_episode`."""
    return default_backend().run_episode(spec, workdir, control)


def run_grader(spec: GradeSpec) -> GradeOutcome:
    """See `Backend.run_grader`."""
    return default_backend().run_grader(spec)
