"""The vendor's page of a question that was asked in a case: the question, until when, and the answer in words."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from accounts.access import member_page
from accounts.views import membership_in
from config import clock
from governance.desk import cases
from governance.desk.forms import AnswerForm
from governance.desk.telling import asked
from submissions.delivery import delivers, show_status
from submissions.problems import Refused
from submissions.services import standing
from submissions.views.common import actor


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@delivers("submission")
def question(request: HttpRequest, question: UUID) -> HttpResponse:
    organisation = membership_in(request).organisation
    found = asked(organisation, question)
    if found is None:
        raise Http404
    row, words = found
    face = {"question": row.question, "due": row.due_at, "answered": row.answered_at}
    show_status(request, "submission", ("submission", row.submission_id), face, by=actor(request))
    form, status = AnswerForm(request.POST or None), 200
    if request.method == "POST" and form.is_valid():
        try:
            standing.require(organisation, actor(request))
            cases.answer(row, form.cleaned_data["answer"], by=actor(request))
        except Refused as refused:
            form.add_error(None, f"{refused.refusal.detail} [{refused.refusal.code}]")
            status = refused.refusal.status
        else:
            messages.success(request, _("Your answer is with the reviewers."))
            return redirect("desk:question", row.id)
    context = {
        "row": row,
        "words": words,
        "form": form if row.answered_at is None and clock.now() < row.due_at else None,
    }
    return render(request, "desk/question.html", context, status=status)
