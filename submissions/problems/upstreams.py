"""Problems with model upstreams, notices to owners, and openings of packages."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

ROWS: list[Row] = [
    (
        Code.UPSTREAM_NAME_TAKEN,
        409,
        Fault.REQUEST,
        _("This name is taken"),
        _("Your organisation has an active model upstream named %(name)s already."),
        _("Choose another name, or retire that upstream first."),
    ),
    (
        Code.UPSTREAM_RETIRED,
        409,
        Fault.REQUEST,
        _("This upstream is retired"),
        _("It is not called any more and does not change."),
        _("Register a new one."),
    ),
    (
        Code.UPSTREAM_IN_USE,
        409,
        Fault.REQUEST,
        _("This upstream is in use"),
        _("A submission or preflight that is not at an end may still call it."),
        _("Retire it when that has ended, or cancel that first."),
    ),
    (
        Code.UPSTREAM_NO_CREDENTIAL,
        409,
        Fault.REQUEST,
        _("This upstream has no credential"),
        _("Without a credential nothing can be called."),
        _("Set one first: PUT /api/v1/upstreams/{id}/credential, or on the upstream's page."),
    ),
    (
        Code.UPSTREAM_TRIAL_TOO_SOON,
        429,
        Fault.POLICY,
        _("Too many trial calls"),
        _("An upstream is tried at most once in 10 seconds, and an organisation's at most 30 times an hour."),
        _("Wait as long as Retry-After says."),
    ),
    (
        Code.OWNER_NOTICE_NOT_DUE,
        409,
        Fault.POLICY,
        _("There is nothing to be told to the owner"),
        _(
            "An owner is told once of a third party's submission whose publication was agreed to, and objects "
            "once, after the mail went out."
        ),
        _("Look at the submission's state again."),
    ),
    (
        Code.PACKAGE_NOT_THERE,
        409,
        Fault.POLICY,
        _("There is no package to open"),
        _("This submission has no checked package, or it was deleted at its date."),
        _("Its digest stays on record."),
    ),
    (
        Code.OPENING_EXISTS,
        409,
        Fault.POLICY,
        _("There is an opening already"),
        _("The package has an opening that is proposed or under way."),
        _("Use that one, or end it first."),
    ),
    (
        Code.OPENING_IS_OVER,
        409,
        Fault.POLICY,
        _("This opening is over"),
        _("Its hours are over, or somebody ended it."),
        _("Propose a new one."),
    ),
    (
        Code.OPENING_NOT_READY,
        409,
        Fault.PLATFORM,
        _("The key is not there yet"),
        _("A worker lends the key within a minute of the approval."),
        _("Try again in a minute."),
    ),
]
