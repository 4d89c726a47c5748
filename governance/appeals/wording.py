"""Texts of the staff that a vendor will read: taken only if the leak linter finds nothing in them."""

from __future__ import annotations

from accounts.duties.refusals import DutyRefused, Reason
from governance.appeals.models import Appeal
from governance.records import linter
from submissions.problems import Code, FieldError, Refusal, Refused


def cleared(text: str, appeal: Appeal) -> str:
    """The text without blanks around it.

    Raises DutyRefused where it is empty, and Refused (appeal_text_leaks) with each place that tells too much: whoever
    drafts may see what it is, the vendor never sees the text.
    """
    stripped = text.strip()
    if not stripped:
        raise DutyRefused(Reason.NO_REASON)
    found = linter.findings(stripped, appeal.task_set, addressee=appeal.organisation)
    if found:
        errors = [
            FieldError("$.text", f"{row.rule}: {row.excerpt}" if row.excerpt else str(row.rule))
            for row in found
        ]
        raise Refused(Refusal(Code.APPEAL_TEXT_LEAKS, errors=errors))
    return stripped
