"""Acceptances of the participation rules, filed registrations with what is sealed of them, and their evidence."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from config.ids import new_id


def _person(**options: Any) -> models.ForeignKey[Any, Any]:
    """A column of pseudonyms, as events name people."""
    return models.ForeignKey(
        settings.AUTH_USER_MODEL, to_field="pseudonym", on_delete=models.PROTECT, related_name="+", **options
    )


class RuleAcceptance(models.Model):
    """An owner accepted a version of the participation rules for the organisation. It never changes."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="rule_acceptances"
    )
    version = models.CharField(max_length=16)
    digest = models.CharField(max_length=64)
    accepted_by = _person(db_column="accepted_by")
    accepted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "version"], name="rules_accepted_once"),
        ]


class Registration(models.Model):
    """What an organisation filed about who it is, and what two people made of it. The data are in `details`."""

    class State(models.TextChoices):
        FILED = "filed", _("to be reviewed")
        PROPOSED = "proposed", _("to be confirmed")
        VERIFIED = "verified", _("verified")
        REFUSED = "refused", _("refused")
        MORE_ASKED = "more_asked", _("more information needed")

    class Verdict(models.TextChoices):
        VERIFY = "verify", _("verify")
        REFUSE = "refuse", _("refuse")
        MORE = "more", _("ask for more")

    class Ground(models.TextChoices):
        NONE = "", _("no objection")
        NOT_FOUND = "not_in_register", _("not found in the register")
        DIFFERS = "data_differ", _("data differ from the register or the evidence")
        EVIDENCE = "evidence_insufficient", _("evidence is missing, unreadable or out of date")
        DOMAIN = "domain_not_confirmed", _("control of the domain is not confirmed")
        CONTACT = "contact_not_entitled", _("the contact is not shown to act for the organisation")
        KNOWN = "already_registered", _("the organisation is registered already")
        OTHER = "other", _("another reason, in the text below")

    class Method(models.TextChoices):
        NONE = "", _("not confirmed")
        MAIL = "mail", _("by e-mail")
        DNS = "dns", _("by DNS record")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(
        "accounts.Organisation", on_delete=models.PROTECT, related_name="registrations"
    )
    filed_by = _person(db_column="filed_by")
    filed_at = models.DateTimeField()
    due_at = models.DateTimeField()
    """By when staff answer."""
    state = models.CharField(max_length=16, choices=State.choices, default=State.FILED)
    domain = models.CharField(max_length=253)
    domain_method = models.CharField(max_length=8, choices=Method.choices, blank=True, default="")
    domain_confirmed_at = models.DateTimeField(null=True, blank=True)
    name_mark = models.CharField(max_length=64)
    number_mark = models.CharField(max_length=64)
    domain_mark = models.CharField(max_length=64)
    evidence_files = models.PositiveSmallIntegerField()
    verdict = models.CharField(max_length=8, choices=Verdict.choices, blank=True, default="")
    ground = models.CharField(max_length=32, choices=Ground.choices, blank=True, default="")
    words = models.TextField(blank=True, default="")
    """What the organisation is told, once the second person has confirmed it."""
    proposed_by = _person(db_column="proposed_by", null=True, blank=True)
    proposed_at = models.DateTimeField(null=True, blank=True)
    decided_by = _person(db_column="decided_by", null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organisation"],
                condition=Q(state__in=("filed", "proposed")),
                name="registration_under_way_once",
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(decided_by=F("proposed_by")),
                name="registration_two_people",
            ),
            models.CheckConstraint(
                condition=Q(state="filed", proposed_by=None, decided_by=None, verdict="")
                | Q(state="proposed", proposed_by__isnull=False, decided_by=None)
                | Q(
                    state="verified",
                    verdict="verify",
                    proposed_by__isnull=False,
                    decided_by__isnull=False,
                    domain_confirmed_at__isnull=False,
                )
                | Q(state="refused", verdict="refuse", proposed_by__isnull=False, decided_by__isnull=False)
                | Q(state="more_asked", verdict="more", proposed_by__isnull=False, decided_by__isnull=False),
                name="registration_state_by_two",
            ),
            models.CheckConstraint(
                condition=Q(domain_method="", domain_confirmed_at=None)
                | Q(domain_method__in=("mail", "dns"), domain_confirmed_at__isnull=False),
                name="registration_domain_confirmed",
            ),
        ]

    @property
    def is_open(self) -> bool:
        return self.state in (self.State.FILED, self.State.PROPOSED)


class RegistrationDetails(models.Model):
    """The registered data, sealed: of the organisation under a key of this row, of the contact under the person's.

    Who serves vendors may write it and never read it again.
    """

    registration = models.OneToOneField(
        Registration, primary_key=True, on_delete=models.PROTECT, related_name="details"
    )
    wrapped_key = models.BinaryField()
    """Empty once it was destroyed."""
    sealed_organisation = models.BinaryField()
    sealed_contact = models.BinaryField()


class RegistrationEvidence(models.Model):
    """One file of evidence, in the sealed store under the key of the registration's details."""

    class Kind(models.TextChoices):
        PDF = "application/pdf", "PDF"
        PNG = "image/png", "PNG"
        JPEG = "image/jpeg", "JPEG"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    registration = models.ForeignKey(Registration, on_delete=models.PROTECT, related_name="evidence")
    number = models.PositiveSmallIntegerField()
    kind = models.CharField(max_length=16, choices=Kind.choices)
    size = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["registration", "number"], name="registration_evidence_numbered"),
            models.CheckConstraint(
                condition=Q(number__gte=1, number__lte=5, size__gte=1, size__lte=10 * 1024 * 1024),
                name="registration_evidence_limits",
            ),
        ]

    @property
    def object_key(self) -> str:
        return f"registration/{self.registration_id}/{self.id}"

    @property
    def filename(self) -> str:
        suffix = {"application/pdf": "pdf", "image/png": "png", "image/jpeg": "jpg"}[self.kind]
        return f"evidence-{self.number}.{suffix}"
