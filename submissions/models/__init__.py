"""Harness registry, uploads, quota, and submissions."""

from submissions.confidentiality.models import PackageDeletion, PackageOpening
from submissions.models.quota import AdmissionStop, QuotaCounter, QuotaPolicy, Slot
from submissions.models.registry import Harness, HarnessVersion
from submissions.models.submission import IdempotencyRecord, Submission, SubmissionTransition
from submissions.models.upload import Upload
from submissions.queueing.models import QueueStanding
from submissions.relations.models import HarnessOwner, OwnerNotice
from submissions.reruns.models import RerunOffer
from submissions.returns.models import UseReturn
from submissions.webhooks.models import WebhookDelivery, WebhookEndpoint

__all__ = [
    "AdmissionStop",
    "Harness",
    "HarnessOwner",
    "HarnessVersion",
    "IdempotencyRecord",
    "OwnerNotice",
    "PackageDeletion",
    "PackageOpening",
    "QueueStanding",
    "QuotaCounter",
    "QuotaPolicy",
    "RerunOffer",
    "Slot",
    "Submission",
    "SubmissionTransition",
    "Upload",
    "UseReturn",
    "WebhookDelivery",
    "WebhookEndpoint",
]
