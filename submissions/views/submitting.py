"""A new submission: version, task set and bundle; then the check and the confirm step that states the cost.

Choosing a file never submits: the bundle is uploaded, looked at, and admitted only by the second form.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.core.files.uploadhandler import StopUpload, TemporaryFileUploadHandler
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from accounts.access import member_page, strong_page
from accounts.linking.services import note_network
from accounts.views import membership_in
from benchmark.models import TaskSetVersion
from config import clock
from submissions import queries, services
from submissions.api.rates import address_of
from submissions.delivery import delivers, show_status
from submissions.faces import window_face
from submissions.forms import ConfirmForm, PackageForm
from submissions.intake import LARGEST, START_BYTES, Kind, kind_of
from submissions.models import HarnessVersion, RerunOffer, Submission, Upload
from submissions.policies import Purpose, QuotaWindow
from submissions.policies.quota import REFUSALS
from submissions.problems import Code, Refusal, Refused, entry
from submissions.reruns.queries import offer_for, offer_of, open_offers
from submissions.views.common import actor, refused_page

ENVELOPE = 1024 * 1024  # bytes of a request around the package
NEW, CONFIRM = "submissions/submission_new.html", "submissions/submission_confirm.html"


class BoundedUpload(TemporaryFileUploadHandler):
    """Streams the file to disk and stops keeping it past the largest package of its kind; `exceeded` says so."""

    exceeded = False
    received = 0
    largest = Kind.BUNDLE.packed
    """By the first bytes."""

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        if not self.received and kind_of(raw_data[:START_BYTES]) is Kind.IMAGE:
            self.largest = Kind.IMAGE.packed
        self.received += len(raw_data)
        if self.received > self.largest:
            self.exceeded = True
            raise StopUpload(connection_reset=False)
        super().receive_data_chunk(raw_data, start)


@csrf_exempt
def new_submission(request: HttpRequest) -> HttpResponse:
    """Guards before the body is read: a stranger's bytes are never taken in. The inner view checks the CSRF token."""
    return _guarded(request)


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
def _guarded(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return _choose(request)
    if int(request.META.get("CONTENT_LENGTH") or 0) > LARGEST + ENVELOPE:
        form = _form(request, None)
        return refused_page(
            request, NEW, _context(request, form), Refusal(Code.PACKAGE_TOO_LARGE, {"limit": LARGEST})
        )
    request.upload_handlers = [BoundedUpload(request)]
    return _choose(request)


def _form(request: HttpRequest, data: Any, files: Any = None) -> PackageForm:
    organisation = membership_in(request).organisation
    versions = [
        version
        for harness in queries.harnesses_of(organisation)
        for version in queries.harness_versions(harness)
    ]
    initial = {"version": request.GET.get("version", ""), "task_set": request.GET.get("task_set", "")}
    return PackageForm(data, files, versions=versions, task_sets=queries.open_task_sets(), initial=initial)


def _context(request: HttpRequest, form: PackageForm) -> dict[str, Any]:
    """The form, and the organisation, whose state may forbid submitting; `shut` is why no harness can be used."""
    organisation = membership_in(request).organisation
    until, account = clock.now() + services.LIFETIME, actor(request).account
    shut: dict[Purpose, Refusal | None] = {}
    for purpose in Purpose:
        reasons = [
            queries.shut_everywhere(harness, account=account, until=until, purpose=purpose)
            for harness in queries.harnesses_of(organisation)
        ]
        shut[purpose] = reasons[0] if reasons and all(reasons) else None
    return {
        "form": form,
        "organisation": organisation,
        "shut": None if open_offers(organisation) else shut[Purpose.SUBMISSION],
        "preflight_open": shut[Purpose.PREFLIGHT] is None,
    }


@csrf_protect
def _choose(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return render(request, NEW, _context(request, _form(request, None)))
    organisation = membership_in(request).organisation
    form = _form(request, request.POST, request.FILES)
    handler = request.upload_handlers[0]
    if isinstance(handler, BoundedUpload) and handler.exceeded:
        return refused_page(
            request, NEW, _context(request, form), Refusal(Code.PACKAGE_TOO_LARGE, {"limit": handler.largest})
        )
    if not form.is_valid():
        return render(request, NEW, _context(request, form), status=422)
    version = queries.version_of(organisation, UUID(form.cleaned_data["version"]))
    purpose = Purpose.PREFLIGHT if request.POST.get("purpose") == Purpose.PREFLIGHT else Purpose.SUBMISSION
    digest = form.cleaned_data["sha256"].lower()
    try:
        services.require_use(version, sha256=digest, by=actor(request), purpose=purpose)
        upload = services.receive_stream(
            version,
            form.cleaned_data["package"],
            declared_sha256=digest or None,
            by=actor(request),
        )
    except Refused as refused:
        return refused_page(request, NEW, _context(request, form), refused.refusal)
    answer = redirect("submissions:confirm", upload.id)
    answer["Location"] += f"?task_set={form.cleaned_data['task_set']}"
    return answer


@dataclass(frozen=True)
class Cost:
    """What the confirm step states. `remaining` counts before this submission."""

    remaining: int
    next_at: datetime | None
    runs_per_task: int
    preflights: int
    free: bool
    """An identical one is complete, and answers."""
    rerun: bool = False
    """It takes a re-run that was offered, outside the quota."""


def cost_of(window: QuotaWindow | None, earlier: Submission | None, *, rerun: bool = False) -> Cost | None:
    """None where no policy is in force. An identical complete submission, and an offered re-run, cost nothing."""
    if window is None:
        return None
    terms = window.terms
    return Cost(
        remaining=window.remaining,
        next_at=clock.now() + terms.cooldown if terms.cooldown_seconds else None,
        runs_per_task=terms.runs_per_task,
        preflights=terms.preflight,
        free=earlier is not None and earlier.state == Submission.State.COMPLETE,
        rerun=rerun,
    )


@require_http_methods(["GET", "HEAD", "POST"])
@member_page
@strong_page
@delivers("quota")
def confirm(request: HttpRequest, upload: UUID) -> HttpResponse:
    """What was found in the check, what it costs, and the button that submits."""
    order = order_for(request, upload)
    if order is None:
        return redirect("submissions:new_submission")
    if request.method != "POST":
        form = ConfirmForm(
            initial={
                "key": ConfirmForm.new_key(),
                "task_set": order.task_set.label,
                "rerun_offer": order.offer.id if order.offer else None,
            }
        )
        return confirm_page(request, order, form)
    form = ConfirmForm(request.POST)
    if not form.is_valid():
        return confirm_page(request, order, form, status=422)
    consenting = replace(order, publication_consent=form.cleaned_data["publication_consent"])
    try:
        receipt = services.submit(consenting, by=actor(request), key=form.cleaned_data["key"])
    except Refused as refused:
        return confirm_page(request, order, form, refusal=refused.refusal)
    note_network(order.organisation, address_of(request))
    if receipt.status == 200 and not receipt.replayed:
        messages.info(
            request, _("Identical to this earlier submission: its result is returned, nothing was charged.")
        )
    return redirect("submissions:submission", receipt.submission_id)


def order_for(request: HttpRequest, upload: UUID) -> queries.Order | None:
    """The upload with the task set that the form or the address names; None where that is not open.

    It takes the re-run that was offered for it, unless somebody asks for a use of the quota: the page says which.
    """
    organisation = membership_in(request).organisation
    found = queries.upload_of(organisation, upload)
    task_set = _task_set(request)
    if task_set is None:
        return None
    plain = queries.Order(organisation, found.harness_version, task_set, found)
    return replace(plain, offer=_offer(request, plain))


def _offer(request: HttpRequest, order: queries.Order) -> RerunOffer | None:
    """What the form says that was shown; at first, the open offer for this package."""
    if request.method == "POST":
        named = ConfirmForm.base_fields["rerun_offer"]
        try:
            which = named.clean(request.POST.get("rerun_offer", ""))
        except ValidationError:  # the form says so
            return None
        return offer_of(order.organisation, which) if which else None
    return None if request.GET.get("rerun") == "no" else offer_for(order.upload, order.task_set)


def _task_set(request: HttpRequest) -> TaskSetVersion | None:
    """The task set named by the form or the address, or the newest; None where none is open."""
    label = request.POST.get("task_set") or request.GET.get("task_set") or ""
    open_now = queries.open_task_sets()
    return next(
        (row for row in open_now if row.label == label), open_now[0] if open_now and not label else None
    )


def confirm_page(
    request: HttpRequest,
    order: queries.Order,
    form: ConfirmForm,
    *,
    refusal: Refusal | None = None,
    status: int = 200,
) -> HttpResponse:
    """The confirm step: what was found, what submitting would cost, and whether a preflight alone is possible."""
    by = actor(request)
    found = queries.forecast(order, by=by)
    problem, window, earlier = refusal or found.refusal, found.window, found.earlier
    show_status(request, "quota", ("organisation", order.organisation.id), window_face(window), by=by)
    binding = window.outside_quota if window and order.offer else window
    context = {
        "form": form,
        "problem": problem,
        "window": window,
        "upload": order.upload,
        "version": order.harness_version,
        "task_set": order.task_set,
        "earlier": earlier,
        "offer": order.offer,
        "cost": cost_of(window, earlier, rerun=order.offer is not None),
        "checks": checks(order.upload, order.harness_version, binding),
        "also": also(problem, binding),
        "preflight_problem": queries.preflight_refusal(order, by=by),
    }
    return render(request, CONFIRM, context, status=refusal.status if refusal else status)


def biting(window: QuotaWindow | None) -> list[str]:
    """The titles of every rule of the quota that refuses now."""
    rules = [counter.rule for counter in window.rules if counter.bites] if window else []
    return [str(entry(REFUSALS[rule]).title) for rule in rules]


def also(problem: Refusal | None, window: QuotaWindow | None) -> list[str]:
    """What else stands against it, beside the problem that is named first."""
    return [title for title in biting(window) if title != problem.title] if problem else []


def checks(upload: Upload, version: HarnessVersion, window: QuotaWindow | None) -> list[tuple[str, str, str]]:
    """(state, what, detail) of everything that can be told before the submission is made."""
    usable = upload.state == Upload.State.COMPLETE
    room = window is not None and window.biting is None
    current = version.card_schema == queries.admission.CARD_SCHEMA
    return [
        ("passed" if usable else "failed", _("Bundle received whole"), upload.sha256),
        ("passed" if current else "failed", _("HarnessCard complete"), version.card_digest),
        ("passed" if room else "failed", _("Quota and cooldown"), _("; ").join(biting(window))),
        (
            "open",
            _("Contents of the bundle and harness.toml"),
            _("right after you confirm; failing costs no submission, but is a preflight used"),
        ),
        (
            "open",
            _("Preflight on the public tasks"),
            _("with full logs; failing costs no submission, but is a preflight used"),
        ),
    ]
