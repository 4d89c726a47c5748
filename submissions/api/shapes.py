"""Shapes of answers that are statements: quotas, task sets, problem codes. For the description of the API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from submissions.models import QuotaPolicy
from submissions.policies import Rule
from submissions.problems.catalogue import Fault
from submissions.problems.refusal import NoDate

PROFILES = list(QuotaPolicy.Profile.values)
RULES = [rule.value for rule in Rule]


class TermsOut(serializers.Serializer[Any]):
    profile = serializers.ChoiceField(choices=PROFILES)
    line = serializers.IntegerField()
    lineage = serializers.IntegerField()
    account = serializers.IntegerField()
    in_flight = serializers.IntegerField()
    preflight = serializers.IntegerField()
    cooldown_seconds = serializers.IntegerField()
    runs_per_task = serializers.IntegerField()


class TaskSetOut(serializers.Serializer[Any]):
    # `label` is a name of the framework's own fields.
    def get_fields(self) -> dict[str, Any]:
        return {"label": serializers.CharField(), **super().get_fields()}

    synthetic = serializers.BooleanField()
    digest = serializers.CharField()
    protocol_version = serializers.CharField()
    evaluator_version = serializers.CharField()
    opened_at = serializers.DateTimeField(allow_null=True)
    policy = TermsOut(allow_null=True)


class TaskSetsOut(serializers.Serializer[Any]):
    task_sets = TaskSetOut(many=True)


class CounterOut(serializers.Serializer[Any]):
    counter = serializers.ChoiceField(choices=RULES)
    limit = serializers.IntegerField(min_value=0)
    used = serializers.IntegerField(min_value=0)
    reserved = serializers.IntegerField(min_value=0)
    consumed = serializers.IntegerField(min_value=0)
    refunded = serializers.IntegerField(min_value=0)
    remaining = serializers.IntegerField(min_value=0)
    bites = serializers.BooleanField()
    next_allowed_at = serializers.DateTimeField(allow_null=True)
    next_allowed_reason = serializers.ChoiceField(choices=[row.value for row in NoDate], allow_null=True)


class CooldownOut(serializers.Serializer[Any]):
    seconds = serializers.IntegerField(min_value=0)
    until = serializers.DateTimeField(allow_null=True)


class WindowOut(serializers.Serializer[Any]):
    """Every counter of one harness on one task set, and which rule bites."""

    policy = serializers.ChoiceField(choices=PROFILES)
    counters = CounterOut(many=True)
    cooldown = CooldownOut()
    remaining = serializers.IntegerField(min_value=0)
    allowed = serializers.BooleanField()
    bites = serializers.ChoiceField(choices=RULES, allow_null=True)
    next_allowed_at = serializers.DateTimeField(allow_null=True)
    next_allowed_reason = serializers.ChoiceField(choices=[row.value for row in NoDate], allow_null=True)
    now = serializers.DateTimeField()


class HarnessWindowOut(WindowOut):
    harness = serializers.UUIDField()
    name = serializers.CharField()


class TaskSetQuotaOut(serializers.Serializer[Any]):
    task_set = serializers.CharField()
    entitled = serializers.BooleanField()
    policy = TermsOut(allow_null=True)
    harnesses = HarnessWindowOut(many=True)


class WhoPaysOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    what = serializers.CharField()
    slot = serializers.CharField()
    cooldown = serializers.CharField()


class QuotaOut(serializers.Serializer[Any]):
    now = serializers.DateTimeField()
    task_sets = TaskSetQuotaOut(many=True)
    who_pays = WhoPaysOut(many=True)


class FieldErrorOut(serializers.Serializer[Any]):
    path = serializers.CharField(help_text="A JSON path in the request.")
    message = serializers.CharField()


class ProblemOut(serializers.Serializer[Any]):
    """RFC 9457 problem details. Facts of the sentence stand beside as members of their own."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField()
    code = serializers.CharField()
    remedy = serializers.CharField()
    help = serializers.CharField(help_text="The address of the code's page for people.")  # type: ignore[assignment]
    instance = serializers.CharField(required=False)
    next_allowed_at = serializers.DateTimeField(required=False, allow_null=True)
    next_allowed_reason = serializers.ChoiceField(
        choices=[row.value for row in NoDate], required=False, allow_null=True
    )
    request_grant = serializers.CharField(required=False, help_text="Where it stands how to ask for more.")
    counters = CounterOut(many=True, required=False)

    def get_fields(self) -> dict[str, Any]:
        # `errors` is a name of the framework's own serializers.
        return {**super().get_fields(), "errors": FieldErrorOut(many=True, required=False)}


class EstimateOut(serializers.Serializer[Any]):
    """What submitting would cost and do."""

    note = serializers.ChoiceField(choices=["admitted", "identical_earlier"])
    uses = serializers.IntegerField(min_value=0, max_value=1)
    submission = serializers.CharField(required=False, help_text="The earlier submission that would answer.")
    rerun_offer = serializers.UUIDField(required=False, help_text="The offer that makes it cost no use.")
    remaining_after = serializers.IntegerField(required=False)
    cooldown_until = serializers.DateTimeField(required=False, allow_null=True)
    runs_per_task = serializers.IntegerField(required=False)


class CheckOut(serializers.Serializer[Any]):
    allowed = serializers.BooleanField()
    refusal = ProblemOut(allow_null=True)
    quota = WindowOut(allow_null=True)
    estimate = EstimateOut(allow_null=True)


class TextsOut(serializers.Serializer[Any]):
    title = serializers.CharField()
    detail = serializers.CharField()
    remedy = serializers.CharField()


class CodeOut(serializers.Serializer[Any]):
    """One problem code; `texts` by language."""

    type = serializers.CharField()
    code = serializers.CharField()
    status = serializers.IntegerField()
    fault = serializers.ChoiceField(choices=[row.value for row in Fault])
    texts = serializers.DictField(child=TextsOut())


class CodesOut(serializers.Serializer[Any]):
    problems = CodeOut(many=True)
