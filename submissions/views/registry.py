"""Harnesses and their versions: list, register, read, add a version with its HarnessCard."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import yaml
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import member_page
from accounts.views import membership_in
from submissions import cards, queries, services
from submissions.cardform import CardForm, described
from submissions.delivery import delivers, hand_out, restates_the_request, show_status
from submissions.faces import list_face
from submissions.forms import CardDocumentForm, HarnessForm, VersionForm
from submissions.models import Harness
from submissions.problems import Refused
from submissions.relations.services import owner_of
from submissions.views.common import actor, form_status, refused_page

DEEPEST, INDENTED = 32, 128
"""Nesting of brackets, and columns of indentation, past which a text is no card."""


@require_safe
@member_page
def harness_list(request: HttpRequest) -> HttpResponse:
    harnesses = queries.harnesses_of(membership_in(request).organisation)
    return render(request, "submissions/harnesses.html", {"harnesses": harnesses})


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
def new_harness(request: HttpRequest) -> HttpResponse:
    form = HarnessForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            harness = services.register_harness(
                membership_in(request).organisation, **form.registration(), by=actor(request)
            )
        except Refused as refused:
            return refused_page(request, "submissions/harness_new.html", {"form": form}, refused.refusal)
        return redirect("submissions:harness", harness.id)
    return render(request, "submissions/harness_new.html", {"form": form}, status=form_status(form))


@require_safe
@member_page
@delivers("submission")
def harness(request: HttpRequest, harness: UUID) -> HttpResponse:
    found = queries.harness_of(membership_in(request).organisation, harness)
    latest = queries.of_any_scope(found.organisation, harness=found, limit=10)
    subject = ("organisation", found.organisation_id)
    show_status(request, "submission", subject, list_face(latest), by=actor(request))
    named = getattr(found, "owner", None)
    context = {
        "harness": found,
        "versions": queries.harness_versions(found),
        "submissions": latest,
        "owner": owner_of(named) if named else None,
    }
    return render(request, "submissions/harness.html", context)


@require_safe
@member_page
@delivers("card")
def version(request: HttpRequest, version: UUID) -> HttpResponse:
    """One version and its card as filed; it cannot change any more."""
    found = queries.version_of(membership_in(request).organisation, version)
    hand_out(request, "card", found.id, found.card, by=actor(request))
    context = {"version": found, "harness": found.harness, "card": described(found.card, found.card_schema)}
    return render(request, "submissions/version.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@delivers("card")
def new_version(request: HttpRequest, harness: UUID) -> HttpResponse:
    """A version with its card: by the form of the schema, or as one YAML or JSON document."""
    found = queries.harness_of(membership_in(request).organisation, harness)
    if request.GET.get("by") == "document":
        return _by_document(request, found)
    return _by_form(request, found)


def _by_form(request: HttpRequest, harness: Harness) -> HttpResponse:
    earlier = next(iter(queries.harness_versions(harness)), None)
    sent = request.POST if request.method == "POST" else None
    form, card_form = VersionForm(sent), CardForm(sent, card=earlier.card if earlier else None)
    context = {"harness": harness, "form": form, "card_form": card_form, "earlier": earlier}
    if earlier is not None and sent is None:
        hand_out(request, "card", earlier.id, earlier.card, by=actor(request))
    else:
        restates_the_request(request)
    if sent is not None and form.is_valid() & card_form.is_valid():
        try:
            added = services.add_version(
                harness, version=form.cleaned_data["version"], card=card_form.card, by=actor(request)
            )
        except Refused as refused:
            card_form.blame([(error.path, error.message) for error in refused.refusal.errors])
            return refused_page(request, "submissions/version_new.html", context, refused.refusal)
        return redirect("submissions:version", added.id)
    return render(request, "submissions/version_new.html", context, status=form_status(form))


def _by_document(request: HttpRequest, harness: Harness) -> HttpResponse:
    sent = request.POST if request.method == "POST" else None
    form = VersionForm(sent)
    document_form = CardDocumentForm(sent, request.FILES or None)
    context: dict[str, Any] = {"harness": harness, "form": form, "document_form": document_form}
    restates_the_request(request)
    if sent is not None and form.is_valid() & document_form.is_valid():
        card, complaint = read_card(document_form.document)
        if complaint:
            document_form.add_error("text", complaint)
        else:
            try:
                added = services.add_version(
                    harness, version=form.cleaned_data["version"], card=card, by=actor(request)
                )
            except Refused as refused:
                return refused_page(request, "submissions/version_document.html", context, refused.refusal)
            return redirect("submissions:version", added.id)
    return render(
        request, "submissions/version_document.html", context, status=422 if sent is not None else 200
    )


def _is_too_deep(text: str) -> bool:
    """Whether brackets or indentation go deeper than any card: the YAML scanner's time grows with their square."""
    depth = deepest = 0
    for sign in text:
        depth += (sign in "[{") - (sign in "]}")
        deepest = max(deepest, depth)
    indented = max((len(line) - len(line.lstrip(" -?:")) for line in text.splitlines()), default=0)
    return deepest > DEEPEST or indented > INDENTED


def read_card(text: str) -> tuple[Any, str]:
    """The document as plain data, and a complaint where it is neither JSON nor YAML. Aliases are refused."""
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError):
        pass
    if _is_too_deep(text):
        return None, _("The document is neither JSON nor YAML.")
    try:
        if any(isinstance(token, yaml.AliasToken) for token in yaml.scan(text, Loader=yaml.SafeLoader)):
            return None, _("The document uses YAML aliases, which are not accepted.")
        found = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" ({_('line')} {mark.line + 1})" if mark is not None else ""
        return None, _("The document is neither JSON nor YAML.") + line
    except (ValueError, RecursionError):
        return None, _("The document is neither JSON nor YAML.")
    return found, ""


@require_safe
@member_page
@delivers("card")
def card_document(request: HttpRequest, version: UUID) -> HttpResponse:
    """The card as its canonical JSON, to keep or to edit for the next version."""
    found = queries.version_of(membership_in(request).organisation, version)
    hand_out(request, "card", found.id, found.card, by=actor(request))
    answer = HttpResponse(cards.canonical_json(found.card), content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="{found.harness.name}-{found.version}-card.json"'
    return answer
