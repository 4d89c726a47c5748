"""A model upstream, its credential apart from it, and the calls by which somebody tried it."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from accounts.models import Organisation
from config.ids import new_id

NAME_PATTERN = r"^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?\Z"


class Dialect(models.TextChoices):
    """The three ways of speaking that the gateway knows; names of protocols, in no language."""

    OPENAI_CHAT = "openai-chat", "openai-chat"
    OPENAI_RESPONSES = "openai-responses", "openai-responses"
    ANTHROPIC_MESSAGES = "anthropic-messages", "anthropic-messages"


class Exposure(models.TextChoices):
    """Who can read the prompts that are sent there; from the least exposed to the most."""

    SEALED = "sealed", _("sealed: hosted by the platform")
    THIRD_PARTY = "third_party", _("a third party's, under an agreement to keep nothing")
    VENDOR_ENDPOINT = "vendor_endpoint", _("the submitter's own endpoint, which can read every prompt")


class Currency(models.TextChoices):
    CNY = "CNY", "CNY"
    EUR = "EUR", "EUR"
    USD = "USD", "USD"


class Outcome(models.TextChoices):
    """What a trial call found: closed, so that no text of an answer leaves by it."""

    OK = "ok", _("answered as its dialect demands")
    ADDRESS_REFUSED = "address_refused", _("its address is not one that the platform calls")
    UNREACHABLE = "unreachable", _("no connection could be made")
    TIMED_OUT = "timed_out", _("no full answer came in time")
    CREDENTIAL_REFUSED = "credential_refused", _("it did not accept the credential")
    MODEL_UNKNOWN = "model_unknown", _("it does not know the model or the address")
    RATE_LIMITED = "rate_limited", _("it is limiting its rate")
    REQUEST_REFUSED = "request_refused", _("it refused the request")
    UPSTREAM_FAILED = "upstream_failed", _("it reported a fault of its own")
    REDIRECTED = "redirected", _("it redirects, which is not followed")
    NOT_THE_DIALECT = "not_the_dialect", _("its answer is not of its dialect")
    OTHER_MODEL = "other_model", _("another model answered than the pinned one")
    NOT_TRIED = "not_tried", _("the platform did not get to it; try again")


class ModelUpstream(models.Model):
    """An endpoint and one pinned model behind it. What is called never changes; limits and name do."""

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        RETIRED = "retired", _("retired")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="upstreams", null=True, blank=True
    )
    """Null for the platform's own."""
    name = models.CharField(_("name"), max_length=63, validators=[RegexValidator(NAME_PATTERN)])
    """What `upstream` in harness.toml says."""
    dialect = models.CharField(_("dialect"), max_length=24, choices=Dialect.choices)
    base_url = models.CharField(_("base address"), max_length=300)
    snapshot = models.CharField(_("model snapshot"), max_length=120)
    """The exact name of the model, as it is asked for and has to answer."""
    exposure = models.CharField(_("exposure"), max_length=20, choices=Exposure.choices)
    requests_per_minute = models.PositiveIntegerField(_("requests a minute"))
    concurrency = models.PositiveSmallIntegerField(_("requests at once"))
    ceiling = models.DecimalField(_("spending ceiling"), max_digits=12, decimal_places=2)
    """Reaching it pauses and asks."""
    currency = models.CharField(_("currency"), max_length=3, choices=Currency.choices)
    input_price = models.DecimalField(
        _("price of a million input tokens"), max_digits=12, decimal_places=4, null=True, blank=True
    )
    cached_price = models.DecimalField(
        _("price of a million cached input tokens"), max_digits=12, decimal_places=4, null=True, blank=True
    )
    output_price = models.DecimalField(
        _("price of a million output tokens"), max_digits=12, decimal_places=4, null=True, blank=True
    )
    """Without prices nothing is known of its spending, and the ceiling never pauses anything."""
    state = models.CharField(max_length=8, choices=State.choices, default=State.ACTIVE)
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "name"],
                condition=Q(state="active"),
                nulls_distinct=False,
                name="upstream_name_once",
            ),
            models.CheckConstraint(
                condition=Q(dialect__in=("openai-chat", "openai-responses", "anthropic-messages")),
                name="upstream_dialect_known",
            ),
            models.CheckConstraint(
                condition=Q(exposure__in=("third_party", "vendor_endpoint"))
                | Q(exposure="sealed", organisation__isnull=True),
                name="upstream_sealed_is_the_platforms",
            ),
            models.CheckConstraint(
                condition=Q(requests_per_minute__gte=1, concurrency__gte=1, ceiling__gt=0),
                name="upstream_has_limits",
            ),
            models.CheckConstraint(
                condition=Q(state="active", retired_at=None) | Q(state="retired", retired_at__isnull=False),
                name="upstream_retired_at_a_date",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class UpstreamCredential(models.Model):
    """The secret of one upstream, in a box: who serves people puts it in and can neither read nor open it."""

    upstream = models.OneToOneField(
        ModelUpstream, primary_key=True, on_delete=models.PROTECT, related_name="credential"
    )
    boxed = models.BinaryField()
    hint = models.CharField(max_length=8, blank=True)
    """Its last four characters, where it is long enough to keep the rest secret."""
    set_at = models.DateTimeField()


class UpstreamTrial(models.Model):
    """One small call to see whether an upstream answers; asked for by somebody, made by a worker."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    upstream = models.ForeignKey(ModelUpstream, on_delete=models.PROTECT, related_name="trials")
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=24, choices=Outcome.choices, blank=True)
    milliseconds = models.PositiveIntegerField(null=True, blank=True)
    """From the first byte sent to the last one read."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["upstream"], condition=Q(ended_at=None), name="upstream_one_trial_at_a_time"
            ),
            models.CheckConstraint(
                condition=Q(ended_at=None, outcome="") | (Q(ended_at__gte=F("asked_at")) & ~Q(outcome="")),
                name="upstream_trial_ends_with_outcome",
            ),
        ]
