"""The default backend: namespaces, a system-call filter and control groups of the host's kernel, by bubblewrap."""

from __future__ import annotations

import shutil
from typing import ClassVar

from evaluation.sandbox import rootfs, runtime
from evaluation.sandbox.backend import KeptBackend
from evaluation.sandbox.spec import Kind, Root, SandboxUnavailable


class Backend(KeptBackend):
    """Makes sandboxes with one bwrap binary: the given one, else that on PATH."""

    kind: ClassVar[Kind] = Kind.BUBBLEWRAP

    def __init__(self, copies: runtime.Runtime, bwrap: str | None = None) -> None:
        """Raises SandboxUnavailable where there is none."""
        found = bwrap or shutil.which("bwrap")
        if found is None:
            raise SandboxUnavailable("bwrap is not on PATH: install the package bubblewrap")
        super().__init__(copies, found)

    def isolation(self, root: Root | None) -> str:
        """What the grade says of the root; that it is the host's kernel goes without saying."""
        return rootfs.isolation(root)

    def bounds(self, label: str) -> dict[str, str]:
        """Control groups where the host gives them, else rlimits."""
        return {
            "memory_bound": "cgroup" if "memory" in label else "rlimit of each process",
            "pids_bound": "cgroup" if "pids" in label else "rlimit of the user",
            "cpus_bound": "cgroup" if "cpu" in label else "none",
        }
