"""A frozen task-set version is refused every change by the database itself, whoever asks."""

from __future__ import annotations

import psycopg
import pytest

from benchmark import services
from benchmark.models import TaskRevision, TaskSetVersion
from benchmark.services import TaskSetRefused
from tests.audit.test_log import Connect
from tests.factories import BY, draft_version, frozen_version, saved

pytestmark = pytest.mark.django_db(transaction=True)

FORBIDDEN = [
    "UPDATE benchmark_taskrevision SET budget_seconds = 1",
    "DELETE FROM benchmark_taskrevision",
    "UPDATE benchmark_assetpack SET sha256 = ''",
    "UPDATE benchmark_tasksetversion SET state = 'draft'",
    "UPDATE benchmark_tasksetversion SET digest = ''",
    "DELETE FROM benchmark_tasksetversion",
    "TRUNCATE benchmark_taskrevision CASCADE",
]


@pytest.mark.parametrize("role", ["sealed", "owner"])
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_a_frozen_version_cannot_be_changed(connect_as: Connect, role: str, statement: str) -> None:
    frozen_version("9.1")
    with pytest.raises(psycopg.Error):
        connect_as(role).execute(statement)


def test_a_task_cannot_be_added_to_a_frozen_version(connect_as: Connect) -> None:
    version = frozen_version("9.2")
    row = TaskRevision.objects.filter(version=version).first()
    assert row is not None
    row.pk, row.slug = None, "another"
    with pytest.raises(Exception, match="frozen"):
        row.save(force_insert=True)


def test_a_frozen_version_can_still_be_opened_and_closed() -> None:
    version = frozen_version("9.3")
    version.opened_at = None
    saved(version)
    services.open_version(version, by=BY)
    assert version.opened_at is not None


def test_a_draft_that_did_not_pass_admission_is_not_frozen() -> None:
    draft_version("9.4")
    with pytest.raises(TaskSetRefused, match="has not passed admission"):
        services.freeze("9.4", by=BY)


def test_admission_counts_for_exactly_the_content_that_passed() -> None:
    version = draft_version("9.5")
    digest = services.content_digest(version)
    services.record_admission(version, digest_admitted=digest, tasks=16, by=BY)
    TaskRevision.objects.filter(version=version, slug="general-public-0").update(digest="f" * 64)
    with pytest.raises(TaskSetRefused, match="has not passed admission"):
        services.freeze("9.5", by=BY)
    TaskRevision.objects.filter(version=version, slug="general-public-0").delete()
    with pytest.raises(TaskSetRefused, match="is not what was imported"):
        services.record_admission(version, digest_admitted=digest, tasks=16, by=BY)


def test_freezing_writes_digest_and_composition() -> None:
    version = draft_version("9.6")
    services.record_admission(version, digest_admitted=services.content_digest(version), tasks=16, by=BY)
    frozen = services.freeze("9.6", by=BY)
    assert frozen.state == TaskSetVersion.State.FROZEN
    assert frozen.composition["finance"] == {
        "groups": {"public": 1, "held_out": 3},
        "held_out_families": [2, 1],
    }


@pytest.mark.parametrize(
    ("role", "statement"),
    [
        ("web", "SELECT 1 FROM benchmark_taskrevision"),
        ("web", "SELECT 1 FROM benchmark_assetpack"),
        ("execute", "SELECT slug FROM benchmark_taskrevision"),
        ("execute", "SELECT grading_pack_id FROM benchmark_taskrevision"),
        ("execute", "SELECT 1 FROM evaluation_taskresult"),
        ("web", "SELECT 1 FROM evaluation_taskresult"),
        ("web", "SELECT 1 FROM evaluation_episode"),
        ("web", "SELECT 1 FROM evaluation_attempt"),
        ("web", "SELECT 1 FROM evaluation_storedpackage"),
        ("web", "SELECT 1 FROM governance_sealedaggregate"),
        ("auditor", "SELECT 1 FROM evaluation_taskresult"),
        ("auditor", "SELECT 1 FROM benchmark_taskrevision"),
        ("execute", "SELECT 1 FROM governance_release"),
    ],
)
def test_walls_between_roles(connect_as: Connect, role: str, statement: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as(role).execute(statement)
