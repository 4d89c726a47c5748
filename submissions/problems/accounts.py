"""What the accounts layer refuses, as problems: on pages and by commands only, and documented like the others."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from accounts import auditor_refusals
from accounts.duties import refusals as duties
from accounts.linking import refusals as linking
from accounts.members import refusals as members
from accounts.publishing import issuer_refusals
from accounts.refusals import Words
from accounts.registration import refusals as registration
from accounts.security import refusals as security
from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

OTHER_STATUS: Mapping[StrEnum, int] = {
    members.Reason.OVER: 404,  # like an invitation that never was
    registration.Reason.LINK_INVALID: 410,
}
"""All others are answered by 409."""

EVERY: list[Mapping[Any, Words]] = [
    members.WORDS,
    duties.WORDS,
    registration.WORDS,
    auditor_refusals.WORDS,
    linking.WORDS,
    issuer_refusals.WORDS,
    security.WORDS,
]

ROWS: list[Row] = [
    (
        Code(reason.value),
        OTHER_STATUS.get(reason, 409),
        Fault.REQUEST,
        words.title,
        words.sentence,
        words.remedy,
    )
    for every in EVERY
    for reason, words in every.items()
]
