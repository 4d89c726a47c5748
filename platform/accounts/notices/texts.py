"""What each kind says, once for site and mail: a title, a sentence and the page it leads to.

`%(name)s` places are filled from the notice's facts; instants are shown in UTC. What the layers above know besides,
such as a refusal's own sentence, they add by the function that the setting NOTICE_DETAILS names.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from django.conf import settings
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _

from accounts.duties.table import DUTIES, Duty
from accounts.notices.kinds import Kind
from accounts.notices.models import Notice
from config.lines import folded


@dataclass(frozen=True)
class Text:
    """`page` is the name of an address and `argument` the fact that it takes, both empty where it takes none."""

    title: Promise
    sentence: Promise
    page: str = ""
    argument: str = ""


@dataclass(frozen=True)
class Shown:
    """A notice in the language that is active: for one page or one mail."""

    title: str
    sentence: str
    details: list[str]
    path: str


_SUBMISSION = ("submissions:submission", "submission")
_CONFIRMATION = ("governance:confirmation", "submission")
_PREFLIGHT = ("submissions:preflight", "submission")
_APPEAL = ("appeals:appeal", "appeal")

TEXTS: Mapping[Kind, Text] = {
    Kind.SUBMISSION_COMPLETE: Text(
        _("Result released: %(harness)s %(version)s"),
        _("The evaluation is complete and its result has been released."),
        "leaderboard:result",
        "submission",
    ),
    Kind.SUBMISSION_INCOMPLETE: Text(
        _("Kept as incomplete: %(harness)s %(version)s"),
        _("The submission has ended with an incomplete evaluation, as your organisation chose."),
        "leaderboard:result",
        "submission",
    ),
    Kind.CONFIRMATION_CONFIRMED: Text(
        _("Confirmed: %(harness)s %(version)s"),
        _(
            "The confirmation run is complete. Its values are shown with the next dated release, to everybody at once."
        ),
        *_CONFIRMATION,
    ),
    Kind.CONFIRMATION_INCOMPLETE: Text(
        _("Confirmation run incomplete: %(harness)s %(version)s"),
        _(
            "The confirmation run could not be completed. Nothing is shown of it; the page says what happened."
        ),
        *_CONFIRMATION,
    ),
    Kind.CONFIRMATION_WITHDRAWN: Text(
        _("Confirmation run withdrawn: %(harness)s %(version)s"),
        _("The confirmation run was withdrawn. The next dated release counts it, without a name."),
        *_CONFIRMATION,
    ),
    Kind.SUBMISSION_CANCELLED: Text(
        _("Cancelled: %(harness)s %(version)s"), _("The submission was cancelled."), *_SUBMISSION
    ),
    Kind.SUBMISSION_REJECTED: Text(
        _("Rejected at intake: %(harness)s %(version)s"), _("The package was not accepted."), *_SUBMISSION
    ),
    Kind.SUBMISSION_PREFLIGHT_FAILED: Text(
        _("Preflight failed: %(harness)s %(version)s"),
        _("The submission has ended before held-out tasks started."),
        *_SUBMISSION,
    ),
    Kind.SUBMISSION_VOIDED: Text(
        _("Voided: %(harness)s %(version)s"), _("The submission has ended without a result."), *_SUBMISSION
    ),
    Kind.SUBMISSION_AWAITING_CHOICE: Text(
        _("Your choice is needed: %(harness)s %(version)s"),
        _("Runs lost by the platform could not be repeated. Choose by %(deadline)s; then it is voided."),
        *_SUBMISSION,
    ),
    Kind.SUBMISSION_HELD: Text(
        _("Held for review: %(harness)s %(version)s"),
        _("The result is being reviewed before its release. Nothing is asked of you now."),
        *_SUBMISSION,
    ),
    Kind.SUBMISSION_HOLD_EXTENDED: Text(
        _("The hold is extended: %(harness)s %(version)s"),
        _(
            "Two people extended the review once. It ends by %(until)s at the latest; you can appeal against it."
        ),
        *_SUBMISSION,
    ),
    Kind.SUBMISSION_HOLD_LIFTED: Text(
        _("The hold was a false alarm: %(harness)s %(version)s"),
        _("Your use is returned and the cooldown has ended. The result is released with the next tick."),
        *_SUBMISSION,
    ),
    Kind.SUBMISSION_QUESTION: Text(
        _("A question about %(harness)s %(version)s"),
        _(
            "The governors of the held-out set ask you something about this submission. Answer by %(deadline)s."
        ),
        "desk:question",
        "question",
    ),
    Kind.SUBMISSION_PAUSED: Text(
        _("Paused: %(harness)s %(version)s"),
        _("The platform has paused this submission. It goes on by itself, or you are asked by %(deadline)s."),
        *_SUBMISSION,
    ),
    Kind.PREFLIGHT_PASSED: Text(
        _("Preflight passed: %(harness)s %(version)s"),
        _("All runs on the public tasks are there, with score and logs. No submission was used."),
        *_PREFLIGHT,
    ),
    Kind.PREFLIGHT_FAILED: Text(
        _("Preflight failed: %(harness)s %(version)s"),
        _("The page has the log of each run on the public tasks. No submission was used."),
        *_PREFLIGHT,
    ),
    Kind.PREFLIGHT_ENDED: Text(
        _("Preflight ended early: %(harness)s %(version)s"),
        _("It has ended before all public tasks were run. No submission was used."),
        *_PREFLIGHT,
    ),
    Kind.SLOT_REFUNDED: Text(
        _("A use was returned: %(harness)s %(version)s"),
        _("The use of the quota that this submission took is no longer counted."),
        *_SUBMISSION,
    ),
    Kind.RERUN_OFFERED: Text(
        _("A re-run on %(task_set)s: %(harness)s %(version)s"),
        _("Its result was published on the former version. It costs no use of the quota until %(deadline)s."),
        "submissions:submissions",
    ),
    Kind.APPEAL_FILED: Text(
        _("Appeal filed (%(task_set)s)"),
        _("It is found admissible or not by %(deadline)s. The page says what comes next."),
        *_APPEAL,
    ),
    Kind.APPEAL_ADMITTED: Text(
        _("Appeal admitted (%(task_set)s)"),
        _(
            "It is examined by a business expert and an evaluation engineer without ties to you or competitors."
        ),
        *_APPEAL,
    ),
    Kind.APPEAL_INADMISSIBLE: Text(
        _("Appeal inadmissible (%(task_set)s)"),
        _("An arbiter found that it cannot be examined. The page has the reason."),
        *_APPEAL,
    ),
    Kind.APPEAL_LATE: Text(
        _("Appeal late (%(task_set)s)"),
        _(
            "A step was not taken in time. From now on it is looked after by somebody else, until %(deadline)s."
        ),
        *_APPEAL,
    ),
    Kind.APPEAL_WORD_DUE: Text(
        _("Your word is needed (%(task_set)s)"),
        _(
            "The platform has committed itself for the blind re-check. Give your word by %(deadline)s; else none is "
            "held."
        ),
        *_APPEAL,
    ),
    Kind.APPEAL_RECHECKED: Text(
        _("Blind re-check done (%(task_set)s)"),
        _(
            "Two people have judged the drawn runs again. The page says how far they agree; the ruling follows."
        ),
        *_APPEAL,
    ),
    Kind.APPEAL_RULED: Text(
        _("Appeal ruled on (%(task_set)s)"),
        _("Two people have ruled on your appeal. The page has the ruling and what it orders."),
        *_APPEAL,
    ),
    Kind.APPEAL_CARRIED_OUT: Text(
        _("Ruling carried out (%(task_set)s)"),
        _("Everything that the ruling on your appeal orders is done."),
        *_APPEAL,
    ),
    Kind.APPEAL_WITHDRAWN: Text(
        _("Appeal withdrawn (%(task_set)s)"), _("Your organisation withdrew its appeal."), *_APPEAL
    ),
    Kind.APPEALS_JUDGING: Text(
        _("Runs to judge again"),
        _("You were named to judge drawn runs of a blind re-check, until %(deadline)s."),
        "judging:rechecks",
    ),
    Kind.APPEALS_WAITING: Text(
        _("An appeal waits for you (%(task_set)s)"),
        _("It is your turn, or that of somebody else with your duty, until %(deadline)s."),
        "judging:appeal",
        "appeal",
    ),
    Kind.ORGANISATION_VERIFIED: Text(
        _("Your organisation is verified"),
        _("From now on it can submit to the open task-set version."),
        "accounts:organisation",
    ),
    Kind.ORGANISATION_REFUSED: Text(
        _("Your organisation was not verified"),
        _("Staff could not confirm who it is. The page says why and what you can do."),
        "accounts:organisation",
    ),
    Kind.ORGANISATION_ASKED: Text(
        _("A question about your organisation"),
        _("Staff need more to confirm who it is. The page says what."),
        "accounts:organisation",
    ),
    Kind.ORGANISATION_SUSPENDED: Text(
        _("Your organisation is suspended"),
        _("It cannot submit. Write to the operator's support to learn what would lift it."),
        "accounts:organisation",
    ),
    Kind.REGISTRATION_EXPIRING: Text(
        _("Your organisation's registration expires"),
        _("Confirm its particulars again by %(deadline)s; otherwise it can submit no more."),
        "accounts:organisation",
    ),
    Kind.MEMBER_JOINED: Text(
        _("A new member of your organisation"),
        _("Somebody has accepted an invitation to your organisation."),
        "accounts:organisation",
    ),
    Kind.MEMBER_ROLE_CHANGED: Text(
        _("Your role in an organisation has changed"),
        _("An owner of the organisation gave you another role."),
        "accounts:organisation",
    ),
    Kind.MEMBER_REMOVED: Text(
        _("You are no longer a member of an organisation"),
        _("Your access to its pages has ended, and so have your tokens for it."),
        "accounts:organisation",
    ),
    Kind.PACKAGE_OPENED: Text(
        _("A package of your organisation was opened"),
        _("In a case, approved by two people, staff opened a package you submitted."),
        *_SUBMISSION,
    ),
    Kind.PACKAGE_DELETED: Text(
        _("A package of your organisation was deleted"),
        _("Its time of keeping was over. The digest remains on record."),
        *_SUBMISSION,
    ),
    Kind.TOKEN_EXPIRING: Text(
        _("A token expires: %(name)s"),
        _("Requests with it are refused from %(expires)s on. Create a new one in time."),
        "submissions:tokens",
    ),
    Kind.TOKEN_EXPIRED: Text(
        _("A token has expired: %(name)s"), _("Requests with it are refused."), "submissions:tokens"
    ),
    Kind.TOKEN_LEAKED: Text(
        _("A token was revoked because it leaked: %(name)s"),
        _(
            "Somebody found it in a public place and reported it. It was revoked at once; look where it was used."
        ),
        "submissions:tokens",
    ),
    Kind.ISSUER_KEYS_EXPIRING: Text(
        _("Registered keys of an issuer expire"),
        _("Exchanges with these keys are refused from %(expires)s on. Register new ones in time."),
    ),
    Kind.WEBHOOK_DISABLED: Text(
        _("A webhook was switched off"),
        _("Its address has not accepted anything for days. Switch it on again once it does."),
    ),
    Kind.DUTY_GIVEN: Text(_("You were given a duty"), _("You hold the duty %(duty)s until %(ends)s.")),
    Kind.DUTY_ENDING: Text(
        _("A duty of yours ends soon"), _("The duty %(duty)s ends at %(ends)s unless it is given anew.")
    ),
    Kind.DUTY_ENDED: Text(_("A duty of yours has ended"), _("You no longer hold the duty %(duty)s.")),
    Kind.FLEET_WAITING: Text(
        _("Work waits for a worker: %(queue)s"),
        _(
            "%(episodes)s episodes wait, the oldest since %(since)s. The fleet's page shows which workers live."
        ),
        "console:workers",
    ),
    Kind.DEVICE_NEW: Text(
        _("A sign-in from a new device"),
        _(
            "Somebody signed in to your account at %(at)s from a device not seen before. "
            "If it was not you, change your password."
        ),
        "account_change_password",
    ),
    Kind.PASSWORD_CHANGED: Text(
        _("Your password was changed"),
        _(
            "Your sessions and tokens have ended. If it was not you, reset your password and write to support."
        ),
        "account_reset_password",
    ),
    Kind.SECOND_FACTOR_CHANGED: Text(
        _("Your two-step sign-in was changed"),
        _("If it was not you, change your password and write to support."),
        "mfa_index",
    ),
}
INSTANT = "%Y-%m-%d %H:%M UTC"


def shown(notice: Notice, *, in_mail: bool) -> Shown:
    """The notice in words; `in_mail` only tells the layers above where it goes: scores stay out unless asked for."""
    text = TEXTS.get(cast(Kind, notice.kind))
    if text is None:  # of a later release
        return Shown(notice.kind, "", [], "")
    facts: Mapping[str, object] = defaultdict(
        lambda: "–", {name: _said(name, value) for name, value in notice.facts.items()}
    )
    return Shown(
        title=str(text.title) % facts,
        sentence=str(text.sentence) % facts,
        details=_details()(notice, "mail" if in_mail else "page"),
        path=_path(text, notice),
    )


def _said(name: str, value: Any) -> Any:
    """A duty by its name, an ISO 8601 instant as it is read, anything else as it is."""
    if name == "duty" and value in set(Duty):
        return DUTIES[Duty(value)].name
    if not isinstance(value, str):
        return value
    if "T" not in value:
        return folded(value)
    try:
        at = datetime.fromisoformat(value)
    except ValueError:
        return folded(value)
    return f"{at.astimezone(UTC):{INSTANT}}" if at.tzinfo else value


def _path(text: Text, notice: Notice) -> str:
    """The page's address in the active language; empty where this process does not know it."""
    if not text.page:
        return ""
    try:
        return reverse(
            text.page, args=[notice.facts.get(text.argument, notice.subject)] if text.argument else None
        )
    except NoReverseMatch:
        return ""


def _details() -> Callable[[Notice, str], list[str]]:
    found: Callable[[Notice, str], list[str]] = import_string(settings.NOTICE_DETAILS)
    return found
