"""Why a confirmation run is not granted, or not withdrawn."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

ROWS: list[Row] = [
    (
        Code.CONFIRMATION_TOO_EARLY,
        409,
        Fault.REQUEST,
        _("Not complete yet"),
        _("The submission is %(state)s. Only a complete one is taken to a confirmation run."),
        _("Wait until it is complete. An incomplete or voided submission cannot be confirmed."),
    ),
    (
        Code.CONFIRMATION_NOT_OFFERED,
        403,
        Fault.POLICY,
        _("No confirmation runs on this version"),
        _("The task-set version %(task_set)s grants your organisation no confirmation run now."),
        _("It is closed, its policy has none, or admissions are stopped. The next version opens anew."),
    ),
    (
        Code.CONFIRMATION_CONSENT,
        422,
        Fault.REQUEST,
        _("Consent to publish is missing"),
        _("A confirmation run is made to be published, so the consent to publish is given with the request."),
        _("Send publication_consent as true, or do not ask for the run."),
    ),
    (
        Code.CONFIRMATION_USED,
        409,
        Fault.POLICY,
        _("The confirmation run of this line is used"),
        _(
            "The harness %(harness)s has had its confirmation run on %(task_set)s. There is one for a harness line "
            "and version; a second one only if the first ended incomplete."
        ),
        _("Wait for the next task-set version."),
    ),
    (
        Code.CONFIRMATION_OWNER,
        403,
        Fault.POLICY,
        _("The owner's rights stand in the way"),
        _("The harness belongs to somebody else, who has objected to publication or is not named yet."),
        _("Name the owner at the harness, or settle the objection with them."),
    ),
    (
        Code.CONFIRMATION_BUDGET,
        403,
        Fault.POLICY,
        _("Not enough of the information budget is left"),
        _("A confirmation run can tell more than your organisation may still be told of %(task_set)s."),
        _("Wait for the next task-set version. The page Information budget shows what was spent."),
    ),
    (
        Code.CONFIRMATION_PACKAGE_GONE,
        410,
        Fault.REQUEST,
        _("The package is deleted"),
        _("The package of this submission was deleted after its time, so it cannot be run again."),
        _("Submit the harness anew."),
    ),
    (
        Code.CONFIRMATION_OVER,
        409,
        Fault.REQUEST,
        _("Nothing to withdraw"),
        _("The confirmation run has ended, or a dated release has published it."),
        _("What a dated release published stays there."),
    ),
]
