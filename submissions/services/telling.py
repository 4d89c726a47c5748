"""Who is told what about a submission: one notice for each move that ends it, stops it or asks something.

Written in the transaction of the move, so that no notice is there before the page shows the state.
"""

from __future__ import annotations

from accounts.models import Membership, User
from accounts.notices.kinds import Kind
from accounts.notices.services import notify
from config import clock
from submissions.models import Submission
from submissions.policies.states import DEADLINES, ENDS
from submissions.problems import Code

STOPS = frozenset({"awaiting_choice", "held", "paused"})
TOLD = ENDS | STOPS
AGAIN = frozenset({"paused", "held", "awaiting_choice", "incomplete"})
"""States that a submission can come to more than once."""
_PREFLIGHT = {
    "preflight_passed": Kind.PREFLIGHT_PASSED,
    "preflight_failed": Kind.PREFLIGHT_FAILED,
}


def tell_move(submission: Submission) -> None:
    """Tell who submitted that it has just come to its present state, where that is something to be told."""
    state = submission.state
    if state not in TOLD:
        return
    facts = facts_of(submission) | {"code": submission.reason_code, "reason": submission.reason_facts}
    if state in DEADLINES:
        facts["deadline"] = (submission.state_since + DEADLINES[state][0]).isoformat()
    notify(
        recipients(submission),
        _PREFLIGHT.get(state, Kind.PREFLIGHT_ENDED)
        if submission.is_preflight
        else Kind(f"submission.{state}"),
        subject=submission.id,
        facts=facts,
        organisation=submission.organisation,
        occasion=submission.state_since.isoformat() if state in AGAIN else "",
    )


def tell_refund(submission: Submission, *, cause: str, reason: str) -> None:
    """Tell who submitted that staff returned the use, with their words."""
    facts = facts_of(submission) | {"code": Code(cause).value, "reason": {"reason": reason}}
    facts["at"] = clock.now().isoformat()
    notify(
        recipients(submission),
        Kind.SLOT_REFUNDED,
        subject=submission.id,
        facts=facts,
        organisation=submission.organisation,
    )


def recipients(submission: Submission) -> list[User]:
    """Who submitted it while they belong to the organisation, else its owners."""
    members = Membership.objects.filter(organisation=submission.organisation).select_related("user")
    who = members.filter(user=submission.account_id) if submission.account_id else members.none()
    return [member.user for member in who] or [
        member.user for member in members.filter(role=Membership.Role.OWNER)
    ]


def facts_of(submission: Submission) -> dict[str, object]:
    """What every notice about a submission says."""
    version = submission.harness_version
    return {
        "submission": str(submission.id),
        "harness": version.harness.name,
        "version": version.version,
        "state": submission.state,
    }
