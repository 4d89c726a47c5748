"""May this be submitted? Pure: facts in, None or the reason why not out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from submissions.policies import reruns
from submissions.policies.quota import Purpose, QuotaWindow
from submissions.policies.reruns import OfferFacts
from submissions.problems.codes import Code
from submissions.problems.refusal import NoDate, Refusal


@dataclass(frozen=True)
class Standing:
    """Who asks."""

    organisation_state: str
    """under_review, verified, expired or suspended: accounts.registration.policies.Verification."""
    organisation_audits: bool
    """Whether it audits the platform, in which case it competes in nothing."""
    account_suspended: bool
    role_may_submit: bool
    rules_accepted: bool
    """Whether the organisation accepted the participation rules in force."""


@dataclass(frozen=True)
class UploadFacts:
    """The package as declared and checked."""

    state: str
    expired: bool
    same_version: bool
    """Whether it was declared for the harness version that is submitted."""


@dataclass(frozen=True)
class Stop:
    """An admission stop that stands; `cause` in words, `until` where a date is set."""

    cause: str
    until: datetime | None


@dataclass(frozen=True)
class Facts:
    """All that decides, but for the quota window."""

    standing: Standing
    task_set: str
    entitled: bool
    upload: UploadFacts | None
    """None where somebody asks before there is one."""
    card_current: bool
    version: str
    bound_to_other_package: bool
    """Whether this version string was submitted with another package that passed intake or may yet."""
    stop: Stop | None
    intake_paused: bool = False
    """Whether the platform takes nothing new from anybody."""
    offer: OfferFacts | None = None
    """The offer of a re-run that the order takes."""


_NEVER = NoDate.NOT_A_MATTER_OF_TIME


def not_entitled(task_set: str) -> Refusal:
    """No policy lets this organisation submit to the version: nothing of nothing is used."""
    facts = {"task_set": task_set, "policy": "none", "counter": "entitlement", "used": 0, "limit": 0}
    return Refusal(Code.NOT_ENTITLED, facts, next_allowed_reason=_NEVER)


def may_act(standing: Standing) -> Refusal | None:
    """Whether this person may change things for this organisation at all."""
    if standing.account_suspended:
        return Refusal(Code.ACCOUNT_SUSPENDED)
    if standing.organisation_state == "suspended":
        return Refusal(Code.ORGANISATION_SUSPENDED)
    if standing.organisation_audits:
        return Refusal(Code.ORGANISATION_AUDITS)
    if not standing.role_may_submit:
        return Refusal(Code.ROLE_MAY_NOT_SUBMIT)
    return None


def may_compete(standing: Standing) -> Refusal | None:
    """Whether the organisation may have anything run on held-out tasks."""
    if refusal := may_act(standing):
        return refusal
    if standing.organisation_state == "expired":
        return Refusal(Code.VERIFICATION_EXPIRED)
    if standing.organisation_state != "verified":
        return Refusal(Code.ORGANISATION_NOT_VERIFIED)
    return None if standing.rules_accepted else Refusal(Code.RULES_NOT_ACCEPTED)


def may_ask(facts: Facts) -> Refusal | None:
    """What has to hold before even an identical earlier result is returned."""
    return may_compete(facts.standing) or _in_order(facts)


def may_preflight(facts: Facts, window: QuotaWindow) -> Refusal | None:
    """Whether a preflight on its own is admitted now: also to who is under review, or has to be reviewed again.

    It tells nothing about held-out tasks, so stops of admissions and uses that are spent are no matter, and it binds
    no version to its package. The participation rules are needed: the platform runs foreign code under them.
    """
    refusal = may_act(facts.standing) or _in_order(facts) or _intake(facts)
    return refusal or window.serving(Purpose.PREFLIGHT).refusal()


def _intake(facts: Facts) -> Refusal | None:
    return Refusal(Code.INTAKE_PAUSED) if facts.intake_paused else None


def _in_order(facts: Facts) -> Refusal | None:
    """Rules, task set, card and upload: needed whatever is asked for."""
    if not facts.standing.rules_accepted:
        return Refusal(Code.RULES_NOT_ACCEPTED)
    if not facts.entitled:
        return not_entitled(facts.task_set)
    if not facts.card_current:
        return Refusal(Code.CARD_INCOMPLETE)
    return _usable(facts.upload) if facts.upload else None


def _usable(upload: UploadFacts) -> Refusal | None:
    if not upload.same_version:
        return Refusal(Code.UPLOAD_OF_ANOTHER_VERSION)
    if upload.state == "consumed":
        return Refusal(Code.UPLOAD_USED)
    if upload.expired or upload.state == "expired":
        return Refusal(Code.UPLOAD_EXPIRED)
    if upload.state != "complete":
        return Refusal(Code.UPLOAD_NOT_COMPLETE)
    return None


def may_submit(facts: Facts, window: QuotaWindow) -> Refusal | None:
    """Whether one more submission is admitted now, and if not, the first reason in a fixed order."""
    if refusal := may_ask(facts) or _intake(facts):
        return refusal
    if facts.stop is not None:
        line = window.rules[0]
        return Refusal(
            Code.ADMISSION_STOPPED,
            {
                "cause": facts.stop.cause,
                "policy": window.terms.profile,
                "counter": "admission_stop",
                "used": line.used,
                "limit": line.limit,
            },
            next_allowed_at=facts.stop.until,
            next_allowed_reason=None if facts.stop.until else NoDate.NEXT_VERSION,
            counters=[counter.shown() for counter in window.counters],
        )
    if facts.offer is not None and (refusal := reruns.refusal(facts.offer, window.now)):
        return refusal
    if facts.bound_to_other_package:
        return Refusal(Code.VERSION_TAKEN, {"version": facts.version})
    return (window.outside_quota if facts.offer else window).refusal()
