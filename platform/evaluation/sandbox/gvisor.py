"""The backend for production: gVisor, a kernel of its own between vendor code and the host's, by runsc."""

from __future__ import annotations

import shutil
from typing import ClassVar

from evaluation.sandbox import launcher, rootfs, runtime
from evaluation.sandbox.backend import KeptBackend
from evaluation.sandbox.spec import Kind, Root, SandboxUnavailable

_GRADE = "gVisor"


class Backend(KeptBackend):
    """Makes sandboxes with one runsc binary: the given one, else that on PATH."""

    kind: ClassVar[Kind] = Kind.GVISOR

    def __init__(self, copies: runtime.Runtime, runsc: str | None = None) -> None:
        """Raises SandboxUnavailable where there is none, or another processor than it is made for."""
        found = runsc or shutil.which("runsc")
        if found is None:
            raise SandboxUnavailable("runsc is not on PATH: install the package runsc")
        launcher.require()
        super().__init__(copies, found)

    def isolation(self, root: Root | None) -> str:
        """The kernel first, then the root."""
        return f"{_GRADE}, {root.label if root else rootfs.NOT_OFFICIAL}"

    def bounds(self, label: str) -> dict[str, str]:
        """Processes are counted by gVisor's kernel, memory and processors by the host's."""
        return {
            "memory_bound": "cgroup" if "memory" in label else "rlimit of each process",
            "pids_bound": "rlimit of the user, in gVisor",
            "cpus_bound": "cgroup" if "cpu" in label else "none",
        }
