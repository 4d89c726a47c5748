"""Audit rooms in the console: proposed by a governor, opened by an administrator, ended by either."""

from __future__ import annotations

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts import services as accounts
from accounts.access import deciding_page
from accounts.duties.queries import duties_of
from accounts.duties.refusals import DutyRefused
from accounts.duties.table import DECISIONS, Decision
from accounts.models import AuditorTerm
from accounts.rooms import queries, services
from accounts.rooms.models import LONGEST_HOURS
from accounts.views import signed_in
from submissions.models import Submission

ACTS = {
    "open": (services.open_room, gettext_lazy("The audit room is open.")),
    "end": (services.end, gettext_lazy("The audit room is ended.")),
}
REFUSED = 409
for_deciders = deciding_page(Decision.AUDIT_ROOM)
RULE = DECISIONS[Decision.AUDIT_ROOM]


class RoomForm(forms.Form):
    """What may be entered; whether it is allowed is for the services."""

    term = forms.ModelChoiceField(label=gettext_lazy("Auditor"), queryset=AuditorTerm.objects.none())
    submission = forms.UUIDField(label=gettext_lazy("Submission"))
    hours = forms.IntegerField(
        label=gettext_lazy("Hours"),
        min_value=1,
        max_value=LONGEST_HOURS,
        help_text=gettext_lazy("At most 168."),
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"), max_length=500, widget=forms.Textarea(attrs={"rows": 3})
    )

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        field = self.fields["term"]
        assert isinstance(field, forms.ModelChoiceField)
        terms = queries.running_terms()
        field.queryset = AuditorTerm.objects.filter(pk__in=[term.pk for term in terms])
        field.label_from_instance = lambda obj: f"{obj.person} · {obj.organisation.organisation}"  # type: ignore[assignment]

    def clean_submission(self) -> Submission:
        """A submission that ran on held-out tasks and is at an end."""
        found = Submission.objects.filter(
            pk=self.cleaned_data["submission"], ended_at__isnull=False, held_out_run__isnull=False
        )
        row = found.select_related("organisation").first()
        if row is None:
            raise forms.ValidationError(
                _("There is no such submission that ran on held-out tasks and is at an end."), code="unknown"
            )
        return row


@require_safe
@for_deciders
def rooms(request: HttpRequest) -> HttpResponse:
    """What waits for somebody first, then what is open, then what is over."""
    duties = duties_of(signed_in(request))
    context = {
        "rows": queries.rooms_for_staff(),
        "may_propose": bool(duties & RULE.proposers),
        "may_open": bool(duties & RULE.approvers),
        "may_end": bool(duties & (RULE.proposers | RULE.approvers)),
    }
    return render(request, "console/rooms.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@for_deciders
def propose(request: HttpRequest) -> HttpResponse:
    form, status = RoomForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        facts = form.cleaned_data
        submission = facts["submission"]
        try:
            services.propose(
                facts["term"],
                submission.pk,
                submission.organisation.lineage_id,
                hours=facts["hours"],
                reason=facts["reason"],
                by=accounts.actor_for(signed_in(request), channel="web"),
            )
        except DutyRefused as refused:
            form.add_error(None, str(refused))
            status = REFUSED
        else:
            messages.success(request, _("The audit room is proposed. An administrator opens it."))
            return redirect("console:rooms")
    return render(request, "console/room_new.html", {"form": form}, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@for_deciders
def act(request: HttpRequest, room: UUID, act: str) -> HttpResponse:
    """A page of its own that says what opening or ending does, and does it."""
    row = queries.room(room)
    if row is None or act not in ACTS:
        raise Http404
    refusal, status = "", 200
    if request.method == "POST":
        done, said = ACTS[act]
        try:
            done(row, by=accounts.actor_for(signed_in(request), channel="web"))
        except DutyRefused as refused:
            refusal, status = str(refused), REFUSED
        else:
            messages.success(request, str(said))
            return redirect("console:rooms")
    return render(
        request, "console/room_act.html", {"row": row, "act": act, "refusal": refusal}, status=status
    )
