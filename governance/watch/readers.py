"""Who could read the prompts of a submission's tasks, beyond the platform: by what its harness may call.

A harness runs without a network, and reaches a model only by an upstream that the platform registered. The upstreams
that its manifest names are the readers that count; the provider that a HarnessCard declares is counted apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from evaluation.upstreams.approval import exposure_of
from evaluation.upstreams.models import Exposure, ModelUpstream
from submissions.models import Submission

RANK = (Exposure.SEALED, Exposure.THIRD_PARTY, Exposure.VENDOR_ENDPOINT)
"""From the least exposed to the most."""


@dataclass(frozen=True)
class Reader:
    """`endpoint` is the most exposed class that the harness calls; `providers` who serves what it calls or declares."""

    organisation_id: UUID
    endpoint: str
    providers: frozenset[str]


def readers(submissions: Iterable[Submission]) -> dict[UUID, Reader]:
    """By submission; reads the upstreams of all of them at once."""
    rows = list(submissions)
    known = {
        (row.organisation_id, row.name): row
        for row in ModelUpstream.objects.filter(
            name__in={name for row in rows for name in _named(row.manifest)}
        )
    }
    found = {}
    for row in rows:
        called = [
            known.get((row.organisation_id, name)) or known.get((None, name)) for name in _named(row.manifest)
        ]
        classes = [exposure_of(one) for one in called if one is not None]
        declared = {str(model.get("provider", "")) for model in row.harness_version.card.get("models", [])}
        hosts = {one.base_url.split("/")[2] for one in called if one is not None}
        found[row.pk] = Reader(
            organisation_id=row.organisation_id,
            endpoint=max(classes, key=RANK.index, default=Exposure.SEALED),
            providers=frozenset((declared | hosts) - {""}),
        )
    return found


def _named(manifest: Mapping[str, Any]) -> list[str]:
    return [str(model.get("upstream", "")) for model in manifest.get("models", [])]
