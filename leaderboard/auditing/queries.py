"""What the auditors' pages read beside the log: names of organisations. All of it as the auditor's role."""

from __future__ import annotations

from collections.abc import Mapping

from accounts.models import Organisation
from audit.explore import AUDITOR


def organisation_names() -> Mapping[str, str]:
    """Names by id. Persons have none here: auditors know them by pseudonym."""
    rows = Organisation.objects.using(AUDITOR).order_by("name").values_list("id", "name")
    return {str(identifier): name for identifier, name in rows}
