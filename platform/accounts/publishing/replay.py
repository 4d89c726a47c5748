"""What events say about trusted publishers, their jobs' credentials and reviewed issuers."""

from __future__ import annotations

from audit.replay import INSTANT, Ledger, becomes, sets, together

LEDGERS = [
    Ledger(
        table="accounts_trustedpublisher",
        columns=("organisation", "harness", "registered_by", "ended_by", "ended"),
        query="SELECT id, organisation_id, harness_id, registered_by, ended_by, "  # noqa: S608
        f"{INSTANT.format('ended_at')} FROM accounts_trustedpublisher",
        begins=frozenset({"publisher.registered"}),
        steps={
            "publisher.registered": together(
                sets(organisation="organisation", harness="harness", registered_by="registered_by"),
                becomes(ended_by="", ended=""),
            ),
            "publisher.removed": sets(ended_by="ended_by", ended="at"),
        },
    ),
    Ledger(
        table="accounts_cigrant",
        columns=("publisher", "act_expires", "watch_expires", "submission"),
        query=f"SELECT id, publisher_id, {INSTANT.format('act_expires_at')}, "  # noqa: S608
        f"{INSTANT.format('watch_expires_at')}, submission_id FROM accounts_cigrant",
        begins=frozenset({"ci.exchanged"}),
        steps={
            "ci.exchanged": together(
                sets(publisher="publisher", act_expires="act_expires", watch_expires="watch_expires"),
                becomes(submission=""),
            ),
            "ci.bound": sets(submission="submission"),
        },
    ),
    Ledger(
        table="accounts_reviewedissuer",
        columns=(
            *("organisation", "keys", "proposed_by", "proposed", "approved_by", "approved", "ends"),
            *("ended_by", "ended"),
        ),
        query="SELECT id, organisation_id, jwks_digest, proposed_by, {}, approved_by, {}, {}, ended_by, {} "  # noqa: S608
        "FROM accounts_reviewedissuer".format(
            *(INSTANT.format(name) for name in ("proposed_at", "approved_at", "ends_at", "ended_at"))
        ),
        begins=frozenset({"issuer.proposed"}),
        steps={
            "issuer.proposed": together(
                sets(organisation="organisation", keys="keys", proposed_by="proposed_by", proposed="at"),
                becomes(approved_by="", approved="", ends="", ended_by="", ended=""),
            ),
            "issuer.approved": sets(approved_by="approved_by", approved="at", ends="ends"),
            "issuer.ended": sets(ended_by="ended_by", ended="at"),
        },
    ),
]
