"""What the kernel's log says of one episode: processes that the system-call filter killed. Where it can be read at all.

The filter kills only for calls by another ABI; all else it answers with an error, which nobody counts.
"""

from __future__ import annotations

import os

_RECORD_BYTES = 8192


class KernelLog:
    """Reads from the end of the log as it was when this was made. Only root may; others count nothing."""

    def __init__(self) -> None:
        self._fd: int | None = None
        if os.geteuid() != 0:
            return
        try:
            self._fd = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            os.lseek(self._fd, 0, os.SEEK_END)
        except OSError:
            self._fd = None

    def kills_of(self, uid: int) -> int:
        """How many processes of the real user `uid` the filter killed since; each sandbox has a uid of its own."""
        return sum(1 for record in self._records() if b"type=1326" in record and b" uid=%d " % uid in record)

    def _records(self) -> list[bytes]:
        found: list[bytes] = []
        while self._fd is not None:
            try:
                found.append(os.read(self._fd, _RECORD_BYTES))
            except (
                BrokenPipeError
            ):  # records were overwritten before they were read: go on with the oldest left
                continue
            except OSError:
                os.close(self._fd)
                self._fd = None
        return found
