"""What may be entered in a case or about a hold; whether it is allowed is for the services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from accounts.models import Organisation
from governance.desk import queries
from governance.desk.models import Case
from governance.desk.rules import GROUNDS, QUESTIONS
from submissions.models import Submission
from submissions.policies.states import IN_FLIGHT

KEPT_SECRET = _(
    "For reviewers and for an appeal; the log holds a salted hash of it. The vendor does not read it."
)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"), max_length=4000, widget=forms.Textarea(attrs={"rows": 4}), help_text=KEPT_SECRET
    )


class VoidForm(ReasonForm):
    ground = forms.ChoiceField(
        label=_("Ground that the vendor reads"),
        choices=[(ground.code, ground.sentence) for ground in GROUNDS.values()],
        widget=forms.RadioSelect,
    )
    field_order = ("ground", "reason")


class SubmissionForm(ReasonForm):
    """One submission of the case's lineage; `states` narrows them down where they are given."""

    submission = forms.ModelChoiceField(label=_("Submission"), queryset=Submission.objects.none())
    field_order = ("submission", "question", "reason")
    states: frozenset[str] = frozenset()

    def __init__(self, *args: Any, case: Case, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        rows = [row for row in queries.submissions_of(case) if not self.states or row.state in self.states]
        field = self.fields["submission"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = Submission.objects.filter(pk__in=[row.pk for row in rows]).select_related(
            "harness_version__harness", "organisation"
        )
        field.label_from_instance = _named  # type: ignore[assignment,method-assign]


def _named(row: Submission) -> str:
    return f"{row.harness_version} · {row.get_state_display()} · {row.pk}"


class HoldForm(SubmissionForm):
    states = IN_FLIGHT


class AskForm(SubmissionForm):
    question = forms.ChoiceField(
        label=_("Question"),
        choices=[(question.code, question.sentence) for question in QUESTIONS.values()],
        widget=forms.RadioSelect,
    )


class LinkForm(ReasonForm):
    organisation = forms.UUIDField(
        label=_("Id of the other organisation"),
        help_text=_("Those who review links decide whether the two belong together."),
    )
    field_order = ("organisation", "reason")

    def clean_organisation(self) -> Organisation:
        found = Organisation.objects.filter(pk=self.cleaned_data["organisation"]).first()
        if found is None:
            raise forms.ValidationError(_("There is no such organisation."), code="unknown")
        return found


class AnswerForm(forms.Form):
    answer = forms.CharField(
        label=_("Your answer"),
        max_length=8000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 8}),
        help_text=_("Read by the reviewers of the held-out set only. It is given once."),
    )
