"""What the accounts layer refuses: a code that stays, and words that a person can act on.

Each code is in the problem catalogue too, which a test compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, Generic, TypeVar

from django.utils.functional import Promise


@dataclass(frozen=True)
class Words:
    """What is said: what it is, why, and what to do. The problem catalogue has the same."""

    title: Promise
    sentence: Promise
    remedy: Promise

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}"


Code = TypeVar("Code", bound=StrEnum)


class AccountsRefused(ValueError, Generic[Code]):
    """It is not done; `reason` is the code, `sentence` says why and what to do."""

    words: ClassVar[Mapping[Any, Words]]

    def __init__(self, reason: Code) -> None:
        super().__init__(reason.value)
        self.reason = reason

    @property
    def sentence(self) -> str:
        return str(self.words[self.reason])

    def __str__(self) -> str:
        return f"{self.sentence} [{self.reason.value}]"
