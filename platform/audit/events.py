"""What an audit event is made of: who, what kind, about which object, with which facts. Each app declares its kinds."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise

Channel = Literal["web", "api", "system", "command"]


class Actor(BaseModel):
    """Who acts. Persons appear by their random pseudonym only; `organisation` is the one they act for."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["person", "token", "ci", "worker", "system"]
    id: str
    organisation: str = ""
    channel: Channel = "system"
    account: uuid.UUID | None = None
    """The account whose allowance the act draws on; never part of the event itself."""

    def body(self) -> dict[str, str]:
        parts = {"channel": self.channel, "id": self.id, "kind": self.kind}
        return parts | ({"organisation": self.organisation} if self.organisation else {})


def system(name: str) -> Actor:
    """A part of the platform acting by itself, for instance `system("reaper")`."""
    return Actor(kind="system", id=name)


class Event(BaseModel):
    """Base of all kinds. Fields other than `subject` are the event's facts: strings, integers, lists, objects."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: ClassVar[str]
    version: ClassVar[int] = 1
    subject_type: ClassVar[str]
    sentence: ClassVar[StrOrPromise] = ""
    """What happened, for people, with the names of facts in braces; `audit.wording` fills them in."""
    registry: ClassVar[dict[str, type[Event]]] = {}

    subject: uuid.UUID | str
    outcome: str = "ok"

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "kind" not in vars(cls):  # a base of kinds with the same facts, and no kind itself
            return
        if known := Event.registry.get(cls.kind):
            raise TypeError(f"audit event kind {cls.kind} is declared by {known.__qualname__} already")
        Event.registry[cls.kind] = cls

    def facts(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude={"subject", "outcome"}, exclude_none=True)
