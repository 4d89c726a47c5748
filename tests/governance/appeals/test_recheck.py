"""A blind re-check: both sides bind themselves, two judge who see neither vendor nor verdict, one number leaves."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from accounts.duties.refusals import DutyRefused
from accounts.duties.table import Duty
from accounts.models import User
from accounts.notices.models import Notice
from audit.merkle.commitment import drawn
from benchmark.models import TaskSetVersion
from evaluation.models import Attempt
from governance.appeals import drawing, queries, services, sheets
from governance.appeals.models import Appeal, Recheck, RecheckItem, RecheckSheet, RuledEffect
from governance.appeals.services import rechecking
from governance.correcting.models import Regrading
from governance.models import LeakCharge
from submissions.models import Submission
from submissions.problems import Refused
from tests.accounts.duties import acting
from tests.accounts.duties import opened as office
from tests.audit.test_log import Connect
from tests.factories import BY
from tests.governance.appeals import arranged
from tests.governance.appeals.arranged import COMMITMENT, WORD, Bench, filed, later
from tests.governance.test_silences import answer
from tests.governance.test_silences import opened as version_opened
from tests.pages import site
from tests.submissions import world

pytestmark = pytest.mark.django_db
SHOWN = {"statement": "Match the vouchers.", "rules": "[]", "reply": "done", "files": []}


@contextmanager
def preparing() -> Iterator[sheets.Prepare]:
    """In place of packs and artefacts, which these submissions have not."""
    yield lambda attempt: dict(SHOWN)


@dataclass
class Case:
    vendor: world.Vendor
    version: TaskSetVersion
    submission: Submission
    staff: Bench
    second: User
    appeal: Appeal

    def recheck(self) -> Recheck:
        return Recheck.objects.get(appeal=self.appeal)

    def advanced(self) -> Recheck:
        """The tick of sealed work."""
        rechecking.commit(self.appeal.id, by=BY)
        rechecking.draw(self.appeal.id, by=BY, preparing=preparing)
        rechecking.show(self.appeal.id, by=BY)
        rechecking.lapse(self.appeal.id, by=BY)
        return self.recheck()

    def judged(self, wrong: int = 0) -> None:
        """Both come to the first verdict, but for `wrong` runs that the second finds otherwise."""
        verdicts = dict(RecheckItem.objects.values_list("id", "verdict"))
        for person in (self.staff.author, self.second):
            for number, sheet in enumerate(queries.sheets_of(person.pseudonym)):
                found = verdicts[sheet.item_id] ^ (person == self.second and number < wrong)
                services.judge(sheet.id, verdict="delivers" if found else "fails", by=acting(person))


@pytest.fixture
def case() -> Case:
    vendor, version, staff = world.vendor(), version_opened(), arranged.bench()
    submission = answer(vendor, version)
    row = filed(
        vendor, version, subject="score", submission=submission, domain="finance", commitment=COMMITMENT
    )
    second = office().holder(Duty.SCORING_MAINTAINER)
    arranged.examined(row, staff, second)
    return Case(vendor, version, submission, staff, second, Appeal.objects.get(pk=row.pk))


def drawn_case(case: Case) -> Case:
    case.advanced()
    services.reveal(case.appeal.id, word=WORD, by=case.vendor.actor)
    assert case.advanced().state == "drawn"
    return case


def test_runs_are_drawn_once_both_sides_are_bound(case: Case) -> None:
    row = case.advanced()
    assert (row.state, row.nonce, row.runs) == ("committed", "", None)
    assert case.advanced().platform_commitment == row.platform_commitment, "once"
    assert Notice.objects.filter(kind="appeal.word_due").count() == 1
    with pytest.raises(Refused, match="appeal_word"):
        services.reveal(case.appeal.id, word="another word of the vendor", by=case.vendor.actor)
    for _ in range(2):
        services.reveal(case.appeal.id, word=WORD, by=case.vendor.actor)
    row = case.advanced()
    assert (row.state, row.runs) == ("drawn", 24), "all of the domain where there are fewer than forty"
    assert hashlib.sha256(row.nonce.encode()).hexdigest() == row.platform_commitment
    episodes = [attempt.id.hex for attempt in Attempt.objects.filter(episode__task__domain="finance")]
    again = drawing.draw(drawing.seed_of(WORD, row.nonce), episodes, 40)
    assert {item.attempt_id.hex for item in RecheckItem.objects.all()} == set(again)
    orders = [
        [sheet.item_id for sheet in queries.sheets_of(who.pseudonym)]
        for who in (case.staff.author, case.second)
    ]
    assert sorted(orders[0], key=str) == sorted(orders[1], key=str)
    assert orders[0] != orders[1]


def test_agreement_is_shown_and_charged_on_a_tick_and_the_ruling_waits_for_it(case: Case) -> None:
    drawn_case(case)
    spent = LeakCharge.objects.count()
    with pytest.raises(Refused, match="appeal_recheck_runs"):
        services.draft(
            case.appeal.id, outcome="rejected", text="x", effects=[], by=acting(case.staff.engineer)
        )
    case.judged(wrong=1)
    assert case.recheck().state == "judged"
    rechecking.show(case.appeal.id, by=BY)
    with later(seconds=10):
        row = case.advanced()
    assert (row.state, row.agreement, row.is_below) == ("shown", 96, False)
    assert row.low is not None
    assert row.high is not None
    assert row.low < 96 < row.high
    charge = LeakCharge.objects.get(kind="recheck")
    assert (LeakCharge.objects.count(), charge.millibits) == (spent + 1, 4644)
    assert not RecheckSheet.objects.exclude(sealed=b"").exists()
    face = queries.face(case.appeal)["recheck"]
    assert (face["agreement"], face["runs"], face["threshold"]) == (96, 24, 90)
    services.draft(
        case.appeal.id, outcome="rejected", text="It stands.", effects=[], by=acting(case.staff.engineer)
    )


def test_too_little_agreement_orders_another_grading_whatever_the_draft_says(case: Case) -> None:
    drawn_case(case)
    case.judged(wrong=3)
    with later(seconds=10):
        row = case.advanced()
    assert (row.agreement, row.is_below) == (88, True)
    by = acting(case.staff.engineer)
    with pytest.raises(Refused, match="appeal_effect_not_possible"):
        services.draft(case.appeal.id, outcome="rejected", text="x", effects=[], by=by)
    services.draft(case.appeal.id, outcome="partly", text="Graded again.", effects=[], by=by)
    services.approve(case.appeal.id, by=acting(case.staff.arbiter))
    services.carry_out(case.appeal.id, by=BY)
    assert dict(RuledEffect.objects.values_list("kind", "result")) == {"line": "done", "regrade": "done"}
    order = Regrading.objects.get(submission=case.submission)
    assert (order.cause, order.reference) == ("ruling", str(case.appeal.id))
    assert {order.ordered_by, order.approved_by} == {case.staff.engineer, case.staff.arbiter}


def test_a_word_that_does_not_come_ends_it_and_the_ruling_no_longer_waits(case: Case) -> None:
    case.advanced()
    with later(days=8):
        row = case.advanced()
        assert row.state == "lapsed"
        with pytest.raises(Refused, match="appeal_over"):
            services.reveal(case.appeal.id, word=WORD, by=case.vendor.actor)
        services.draft(
            case.appeal.id, outcome="rejected", text="No word.", effects=[], by=acting(case.staff.engineer)
        )


def test_a_withdrawn_appeal_ends_it_and_nothing_was_shown(case: Case) -> None:
    drawn_case(case)
    services.withdraw(case.appeal.id, by=case.vendor.actor)
    assert case.advanced().state == "lapsed"
    assert not LeakCharge.objects.filter(kind="recheck").exists()


def test_what_was_judged_before_the_appeal_was_withdrawn_is_not_shown_either(case: Case) -> None:
    drawn_case(case)
    case.judged(wrong=3)
    services.withdraw(case.appeal.id, by=case.vendor.actor)
    with later(seconds=10):
        row = case.advanced()
    assert (row.state, row.agreement, row.is_below) == ("lapsed", None, None)
    assert not LeakCharge.objects.filter(kind="recheck").exists()


def test_each_judges_only_their_own_sheets_and_once(case: Case) -> None:
    drawn_case(case)
    sheet = queries.sheets_of(case.second.pseudonym)[0]
    with pytest.raises(Refused, match="appeal_not_named"):
        services.judge(sheet.id, verdict="fails", by=acting(case.staff.author))
    services.judge(sheet.id, verdict="fails", by=acting(case.second))
    with pytest.raises(Refused, match="appeal_moved_on"):
        services.judge(sheet.id, verdict="delivers", by=acting(case.second))


def test_the_pages_show_a_run_and_not_whose_it_is(case: Case) -> None:
    drawn_case(case)
    browser = site.signed_in(case.second)
    listed = browser.get(site.address("judging:rechecks")).content.decode()
    link = re.search(r"/en/console/rechecks/[0-9a-f-]{36}/", listed)
    assert link is not None
    page = browser.get(link[0]).content.decode()
    assert "Match the vouchers." in page
    for secret in (str(case.vendor.organisation), str(case.submission.id), "finance-held-out"):
        assert secret not in page
    assert browser.post(link[0], {"verdict": "nonsense"}).status_code == 422
    assert browser.post(link[0], {"verdict": "fails"}).status_code == 302
    assert RecheckSheet.objects.filter(judged_at__isnull=False).count() == 1
    assert site.signed_in(case.staff.author).get(link[0]).status_code == 404
    assert site.signed_in(case.staff.engineer).get(site.address("judging:rechecks")).status_code == 404


def test_the_vendor_gives_the_word_by_page_or_api(case: Case) -> None:
    case.advanced()
    place = f"appeals/{case.appeal.id}"
    assert case.vendor.api.post(f"{place}/word", {"word": "not the word at all"}).code == "appeal_word"
    browser = site.signed_in(case.vendor.user)
    assert "Give the word" in browser.get(site.address("appeals:appeal", case.appeal.id)).content.decode()
    wrong = browser.post(site.address("appeals:reveal_word", case.appeal.id), {"word": "y" * 20})
    assert (wrong.status_code, b"appeal_word" in wrong.content) == (422, True)
    given = case.vendor.api.post(f"{place}/word", {"word": WORD})
    assert (given.status, given.body["recheck"]["state"]) == (200, "revealed")


def test_a_word_that_no_database_holds_is_refused_with_a_reason() -> None:
    version, vendor = version_opened(), world.vendor()
    word = "\x00" * 20
    facts = {"subject": "score", "domain": "finance", "commitment": hashlib.sha256(word.encode()).hexdigest()}
    row = filed(vendor, version, submission=answer(vendor, version), **facts)
    services.admit(row.id, by=acting(arranged.bench().engineer))
    rechecking.commit(row.id, by=BY)
    page = site.signed_in(vendor.user).post(site.address("appeals:reveal_word", row.id), {"word": word})
    assert (page.status_code, b"appeal_word" in page.content) == (422, True)


def test_a_panel_is_two_people_who_see_held_out_tasks(case: Case) -> None:
    staff, vendor = case.staff, case.vendor
    other = filed(world.vendor(), case.version, "2", subject="rule")
    services.admit(other.id, by=acting(staff.arbiter))
    facts: dict[str, Any] = {"expert": staff.author, "engineer": staff.engineer, "by": acting(staff.arbiter)}
    with pytest.raises(Refused, match="appeal_recheck_panel"):
        services.assign(other.id, second=case.second, **facts)
    score = filed(
        vendor,
        case.version,
        "3",
        subject="score",
        domain="general",
        submission=case.submission,
        commitment=COMMITMENT,
    )
    services.admit(score.id, by=acting(staff.arbiter))
    for second in (None, staff.author):
        with pytest.raises(Refused, match="appeal_recheck_panel"):
            services.assign(score.id, second=second, **facts)
    with pytest.raises(DutyRefused, match="decision_not_entitled"):
        services.assign(score.id, second=staff.arbiter, **facts)
    score.refresh_from_db()
    assert score.state == "admitted"


def test_no_process_but_sealed_work_reads_what_was_found_first(
    connect_as: Connect, transactional_db: None
) -> None:
    for role, tables in (
        ("web", ("rechecksecret", "recheckpanel", "recheckitem", "rechecksheet")),
        ("console", ("rechecksecret", "recheckitem")),
        ("auditor", ("rechecksecret", "recheckitem", "rechecksheet")),
    ):
        for table in tables:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connect_as(role).execute(f"SELECT * FROM appeals_{table}")


@given(st.integers(1, 60), st.data())
def test_the_interval_is_wilsons(n: int, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    found = drawing.agreement([True] * k + [False] * (n - k))
    z, p = norm.ppf(0.975), k / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * (p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5
    assert found.low == pytest.approx(100 * (middle - reach), abs=0.51)
    assert found.high == pytest.approx(100 * (middle + reach), abs=0.51)
    assert found.low <= found.points <= found.high


@given(st.text(min_size=16, max_size=40), st.sets(st.uuids(), min_size=1, max_size=60))
def test_the_draw_depends_on_both_sides_and_can_be_repeated(word: str, ids: set[Any]) -> None:
    episodes = sorted(one.hex for one in ids)
    nonces = [hashlib.sha256(bytes([number])).hexdigest() for number in range(2)]
    one, other = (drawing.seed_of(word, nonce) for nonce in nonces)
    assert one != other
    assert one != drawing.seed_of(f"{word}x", nonces[0])
    assert drawing.draw(one, reversed(episodes), 40) == drawn(one, episodes, 40)
