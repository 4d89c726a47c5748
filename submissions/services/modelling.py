"""What harness.toml, HarnessCard and registered upstreams say together about the models of a package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from evaluation.calls.services import ModelNeed
from evaluation.upstreams.approval import exposure_of
from evaluation.upstreams.models import Exposure, ModelUpstream, UpstreamCredential
from submissions.intake import Finding, Manifest, Rule
from submissions.intake.manifest import ModelUse
from submissions.models import HarnessVersion, Submission

INFERENCE = ("temperature", "top_p", "maximum_output_tokens")
"""Of the HarnessCard's inference: what the gateway knows by the same names. The rest of it is text for readers."""


def examine(manifest: Manifest, version: HarnessVersion) -> None:
    """Raises Finding at the first model that is not registered, not in the card, or exposed as is not admitted."""
    for use in manifest.models:
        upstream = _registered(use, version)
        listed = [model for model in version.card.get("models", []) if model.get("role") == use.role]
        if not any(upstream.snapshot in (model.get("snapshot"), model.get("name")) for model in listed):
            raise Finding(Rule.MODEL_NOT_IN_CARD, role=use.role, snapshot=upstream.snapshot)
        if exposure_of(upstream) is Exposure.VENDOR_ENDPOINT and not settings.ADMIT_VENDOR_ENDPOINTS:
            raise Finding(Rule.MODEL_EXPOSURE_REFUSED, upstream=upstream.name)


def _registered(use: ModelUse, version: HarnessVersion) -> ModelUpstream:
    """The organisation's upstream of that name, else the platform's; active, of that dialect, with a credential."""
    rows = ModelUpstream.objects.filter(name=use.upstream, state=ModelUpstream.State.ACTIVE)
    owner = version.harness.organisation_id
    found = rows.filter(organisation=owner).first() or rows.filter(organisation=None).first()
    if found is None or found.dialect != use.dialect:
        raise Finding(Rule.MODEL_NOT_REGISTERED, upstream=use.upstream, dialect=use.dialect)
    if not UpstreamCredential.objects.filter(upstream=found).exists():
        raise Finding(Rule.MODEL_NOT_REGISTERED, upstream=use.upstream, dialect=use.dialect)
    return found


def needs_of(submission: Submission) -> list[ModelNeed]:
    """What a run of an accepted submission may call: settled with its preflight, whatever is registered later."""
    settled = submission.preflight_run
    if settled is not None:
        rows = settled.needs.order_by("role")
        return [ModelNeed(row.role, row.upstream_id, row.exposure, row.parameters) for row in rows]
    version = submission.harness_version
    declared = _declared(version.card.get("inference", {}))
    uses = [ModelUse(**row) for row in submission.manifest.get("models", [])]
    found = [(use.role, _registered(use, version)) for use in uses]
    return [ModelNeed(role, row.pk, exposure_of(row).value, declared) for role, row in found]


def _declared(inference: Mapping[str, Any]) -> dict[str, Any]:
    return {name: inference[name] for name in INFERENCE if name in inference}
