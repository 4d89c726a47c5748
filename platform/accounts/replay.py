"""What events say about organisations and auditors, for `manage.py audit verify`. People are not shown to it."""

from __future__ import annotations

from audit.replay import INSTANT, Ledger, becomes, sets, together

INSTANTS = ", ".join(INSTANT.format(column) for column in ("begins_at", "ends_at"))

LEDGERS = [
    Ledger(
        table="accounts_organisation",
        columns=("state", "lineage", "is_operator"),
        query="SELECT id, state, lineage_id, is_operator::int FROM accounts_organisation",
        begins=frozenset({"organisation.created"}),
        steps={
            "organisation.created": together(
                sets(lineage="lineage"), becomes(state="under_review", is_operator="0")
            ),
            "organisation.verified": becomes(state="verified"),
            "organisation.suspended": becomes(state="suspended"),
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
]
