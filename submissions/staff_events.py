"""Audit event kinds of what evaluation engineers do about submissions."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class RerunOrdered(Event):
    """`attempts` are the opaque ids of what failed; of very many only `count` and `digest` (SHA-256, one id a line)."""

    kind: ClassVar[str] = "submission.rerun_ordered"
    subject_type: ClassVar[str] = "submission"
    sentence = _("{actor} had {count} lost runs of the submission {subject} repeated at once.")
    run: str
    count: int
    attempts: list[str] | None = None
    digest: str
    ordered_by: str
    reason: str
