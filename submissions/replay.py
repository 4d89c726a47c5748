"""What events say about submissions, slots, uploads and quota rules, for `manage.py audit verify`."""

from __future__ import annotations

from audit.replay import INSTANT, Ledger, State, Told, becomes, sets, together

UNTIL, FROM = INSTANT.format("submission.cooldown_until"), INSTANT.format("valid_from")


def _admitted(state: State, event: Told) -> None:
    state.update(scope="full", state="created", reason="", cooldown_lifted="0")
    state["organisation"] = str(event.actor.get("organisation", ""))


def _preflight(state: State, event: Told) -> None:
    _admitted(state, event)
    state.update(scope="preflight", consent="0", cooldown="")


_THINGS = {
    "harness_version": "harness_version",
    "task_set": "task_set",
    "package": "package_digest",
    "card": "card_digest",
    "upload": "upload",
}
SUBMISSION = Ledger(
    table="submissions_submission",
    columns=(
        *("scope", "state", "reason", "organisation", "harness_version", "task_set", "package", "card"),
        *("upload", "consent", "cooldown", "cooldown_lifted"),
    ),
    query="SELECT submission.id, submission.scope, submission.state, submission.reason_code, "  # noqa: S608
    "submission.organisation_id, submission.harness_version_id, version.label, submission.package_digest, "
    f"submission.card_digest, submission.upload_id, submission.publication_consent::int, {UNTIL}, "
    "(submission.cooldown_ended_at IS NOT NULL)::int FROM submissions_submission submission "
    "JOIN benchmark_tasksetversion version ON version.id = submission.task_set_id",
    begins=frozenset({"submission.admitted", "preflight.admitted"}),
    steps={
        "submission.admitted": together(
            _admitted, sets(**_THINGS, consent="publication_consent", cooldown="cooldown_until")
        ),
        "preflight.admitted": together(_preflight, sets(**_THINGS)),
        "submission.moved": sets(state="after", reason="cause"),
        "submission.publication_consent_changed": sets(consent="consent"),
        "cooldown.lifted": becomes(cooldown_lifted="1"),
    },
)


def _first_move(state: State, event: Told) -> None:
    state["moves"] = "created:admitted"


def _first_of_preflight(state: State, event: Told) -> None:
    state["moves"] = "created:preflight_admitted"


def _next_move(state: State, event: Told) -> None:
    state["moves"] = f"{state.get('moves', '')} {event.text('after')}:{event.text('cause')}"


TRANSITIONS = Ledger(
    table="submissions_submissiontransition",
    columns=("moves",),
    query="SELECT submission_id, string_agg(state || ':' || cause, ' ' ORDER BY id) "
    "FROM submissions_submissiontransition GROUP BY submission_id",
    begins=frozenset({"submission.admitted", "preflight.admitted"}),
    steps={
        "submission.admitted": _first_move,
        "preflight.admitted": _first_of_preflight,
        "submission.moved": _next_move,
    },
)


def _by(state: State, event: Told) -> None:
    state["actor"] = event.by


SLOT = Ledger(
    table="submissions_slot",
    columns=("state", "submission", "task_set", "line", "lineage", "offer", "cause", "actor"),
    query="SELECT slot.id, slot.state, slot.submission_id, version.label, slot.line_id, slot.lineage_id, "
    "slot.offer_id, slot.cause, slot.actor FROM submissions_slot slot "
    "JOIN benchmark_tasksetversion version ON version.id = slot.task_set_id",
    begins=frozenset({"slot.reserved"}),
    steps={
        "slot.reserved": together(
            sets(submission="submission", task_set="task_set", line="line", lineage="lineage", offer="offer"),
            becomes(state="reserved", cause="admitted"),
            _by,
        ),
        "slot.consumed": together(sets(cause="cause"), becomes(state="consumed"), _by),
        "slot.refunded": together(sets(cause="cause"), becomes(state="refunded"), _by),
    },
)

RERUN_OFFER = Ledger(
    table="submissions_rerunoffer",
    columns=(
        *("state", "former", "task_set", "organisation", "harness_version", "package"),
        *("submission", "expires"),
    ),
    query="SELECT offer.id, offer.state, offer.former_id, version.label, offer.organisation_id, "  # noqa: S608
    "offer.harness_version_id, offer.package_digest, offer.submission_id, "
    f"{INSTANT.format('offer.expires_at')} FROM submissions_rerunoffer offer "
    "JOIN benchmark_tasksetversion version ON version.id = offer.task_set_id",
    begins=frozenset({"rerun_offer.made"}),
    steps={
        "rerun_offer.made": together(
            sets(former="former", task_set="task_set", organisation="owner", expires="expires_at"),
            sets(harness_version="harness_version", package="package_digest"),
            becomes(state="open", submission=""),
        ),
        "rerun_offer.used": together(sets(submission="submission"), becomes(state="used")),
        "rerun_offer.reopened": together(sets(expires="expires_at"), becomes(state="open", submission="")),
        "rerun_offer.ended": lambda state, event: state.update(state=event.outcome),
    },
)

RETURN = Ledger(
    table="submissions_usereturn",
    columns=("slot", "proposed_by", "approved_by", "approved", "withdrawn_by", "withdrawn"),
    query="SELECT id, slot_id, proposed_by, approved_by, "  # noqa: S608
    f"{INSTANT.format('approved_at')}, withdrawn_by, {INSTANT.format('withdrawn_at')} FROM submissions_usereturn",
    begins=frozenset({"use_return.proposed"}),
    steps={
        "use_return.proposed": together(
            sets(slot="slot", proposed_by="proposed_by"),
            becomes(approved_by="", approved="", withdrawn_by="", withdrawn=""),
        ),
        "use_return.approved": sets(approved_by="approved_by", approved="at"),
        "use_return.withdrawn": sets(withdrawn_by="withdrawn_by", withdrawn="at"),
    },
)


def _outcome(state: State, event: Told) -> None:
    state["state"] = event.outcome


UPLOAD = Ledger(
    table="submissions_upload",
    columns=("harness_version", "state", "failure", "sha256", "size"),
    query="SELECT id, harness_version_id, state, failure, sha256, size FROM submissions_upload",
    begins=frozenset({"upload.opened"}),
    steps={
        "upload.opened": together(
            sets(harness_version="harness_version", sha256="sha256", size="size"),
            becomes(state="open", failure=""),
        ),
        "upload.verifying": becomes(state="verifying"),
        "upload.used": becomes(state="consumed"),
        "upload.ended": together(sets(failure="cause", sha256="sha256", size="size"), _outcome),
        "upload.removed_from_quarantine": _outcome,
    },
)


def _rules(state: State, event: Told) -> None:
    """Rows of one version as one text, in the order in which the database sorts them too."""
    rules = event.data.get("rules")
    fresh = [
        f"{event.text('valid_from')} {rule}={value} {event.text('profile')}"
        for rule, value in (rules.items() if isinstance(rules, dict) else ())
    ]
    state["rules"] = "; ".join(sorted([*filter(None, state.get("rules", "").split("; ")), *fresh]))


QUOTA = Ledger(
    table="submissions_quotapolicy",
    columns=("rules",),
    query="WITH rules AS (SELECT task_set_id, "  # noqa: S608
    f"{FROM} || ' ' || rule || '=' || value || ' ' || profile AS rule FROM submissions_quotapolicy) "
    """SELECT task_set_id, string_agg(rule, '; ' ORDER BY rule COLLATE "C") FROM rules GROUP BY task_set_id""",
    begins=frozenset({"quota.policy_set"}),
    steps={"quota.policy_set": _rules},
)

WEBHOOK = Ledger(
    table="submissions_webhookendpoint",
    columns=("owner", "state"),
    query="SELECT id, organisation_id, CASE WHEN removed_at IS NOT NULL THEN 'removed' "
    "WHEN disabled_at IS NOT NULL THEN 'off' ELSE 'on' END FROM submissions_webhookendpoint",
    begins=frozenset({"webhook.created"}),
    steps={
        "webhook.created": together(sets(owner="owner"), becomes(state="on")),
        "webhook.disabled": becomes(state="off"),
        "webhook.enabled": becomes(state="on"),
        "webhook.removed": becomes(state="removed"),
    },
)

LEDGERS = [SUBMISSION, TRANSITIONS, SLOT, RERUN_OFFER, RETURN, UPLOAD, QUOTA, WEBHOOK]
