"""The places of a root that the sandbox mounts over. They exist in every unpacked tree."""

from __future__ import annotations

START = ".start"
"""What starts the command; see `evaluation.sandbox.launcher`."""
HOME = "/home/agent"
UID = 1000
ETC = {
    "passwd": f"root:x:0:0:root:/:/bin/false\nagent:x:{UID}:{UID}:agent:{HOME}:/bin/sh\n",
    "group": f"root:x:0:\nagent:x:{UID}:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
    "hostname": "sandbox\n",
}
"""Files of /etc that are the platform's in every episode."""
FILES = (START, *(f"etc/{name}" for name in ETC))
HIDDEN = ("dev", "home/agent", "proc", "reply", "sys", "task", "tmp", "workspace")
"""What an image holds below these nobody could see: it is left out."""
FOLDERS = (*HIDDEN, "harness")


def is_hidden(name: str) -> bool:
    """Whether `name`, relative to the root, lies below a place that is covered."""
    return any(name.startswith(f"{place}/") for place in HIDDEN)


def parents(name: str) -> list[str]:
    """The folders above `name`, the topmost first."""
    parts = name.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
