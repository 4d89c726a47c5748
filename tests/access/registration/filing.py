"""Registrations as tests arrange them: filed in a browser by an owner, decided by two identity reviewers."""

from __future__ import annotations

from typing import Any

from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.duties.table import Duty
from accounts.models import Registration, User
from accounts.registration import domains, review, services
from tests.accounts.duties import acting, opened
from tests.pages.site import signed_in
from tests.submissions import world

PDF = b"%PDF-1.7 an extract of the register of Jiang Hai"
NEW = "/en/account/registration/new/"
STATUS = "/en/account/registration/"
FIELDS = {
    "legal_name": "Jiang Hai Intelligence Co., Ltd.",
    "number": "91310000MA1K35XY7Z",
    "country": "cn",
    "domain": "Jianghai.Example",
    "contact_name": "Li Registered",
    "contact_position": "counsel",
    "contact_email": "li@jianghai.example",
    "contact_phone": "+86 21 1234",
}


def form(files: list[bytes] | None = None, **changes: Any) -> dict[str, Any]:
    """What the browser sends."""
    given = [PDF] if files is None else files
    evidence = [SimpleUploadedFile(f"file-{n}.pdf", data) for n, data in enumerate(given)]
    return FIELDS | changes | {"evidence": evidence}


def filed(vendor: world.Vendor, **changes: Any) -> Registration:
    """A registration that the vendor has just filed."""
    answer = signed_in(vendor.user).post(NEW, form(**changes))
    assert answer.status_code == 302, answer.content.decode()
    return Registration.objects.filter(organisation=vendor.organisation).latest("filed_at")


def confirmed(vendor: world.Vendor, **changes: Any) -> Registration:
    """The same, with the domain proven."""
    row = filed(vendor, **changes)
    services.confirm_by_link(domains.link_token(row.id), by=world.BY)
    row.refresh_from_db()
    return row


def reviewers() -> tuple[User, User]:
    office = opened()
    return office.holder(Duty.IDENTITY_REVIEWER), office.holder(Duty.IDENTITY_REVIEWER)


def verified(vendor: world.Vendor, one: User, other: User, **changes: Any) -> Registration:
    """Verified by the two."""
    row = confirmed(vendor, **changes)
    review.propose(row, verdict="verify", ground="", words="", by=acting(one))
    review.confirm(row, by=acting(other))
    return row


def last_mail() -> str:
    return str(mail.outbox[-1].body)


def page(which: Any, act: str = "") -> str:
    return f"/en/console/registrations/{which}/" + (f"{act}/" if act else "")
