"""Who is an auditor: a person of an audit organisation, for a term, within a scope, after a declaration."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from config.ids import new_id


class AuditOrganisation(models.Model):
    """Marks an organisation whose business here is to audit. It is neither a vendor nor the operator."""

    organisation = models.OneToOneField(
        "accounts.Organisation", primary_key=True, on_delete=models.PROTECT, related_name="audits"
    )
    since = models.DateTimeField()


class AuditorTerm(models.Model):
    """From `begins_at` to `ends_at`, unless it was ended before, the person may open the auditors' pages."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="auditor_terms"
    )
    organisation = models.ForeignKey(
        AuditOrganisation, on_delete=models.PROTECT, related_name="terms", db_column="organisation_id"
    )
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    scope = models.TextField()
    """What the audit is about, in the words of its contract."""
    declaration = models.CharField(max_length=64)
    """SHA-256 of the signed declaration of independence, which is kept outside the platform."""
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [  # noqa: RUF012 - as Django has it
            models.CheckConstraint(
                condition=models.Q(ends_at__gt=models.F("begins_at")), name="auditor_term_has_length"
            ),
        ]
