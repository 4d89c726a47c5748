"""Appeals with their legal moves, who handles them, drafts, rulings, and the effects that a ruling orders.

What the process that serves vendors may read stands in tables of its own: it sees no draft and no person of the staff.
"""

from __future__ import annotations

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext, pgettext_lazy

from accounts.duties.models import person_column
from accounts.models import Lineage, Organisation
from benchmark.models import Domain, TaskSetVersion
from config.ids import new_id, opaque_id
from governance.appeals import policies
from governance.appeals.policies import ENDS
from submissions.models import Submission

OVER = sorted(state.value for state in ENDS)


class Appeal(models.Model):
    """One appeal of an organisation. `state` moves by the table in `policies`."""

    class Subject(models.TextChoices):
        QUOTA = "quota", _("a decision about the quota")
        FAULT = "fault", _("a fault of the platform")
        SCORE = "score", _("the score of a domain")
        RULE = "rule", _("how a rule is read")
        HOLD = "hold", _("a hold of a result")
        ROTATION = "rotation", _("a notice about rotation")

    class State(models.TextChoices):
        FILED = "filed", pgettext_lazy("appeal", "filed")
        ADMITTED = "admitted", pgettext_lazy("appeal", "admitted")
        ASSIGNED = "assigned", pgettext_lazy("appeal", "being examined")
        DRAFTED = "drafted", pgettext_lazy("appeal", "ruling being approved")
        RULED = "ruled", pgettext_lazy("appeal", "ruled on")
        CARRIED_OUT = "carried_out", pgettext_lazy("appeal", "ruled and carried out")
        INADMISSIBLE = "inadmissible", pgettext_lazy("appeal", "inadmissible")
        WITHDRAWN = "withdrawn", pgettext_lazy("appeal", "withdrawn")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="appeals")
    lineage = models.ForeignKey(Lineage, on_delete=models.PROTECT, related_name="+")
    """Of the organisation when it filed."""
    task_set = models.ForeignKey(TaskSetVersion, on_delete=models.PROTECT, related_name="+")
    subject = models.CharField(max_length=12, choices=Subject.choices)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="appeals", null=True, blank=True
    )
    domain = models.CharField(max_length=16, choices=Domain.choices, blank=True, default="")
    """Of a score."""
    grounds = models.TextField()
    """The vendor's words."""
    facts = models.JSONField(default=dict)
    """How what is appealed against stood then; nothing that the vendor does not see."""
    commitment = models.CharField(max_length=64, blank=True, default="")
    """Of a score: the SHA-256 of a word that the vendor keeps, which later has part in the draw."""
    filed_by = person_column(db_column="filed_by")
    filed_at = models.DateTimeField()
    state = models.CharField(max_length=12, choices=State.choices, default=State.FILED)
    state_since = models.DateTimeField()
    cause = models.CharField(max_length=24, default=policies.Cause.FILED.value)
    due_at = models.DateTimeField(null=True, blank=True)
    escalations = models.PositiveSmallIntegerField(default=0)
    admitted_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=OVER, ended_at__isnull=False, due_at=None)
                | (~Q(state__in=OVER) & Q(ended_at=None, due_at__isnull=False)),
                name="appeal_open_has_deadline",
            ),
            models.CheckConstraint(
                condition=(
                    Q(subject="score") & ~Q(domain="") & ~Q(commitment="") & Q(submission__isnull=False)
                )
                | (~Q(subject="score") & Q(domain="", commitment="")),
                name="appeal_score_has_its_domain",
            ),
            models.UniqueConstraint(
                fields=["submission", "subject", "domain"],
                condition=~Q(state__in=OVER) & Q(submission__isnull=False),
                name="appeal_one_open_of_each",
            ),
        ]
        indexes = [models.Index(fields=["due_at"], name="appeal_due", condition=~Q(due_at=None))]

    @property
    def is_over(self) -> bool:
        return self.state in ENDS


class Handling(models.Model):
    """Who of the staff handles an appeal. Not readable where vendors are served."""

    appeal = models.OneToOneField(Appeal, primary_key=True, on_delete=models.PROTECT, related_name="handling")
    expert = person_column(db_column="expert")
    engineer = person_column(db_column="engineer")
    named_by = person_column(db_column="named_by")
    named_at = models.DateTimeField()
    opinion = models.TextField(blank=True, default="")
    """The expert's, for the staff alone."""
    opinion_at = models.DateTimeField(null=True, blank=True)
    notes = models.TextField(blank=True, default="")
    """The engineer's evidence, for the staff alone."""
    notes_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(expert=F("engineer")), name="appeal_two_examine"),
        ]


class Draft(models.Model):
    """A ruling proposed by one person and approved, or sent back, by another. Not readable for vendors."""

    class Decision(models.TextChoices):
        OPEN = "open", pgettext_lazy("draft", "waits for approval")
        APPROVED = "approved", pgettext_lazy("draft", "approved")
        SENT_BACK = "sent_back", pgettext_lazy("draft", "sent back")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    appeal = models.ForeignKey(Appeal, on_delete=models.PROTECT, related_name="drafts")
    number = models.PositiveSmallIntegerField()
    outcome = models.CharField(max_length=12)
    text = models.TextField()
    effects = models.JSONField(default=list)
    proposed_by = person_column(db_column="proposed_by")
    proposed_at = models.DateTimeField()
    decision = models.CharField(max_length=12, choices=Decision.choices, default=Decision.OPEN)
    decided_by = person_column(db_column="decided_by", null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    remark = models.TextField(blank=True, default="")
    """Why it was sent back."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["appeal", "number"], name="appeal_draft_numbered_once"),
            models.UniqueConstraint(
                fields=["appeal"], condition=Q(decision="open"), name="appeal_draft_one_open"
            ),
            models.CheckConstraint(
                condition=Q(decided_by=None) | ~Q(decided_by=F("proposed_by")), name="appeal_two_people"
            ),
            models.CheckConstraint(
                condition=Q(decision="open", decided_by=None, decided_at=None)
                | Q(
                    decision__in=("approved", "sent_back"), decided_by__isnull=False, decided_at__isnull=False
                ),
                name="appeal_draft_decided_by_somebody",
            ),
        ]

    @property
    def orders(self) -> str:
        """What it would have done, in words."""
        return pgettext("list", ", ").join(str(RuledEffect.Kind(kind).label) for kind in self.effects)


class Ruling(models.Model):
    """What the vendor is answered; no person stands in it. Never changed."""

    class Outcome(models.TextChoices):
        UPHELD = "upheld", pgettext_lazy("ruling", "upheld")
        PARTLY = "partly", pgettext_lazy("ruling", "upheld in part")
        REJECTED = "rejected", pgettext_lazy("ruling", "rejected")
        INADMISSIBLE = "inadmissible", pgettext_lazy("ruling", "inadmissible")

    appeal = models.OneToOneField(Appeal, primary_key=True, on_delete=models.PROTECT, related_name="ruling")
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    text = models.TextField()
    ruled_at = models.DateTimeField()


class RuledEffect(models.Model):
    """One thing that a ruling orders, and when it was done. `reference` names what came of it."""

    class Kind(models.TextChoices):
        REFUND = "refund", _("the use of the quota is returned")
        COOLDOWN = "cooldown", _("the cooldown is ended")
        LIFT_HOLD = "lift_hold", _("the hold is lifted as a false alarm")
        REGRADE = "regrade", _("the submission is graded again, as a separate result")
        PROBLEM = "problem", _("the problem queue has an entry")
        LINE = "line", _("a line stands in the public change log")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    appeal = models.ForeignKey(Appeal, on_delete=models.PROTECT, related_name="effects")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    done_at = models.DateTimeField(null=True, blank=True)
    result = models.CharField(max_length=24, blank=True, default="")
    """`done`, or why there was nothing to do."""
    reference = models.CharField(max_length=40, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["appeal", "kind"], name="appeal_effect_once"),
        ]


class OutsideArbiter(models.Model):
    """That a person is an arbiter from outside the operator, on the word of two administrators."""

    person = models.OneToOneField(
        "accounts.User",
        to_field="pseudonym",
        db_column="person",
        primary_key=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    declaration = models.CharField(max_length=64)
    """SHA-256 of the signed declaration of interests."""
    named_by = person_column(db_column="named_by")
    confirmed_by = person_column(db_column="confirmed_by")
    named_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(named_by=F("confirmed_by"))
                & ~Q(person=F("named_by"))
                & ~Q(person=F("confirmed_by")),
                name="outsider_two_people",
            ),
        ]


class Recheck(models.Model):
    """The blind re-check of an appeal against a score, as its vendor sees it."""

    class State(models.TextChoices):
        COMMITTED = "committed", pgettext_lazy("recheck", "waits for your word")
        REVEALED = "revealed", pgettext_lazy("recheck", "waits for the draw")
        DRAWN = "drawn", pgettext_lazy("recheck", "being judged")
        JUDGED = "judged", pgettext_lazy("recheck", "judged, shown on the next tick")
        SHOWN = "shown", pgettext_lazy("recheck", "done")
        LAPSED = "lapsed", pgettext_lazy("recheck", "not held")

    appeal = models.OneToOneField(Appeal, primary_key=True, on_delete=models.PROTECT, related_name="recheck")
    state = models.CharField(max_length=12, choices=State.choices, default=State.COMMITTED)
    state_since = models.DateTimeField()
    platform_commitment = models.CharField(max_length=64)
    """SHA-256 of the platform's nonce, in the log before the vendor's word is known."""
    committed_at = models.DateTimeField()
    word_due_at = models.DateTimeField()
    word = models.CharField(max_length=200, blank=True, default="")
    nonce = models.CharField(max_length=64, blank=True, default="")
    """The platform's, in hex, once runs were drawn."""
    runs = models.PositiveSmallIntegerField(null=True, blank=True)
    agreement = models.PositiveSmallIntegerField(null=True, blank=True)
    low = models.PositiveSmallIntegerField(null=True, blank=True)
    high = models.PositiveSmallIntegerField(null=True, blank=True)
    is_below = models.BooleanField(null=True, blank=True)
    """Whether the domain is to be graded again; known also where the agreement itself is not shown."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="shown", is_below__isnull=False) | ~Q(state="shown") & Q(agreement=None),
                name="recheck_shown_with_its_finding",
            ),
        ]

    @property
    def is_over(self) -> bool:
        return self.state in ("shown", "lapsed")


class RecheckSecret(models.Model):
    """The platform's nonce, wrapped under the key of the sealed workers. Read by sealed work only."""

    appeal = models.OneToOneField(Appeal, primary_key=True, on_delete=models.PROTECT, related_name="+")
    wrapped_nonce = models.BinaryField()


class RecheckPanel(models.Model):
    """The two who judge: neither sees whose runs they are, nor the first verdict."""

    appeal = models.OneToOneField(Appeal, primary_key=True, on_delete=models.PROTECT, related_name="panel")
    first = person_column(db_column="first")
    second = person_column(db_column="second")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(first=F("second")), name="recheck_two_judge"),
        ]


class RecheckItem(models.Model):
    """One run that was drawn, with its first verdict. Read by sealed work only."""

    id = models.UUIDField(primary_key=True, default=opaque_id, editable=False)
    appeal = models.ForeignKey(Appeal, on_delete=models.PROTECT, related_name="+")
    attempt = models.ForeignKey("evaluation.Attempt", on_delete=models.PROTECT, related_name="+")
    verdict = models.BooleanField()
    """Whether the first grading found that it delivers."""


class RecheckSheet(models.Model):
    """What one of the two is shown of one run, under an id and in an order of its own, and what they find."""

    id = models.UUIDField(primary_key=True, default=opaque_id, editable=False)
    item = models.ForeignKey(RecheckItem, on_delete=models.PROTECT, related_name="sheets")
    appeal = models.ForeignKey(Appeal, on_delete=models.PROTECT, related_name="+")
    judge = person_column(db_column="judge")
    place = models.PositiveSmallIntegerField()
    sealed = models.BinaryField(default=b"")
    """Task, what is asked of it, and what the run left, sealed under `boxed_key`; gone with the re-check."""
    boxed_key = models.BinaryField(default=b"")
    delivers = models.BooleanField(null=True, blank=True)
    judged_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "judge"], name="recheck_sheet_once_a_judge"),
            models.CheckConstraint(
                condition=Q(delivers=None, judged_at=None)
                | Q(delivers__isnull=False, judged_at__isnull=False),
                name="recheck_judged_at_an_instant",
            ),
        ]
