"""The tables of the log: events, their places in the tree, what was signed over them, and who vouches for it.

Events come only from `audit.log.append`; the database derives every column from the body. Entries, tiles,
checkpoints and keys come only from the sequencer. Everything but `Pending` only grows.
"""

from __future__ import annotations

from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from config.ids import new_id


class EventRecord(models.Model):
    """One event: the exact hashed bytes, and index columns that a trigger reads out of them."""

    body = models.BinaryField()
    leaf_hash = models.BinaryField()
    kind = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=32)
    subject_id = models.CharField(max_length=64)
    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    organisation_id = models.CharField(max_length=64, blank=True)
    channel = models.CharField(max_length=16)
    outcome = models.CharField(max_length=32)
    recorded_at = models.DateTimeField()
    transaction = models.BigIntegerField()

    class Meta:
        db_table = "audit_event"
        indexes = [
            # At the end of a transaction the deferred triggers look for its events; new ones go to the index's end.
            models.Index(fields=["transaction", "subject_id"], name="audit_event_change"),
            # For look-ups of auditors. An insert leaves a BRIN index alone until its block has been summarised.
            BrinIndex(
                fields=["kind", "actor_id", "subject_id", "organisation_id", "recorded_at"],
                opclasses=[*["text_bloom_ops"] * 4, "timestamptz_minmax_ops"],
                pages_per_range=32,
                autosummarize=True,
                name="audit_event_facts",
            ),
        ]


class Pending(models.Model):
    """An event that has no place in the tree yet. A trigger writes it as the owner; the sequencer takes it away."""

    event_id = models.BigIntegerField(primary_key=True)

    class Meta:
        db_table = "audit_pending"


class Entry(models.Model):
    """The place of an event in the tree: positions run from 0 without a gap."""

    position = models.BigIntegerField(primary_key=True)
    event_id = models.BigIntegerField(unique=True)
    leaf_hash = models.BinaryField()

    class Meta:
        db_table = "audit_entry"


class Tile(models.Model):
    """A full tile of height 8: 256 hashes of 32 bytes (C2SP tlog-tiles). Partial ones are computed when asked for.

    `root` is the hash that stands for it one level up.
    """

    pk = models.CompositePrimaryKey("level", "number")
    level = models.SmallIntegerField()
    number = models.BigIntegerField()
    hashes = models.BinaryField()
    root = models.BinaryField()

    class Meta:
        db_table = "audit_tile"


class Checkpoint(models.Model):
    """A signed tree head: the note holds size and root again, with the log's signatures (C2SP checkpoint)."""

    size = models.BigIntegerField(primary_key=True)
    root = models.BinaryField()
    note = models.TextField()
    made_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "audit_checkpoint"


class LogKey(models.Model):
    """A verifier key of this log. The checkpoint of `since_size` is the first that it may sign."""

    vkey = models.CharField(max_length=255, primary_key=True)
    name = models.CharField(max_length=128)
    since_size = models.BigIntegerField()

    class Meta:
        db_table = "audit_log_key"


class Witness(models.Model):
    """Somebody outside who vouches that the checkpoints it saw extend one another."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(max_length=128, unique=True)
    vkey = models.CharField(max_length=255, unique=True)
    added_at = models.DateTimeField()

    class Meta:
        db_table = "audit_witness"


class Cosignature(models.Model):
    """One witness's signature line under one checkpoint (C2SP tlog-cosignature)."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    checkpoint = models.ForeignKey(
        Checkpoint, on_delete=models.PROTECT, db_column="size", related_name="cosignatures"
    )
    witness = models.ForeignKey(Witness, on_delete=models.PROTECT, related_name="cosignatures")
    line = models.TextField()
    signed_at = models.DateTimeField()
    received_at = models.DateTimeField()

    class Meta:
        db_table = "audit_cosignature"
        constraints = [
            models.UniqueConstraint(fields=["checkpoint", "witness"], name="audit_cosignature_once")
        ]


class ReadTally(models.Model):
    """What one actor has read of one thing lately: how often unchanged, in the window that began at `begins_at`.

    The count becomes an event when its window is over. Only these rows of the log are ever updated.
    """

    actor_kind = models.CharField(max_length=16)
    actor_id = models.CharField(max_length=64)
    organisation_id = models.CharField(max_length=64, blank=True)
    channel = models.CharField(max_length=16)
    surface = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=32)
    subject_id = models.CharField(max_length=64, blank=True)
    begins_at = models.DateTimeField()
    count = models.PositiveIntegerField()
    representation = models.BinaryField()
    """SHA-256 of the last one sent, 32 bytes; empty for refused reads."""

    class Meta:
        db_table = "audit_read_tally"
        constraints = [
            models.UniqueConstraint(
                fields=["actor_id", "organisation_id", "surface", "subject_type", "subject_id"],
                name="audit_read_tally_once",
            )
        ]


class Withholding(models.Model):
    """An entry that pages and exports show by its leaf hash only, by order of two people. Proofs still hold."""

    class Reason(models.TextChoices):
        LAW = "law", _("a law or a court forbids to show it")
        PERSON = "person", _("it would name a person")
        SECURITY = "security", _("it would open a way into the platform")

    position = models.BigIntegerField(primary_key=True)
    reason = models.CharField(max_length=16, choices=Reason.choices)
    asked_by = models.CharField(max_length=64)
    agreed_by = models.CharField(max_length=64)
    at = models.DateTimeField()

    class Meta:
        db_table = "audit_withholding"
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(asked_by=models.F("agreed_by")), name="withheld_by_two_people"
            )
        ]


class Export(models.Model):
    """An export that an auditor asked for: what it discloses, and where the sealed tar lies once it is made."""

    class State(models.TextChoices):
        REQUESTED = "requested", _("requested")
        RUNNING = "running", _("being made")
        DONE = "done", _("ready")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation_id = models.CharField(max_length=64)
    """The audit organisation whose people may fetch it."""
    asked_by = models.CharField(max_length=64)
    disclosed = models.JSONField(default=dict)
    """Which entries are disclosed: the fields of `audit.exports.Selection` that were given."""
    state = models.CharField(max_length=16, choices=State.choices, default=State.REQUESTED)
    requested_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    size = models.BigIntegerField(null=True, blank=True)
    """Entries in the tree."""
    shown = models.BigIntegerField(null=True, blank=True)
    """Entries disclosed."""
    stored_bytes = models.BigIntegerField(null=True, blank=True)
    manifest = models.CharField(max_length=64, blank=True)
    """SHA-256 of the manifest."""
    key = models.BinaryField(default=b"", blank=True)
    """Under which the tar is sealed in the object store. The database holds the events themselves, so the key gives
    nobody more than the row's readers have; without it the store alone gives nothing."""

    class Meta:
        db_table = "audit_export"


class IntegrityCheck(models.Model):
    """What the background task found when it computed one stretch of the log again. Old rows are dropped."""

    at = models.DateTimeField(db_index=True)
    first = models.BigIntegerField()
    last = models.BigIntegerField()
    """Positions looked at, both included."""
    ok = models.BooleanField()
    findings = models.JSONField(default=list)
    drift_seconds = models.FloatField()
    """Largest distance between an event's own time and the database's."""

    class Meta:
        db_table = "audit_integrity"
