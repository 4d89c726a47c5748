"""The two kinds of packages, told apart by their first bytes, and how large each may be."""

from __future__ import annotations

from enum import StrEnum

from evaluation.images.image import LIMITS as IMAGE_LIMITS
from submissions.intake.archive import LIMITS

START_BYTES = 264
"""What `kind_of` needs to see."""


class Kind(StrEnum):
    BUNDLE = "bundle"
    IMAGE = "image"

    @property
    def packed(self) -> int:
        """Bytes of a package of this kind at most."""
        return LIMITS.packed if self is Kind.BUNDLE else IMAGE_LIMITS.packed


LARGEST = max(kind.packed for kind in Kind)


def kind_of(start: bytes) -> Kind | None:
    """By the magic of gzip (RFC 1952) or of an uncompressed tar (POSIX ustar); None for anything else."""
    if start[:2] == b"\x1f\x8b":
        return Kind.BUNDLE
    return Kind.IMAGE if start[257:262] == b"ustar" else None
