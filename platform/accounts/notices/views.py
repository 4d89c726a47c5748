"""A person's notices: the list, marking as read, and what comes by mail."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import services as accounts
from accounts.access import person_page
from accounts.notices import queries, services
from accounts.notices.forms import PreferencesForm
from accounts.notices.texts import shown
from accounts.views import signed_in


@require_safe
@person_page
def notices(request: HttpRequest) -> HttpResponse:
    """Newest first, unread ones marked; each links to what it is about."""
    rows = queries.notices_of(signed_in(request), before=_id(request.GET.get("before", "")))
    context = {
        "rows": [(row, shown(row, in_mail=False)) for row in rows],
        "unread": queries.unread_count(signed_in(request)),
        "older": rows[-1].pk if len(rows) == queries.PAGE else None,
    }
    return render(request, "accounts/notices.html", context)


@require_POST
@person_page
def read(request: HttpRequest) -> HttpResponse:
    """Marks the notice that the form names, or all of them, as read."""
    person = signed_in(request)
    if notice := _id(request.POST.get("notice", "")):
        services.mark_read(person, notice)
    elif "all" in request.POST:
        services.mark_all_read(person)
    return redirect("accounts:notices")


@require_http_methods(["GET", "HEAD", "POST"])
@person_page
def preferences(request: HttpRequest) -> HttpResponse:
    """Which groups come by mail, and in which language."""
    person = signed_in(request)
    initial = {
        "language": person.language,
        "mailed": queries.mailed_groups(person),
        "scores_in_mail": queries.wants_scores(person),
    }
    form = PreferencesForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_valid():
        chosen = form.cleaned_data
        accounts.set_language(person, chosen["language"], by=accounts.actor_for(person, channel="web"))
        services.set_preferences(person, mailed=chosen["mailed"], scores_in_mail=chosen["scores_in_mail"])
        messages.success(request, _("Saved."))
        return redirect("accounts:notice_settings")
    return render(request, "accounts/notice_settings.html", {"form": form})


def _id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
