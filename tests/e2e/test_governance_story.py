"""Governance from end to end in a real browser: probing, hold, case, link, rotation, appeal, ruling, public lines.

The staff is the smallest that is legal: two administrators, two held-out governors, two identity reviewers, an arbiter,
an evaluation engineer, a task author. What people do, they do on pages; what workers and operators do, services do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from accounts.duties.table import Duty
from accounts.linking.models import LinkCase
from accounts.models import User
from benchmark.models import TaskRevision, TaskSetVersion
from governance.appeals.models import Appeal
from governance.appeals.tasks import tick as appeals_tick
from governance.desk.models import Case
from governance.rotation import composing
from governance.rotation.models import RotationEntry, RotationPlan
from governance.services import set_release_policy
from governance.tasks import rotate as rotate_tick
from submissions.models import Submission
from submissions.services import open_task_set
from tests.accounts.duties import opened
from tests.audit.test_live import checked
from tests.e2e.conftest import sign_in_as
from tests.e2e.test_rooms import with_password
from tests.factories import BY
from tests.governance.analysing import Answers, evaluated, ticked
from tests.governance.records.arranged import indexed
from tests.governance.rotation import rows
from tests.governance.rotation.test_composing import ANCHORS, alike, frozen_bank
from tests.pages import site
from tests.submissions import world

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
    pytest.mark.acceptance("governance:8"),
    pytest.mark.timeout(900),
]
FAMILIES = (
    *("fin-voucher-balance", "fin-ageing", "gen-dump-extract", "gen-sales-trend"),
    *("mf-bom-explosion", "mf-capacity", "sc-reorder-point", "sc-stocktake"),
)
MADE_BY_HAND = ("evaluation_evaluationrun", "submissions_submission")
"""Tables that the test moves on in place of workers, without their events."""
PUBLIC = ("rotat", "appeal")
"""What the public change log is about at the end."""
ASKED = ((1, 5), (2, 7), (3, 6), (4, 8))
"""Of each family, by number: on which tasks the prober fails on purpose, submission by submission."""
WHY = "Sixteen tasks changed each time, and nothing that is known of them explains which."


@dataclass
class Staff:
    governors: tuple[User, User]
    reviewers: tuple[User, User]
    arbiter: User
    engineer: User
    author: User


def staff() -> Staff:
    office = opened()

    def holder(duty: Duty) -> User:
        return with_password(office.holder(duty))

    return Staff(
        (holder(Duty.HELD_OUT_GOVERNOR), holder(Duty.HELD_OUT_GOVERNOR)),
        (holder(Duty.IDENTITY_REVIEWER), holder(Duty.IDENTITY_REVIEWER)),
        holder(Duty.ARBITER),
        holder(Duty.EVALUATION_ENGINEER),
        holder(Duty.TASK_AUTHOR),
    )


@dataclass
class Browser:
    """One window in which one person after another signs in; keeps every text that was shown to vendors."""

    page: Any
    base: str
    seen: list[str] = field(default_factory=list)

    def be(self, person: User) -> None:
        self.page.context.clear_cookies()
        sign_in_as(self.page, self.base, person)

    def go(self, name: str, *args: Any, query: str = "") -> str:
        answer = self.page.goto(self.base + site.address(name, *args, language="en") + query)
        assert answer.status == 200, f"{name}: {answer.status}"
        return str(self.page.content())

    def press(self, label: str, **fields: str) -> None:
        """Fill the fields of the form with that button, and press it."""
        button = self.page.get_by_role("button", name=label, exact=True)
        form = self.page.locator("main form").filter(has=button)
        for name, value in fields.items():
            place = form.locator(f"[name={name}]")
            if place.first.get_attribute("type") in ("radio", "checkbox"):
                form.locator(f"[name={name}][value='{value}']").check()
            elif place.evaluate("node => node.tagName") == "SELECT":
                place.select_option(value)
            else:
                place.fill(value)
        button.click()
        self.page.wait_for_load_state()

    def read(self, person: User | None, *pages: tuple[Any, ...]) -> None:
        """A vendor, or somebody who is nobody here, looks at pages; what they show is kept for the end."""
        if person is None:
            self.page.context.clear_cookies()
        else:
            self.be(person)
        self.seen += [self.go(name, *args) for name, *args in pages]


@pytest.mark.slow
def test_from_probing_submissions_to_public_lines(
    page: Any, live_server: Any, tmp_path: Path, sequence: Callable[[], int], complaints: list[str]
) -> None:
    version, people = bank(tmp_path), staff()
    prober, other = world.vendor(), world.vendor()
    for vendor in (prober, other):
        with_password(vendor.user)
    browser = Browser(page, live_server.url)
    held = probed(prober, other, version)
    browser.read(prober.user, ("submissions:submission", held.id), ("leaderboard:home",))
    assert "held" in browser.seen[0]
    decide_the_case(browser, people)
    link(browser, people, prober, other)
    plan = rotate(browser, people, version)
    following = freeze(plan)
    appeal(browser, people, prober, held)
    browser.read(
        None, ("records:dossier", version.label), ("records:change_log",), ("records:retirement_list",)
    )
    for words in PUBLIC:
        assert words in browser.seen[-2], words
    earlier = Submission.objects.get(organisation=other.organisation)
    browser.read(other.user, ("leaderboard:result", earlier.id))
    assert f"Version {following.label} has taken the place of this one." in browser.seen[-1]
    browser.read(other.user, ("leaderboard:home",), ("submissions:submissions",), ("appeals:appeals",))
    nothing_held_out(version, following, browser.seen)
    assert complaints == []
    sequence()
    report = checked()
    assert [finding for finding in report.findings if finding.table not in MADE_BY_HAND] == []


def bank(root: Path) -> TaskSetVersion:
    """An open version of real tasks with a reserve, three runs each, in which nobody waits for a cooldown."""
    groups = {"held_out": range(1, 13), "public": (31,), "reserve": range(41, 53)}
    version = frozen_bank(root, groups, FAMILIES)
    numbers = {"in_flight": 9, "line": 9, "account": 9, "lineage": 9, "runs_per_task": 3}
    open_task_set(version, profile="demo", numbers=numbers, by=BY)
    set_release_policy(version, profile="demo", tick_seconds=5, by=BY)
    indexed(version)
    return version


def probed(prober: world.Vendor, other: world.Vendor, version: TaskSetVersion) -> Submission:
    """The same harness again and again, refusing sixteen other tasks each time; once somebody else sends it too."""
    harness = prober.harness()
    probes = [Answers("probe", tag=f"probe-{turn}", refused=asked) for turn, asked in enumerate(ASKED)]
    for number, answers in enumerate([Answers("probe"), *probes]):
        found = ticked(evaluated(prober, version, harness, answers))
        if number == 0:
            assert ticked(evaluated(other, version, other.harness(), Answers("probe"))).state == "complete"
        if found.state == "held":
            return found
    raise AssertionError("nothing was held")


def decide_the_case(browser: Browser, people: Staff) -> None:
    """One governor takes it up, and sends the tasks that were asked about to the rotation queue.

    No value was shown that told of them: the gate was closed. So nothing else would put them there.
    """
    case = Case.objects.get()
    browser.be(people.governors[0])
    assert str(case.id) in browser.go("signals:signals")
    assert "metadata does not explain it" in browser.go("signals:case", case.id)
    browser.go("signals:case_act", case.id, "take")
    browser.press("Decide", reason=WHY)
    browser.go("signals:case_act", case.id, "rotate")
    browser.press("Decide", reason=WHY)
    case.refresh_from_db()
    assert case.state == "reviewing"


def link(browser: Browser, people: Staff, prober: world.Vendor, other: world.Vendor) -> None:
    """Detection saw equal artefacts; two reviewers confirm that they are one."""
    case = LinkCase.objects.get()
    browser.be(people.reviewers[0])
    browser.go("console:link", case.id)
    browser.press("Propose", verdict="link", reason="One owner in both registers.")
    browser.be(people.reviewers[1])
    browser.go("console:link", case.id)
    browser.press("Confirm")
    for vendor in (prober, other):
        vendor.organisation.refresh_from_db()
    assert prober.organisation.lineage_id == other.organisation.lineage_id


def rotate(browser: Browser, people: Staff, version: TaskSetVersion) -> RotationPlan:
    """One of the tasks asked about leaves: a governor proposes, the other confirms; then the same for the plan."""
    rotate_tick()
    entry = RotationEntry.objects.filter(task_set=version, cause="hand").first()
    assert entry is not None
    one, two = people.governors
    browser.be(one)
    assert str(entry.id) in browser.go("rotating:queue")
    browser.go("rotating:entry", entry.id)
    browser.press("Propose", verdict="rotate", reason=WHY)
    browser.be(two)
    browser.go("rotating:entry", entry.id)
    browser.press("Confirm")
    alike(version)
    plan = rows.drawn(version, "8.1")
    browser.be(one)
    browser.go("rotating:plan", plan.id)
    browser.press("Propose", reason="The queue and the planned share.")
    browser.be(two)
    browser.go("rotating:plan", plan.id)
    browser.press("Approve")
    plan.refresh_from_db()
    assert plan.state == "approved"
    return plan


def freeze(plan: RotationPlan) -> TaskSetVersion:
    """As the operator does on the host."""
    drafted = composing.compose(plan.pk, by=BY)
    composing.run_anchors(plan.pk, ANCHORS, runs=1, seed="anchors", by=BY)
    composing.put_in_force(plan.pk, by=BY)
    drafted.refresh_from_db()
    assert drafted.is_frozen
    return drafted


def appeal(browser: Browser, people: Staff, prober: world.Vendor, held: Submission) -> None:
    """The vendor appeals against the hold; an engineer admits and drafts, an arbiter names and approves."""
    browser.be(prober.user)
    browser.go("appeals:new_appeal", query=f"?subject=hold&submission={held.id}")
    browser.press("File the appeal", grounds="We changed our planner and nothing else.")
    row = Appeal.objects.get()
    browser.be(people.engineer)
    browser.go("judging:appeal", row.id)
    browser.press("Admit")
    browser.be(people.arbiter)
    browser.go("judging:appeal", row.id)
    browser.press(
        "Name them",
        expert=str(people.author.pseudonym),
        engineer=str(people.engineer.pseudonym),
    )
    browser.be(people.author)
    browser.go("judging:opinion", row.id)
    browser.press("Keep the opinion", text="Nothing in the card explains it.")
    browser.be(people.engineer)
    browser.go("judging:appeal", row.id)
    browser.press("Propose the ruling", outcome="rejected", text="The rule was applied as it is published.")
    browser.be(people.arbiter)
    browser.go("judging:appeal", row.id)
    browser.press("Approve")
    appeals_tick()
    row.refresh_from_db()
    assert row.is_over
    browser.read(prober.user, ("appeals:appeal", row.id), ("submissions:submission", held.id))
    assert "The rule was applied as it is published." in browser.seen[-2]


def nothing_held_out(former: TaskSetVersion, following: TaskSetVersion, seen: list[str]) -> None:
    """No page that a vendor or the public saw names a task that is or was held out."""
    tasks = TaskRevision.objects.filter(version__in=(former, following)).exclude(group="public")
    public = set(TaskRevision.objects.filter(group="public").values_list("slug", flat=True))
    names = {name for row in tasks for name in (row.slug, str(row.pk), row.digest)} - public
    text = "\n".join(seen)
    assert [name for name in sorted(names) if name in text] == []
