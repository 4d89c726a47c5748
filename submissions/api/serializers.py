"""Shapes of requests and answers. Answers about a submission are built on coarse facts only: nothing per task."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from submissions import queries
from submissions.api.shapes import WindowOut
from submissions.intake import Kind
from submissions.models import Harness, Submission
from submissions.policies import Purpose
from submissions.policies.failures import FailureClass, failure_class
from submissions.queueing.queries import PLACE_WORDS, TIME_WORDS, queue_of

MAXIMUM_PARTS = 10_000


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses fields that it does not know."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = sorted(set(data) - set(self.fields))
            if unknown:
                raise serializers.ValidationError({name[:80]: ["unknown field"] for name in unknown[:20]})
        return super().to_internal_value(data)


class OwnerIn(StrictSerializer):
    """Where somebody else submits: whose harness it is; for `consent`, their consent in words."""

    name = serializers.CharField(max_length=200)
    contact = serializers.EmailField(max_length=254)
    statement = serializers.CharField(max_length=4000, required=False, default="", allow_blank=True)


class HarnessIn(StrictSerializer):
    name = serializers.CharField(max_length=63)
    title = serializers.CharField(max_length=120, required=False, default="", allow_blank=True)
    relation = serializers.ChoiceField(choices=Harness.Relation.values, default=Harness.Relation.OWNER)
    owner = OwnerIn(required=False)


class VersionIn(StrictSerializer):
    version = serializers.CharField(max_length=64)
    card = serializers.JSONField()


class UploadIn(StrictSerializer):
    harness_version = serializers.UUIDField()
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z")
    size = serializers.IntegerField(min_value=0, max_value=2**53)
    purpose = serializers.ChoiceField(choices=list(Purpose), default=Purpose.SUBMISSION)
    kind = serializers.ChoiceField(choices=list(Kind), default=Kind.BUNDLE)


class PartIn(StrictSerializer):
    number = serializers.IntegerField(min_value=1, max_value=MAXIMUM_PARTS)
    etag = serializers.RegexField(r"^[\x21-\x7e]{1,128}\Z")


class CompleteIn(StrictSerializer):
    parts = PartIn(many=True, allow_empty=False, max_length=MAXIMUM_PARTS)  # type: ignore[call-arg]


class SubmissionIn(StrictSerializer):
    harness_version = serializers.UUIDField()
    task_set = serializers.RegexField(r"^[0-9A-Za-z._-]{1,32}\Z")
    upload = serializers.UUIDField()
    publication_consent = serializers.BooleanField(default=False)
    rerun_offer = serializers.UUIDField(
        required=False, help_text="The offer of a re-run that it takes, outside the quota."
    )


class ChoiceIn(StrictSerializer):
    choice = serializers.ChoiceField(choices=["keep", "void"])


class HarnessOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    title = serializers.CharField()
    relation = serializers.CharField()
    created_at = serializers.DateTimeField()


class VersionOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    harness = serializers.UUIDField(source="harness_id")
    version = serializers.CharField()
    card_digest = serializers.CharField()
    card_schema = serializers.IntegerField()
    created_at = serializers.DateTimeField()


class VersionDetailOut(VersionOut):
    card = serializers.JSONField()


class UploadOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    harness_version = serializers.UUIDField(source="harness_version_id")
    state = serializers.CharField()
    failure = serializers.CharField(allow_null=True)
    sha256 = serializers.CharField()
    size = serializers.IntegerField()
    expires_at = serializers.DateTimeField()
    completed_at = serializers.DateTimeField(allow_null=True)


class PartOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    url = serializers.CharField()
    size = serializers.IntegerField()


class UploadOpenOut(UploadOut):
    parts = PartOut(many=True)


class MomentOut(serializers.Serializer[Any]):
    state = serializers.CharField()
    at = serializers.DateTimeField()
    cause = serializers.CharField()
    words = serializers.CharField()


class ChargeOut(serializers.Serializer[Any]):
    counts = serializers.BooleanField()
    rerun_offer = serializers.UUIDField(allow_null=True)
    state = serializers.CharField()
    cause = serializers.CharField()
    words = serializers.CharField()
    reason = serializers.CharField()
    reserved_at = serializers.DateTimeField()
    consumed_at = serializers.DateTimeField(allow_null=True)
    refunded_at = serializers.DateTimeField(allow_null=True)
    cooldown_until = serializers.DateTimeField(allow_null=True)
    cooldown_ended_at = serializers.DateTimeField(allow_null=True)
    if_cancelled = serializers.CharField()


class OutcomeTextsOut(serializers.Serializer[Any]):
    title = serializers.CharField()
    detail = serializers.CharField()
    remedy = serializers.CharField()


class OutcomeOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    title = serializers.CharField()
    detail = serializers.CharField(source="sentence")
    fault = serializers.CharField()
    remedy = serializers.CharField()
    texts = serializers.DictField(child=OutcomeTextsOut(), help_text="The same in every language.")
    facts = serializers.JSONField()
    moves_by = serializers.DateTimeField(allow_null=True)


class QueueOut(serializers.Serializer[Any]):
    """How it waits for workers. Place and times are coarse, as of `noted_at`, and noted at most once an hour."""

    state = serializers.ChoiceField(choices=["queued", "served"])
    place = serializers.ChoiceField(choices=list(PLACE_WORDS), allow_null=True)
    place_words = serializers.CharField(allow_blank=True)
    starts = serializers.ChoiceField(choices=list(TIME_WORDS), allow_null=True)
    starts_words = serializers.CharField(allow_blank=True)
    ends = serializers.ChoiceField(choices=list(TIME_WORDS), allow_null=True)
    ends_words = serializers.CharField(allow_blank=True)
    noted_at = serializers.DateTimeField(allow_null=True)
    evaluation_paused = serializers.BooleanField(help_text="No worker lives that could take its work.")
    evaluation_paused_since = serializers.DateTimeField(allow_null=True)
    oldest_wait_minutes = serializers.IntegerField(
        allow_null=True, help_text="How long anybody has waited, in steps of ten, while evaluation is paused."
    )


def queue_shown(submission: Submission) -> dict[str, Any] | None:
    """`queue` of a submission or preflight; None where it waits for no worker."""
    found = queue_of(submission)
    if found is None:
        return None
    words = ("place_words", "starts_words", "ends_words", "oldest_wait_minutes", "state", "noted_at")
    facts = {name: getattr(found, name) for name in words}
    facts |= {name: getattr(found, name) or None for name in ("place", "starts", "ends")}
    facts["evaluation_paused"] = found.paused is not None
    facts["evaluation_paused_since"] = found.paused.since if found.paused else None
    return dict(QueueOut(facts).data)


class SubmissionOut(serializers.Serializer[Any]):
    """One line of a list."""

    id = serializers.UUIDField()
    url = serializers.SerializerMethodField()
    harness = serializers.UUIDField(source="harness_version.harness_id")
    harness_version = serializers.UUIDField(source="harness_version_id")
    version = serializers.CharField(source="harness_version.version")
    task_set = serializers.CharField(source="task_set.label")
    state = serializers.CharField()
    state_since = serializers.DateTimeField()
    admitted_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    progress = serializers.SerializerMethodField()

    def get_url(self, submission: Submission) -> str:
        return submission.address

    def get_progress(self, submission: Submission) -> int:
        return queries.progress(submission)


class SubmissionDetailOut(SubmissionOut):
    """All that its organisation may know before the release."""

    channel = serializers.CharField()
    upload = serializers.UUIDField(source="upload_id")
    publication_consent = serializers.BooleanField()
    package_digest = serializers.CharField()
    card_digest = serializers.CharField()
    protocol_version = serializers.CharField()
    evaluator_version = serializers.CharField()
    runs_per_task = serializers.IntegerField()
    outcome = serializers.SerializerMethodField()
    failure_class = serializers.SerializerMethodField()
    support_id = serializers.SerializerMethodField()
    timeline = serializers.SerializerMethodField()
    charge = serializers.SerializerMethodField()
    queue = serializers.SerializerMethodField()
    links = serializers.SerializerMethodField()

    @extend_schema_field(QueueOut(allow_null=True))
    def get_queue(self, submission: Submission) -> dict[str, Any] | None:
        return queue_shown(submission)

    @extend_schema_field(OutcomeOut(allow_null=True))
    def get_outcome(self, submission: Submission) -> dict[str, Any] | None:
        found = queries.outcome(submission)
        return dict(OutcomeOut(found).data) if found else None

    @extend_schema_field(serializers.ChoiceField(choices=list(FailureClass), allow_null=True))
    def get_failure_class(self, submission: Submission) -> str | None:
        return failure_class(submission.state, submission.reason_code)

    @extend_schema_field(serializers.UUIDField(allow_null=True, help_text="What to name to support."))
    def get_support_id(self, submission: Submission) -> str | None:
        return str(submission.id) if self.get_failure_class(submission) else None

    @extend_schema_field(MomentOut(many=True))
    def get_timeline(self, submission: Submission) -> list[dict[str, Any]]:
        return list(MomentOut(queries.timeline(submission), many=True).data)

    @extend_schema_field(ChargeOut)
    def get_charge(self, submission: Submission) -> dict[str, Any]:
        return dict(ChargeOut(queries.charge(submission)).data)

    def get_links(self, submission: Submission) -> dict[str, str]:
        base = self.get_url(submission)
        return {name: f"{base}/{name}" for name in ("preflight", "result", "receipt", "cancel")}


class HarnessesOut(serializers.Serializer[Any]):
    harnesses = HarnessOut(many=True)
    next = serializers.CharField(allow_null=True, help_text="The address of the next page.")


class VersionsOut(serializers.Serializer[Any]):
    versions = VersionOut(many=True)
    next = serializers.CharField(allow_null=True, help_text="The address of the next page.")


class SubmissionsOut(serializers.Serializer[Any]):
    submissions = SubmissionOut(many=True)
    next = serializers.CharField(allow_null=True, help_text="The address of the next page.")


class PreflightRunOut(serializers.Serializer[Any]):
    task = serializers.CharField()
    domain = serializers.CharField()
    title_zh = serializers.CharField()
    title_en = serializers.CharField()
    run_index = serializers.IntegerField()
    ending = serializers.CharField()
    exit_code = serializers.IntegerField(allow_null=True)
    has_output = serializers.BooleanField()
    score = serializers.DecimalField(max_digits=9, decimal_places=8)
    success = serializers.BooleanField()
    failure_type = serializers.CharField()
    seconds = serializers.FloatField()
    items = serializers.JSONField()
    stdout = serializers.CharField()
    stderr = serializers.CharField()
    reply = serializers.CharField()


class PreflightOut(serializers.Serializer[Any]):
    state = serializers.CharField()
    total = serializers.IntegerField()
    done = serializers.IntegerField()
    crashed = serializers.IntegerField()
    missing = serializers.IntegerField()
    runs = PreflightRunOut(many=True)


class ReceiptOut(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    url = serializers.CharField()
    note = serializers.CharField()
    state = serializers.CharField()
    harness_version = serializers.UUIDField()
    task_set = serializers.CharField()
    package_digest = serializers.CharField()
    card_digest = serializers.CharField()
    admitted_at = serializers.DateTimeField()
    quota = WindowOut(allow_null=True)


class TransparencyReceiptOut(serializers.Serializer[Any]):
    """A file for `lgbench-audit verify`. Each proof is a C2SP tlog-proof that carries its entry."""

    schema = serializers.CharField()
    submission = serializers.UUIDField()
    log = serializers.CharField(
        help_text="The log's verifier key. Take the key that you trust from elsewhere."
    )
    admission = serializers.CharField()
    release = serializers.CharField(required=False, help_text="Once the result is released.")
