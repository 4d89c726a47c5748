"""Identifiers. Rows get time-ordered UUIDv7; whatever a harness sees, and persons in events, random UUIDv4."""

from __future__ import annotations

import uuid

import uuid6


def new_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562): ordered by creation, for primary keys."""
    return uuid.UUID(int=uuid6.uuid7().int)


def opaque_id() -> uuid.UUID:
    """A UUIDv4 that says nothing about time or order, for anything that leaves the platform's own tables."""
    return uuid.uuid4()
