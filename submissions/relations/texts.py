"""The mail to an owner: in both languages, since theirs is not known; no score stands in it."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from config.lines import folded
from submissions.models import Submission


def owners_mail(submission: Submission, owner: str, publishable_from: datetime) -> tuple[str, str]:
    """Subject and text."""
    facts = {
        "owner": folded(owner),
        "harness": folded(submission.harness_version.harness.title),
        "organisation": folded(submission.organisation.name),
        "date": f"{publishable_from:%Y-%m-%d %H:%M} UTC",
        "id": submission.id,
    }
    subjects, texts = [], []
    for language, _name in settings.LANGUAGES:
        with translation.override(language):
            subjects.append(_("A result of your harness may be published"))
            texts.append(
                _(
                    "Dear %(owner)s,\n\n%(organisation)s has submitted “%(harness)s” to Lingee Bench and named you "
                    "as its owner. They act as a third party. From %(date)s on, a result of it may be published; "
                    "its title will say that a third party submitted it.\n\nIf you object, answer this mail before "
                    "that date and say why. Nothing is published then until it is decided.\n\nSubmission: %(id)s"
                )
                % facts
            )
    return " / ".join(subjects).replace("\n", " "), "\n\n--\n\n".join(texts)
