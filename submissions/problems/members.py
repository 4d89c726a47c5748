"""What the accounts layer refuses about members, as problems: refused on pages only, and documented like the others."""

from __future__ import annotations

from accounts.members.refusals import WORDS, Reason
from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

NOT_THERE = {Reason.OVER}
"""Answered like an invitation that never was."""

ROWS: list[Row] = [
    (
        Code(reason.value),
        404 if reason in NOT_THERE else 409,
        Fault.REQUEST,
        words.title,
        words.sentence,
        words.remedy,
    )
    for reason, words in WORDS.items()
]
