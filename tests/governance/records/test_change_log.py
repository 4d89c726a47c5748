"""Public lines: closed kinds, words in both languages that give nothing away, and fingerprints to check them by."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from benchmark.models import TaskRevision
from config import clock
from governance.records import lines, linter, queries, services
from governance.records.linter import Rule
from governance.records.models import ChangeLogLine, LeakIndex
from governance.tasks import keep_records
from submissions.problems import Refused
from tests.factories import BY, frozen_version, saved
from tests.governance.committed import facts
from tests.governance.records.arranged import indexed, worded_set
from tests.submissions import world

pytestmark = pytest.mark.django_db
Connect = Callable[[str], psycopg.Connection[Any]]

SAID: dict[str, dict[str, str | int]] = {
    "rotation": {"tasks": 40, "published": 9, "next": "2027.3"},
    "retirement": {"task": "finance-held-out-0", "reason": "outdated"},
    "erratum": {"part": "rules", "fixed_in": "2027.3"},
    "regrade": {"cause": "ruling"},
    "appeal_outcome": {"subject": "score", "outcome": "partly"},
    "defect_known": {"tasks": 3},
    "defect_settled": {"tasks": 2, "fixed_in": "2027.3"},
    "anchor_shift": {"domain": "finance", "points": -1, "repeat": 0, "former": "2026.9"},
    "policy": {"policy": "quota", "day": "2027-01-01"},
}


def test_every_kind_has_a_sentence_in_both_languages() -> None:
    assert set(SAID) == set(lines.KINDS) == set(ChangeLogLine.Kind.values)
    for kind, said in SAID.items():
        found = lines.sentences(kind, said)
        assert found["en"] != found["zh-hans"], kind
        assert all("%(" not in text and "None" not in text for text in found.values())


@pytest.mark.django_db(transaction=True)
def test_a_line_is_public_in_the_log_and_never_changes(connect_as: Connect) -> None:
    version = frozen_version("2026.9")
    row = services.add_line("anchor_shift", version, facts=SAID["anchor_shift"], by=BY)
    assert [found.id for found in queries.change_log(version)] == [row.id]
    said = facts(connect_as, "change_log.added", row.id)
    assert (said["line"], said["task_set"], said["said"]) == ("anchor_shift", "2026.9", SAID["anchor_shift"])
    assert connect_as("web").execute("SELECT kind FROM records_changelogline").fetchall() == [
        ("anchor_shift",)
    ]
    for statement in (
        "UPDATE records_changelogline SET facts = '{}'",
        "UPDATE records_changelogline SET text_en = 'x', text_zh = 'x'",
        "DELETE FROM records_changelogline",
    ):
        with pytest.raises(psycopg.errors.IntegrityError, match="never changes|lines stay"):  # noqa: RUF043
            connect_as("owner").execute(statement)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute("INSERT INTO records_changelogline (kind) VALUES ('policy')")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("policy", {"policy": "quota"}),
        ("policy", {"policy": "mood", "day": "2027-01-01"}),
        ("defect_known", {"tasks": 3, "domain": "finance"}),
        ("defect_known", {"tasks": -1}),
        ("anchor_shift", {"domain": "finance", "points": "1.19", "repeat": 0, "former": "2026.9"}),
        ("gossip", {}),
    ],
)
def test_other_facts_are_refused(kind: str, said: dict[str, str | int]) -> None:
    with pytest.raises(Refused) as refused:
        services.add_line(kind, frozen_version("2026.9"), facts=said, by=BY)
    assert refused.value.refusal.code == "line_facts"
    assert not ChangeLogLine.objects.exists()


def test_a_task_is_named_only_once_no_open_version_holds_it_out() -> None:
    version = frozen_version("2026.9")
    with pytest.raises(Refused) as refused:
        services.add_line("retirement", version, facts=SAID["retirement"], by=BY)
    assert refused.value.refusal.code == "line_task_live"
    version.closed_at = clock.now()
    saved(version)
    services.add_line("retirement", version, facts=SAID["retirement"], by=BY)
    (row,) = queries.retirement_list()
    assert (row.task, row.reason, row.task_set) == ("finance-held-out-0", "outdated", "2026.9")


def test_further_words_stand_in_both_languages_and_pass_the_linter() -> None:
    version = frozen_version("2026.9")
    with pytest.raises(Refused) as refused:
        services.add_line("policy", version, facts=SAID["policy"], by=BY, texts={"en": "Only English."})
    assert refused.value.refusal.code == "line_facts"
    said = {"en": "Quotas are counted anew.", "zh-hans": "次数重新计算。"}
    with pytest.raises(Refused) as refused:  # nobody could have seen quotes yet
        services.add_line("policy", version, facts=SAID["policy"], by=BY, texts=said)
    assert "no_index" in refused.value.refusal.detail
    indexed(version)
    row = services.add_line("policy", version, facts=SAID["policy"], by=BY, texts=said)
    assert (row.text_en, row.text_zh) == ("Quotas are counted anew.", "次数重新计算。")
    leaking = {**said, "zh-hans": "finance-held-out-1 有误。"}
    with pytest.raises(Refused) as refused:
        services.add_line("policy", None, facts=SAID["policy"], by=BY, texts=leaking)
    assert refused.value.refusal.code == "line_leaks"
    assert "finance-held-out-1" in refused.value.refusal.detail


def test_fingerprints_wait_for_what_is_being_evaluated_and_not_for_ever() -> None:
    version = world.task_set()
    vendor = world.vendor()
    assert queries.unindexed() == [version]
    vendor.submit(version, vendor.harness())
    assert queries.unindexed() == []
    with clock.shifted(queries.PATIENCE + timedelta(seconds=1)):
        assert queries.unindexed() == [version]


@pytest.mark.django_db(transaction=True)
def test_fingerprints_are_made_of_the_packs_once(connect_as: Connect) -> None:
    version = worded_set()
    frozen_version("lost")  # its packs are in no store; it is tried again
    keep_records()
    (row,) = LeakIndex.objects.all()
    assert (row.task_set, row.tasks) == (version, 12)
    said = facts(connect_as, "leak_index.made", version.id)
    assert (said["label"], said["tasks"]) == ("w1", 12)
    keep_records()
    assert LeakIndex.objects.get(task_set=version).made_at == row.made_at
    task = TaskRevision.objects.filter(version=version, group="held_out", domain="finance").first()
    assert task is not None
    for rule, text in {
        Rule.QUOTE: "题面写明“没审核的入库不能算；应付按订单含税单价乘以有效入库数量”。",
        Rule.VALUE: "漏掉了恒远轴承制造的发票。",
        Rule.IDENTIFIER: f"PO-94417, or the file 台账明细.csv, or {task.id}",
        Rule.TASK: f"the task {task.slug}",
    }.items():
        assert rule in {found.rule for found in linter.findings(text, version)}, text
    for role in ("web", "execute", "auditor"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT tasks FROM records_leakindex")
    assert connect_as("console").execute("SELECT tasks FROM records_leakindex").fetchall() == [(12,)]
    public = "做成一张表，表头里不用带单位，数字列只填数字。 open.csv"
    assert linter.findings(public, version) == []


def test_other_vendors_are_not_named_and_ones_own_name_is_no_secret() -> None:
    version = frozen_version("2026.9")
    indexed(version)
    vendor = world.vendor()
    text = f"The harness of {vendor.organisation.name} was graded again."
    assert [row.rule for row in linter.findings(text, version)] == [Rule.VENDOR]
    assert linter.findings(text, version, addressee=vendor.organisation) == []


def test_a_version_is_shown_with_what_was_said_last() -> None:
    version = frozen_version("2026.9")
    assert queries.defects_of(version) == 0
    services.add_line("defect_known", version, facts={"tasks": 3}, by=BY)
    with clock.shifted(timedelta(days=1)):
        services.add_line("defect_known", version, facts={"tasks": 1}, by=BY)
    assert queries.defects_of(version) == 1
