"""Model upstreams that a member may see: the organisation's own, and the platform's active ones by name only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from accounts.models import Organisation
from evaluation.upstreams.models import ModelUpstream, UpstreamCredential, UpstreamTrial
from submissions.queries.registry import NotVisible


@dataclass(frozen=True)
class UpstreamView:
    """An upstream as its people see it. There is no field for the credential: nothing here could read it."""

    row: ModelUpstream
    hint: str
    credential_set_at: datetime | None
    trial: UpstreamTrial | None

    @property
    def owner(self) -> str:
        return "platform" if self.row.organisation_id is None else "organisation"

    @property
    def state(self) -> str:
        """Which word of the status table describes it."""
        if self.row.state == ModelUpstream.State.ACTIVE and self.credential_set_at is None:
            return "no_credential"
        return self.row.state


def upstreams_of(organisation: Organisation) -> list[UpstreamView]:
    """Active ones first, then by name."""
    rows = ModelUpstream.objects.filter(organisation=organisation).order_by("state", "name", "-created_at")
    return _views(list(rows))


def platform_upstreams() -> list[ModelUpstream]:
    """What the platform itself offers; to be called by name."""
    rows = ModelUpstream.objects.filter(organisation=None, state=ModelUpstream.State.ACTIVE)
    return list(rows.order_by("name"))


def platform_upstreams_for_staff() -> list[UpstreamView]:
    """The platform's own, as those see them who keep them; active ones first."""
    return _views(
        list(ModelUpstream.objects.filter(organisation=None).order_by("state", "name", "-created_at"))
    )


def platform_upstream(upstream_id: UUID) -> UpstreamView:
    """Raises NotVisible, also for an organisation's."""
    row = ModelUpstream.objects.filter(organisation=None, pk=upstream_id).first()
    if row is None:
        raise NotVisible
    return _views([row])[0]


def upstream_of(organisation: Organisation, upstream_id: UUID) -> UpstreamView:
    """Raises NotVisible."""
    row = ModelUpstream.objects.filter(organisation=organisation, pk=upstream_id).first()
    if row is None:
        raise NotVisible
    return _views([row])[0]


def _views(rows: list[ModelUpstream]) -> list[UpstreamView]:
    ids = [row.pk for row in rows]
    credentials = {
        upstream: (hint, set_at)
        for upstream, hint, set_at in UpstreamCredential.objects.filter(upstream__in=ids).values_list(
            "upstream", "hint", "set_at"
        )
    }
    trials = {
        trial.upstream_id: trial
        for trial in UpstreamTrial.objects.filter(upstream__in=ids)
        .order_by("upstream", "-id")
        .distinct("upstream")
    }
    found = []
    for row in rows:
        hint, set_at = credentials.get(row.pk, ("", None))
        found.append(UpstreamView(row, hint, set_at, trials.get(row.pk)))
    return found
