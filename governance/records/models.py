"""The public record of a version: lines of its change log. And what the leak linter knows of held-out material."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from benchmark.models import TaskSetVersion
from config.ids import new_id
from governance.models import ReleaseDate
from governance.records.problems.models import Problem  # noqa: F401 (a model of this app)


class ChangeLogLine(models.Model):
    """One line of the public change log. Its words are made of its kind and facts; nothing of it ever changes."""

    class Kind(models.TextChoices):
        ROTATION = "rotation", _("rotation")
        RETIREMENT = "retirement", _("retirement")
        ERRATUM = "erratum", _("erratum")
        REGRADE = "regrade", _("graded again")
        APPEAL_OUTCOME = "appeal_outcome", _("outcome of an appeal")
        DEFECT_KNOWN = "defect_known", _("known defects")
        DEFECT_SETTLED = "defect_settled", _("defects settled")
        ANCHOR_SHIFT = "anchor_shift", _("shift between versions")
        POLICY = "policy", _("policy")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    task_set = models.ForeignKey(
        TaskSetVersion, on_delete=models.PROTECT, related_name="change_log", null=True, blank=True
    )
    """The version it is about; null where it is about all."""
    facts = models.JSONField(default=dict)
    """What the sentence of its kind names, as `records.lines` lists it."""
    text_zh = models.TextField(blank=True)
    text_en = models.TextField(blank=True)
    """Further words, in both languages or in none."""
    said_at = models.DateTimeField()
    published_in = models.ForeignKey(
        ReleaseDate, on_delete=models.PROTECT, related_name="change_log", null=True, blank=True
    )
    """The errata document that it stands in; null until the next one."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(text_zh="", text_en="") | (~Q(text_zh="") & ~Q(text_en="")),
                name="change_log_in_both_languages",
            ),
        ]
        indexes = [models.Index(fields=["task_set", "-said_at"], name="change_log_newest_first")]


class LeakIndex(models.Model):
    """Keyed fingerprints of what is held out of one frozen version; there is no plain word in it.

    Made by sealed work, which alone can open the packs; asked by whoever writes to vendors or the public.
    """

    task_set = models.OneToOneField(
        TaskSetVersion, primary_key=True, on_delete=models.PROTECT, related_name="leak_index"
    )
    salt = models.BinaryField()
    quotes = models.BinaryField()
    values = models.BinaryField()
    codes = models.BinaryField()
    tasks = models.PositiveIntegerField()
    made_at = models.DateTimeField()
