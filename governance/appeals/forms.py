"""What may be entered about appeals; whether it is allowed is for the services."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.duties.queries import staff_now
from accounts.duties.table import Duty
from accounts.models import Organisation, User
from benchmark.models import Domain, TaskSetVersion
from governance.appeals.models import Appeal, RuledEffect, Ruling
from governance.appeals.policies import GIVES
from governance.appeals.queries import Claim, versions_with_appeals
from governance.appeals.services.deciding import SEE_HELD_OUT
from governance.appeals.services.filing import LONGEST_GROUNDS
from submissions.models import Submission
from submissions.queries import submissions_of

LONGEST_TEXT = 4000


class AppealForm(forms.Form):
    subject = forms.ChoiceField(label=_("What you appeal against"), choices=Appeal.Subject.choices)
    submission = forms.ChoiceField(
        label=_("Submission"),
        required=False,
        help_text=_("Needed for a fault, a score and a hold."),
    )
    task_set = forms.ChoiceField(
        label=_("Task-set version"), help_text=_("Where a submission is chosen, its own version counts.")
    )
    domain = forms.ChoiceField(
        label=_("Domain"),
        required=False,
        choices=[("", "–"), *Domain.choices],
        help_text=_("Only for a score."),
    )
    grounds = forms.CharField(
        label=_("Grounds"),
        max_length=LONGEST_GROUNDS,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("Say what is wrong and what you ask for. Those who rule on it read this."),
    )
    commitment = forms.CharField(
        label=_("SHA-256 of your word"),
        required=False,
        max_length=64,
        help_text=_(
            "Only for a score. Choose a word of at least 16 characters and keep it; printf %s 'the word' | sha256sum "
            "gives what belongs here."
        ),
    )

    def __init__(self, organisation: Organisation, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.organisation = organisation
        self.submissions = {str(row.id): row for row in submissions_of(organisation)}
        self.versions = {row.label: row for row in versions_with_appeals()}
        chosen = [
            (key, f"{row.harness_version} · {row.task_set} · {key[:8]}")
            for key, row in self.submissions.items()
        ]
        self.fields["submission"].choices = [("", "–"), *chosen]  # type: ignore[attr-defined]
        labels = {row.task_set.label: row.task_set for row in self.submissions.values()} | self.versions
        self.versions = labels
        self.fields["task_set"].choices = [(label, label) for label in labels]  # type: ignore[attr-defined]

    def claim(self) -> Claim:
        facts = self.cleaned_data
        submission: Submission | None = self.submissions.get(facts["submission"])
        version: TaskSetVersion = submission.task_set if submission else self.versions[facts["task_set"]]
        return Claim(
            organisation=self.organisation,
            subject=facts["subject"],
            task_set=version,
            submission=submission,
            domain=facts["domain"],
            grounds=facts["grounds"],
            commitment=facts["commitment"].strip(),
        )


class TextForm(forms.Form):
    """A text of the staff; `for_vendor` says who reads it."""

    text = forms.CharField(max_length=LONGEST_TEXT, widget=forms.Textarea(attrs={"rows": 5}))

    def __init__(self, label: Any, help_text: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["text"].label = label
        self.fields["text"].help_text = help_text


class PeopleForm(forms.Form):
    """Who examines it; only those who hold the duties now are offered."""

    expert = forms.ChoiceField(label=_("Business expert (a task author)"))
    engineer = forms.ChoiceField(label=_("Evaluation engineer"))

    second = forms.ChoiceField(
        label=_("Second person to judge runs again"),
        required=False,
        help_text=_("Only for a score. Beside the business expert; neither is told whose runs they are."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        staff = staff_now()
        seconds = [(str(person.pseudonym), str(person)) for person, held in staff if held & SEE_HELD_OUT]
        self.fields["second"].choices = [("", "–"), *seconds]  # type: ignore[attr-defined]
        for name, duty in (("expert", Duty.TASK_AUTHOR), ("engineer", Duty.EVALUATION_ENGINEER)):
            people = [(str(person.pseudonym), str(person)) for person, held in staff if duty in held]
            self.fields[name].choices = people  # type: ignore[attr-defined]

    def people(self) -> dict[str, User]:
        named = [name for name in ("expert", "engineer", "second") if self.cleaned_data[name]]
        found = {name: UUID(self.cleaned_data[name]) for name in named}
        return {name: User.objects.get(pseudonym=value) for name, value in found.items()}


class DraftForm(forms.Form):
    outcome = forms.ChoiceField(label=_("Outcome"))
    effects = forms.MultipleChoiceField(
        label=_("What it orders"), required=False, widget=forms.CheckboxSelectMultiple
    )
    text = forms.CharField(
        label=_("Ruling"),
        max_length=LONGEST_TEXT,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("The vendor reads it. It names no task, quotes nothing held out, and no person."),
    )

    def __init__(self, appeal: Appeal, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        outcomes = [pair for pair in Ruling.Outcome.choices if pair[0] != Ruling.Outcome.INADMISSIBLE]
        self.fields["outcome"].choices = outcomes  # type: ignore[attr-defined]
        allowed = GIVES[appeal.subject]
        self.fields["effects"].choices = [  # type: ignore[attr-defined]
            pair for pair in RuledEffect.Kind.choices if pair[0] in allowed
        ]
