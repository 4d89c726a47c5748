"""Harness lines and their immutable versions."""

from __future__ import annotations

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Organisation
from config.ids import new_id

NAME_PATTERN = r"^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\Z"
VERSION_PATTERN = r"^[0-9A-Za-z](?:[0-9A-Za-z.+_-]{0,62}[0-9A-Za-z])?\Z"


class Harness(models.Model):
    """A harness line: one registered harness with all its versions; what quota and cooldown are counted by."""

    class Relation(models.TextChoices):
        OWNER = "owner", _("its owner")
        CONSENT = "consent", _("someone with its owner's consent")
        THIRD_PARTY = "third_party", _("a third party")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="harnesses")
    name = models.CharField(_("name"), max_length=63, validators=[RegexValidator(NAME_PATTERN)])
    """What `name` in harness.toml must say."""
    title = models.CharField(_("title"), max_length=120)
    """What people read."""
    relation = models.CharField(_("who submits it"), max_length=16, choices=Relation.choices)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "name"], name="harness_name_once_per_organisation"
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.name


class HarnessVersion(models.Model):
    """One version of a harness with its HarnessCard. The database refuses every change to the row."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    harness = models.ForeignKey(Harness, on_delete=models.PROTECT, related_name="versions")
    version = models.CharField(_("version"), max_length=64, validators=[RegexValidator(VERSION_PATTERN)])
    """What `version` in harness.toml must say."""
    card = models.JSONField()
    card_digest = models.CharField(max_length=64)
    """SHA-256 of the card's canonical JSON."""
    card_schema = models.PositiveSmallIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["harness", "version"], name="version_once_per_harness"),
        ]

    def __str__(self) -> str:
        return f"{self.harness.name} {self.version}"
