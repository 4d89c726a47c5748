"""Everything begins once, and before something else refers to it."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen, known_without_rule

BEGINS = {
    "organisation.created": "organisation",
    "token.issued": "token",
    "harness.registered": "harness",
    "harness.version_registered": "harness version",
    "upload.opened": "upload",
    "submission.admitted": "submission",
    "preflight.admitted": "submission",
    "slot.reserved": "slot",
    "run.created": "run",
    "task_set.imported": "task set",
    "release_policy.set": "release policy",
    "auditor.appointed": "auditor's term",
    "witness.registered": "witness",
    "invitation.sent": "invitation",
}
"""The kind that begins a thing, and what the thing is called."""

NEEDS: dict[str, tuple[tuple[str, str], ...]] = {
    "organisation.verified": (("organisation", ""),),
    "organisation.suspended": (("organisation", ""),),
    "organisation.member_added": (("organisation", ""),),
    "organisation.marked_as_auditing": (("organisation", ""),),
    "organisation.member_role_changed": (("organisation", ""),),
    "organisation.member_ended": (("organisation", ""),),
    "invitation.sent": (("organisation", "organisation"),),
    "invitation.accepted": (("invitation", ""),),
    "invitation.revoked": (("invitation", ""),),
    "organisation.rules_accepted": (("organisation", ""),),
    "registration.filed": (("organisation", "organisation"),),
    "organisation.lineage_changed": (("organisation", ""),),
    "auditor.appointed": (("organisation", "organisation"),),
    "auditor.ended": (("auditor's term", ""),),
    "token.revoked": (("token", ""),),
    "harness.version_registered": (("harness", "harness"),),
    "upload.opened": (("harness version", "harness_version"),),
    "upload.verifying": (("upload", ""),),
    "upload.used": (("upload", ""),),
    "upload.ended": (("upload", ""),),
    "upload.removed_from_quarantine": (("upload", ""),),
    "submission.admitted": (("harness version", "harness_version"), ("upload", "upload")),
    "preflight.admitted": (("harness version", "harness_version"), ("upload", "upload")),
    "submission.answered_by_earlier": (("submission", ""), ("upload", "upload")),
    "submission.canary_started": (("submission", ""), ("run", "run")),
    "submission.lost_runs_repeated": (("submission", ""),),
    "submission.rerun_ordered": (("submission", ""),),
    "submission.publication_consent_changed": (("submission", ""),),
    "cooldown.lifted": (("submission", ""),),
    "slot.reserved": (("submission", "submission"),),
    "result.released": (("submission", ""), ("release policy", "policy")),
    "result.read": (("submission", ""),),
    "task_set.admitted": (("task set", ""),),
    "task_set.frozen": (("task set", ""),),
    "task_set.opened": (("task set", ""),),
    "task_set.closed": (("task set", ""),),
    "quota.policy_set": (("task set", ""),),
    "quota.admission_stopped": (("task set", ""),),
    "quota.admission_stop_lifted": (("task set", ""),),
}
"""By kind: what must have begun, and the fact that names it; an empty one is the subject itself."""

known_without_rule(
    *("account.created", "account.password_set", "account.password_rehashed", "account.email_changed"),
    *("account.factor_enrolled", "account.factor_removed", "account.recovery_codes_made"),
    "account.sessions_ended",
    *("account.name_set", "account.language_set", "account.suspended", "person.erased"),
    *("webhook.created", "webhook.disabled", "webhook.enabled", "webhook.removed"),
    *("erasure.asked", "erasure.withdrawn"),
)


class Beginnings(Rule):
    """Nothing begins twice, and nothing is named before it began."""

    kinds: ClassVar[frozenset[str]] = frozenset(BEGINS) | frozenset(NEEDS)

    def __init__(self) -> None:
        self._begun: dict[str, set[str]] = {thing: set() for thing in BEGINS.values()}

    def see(self, event: Seen) -> str | None:
        for thing, fact in NEEDS.get(event.kind, ()):
            name = event.data[fact] if fact else event.subject
            if name not in self._begun[thing] and not event.excused():
                return f"{event.kind} names the {thing} {name}, which no earlier entry begins"
        begun = BEGINS.get(event.kind)
        if begun is None:
            return None
        if event.subject in self._begun[begun]:
            return f"the {begun} {event.subject} begins a second time"
        self._begun[begun].add(event.subject)
        return None


class Ends(Rule):
    """A token is revoked once, an auditor's term ended once, an invitation accepted or withdrawn once."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"token.revoked", "auditor.ended", "invitation.accepted", "invitation.revoked"}
    )

    def __init__(self) -> None:
        self._ended: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.subject in self._ended:
            return f"{event.kind} happens to {event.subject} a second time"
        self._ended.add(event.subject)
        return None


class Auditors(Rule):
    """Auditors come from an organisation marked as auditing before; where people behind one are named, they are two."""

    kinds: ClassVar[frozenset[str]] = frozenset({"organisation.marked_as_auditing", "auditor.appointed"})

    def __init__(self) -> None:
        self._marked: set[str] = set()

    def see(self, event: Seen) -> str | None:
        if event.kind == "organisation.marked_as_auditing":
            self._marked.add(event.subject)
        elif event.data["organisation"] not in self._marked and not event.excused():
            return f"an auditor is appointed of {event.data['organisation']}, which audits nothing"
        people = event.data.get("people")
        if people is not None and not len(set(people)) == len(people) == 2:
            return f"the auditor's term {event.subject} is not the word of two people"
        return None
