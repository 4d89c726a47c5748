"""How close a replacement must come. Apart from the checks, so that who prints the numbers loads no arrays."""

from __future__ import annotations

from typing import Final

SMD_BELOW: Final = 0.1
"""Standardised mean difference; Austin, Statistics in Medicine 28 (2009) 3083, takes 0.1 as negligible."""
SHIFT_BELOW: Final = 0.6
"""Points by which a fixed harness may move in a domain."""
