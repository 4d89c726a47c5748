"""What events say about organisations, invitations, auditors and duties, for `manage.py audit verify`.

People are not shown to it, but for the pseudonyms of those who hold duties.
"""

from __future__ import annotations

from accounts.publishing import replay as publishing
from audit.replay import INSTANT, Ledger, State, Told, becomes, sets, together

INSTANTS = ", ".join(INSTANT.format(column) for column in ("begins_at", "ends_at"))
OF_DUTIES = ", ".join(
    INSTANT.format(column)
    for column in (
        "begins_at",
        "ends_at",
        "assigned_at",
        "confirmed_at",
        "review_due_at",
        "reviewed_at",
        "ended_at",
    )
)
#: Until something happened, its columns are empty.
NOT_YET = dict.fromkeys(
    ("confirmed_by", "confirmed", "review_due", "reviewed_by", "reviewed", "ended_by", "ended"), ""
)

NOT_PROPOSED = {"state": "filed", **dict.fromkeys(("verdict", "ground", "proposed_by", "proposed_at"), "")}
NOT_DECIDED = {"decided_by": "", "decided_at": ""}
ENDS = {"verify": "verified", "refuse": "refused", "more": "more_asked"}


def _decided(state: State, event: Told) -> None:
    """The state that the verdict brings."""
    state["state"] = ENDS.get(event.text("verdict"), "")


def _linked(state: State, event: Told) -> None:
    """The state that the verdict of a link case brings."""
    state["state"] = {"link": "linked", "clear": "cleared"}.get(event.text("verdict"), "")


LEDGERS = [
    Ledger(
        table="accounts_organisation",
        columns=("state", "lineage", "is_operator", "verified_until"),
        query=f"SELECT id, state, lineage_id, is_operator::int, {INSTANT.format('verified_until')} "  # noqa: S608
        "FROM accounts_organisation",
        begins=frozenset({"organisation.created"}),
        steps={
            "organisation.created": together(
                sets(lineage="lineage"), becomes(state="under_review", is_operator="0", verified_until="")
            ),
            "organisation.verified": together(becomes(state="verified"), sets(verified_until="until")),
            "organisation.suspended": becomes(state="suspended"),
            "organisation.lineage_changed": sets(lineage="lineage"),
        },
    ),
    Ledger(
        table="accounts_invitation",
        columns=("organisation", "role", "expires", "state"),
        query=f"SELECT id, organisation_id, role, {INSTANT.format('expires_at')}, "  # noqa: S608
        "CASE WHEN accepted_at IS NOT NULL THEN 'accepted' WHEN revoked_at IS NOT NULL THEN 'revoked' "
        "ELSE 'sent' END FROM accounts_invitation",
        begins=frozenset({"invitation.sent"}),
        steps={
            "invitation.sent": together(
                sets(organisation="organisation", role="role", expires="expires"), becomes(state="sent")
            ),
            "invitation.accepted": becomes(state="accepted"),
            "invitation.revoked": becomes(state="revoked"),
        },
    ),
    Ledger(
        table="accounts_auditorterm",
        columns=("organisation", "begins", "ends", "declaration", "ended"),
        query=f"SELECT id, organisation_id, {INSTANTS}, declaration, (ended_at IS NOT NULL)::int "  # noqa: S608
        "FROM accounts_auditorterm",
        begins=frozenset({"auditor.appointed"}),
        steps={
            "auditor.appointed": together(
                sets(organisation="organisation", begins="begins", ends="ends", declaration="declaration"),
                becomes(ended="0"),
            ),
            "auditor.ended": becomes(ended="1"),
        },
    ),
    Ledger(
        table="accounts_dutyassignment",
        columns=(
            *("person", "duty", "assigned_by", "confirmed_by", "reviewed_by", "ended_by"),
            *("begins", "ends", "assigned", "confirmed", "review_due", "reviewed", "ended"),
        ),
        query="SELECT id, person, duty, assigned_by, confirmed_by, reviewed_by, ended_by, "  # noqa: S608
        f"{OF_DUTIES} FROM accounts_dutyassignment",
        begins=frozenset({"duty.proposed"}),
        steps={
            "duty.proposed": together(
                sets(person="account", duty="duty", assigned_by="proposed_by"),
                sets(begins="begins", ends="ends", assigned="at"),
                becomes(**NOT_YET),
            ),
            "duty.confirmed": sets(confirmed_by="confirmed_by", confirmed="at", review_due="review_due"),
            "duty.reviewed": sets(reviewed_by="reviewed_by", reviewed="at", review_due="review_due"),
            "duty.ended": sets(ended_by="ended_by", ended="at"),
        },
    ),
    Ledger(
        table="accounts_dutyceremony",
        columns=("first", "second"),
        query='SELECT id, "first", "second" FROM accounts_dutyceremony',
        begins=frozenset({"duties.begun"}),
        steps={"duties.begun": sets(first="first", second="second")},
    ),
    Ledger(
        table="accounts_auditroom",
        columns=("term", "submission", "hours", "proposed_by", "opened_by", "closes", "ended_by"),
        query="SELECT id, term_id, submission_id, hours, proposed_by, opened_by, "  # noqa: S608
        f"{INSTANT.format('closes_at')}, ended_by FROM accounts_auditroom",
        begins=frozenset({"audit_room.proposed"}),
        steps={
            "audit_room.proposed": together(
                sets(term="term", submission="submission", hours="hours", proposed_by="proposed_by"),
                becomes(opened_by="", closes="", ended_by=""),
            ),
            "audit_room.opened": sets(opened_by="opened_by", closes="closes"),
            "audit_room.ended": sets(ended_by="ended_by"),
        },
    ),
    Ledger(
        table="accounts_ruleacceptance",
        columns=("digest", "accepted_by", "at"),
        query="SELECT organisation_id || ' ' || version, digest, accepted_by, "  # noqa: S608
        f"{INSTANT.format('accepted_at')} FROM accounts_ruleacceptance",
        begins=frozenset({"organisation.rules_accepted"}),
        steps={"organisation.rules_accepted": sets(digest="digest", accepted_by="accepted_by", at="at")},
        key=lambda event: f"{event.subject} {event.text('rules')}",
    ),
    Ledger(
        table="accounts_registration",
        columns=(
            *("organisation", "filed_by", "evidence", "due", "state", "domain", "domain_at"),
            *("verdict", "ground", "proposed_by", "proposed_at", "decided_by", "decided_at"),
        ),
        query="SELECT id, organisation_id, filed_by, evidence_files, "  # noqa: S608
        f"{INSTANT.format('due_at')}, state, domain_method, {INSTANT.format('domain_confirmed_at')}, verdict, ground, "
        f"proposed_by, {INSTANT.format('proposed_at')}, decided_by, {INSTANT.format('decided_at')} "
        "FROM accounts_registration",
        begins=frozenset({"registration.filed"}),
        steps={
            "registration.filed": together(
                sets(organisation="organisation", filed_by="filed_by", evidence="evidence", due="due"),
                becomes(**NOT_DECIDED, **NOT_PROPOSED, domain="", domain_at=""),
            ),
            "registration.domain_confirmed": sets(domain="method", domain_at="at"),
            "registration.proposed": together(
                becomes(state="proposed"),
                sets(verdict="verdict", ground="ground", proposed_by="proposed_by", proposed_at="at"),
            ),
            "registration.returned": becomes(**NOT_PROPOSED),
            "registration.decided": together(
                _decided,
                sets(decided_by="decided_by", decided_at="at"),
            ),
        },
    ),
    *publishing.LEDGERS,
    Ledger(
        table="accounts_linkcase",
        columns=(
            *("first", "second", "state", "verdict", "proposed_by", "proposed_at"),
            *("decided_by", "decided_at", "absorbed", "into"),
            *("parting_by", "parting_at", "parted_by", "parted_at"),
        ),
        query='SELECT id, "first", "second", state, verdict, proposed_by, '  # noqa: S608
        f"{INSTANT.format('proposed_at')}, decided_by, {INSTANT.format('decided_at')}, absorbed, "
        f'"into", parting_by, {INSTANT.format("parting_at")}, parted_by, {INSTANT.format("parted_at")} '
        "FROM accounts_linkcase",
        begins=frozenset({"link.opened"}),
        steps={
            "link.opened": together(
                sets(first="first", second="second"),
                becomes(state="open", verdict="", proposed_by="", proposed_at=""),
                becomes(decided_by="", decided_at="", absorbed="", into=""),
                becomes(parting_by="", parting_at="", parted_by="", parted_at=""),
            ),
            "link.proposed": together(
                becomes(state="proposed"),
                sets(verdict="verdict", proposed_by="proposed_by", proposed_at="at"),
            ),
            "link.returned": becomes(state="open", verdict="", proposed_by="", proposed_at=""),
            "link.decided": together(
                _linked,
                sets(decided_by="decided_by", decided_at="at", absorbed="absorbed", into="into"),
            ),
            "link.parting_proposed": together(
                becomes(state="parting"), sets(parting_by="proposed_by", parting_at="at")
            ),
            "link.parting_returned": becomes(state="linked", parting_by="", parting_at=""),
            "link.parted": together(becomes(state="parted"), sets(parted_by="decided_by", parted_at="at")),
        },
    ),
]
