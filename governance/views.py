"""Pages of the leak ledger, a vendor's own account and every one for staff; and the rules for everybody."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.access import member_page, staff_page
from accounts.views import membership_in
from governance import ledger, rulebook
from submissions.delivery import delivers, show_status
from submissions.services import OFFICIAL
from submissions.views.common import actor


@require_safe
@member_page
@delivers("quota")
def account(request: HttpRequest) -> HttpResponse:
    """What the lineage was told so far, out of what it may be told of a version."""
    organisation = membership_in(request).organisation
    accounts = ledger.accounts_of(organisation)
    face = [account.as_dict() for account in accounts]
    show_status(request, "quota", ("organisation", organisation.id), face, by=actor(request))
    return render(request, "governance/account.html", {"accounts": accounts})


@require_safe
@staff_page
def accounts(request: HttpRequest) -> HttpResponse:
    """Lineages by what they were told."""
    rows = ledger.accounts_for_staff(OFFICIAL["lineage"])
    return render(request, "governance/accounts.html", {"rows": rows})


@require_safe
def held_out_rules(request: HttpRequest) -> HttpResponse:
    """The Held-out Governance Rules, printed from what decides."""
    return render(request, "governance/held_out_rules.html", {"sections": rulebook.sections()})
