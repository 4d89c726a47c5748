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
from governance.appeals.services.rechecking import advance as advance_recheck
from governance.appeals.services.rechecking import judge, reveal

__all__ = [
    "admit",
    "advance_recheck",
    "approve",
    "assign",
    "carry_out",
    "dismiss",
    "draft",
    "end_outside",
    "escalate",
    "file",
    "judge",
    "name_outside",
    "reveal",
    "send_back",
    "withdraw",
    "write_notes",
    "write_opinion",
]
