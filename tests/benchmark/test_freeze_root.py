"""What a version consists of is committed when it is frozen: one salted root, which only its secret leads to."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

from benchmark import commitments, queries, services
from benchmark.models import AssetCommitment, TaskRevision, TaskSetVersion
from benchmark.synthetic import generate
from config import vault
from tests.factories import BY, draft_version

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]
TINY = {"finance": (1, 2)}


@pytest.fixture
def frozen() -> TaskSetVersion:
    version = draft_version("8.1", TINY)
    services.record_admission(version, digest_admitted=services.content_digest(version), tasks=3, by=BY)
    return services.freeze("8.1", by=BY)


def sha(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def by_hand(version: TaskSetVersion, secret: bytes) -> str:
    """The root over three tasks, written out."""
    leaves = []
    for slug in ("finance-held-out-0", "finance-held-out-1", "finance-public-0"):
        row = TaskRevision.objects.get(version=version, slug=slug)
        leaf = {
            "id": slug,
            "group": row.group,
            "domain": "finance",
            "family": row.family,
            "task": row.digest,
            "instruction": row.digest_instruction,
            "data": row.digest_environment,
            "rules": row.digest_grading,
            "gold": row.digest_gold,
            "judge": "",
            "salt": hmac.new(secret, slug.encode(), "sha256").hexdigest()[:32],
        }
        leaves.append(sha(b"\x00" + json.dumps(leaf, sort_keys=True, separators=(",", ":")).encode()))
    return sha(b"\x01" + sha(b"\x01" + leaves[0] + leaves[1]) + leaves[2]).hex()


def test_the_event_of_freezing_names_the_root_over_all_tasks(
    frozen: TaskSetVersion, connect_as: Connect, settings: Any
) -> None:
    made = AssetCommitment.objects.get(version=frozen)
    secret = vault.unwrap(bytes(made.wrapped_secret), under=settings.VAULT_KEY_SEALED)
    (body,) = (
        connect_as("auditor")
        .execute("SELECT body FROM audit_event WHERE kind = 'task_set.frozen'")
        .fetchone()
    )
    facts = json.loads(bytes(body))["data"]
    assert (facts["assets_root"], facts["tasks"]) == (by_hand(frozen, secret), 3)
    assert commitments.holds(frozen)


@pytest.mark.parametrize(
    "column", ["digest", "digest_environment", "digest_grading", "digest_gold", "family", "domain", '"group"']
)
def test_a_changed_task_leads_to_another_root(frozen: TaskSetVersion, servers: Any, column: str) -> None:
    """Only a superuser gets past the triggers; the root tells."""
    with servers.superuser(servers.database) as root:
        root.execute("ALTER TABLE benchmark_taskrevision DISABLE TRIGGER ALL")
        root.execute(
            f"UPDATE benchmark_taskrevision SET {column} = 'general' WHERE slug = 'finance-held-out-1'"
        )
    assert not commitments.holds(frozen)


def test_verifying_a_version_recomputes_its_root(tmp_path: Path, servers: Any) -> None:
    """A small bank with all its files: what `taskset verify` says before and after a change behind the triggers."""
    generate(tmp_path / "bank", version="8.3", seed=3, size="mini")
    version = services.import_directory(tmp_path / "bank", by=BY)
    digest = services.content_digest(version)
    services.record_admission(version, digest_admitted=digest, tasks=version.tasks.count(), by=BY)
    version = services.freeze("8.3", by=BY)
    assert queries.verify(version) == []
    with servers.superuser(servers.database) as root:
        root.execute("ALTER TABLE benchmark_taskrevision DISABLE TRIGGER ALL")
        root.execute(
            "UPDATE benchmark_taskrevision SET family = 'another' WHERE version_id = %s", [version.id]
        )
    assert queries.verify(version) == ["version 8.3: its tasks lead to another root than the one committed"]


def test_the_same_tasks_have_another_root_in_another_version(frozen: TaskSetVersion) -> None:
    again = draft_version("8.2", TINY)
    services.record_admission(again, digest_admitted=services.content_digest(again), tasks=3, by=BY)
    services.freeze("8.2", by=BY)
    first, second = AssetCommitment.objects.order_by("version__label").values_list("root", flat=True)
    assert first != second


def test_only_sealed_workers_read_the_secret_and_nobody_changes_a_commitment(
    frozen: TaskSetVersion, connect_as: Connect
) -> None:
    assert connect_as("sealed").execute("SELECT wrapped_secret FROM benchmark_assetcommitment").fetchone()
    for role in ("web", "execute", "console", "auditor"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connect_as(role).execute("SELECT wrapped_secret FROM benchmark_assetcommitment")
    for role in ("sealed", "owner"):
        for statement in (
            "UPDATE benchmark_assetcommitment SET root = root",
            "DELETE FROM benchmark_assetcommitment",
            "TRUNCATE benchmark_assetcommitment",
        ):
            with pytest.raises(psycopg.Error):
                connect_as(role).execute(statement)
