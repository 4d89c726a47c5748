"""What becomes of an image's own settings: used, overridden, or refused. One decision per key, and no other keys.

Keys of the configuration: OCI Image Format Specification 1.1 (config.md), and what Docker writes besides.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from evaluation.images.findings import ArchiveRule, Finding, shown

VARIABLES = 256
VARIABLE_BYTES = 32 * 1024
"""Of all variables of an image together."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Decision(StrEnum):
    """USED by rule; OVERRIDDEN: accepted and without effect, the contract's own holds; REFUSED at intake."""

    USED = "used"
    OVERRIDDEN = "overridden"
    REFUSED = "refused"


SETTINGS: Mapping[str, tuple[Decision, str]] = {
    "Env": (Decision.USED, "set where the contract sets no variable of that name; `PATH` is the contract's"),
    "Entrypoint": (Decision.OVERRIDDEN, "`command` of /harness/harness.toml runs"),
    "Cmd": (Decision.OVERRIDDEN, "`command` of /harness/harness.toml runs"),
    "Shell": (Decision.OVERRIDDEN, "no shell is started"),
    "ArgsEscaped": (Decision.OVERRIDDEN, "no shell is started"),
    "User": (Decision.OVERRIDDEN, "everything runs as uid and gid 1000 of the sandbox"),
    "WorkingDir": (Decision.OVERRIDDEN, "/workspace"),
    "Volumes": (Decision.OVERRIDDEN, "no volume is made; only the places of the contract can be written to"),
    "ExposedPorts": (Decision.OVERRIDDEN, "there is no network but loopback"),
    "Healthcheck": (Decision.OVERRIDDEN, "never run"),
    "StopSignal": (Decision.OVERRIDDEN, "every process is killed at the end"),
    "StopTimeout": (Decision.OVERRIDDEN, "every process is killed at the end"),
    "Labels": (Decision.OVERRIDDEN, "not read and not kept"),
    "OnBuild": (Decision.OVERRIDDEN, "nothing is built"),
    "Hostname": (Decision.OVERRIDDEN, "`sandbox`"),
    "Domainname": (Decision.OVERRIDDEN, "none"),
    "Image": (Decision.OVERRIDDEN, "not read"),
    "Tty": (Decision.OVERRIDDEN, "there is no terminal"),
    "OpenStdin": (Decision.OVERRIDDEN, "standard input is empty"),
    "StdinOnce": (Decision.OVERRIDDEN, "standard input is empty"),
    "AttachStdin": (Decision.OVERRIDDEN, "standard input is empty"),
    "AttachStdout": (Decision.OVERRIDDEN, "output is captured"),
    "AttachStderr": (Decision.OVERRIDDEN, "output is captured"),
    "Memory": (Decision.REFUSED, "limits are the contract's"),
    "MemorySwap": (Decision.REFUSED, "limits are the contract's"),
    "CpuShares": (Decision.REFUSED, "limits are the contract's"),
    "Cpuset": (Decision.REFUSED, "limits are the contract's"),
    "MacAddress": (Decision.REFUSED, "there is no network"),
    "NetworkDisabled": (Decision.REFUSED, "the network is the contract's"),
    "NetworkMode": (Decision.REFUSED, "the network is the contract's"),
    "Privileged": (Decision.REFUSED, "no harness has privileges"),
    "CapAdd": (Decision.REFUSED, "no harness has privileges"),
    "SecurityOpt": (Decision.REFUSED, "no harness has privileges"),
    "Devices": (Decision.REFUSED, "no harness has devices"),
    "Binds": (Decision.REFUSED, "mounts are the contract's"),
    "Mounts": (Decision.REFUSED, "mounts are the contract's"),
    "Sysctls": (Decision.REFUSED, "kernel settings are the platform's"),
    "PidMode": (Decision.REFUSED, "namespaces are the platform's"),
    "IpcMode": (Decision.REFUSED, "namespaces are the platform's"),
    "UsernsMode": (Decision.REFUSED, "namespaces are the platform's"),
}
"""Keys of `config`. Any other is refused too; a refused key may stand there empty."""
_KNOWN_ABOVE = frozenset(
    {"created", "author", "comment", "history", "id", "parent", "container", "container_config", "throwaway"}
    | {
        "architecture",
        "os",
        "os.version",
        "variant",
        "config",
        "rootfs",
        "docker_version",
        "Size",
        "checksum",
    }
)
"""Keys beside `config`: what the image is, or how it came about; without effect here."""
_RESERVED = re.compile(
    r"(PATH|HOME|LANG|TZ|TURNS?|EPISODE_SEED|REPLY_FILE|BUDGET_[A-Z]+|MODEL_[A-Z0-9_]+|MCP_URL"
    r"|(OPENAI|ANTHROPIC)_(BASE_URL|API_KEY))\Z"
)
"""Variables that are the contract's, those that are not set in every episode included."""


def environment(config: Mapping[str, Any]) -> dict[str, str]:
    """The variables an image brings, after every setting was looked at. Raises Finding at the first that is refused.

    `config` is the image's configuration document.
    """
    _require_platform(config)
    for key, value in config.items():
        if key not in _KNOWN_ABOVE and not key.startswith("moby.") and value not in (None, "", [], {}):
            raise Finding(ArchiveRule.IMAGE_SETTING_REFUSED, key=shown(key))
    settings = config.get("config") or {}
    if not isinstance(settings, dict):
        raise Finding(ArchiveRule.IMAGE_SETTING_REFUSED, key="config")
    for key, value in settings.items():
        decision, _ = SETTINGS.get(key, (Decision.REFUSED, ""))
        if decision is Decision.REFUSED and value not in (None, "", 0, False, [], {}):
            raise Finding(ArchiveRule.IMAGE_SETTING_REFUSED, key=shown(f"config.{key}"))
    return _variables(settings.get("Env") or [])


def _require_platform(config: Mapping[str, Any]) -> None:
    found = f"{config.get('os')}/{config.get('architecture')}"
    if found != "linux/amd64":
        raise Finding(ArchiveRule.IMAGE_PLATFORM, found=shown(found))


def _variables(rows: Any) -> dict[str, str]:
    refused = Finding(ArchiveRule.IMAGE_SETTING_REFUSED, key="config.Env")
    if not isinstance(rows, list) or len(rows) > VARIABLES:
        raise refused
    found: dict[str, str] = {}
    for row in rows:
        name, sign, value = row.partition("=") if isinstance(row, str) else ("", "", "")
        if not sign or not _NAME.match(name) or "\x00" in value:
            raise refused
        if not _RESERVED.match(name):
            found[name] = value
    size = sum(len(name) + len(value.encode("utf-8", "surrogatepass")) + 2 for name, value in found.items())
    if size > VARIABLE_BYTES or any(
        "\ud800" <= sign <= "\udfff" for value in found.values() for sign in value
    ):
        raise refused
    return found
