"""Public names of organisations and harnesses; a pseudonym once nobody of the organisation has an account any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from accounts.models import Membership
from governance.confirmation.models import ConfirmationRun
from submissions.models import Submission


def gone(organisations: Iterable[UUID]) -> set[UUID]:
    """Those without a member whose account still leads to a person."""
    wanted = set(organisations)
    live = Membership.objects.filter(organisation__in=wanted, user__erased_at=None)
    return wanted - set(live.values_list("organisation_id", flat=True))


def of_submission(submission: Submission) -> dict[str, str]:
    """What the public may read: `organisation` and `harness`."""
    harness = submission.harness_version.harness
    if gone([submission.organisation_id]):
        return _pseudonyms(submission.organisation_id, harness.id)
    return {"organisation": submission.organisation.name, "harness": harness.title}


def _pseudonyms(organisation: UUID, harness: UUID) -> dict[str, str]:
    """The same for ever; the last digits of an id are random and tell nothing."""
    return {"organisation": f"participant-{organisation.hex[-8:]}", "harness": f"harness-{harness.hex[-8:]}"}


def replaced(body: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """A dated release's document as the public reads it now, and how many of its results carry a pseudonym since.

    Order, values and all else stay; the stored document, whose digest is in the log, never changes.
    """
    rows = ConfirmationRun.objects.filter(pk__in=[entry["id"] for entry in body["results"]])
    owners = {
        str(which): (organisation, harness)
        for which, organisation, harness in rows.values_list(
            "id", "submission__organisation_id", "harness_id"
        )
    }
    out = gone(organisation for organisation, _ in owners.values())
    results = [
        {**entry, **_pseudonyms(*owners[entry["id"]])}
        if entry["id"] in owners and owners[entry["id"]][0] in out
        else entry
        for entry in body["results"]
    ]
    count = sum(
        new["organisation"] != old["organisation"] for new, old in zip(results, body["results"], strict=True)
    )
    return {**body, "results": results}, count
