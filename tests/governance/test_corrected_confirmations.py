"""What was graded again stays so: a confirmed run is graded again too before a dated release shows its values."""

from __future__ import annotations

from datetime import timedelta

import pytest

from config import clock
from governance.confirmation import dating
from governance.correcting.models import Regrading
from governance.models import LeakCharge
from tests.factories import BY
from tests.governance.confirming import advanced, confirmed, row_of
from tests.governance.records.test_corrections import Again, done, ordered
from tests.governance.test_silences import DOMAINS, answer, opened
from tests.submissions import world

pytestmark = pytest.mark.django_db


def dated(label: str) -> None:
    with clock.shifted(timedelta(days=2)):
        dating.date_on_command(label, by=BY)


def test_a_corrected_value_does_not_come_back_uncorrected() -> None:
    version, vendor = opened(), world.vendor()
    submission = answer(vendor, version)
    confirmed(vendor, submission, right=dict.fromkeys(DOMAINS, 12))
    first = ordered(submission, "defect")
    dated("early")
    assert row_of(submission).release_date is None
    assert done(Again()) == 1
    for _ in range(2):
        advanced(submission)
    again = Regrading.objects.exclude(pk=first.pk).get()
    assert (again.run, again.cause, again.reference) == (row_of(submission).run, "defect", first.reference)
    assert (again.ordered_by, again.approved_by) == (first.ordered_by, first.approved_by)
    assert done(Again()) == 1
    advanced(submission)
    dated("now")
    shown = vendor.api.get(f"submissions/{submission.id}/result").body
    assert shown["confirmed_in"] == "now"
    assert shown["domains"]["finance"]["value"] == 100
    assert shown["corrected"]["former"]["finance"]["value"] == 50
    assert Regrading.objects.count() == LeakCharge.objects.filter(kind="correction").count() == 2


def test_what_nobody_graded_again_is_published_at_its_date() -> None:
    version, vendor = opened(), world.vendor()
    submission = answer(vendor, version)
    confirmed(vendor, submission)
    dated("now")
    assert row_of(submission).release_date is not None
    assert not Regrading.objects.exists()
