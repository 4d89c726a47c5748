"""An offer to run a published combination on the next version, outside the quota, once."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import pgettext_lazy

from accounts.models import Organisation
from benchmark.models import TaskSetVersion
from config.ids import new_id
from submissions.models.registry import HarnessVersion
from submissions.models.submission import Submission


class RerunOffer(models.Model):
    """Of one combination on one version. `state` moves by the table in `policies.reruns`."""

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("re-run offer", "open")
        USED = "used", pgettext_lazy("re-run offer", "used")
        EXPIRED = "expired", pgettext_lazy("re-run offer", "expired")
        WITHDRAWN = "withdrawn", pgettext_lazy("re-run offer", "withdrawn")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    former = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="rerun_offers")
    """The submission whose result was published on the former version."""
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="rerun_offers")
    harness_version = models.ForeignKey(HarnessVersion, on_delete=models.PROTECT, related_name="rerun_offers")
    package_digest = models.CharField(max_length=64)
    state = models.CharField(max_length=12, choices=State.choices, default=State.OPEN)
    submission = models.OneToOneField(
        Submission, on_delete=models.PROTECT, related_name="rerun_offer", null=True, blank=True
    )
    """The one that took it."""
    offered_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["organisation", "-id"], name="rerun_offer_of_organisation")]
        constraints = [
            models.UniqueConstraint(fields=["former", "task_set"], name="rerun_offered_once"),
            models.CheckConstraint(
                condition=Q(state="open", submission=None, used_at=None, ended_at=None)
                | Q(state="used", submission__isnull=False, used_at__isnull=False, ended_at=None)
                | Q(
                    state__in=("expired", "withdrawn"),
                    submission=None,
                    used_at=None,
                    ended_at__isnull=False,
                ),
                name="rerun_offer_state_has_its_facts",
            ),
        ]
