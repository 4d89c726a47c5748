"""What a body of the API orders, for a submission and for a preflight on its own alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from submissions import queries
from submissions.api.base import MemberView, referenced
from submissions.queries import Order
from submissions.reruns.queries import offer_of


def order_of(view: MemberView, body: Mapping[str, Any]) -> Order:
    """The caller's own version and upload, on a task set; raises Refused for what is not theirs or not there."""
    organisation = view.caller.organisation
    offer = body.get("rerun_offer")
    version = referenced("harness_version", queries.version_of, organisation, body["harness_version"])
    view.caller.require_harness(version.harness_id)
    return Order(
        organisation=organisation,
        harness_version=version,
        task_set=referenced("task_set", queries.task_set_labelled, body["task_set"]),
        upload=referenced("upload", queries.upload_of, organisation, body["upload"]),
        publication_consent=body.get("publication_consent", False),
        offer=referenced("rerun_offer", offer_of, organisation, offer) if offer else None,
    )
