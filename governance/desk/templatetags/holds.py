"""The hold on a submission's page, and the list of rules under which a result can be held."""

from __future__ import annotations

from typing import Any

from django import template
from django.urls import NoReverseMatch, reverse

from governance.desk import policies
from governance.desk.rules import RULES, VERSION
from governance.desk.telling import open_questions, told
from submissions.models import Submission

register = template.Library()


@register.inclusion_tag("desk/hold.html", takes_context=True)
def hold_card(context: template.Context, submission: Submission) -> dict[str, Any]:
    """How the hold of this submission stands, for its vendor; nothing where there is none."""
    try:
        appeal = reverse("appeals:new_appeal")
    except NoReverseMatch:
        appeal = ""
    return {
        "hold": told(submission),
        "questions": open_questions(submission),
        "appeal": appeal,
        "request": context.get("request"),
    }


@register.inclusion_tag("desk/rules.html")
def hold_rules() -> dict[str, Any]:
    """The closed list, the same for everybody."""
    return {
        "rules": RULES.values(),
        "version": VERSION,
        "days": policies.WORKING_DAYS,
        "most": policies.MOST_WORKING_DAYS,
    }
