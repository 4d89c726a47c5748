"""Rows of the model gateway. Nothing here is read where vendors are served, but for which upstreams stand still."""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from config.ids import new_id
from evaluation.upstreams.models import ModelUpstream


class RunModel(models.Model):
    """A model that the harness of a run may call: by its role, through one upstream. Never changes."""

    run = models.ForeignKey("evaluation.EvaluationRun", on_delete=models.CASCADE, related_name="needs")
    role = models.CharField(max_length=32)
    upstream = models.ForeignKey(ModelUpstream, on_delete=models.PROTECT, related_name="+")
    parameters = models.JSONField(default=dict)
    """What the HarnessCard declares of inference, by the gateway's names."""
    exposure = models.CharField(max_length=20)
    """The class that counted when the run was made (`upstreams.approval`)."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "role"], name="run_model_role_once")]


class ModelCall(models.Model):
    """One attempt at an upstream, written before it is made and ended once. Counts are null where nobody reported them.

    `input_tokens` has cached ones included (`evaluation.gateway.contract.Usage`). One without an end was lost with its
    worker: what it used is unknown.
    """

    id = models.BigAutoField(primary_key=True)
    attempt = models.ForeignKey("evaluation.Attempt", on_delete=models.PROTECT, related_name="calls")
    upstream = models.ForeignKey(ModelUpstream, on_delete=models.PROTECT, related_name="+")
    role = models.CharField(max_length=32)
    step = models.PositiveIntegerField()
    """Of the model call in its attempt, from 1."""
    number = models.PositiveSmallIntegerField()
    """Of this attempt at the call, from 1."""
    dialect = models.CharField(max_length=24)
    streaming = models.BooleanField()
    reserved_tokens = models.BigIntegerField()
    parameters = models.JSONField(default=dict)
    tools = models.PositiveIntegerField(default=0)
    stripped = models.JSONField(default=list)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=24, blank=True)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    served = models.CharField(max_length=200, blank=True)
    """The model that the answer names; empty where it names none."""
    usage = models.JSONField(null=True, blank=True)
    """As the provider said it; null where it said nothing."""
    input_tokens = models.BigIntegerField(null=True, blank=True)
    cached_tokens = models.BigIntegerField(null=True, blank=True)
    output_tokens = models.BigIntegerField(null=True, blank=True)
    reasoning_tokens = models.BigIntegerField(null=True, blank=True)
    incomplete = models.BooleanField(default=True)
    """Whether tokens may have been used that nobody reported."""
    cut_off = models.BooleanField(default=False)
    client_left = models.BooleanField(default=False)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    queued_milliseconds = models.PositiveIntegerField(null=True, blank=True)
    retry_milliseconds = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(max_digits=14, decimal_places=6, null=True, blank=True)
    """In the upstream's currency, at its prices of that time; null where it has none or the counts are unknown."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["attempt", "step", "number"], name="model_call_once"),
            models.CheckConstraint(
                condition=Q(ended_at=None, outcome="") | (Q(ended_at__gte=F("started_at")) & ~Q(outcome="")),
                name="model_call_ends_with_outcome",
            ),
        ]
        indexes = [models.Index(fields=["upstream", "started_at"], name="model_call_of_upstream")]


class UpstreamUse(models.Model):
    """What the calls of one upstream have cost so far, in its currency. Its row is the lock of its stops."""

    upstream = models.OneToOneField(
        ModelUpstream, primary_key=True, on_delete=models.PROTECT, related_name="use"
    )
    spent = models.DecimalField(max_digits=16, decimal_places=6, default=0)
    calls = models.BigIntegerField(default=0)


class UpstreamStop(models.Model):
    """A time in which an upstream is left alone: the platform's own probe found it down, or its ceiling is reached."""

    class Cause(models.TextChoices):
        DOWN = "down", _("it does not answer")
        CEILING = "ceiling", _("its spending ceiling is reached")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    upstream = models.ForeignKey(ModelUpstream, on_delete=models.PROTECT, related_name="stops")
    cause = models.CharField(max_length=12, choices=Cause.choices)
    outcome = models.CharField(max_length=24, blank=True)
    """What the probe found, where it is down."""
    began_at = models.DateTimeField()
    probed_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["upstream", "cause"], condition=Q(ended_at=None), name="upstream_stopped_once"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None) | Q(ended_at__gte=F("began_at")), name="upstream_stop_ends_later"
            ),
        ]


class UpstreamDoubt(models.Model):
    """A worker's word that an upstream does not answer: a probe is asked for. Gone once the probe was made."""

    upstream = models.OneToOneField(
        ModelUpstream, primary_key=True, on_delete=models.CASCADE, related_name="doubt"
    )
    raised_at = models.DateTimeField()
