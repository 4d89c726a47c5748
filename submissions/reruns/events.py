"""Audit event kinds of offers of re-runs."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class RerunOffered(Event):
    """`former` is the submission whose result was published; a re-run is of its version with its package."""

    kind: ClassVar[str] = "rerun_offer.made"
    subject_type: ClassVar[str] = "rerun_offer"
    sentence = _("{actor} offered a re-run of the submission {former} on {task_set} until {expires_at}.")
    former: str
    task_set: str
    owner: str
    harness_version: str
    package_digest: str
    expires_at: str


class RerunOfferUsed(Event):
    """Between the admission and `slot.reserved`, in their transaction."""

    kind: ClassVar[str] = "rerun_offer.used"
    subject_type: ClassVar[str] = "rerun_offer"
    sentence = _("The submission {submission} took the offer {subject} of a re-run.")
    submission: str


class RerunOfferReopened(Event):
    """After `slot.refunded`, in its transaction."""

    kind: ClassVar[str] = "rerun_offer.reopened"
    subject_type: ClassVar[str] = "rerun_offer"
    sentence = _(
        "The offer {subject} of a re-run is open again until {expires_at}, as the submission {submission} got its "
        "use back: {cause}."
    )
    submission: str
    cause: str
    expires_at: str


class RerunOfferEnded(Event):
    """`outcome` is expired, or withdrawn where its version was closed."""

    kind: ClassVar[str] = "rerun_offer.ended"
    subject_type: ClassVar[str] = "rerun_offer"
    sentence = _("The offer {subject} of a re-run ended: {outcome}.")
