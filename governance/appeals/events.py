"""Audit event kinds of appeals. Texts stand in them as salted hashes only."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event
from audit.read_events import Delivered


class AppealFiled(Event):
    """`commitment` is the SHA-256 of the vendor's word for the draw of a re-check, where a score is appealed."""

    kind: ClassVar[str] = "appeal.filed"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} filed the appeal {subject} ({about}) on {task_set}.")
    about: str
    task_set: str
    lineage: str
    submission: str | None = None
    domain: str | None = None
    grounds: str
    commitment: str | None = None
    due: str


class AppealMoved(Event):
    kind: ClassVar[str] = "appeal.moved"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("The appeal {subject} moved from {before} to {after} ({cause}).")
    before: str
    after: str
    cause: str
    due: str | None = None


class AppealEscalated(Event):
    """It stayed in its state longer than it may; `times` counts how often that happened."""

    kind: ClassVar[str] = "appeal.escalated"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("The appeal {subject} is late in {state}; from now on it is the turn of: {owner}.")
    state: str
    owner: str
    times: int
    due: str


class AppealAssigned(Event):
    kind: ClassVar[str] = "appeal.assigned"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} named {expert} and {engineer} to examine the appeal {subject}.")
    expert: str
    engineer: str


class AppealEvidence(Event):
    """Somebody who was named wrote down what they found: `part` is `opinion` or `notes`."""

    kind: ClassVar[str] = "appeal.evidence"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} wrote down what they found on the appeal {subject} ({part}).")
    part: str
    text: str


class AppealDrafted(Event):
    kind: ClassVar[str] = "appeal.drafted"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} drafted the ruling {number} on the appeal {subject}: {ruling}.")
    number: int
    ruling: str
    text: str
    effects: list[str]
    proposed_by: str


class AppealRuled(Event):
    """`proposed_by` and `approved_by` are two people; a finding of inadmissibility names who found it only."""

    kind: ClassVar[str] = "appeal.ruled"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} ruled on the appeal {subject}: {ruling}.")
    ruling: str
    text: str
    effects: list[str]
    proposed_by: str | None = None
    approved_by: str


class AppealEffect(Event):
    """`result` is `done`, or says why there was nothing to do."""

    kind: ClassVar[str] = "appeal.effect"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("An effect of the ruling on the appeal {subject} was carried out: {effect} ({result}).")
    effect: str
    result: str
    reference: str | None = None


class AppealConflict(Event):
    """Somebody wanted a say who may have none."""

    kind: ClassVar[str] = "appeal.conflict"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} was refused a say in the appeal {subject} ({reason}).")
    outcome: str = "refused"
    reason: str


class AppealRead(Delivered):
    """An appeal was shown to its vendor, or to staff."""

    kind: ClassVar[str] = "appeal.read"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} was shown the appeal {subject} ({surface}).")


class OutsiderNamed(Event):
    kind: ClassVar[str] = "outside_arbiter.named"
    subject_type: ClassVar[str] = "outside_arbiter"
    sentence = _("{named_by} and {confirmed_by} named {subject} an arbiter from outside.")
    declaration: str
    named_by: str
    confirmed_by: str


class OutsiderEnded(Event):
    kind: ClassVar[str] = "outside_arbiter.ended"
    subject_type: ClassVar[str] = "outside_arbiter"
    sentence = _("{actor} ended that {subject} is an arbiter from outside.")


class RecheckCommitted(Event):
    """`commitment` is the SHA-256 of the platform's nonce in hex, fixed before the vendor's word is known."""

    kind: ClassVar[str] = "recheck.committed"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} committed to a nonce for the blind re-check of the appeal {subject}.")
    commitment: str
    word_due: str


class RecheckPanelNamed(Event):
    kind: ClassVar[str] = "recheck.panel_named"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} named {first} and {second} to judge runs of the appeal {subject} again.")
    first: str
    second: str


class RecheckRevealed(Event):
    """The word itself stands in no event; its SHA-256 is in the filing, the seed in the draw."""

    kind: ClassVar[str] = "recheck.revealed"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} gave the word for the blind re-check of the appeal {subject}.")


class RecheckDrawn(Event):
    """`seed` is SHA-256 of word, line feed and nonce (governance.appeals.drawing)."""

    kind: ClassVar[str] = "recheck.drawn"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{runs} runs were drawn for the blind re-check of the appeal {subject}.")
    seed: str
    nonce: str
    runs: int


class RecheckRead(Delivered):
    """One of the two was shown a run to be judged again."""

    kind: ClassVar[str] = "recheck.read"
    subject_type: ClassVar[str] = "recheck_sheet"
    sentence = _("{actor} was shown the sheet {subject} of a blind re-check ({surface}).")


class RecheckJudged(Event):
    """One run was judged by one of the two; what they found is in no event."""

    kind: ClassVar[str] = "recheck.judged"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("{actor} judged a run of the blind re-check of the appeal {subject}.")
    sheet: str


class RecheckComplete(Event):
    kind: ClassVar[str] = "recheck.complete"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("Every run of the blind re-check of the appeal {subject} is judged.")


class RecheckShown(Event):
    """Agreement in points with its interval; without one where the information budget did not cover it."""

    kind: ClassVar[str] = "recheck.shown"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("The agreement of the blind re-check of the appeal {subject} over {runs} runs was shown.")
    runs: int
    agreement: int | None = None
    low: int | None = None
    high: int | None = None
    below: int


class RecheckLapsed(Event):
    kind: ClassVar[str] = "recheck.lapsed"
    subject_type: ClassVar[str] = "appeal"
    sentence = _("The blind re-check of the appeal {subject} was not held.")
