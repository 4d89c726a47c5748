"""Members: nobody joins twice, only members change role or leave, and no organisation is left without an owner."""

from __future__ import annotations

from typing import ClassVar

from client.audit.rules.base import Rule, Seen

OWNER = "owner"


class Members(Rule):
    """Who belongs to which organisation in which role, as the entries tell it."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"organisation.member_added", "organisation.member_role_changed", "organisation.member_ended"}
    )

    def __init__(self) -> None:
        self._roles: dict[str, dict[str, str]] = {}

    def see(self, event: Seen) -> str | None:
        members = self._roles.setdefault(event.subject, {})
        account = event.data["account"]
        before = members.pop(account, None)
        if event.kind == "organisation.member_added":
            members[account] = event.data["role"]
            if before is not None and not event.excused():
                return f"{account} joins {event.subject} a second time without having left"
            return None
        if event.kind == "organisation.member_role_changed":
            members[account] = event.data["role"]
        if before is None and not event.excused():
            return f"{event.kind} is about {account}, who is no member of {event.subject}"
        if before == OWNER and OWNER not in members.values() and not event.excused():
            return f"{event.subject} is left without an owner"
        return None


class Acceptance(Rule):
    """Whoever accepts an invitation joins that organisation in the role it names."""

    kinds: ClassVar[frozenset[str]] = frozenset(
        {"invitation.sent", "invitation.accepted", "organisation.member_added"}
    )

    def __init__(self) -> None:
        self._sent: dict[str, tuple[str, str]] = {}
        self._accepted: dict[tuple[str, str], str] = {}

    def see(self, event: Seen) -> str | None:
        data = event.data
        if event.kind == "invitation.sent":
            self._sent[event.subject] = data["organisation"], data["role"]
        elif event.kind == "invitation.accepted":
            place, role = self._sent.get(event.subject, (data["organisation"], ""))
            self._accepted[data["organisation"], data["account"]] = role
            if place != data["organisation"]:
                return f"the invitation {event.subject} was to {place}, not to {data['organisation']}"
        else:
            role = self._accepted.pop((event.subject, data["account"]), "")
            if role and role != data["role"]:
                return (
                    f"{data['account']} was invited to {event.subject} as {role} and joins as {data['role']}"
                )
        return None
