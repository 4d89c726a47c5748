"""What the accounts layer refuses about CI identities, as problems."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accounts.publishing.refusals import IdentityRefused
from submissions.problems.codes import Code
from submissions.problems.refusal import Refusal, Refused


@contextmanager
def as_problems() -> Iterator[None]:
    """Inside, an IdentityRefused becomes Refused with the code of the same name."""
    try:
        yield
    except IdentityRefused as refused:
        raise Refused(Refusal(Code(refused.cause.value), refused.facts)) from None
