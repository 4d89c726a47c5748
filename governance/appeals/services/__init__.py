"""Every change of an appeal: one function per use case, one transaction, its audit events inside it."""

from governance.appeals.services.deciding import (
    admit,
    approve,
    assign,
    dismiss,
    draft,
    send_back,
    write_notes,
    write_opinion,
)
from governance.appeals.services.effects import carry_out
from governance.appeals.services.filing import file, withdraw
from governance.appeals.services.moving import escalate
from governance.appeals.services.outsiders import end_outside, name_outside

__all__ = [
    "admit",
    "approve",
    "assign",
    "carry_out",
    "dismiss",
    "draft",
    "end_outside",
    "escalate",
    "file",
    "name_outside",
    "send_back",
    "withdraw",
    "write_notes",
    "write_opinion",
]
