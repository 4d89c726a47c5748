"""`pip install ./platform/client`: hands pip the wheel that deploy/client_wheel.py makes. Downloads nothing itself."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "deploy"))

import client_wheel  # type: ignore[import-not-found]


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Write the wheel into `wheel_directory`; returns its name."""
    found: Path = client_wheel.build(Path(wheel_directory))
    return found.name


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """There is no source archive: the sources are the checkout."""
    raise NotImplementedError("lgbench is built from its checkout; there is no source archive")
