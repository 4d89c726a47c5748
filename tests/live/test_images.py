"""A harness that is an image, from its upload to its results: the real intake, workers' hands, sandbox and grader."""

from __future__ import annotations

import io
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from evaluation import claims
from evaluation.executing import IMAGES, Executor
from evaluation.grading import Grader
from evaluation.holding import Holding
from evaluation.images import official
from evaluation.models import Attempt, Ending, Episode, EvaluationRun, PublicTaskResult, StoredPackage
from evaluation.sandbox.backend import Backend
from evaluation.sandbox.backends import default_backend
from submissions import services
from submissions.models import Submission
from tests.images.builder import SHELL, Built, file, manifest, programs, shell_image, tar
from tests.submissions import world
from tests.submissions.bundles import entry, pack, sha256
from tests.submissions.bundles import manifest as toml_of
from tests.submissions.test_submit import send

pytestmark = [pytest.mark.serial, pytest.mark.timeout(300)]

SCRIPT = """
cat /task/instruction.md > /workspace/seen.md
echo "from an image, turn $TURN, $GREETING" > /reply/reply.md
echo "uid $(id -u)"
"""
TASKS = 3


def archive(name: str, version: str, script: str = SCRIPT, **changes: Any) -> bytes:
    """The image of a registered version."""
    built = shell_image(
        script, **{"settings": {"Env": ["GREETING=hello"], "Entrypoint": ["/none"]}, **changes}
    )
    toml = tar([file("harness/harness.toml", manifest(name=name, version=version))])
    return Built([*built.layers, toml], settings=built.settings).oci()


def submitted(version: Any, script: str = SCRIPT) -> Submission:
    """Sent in parts over the API, then checked: in preflight if nothing was wrong."""
    vendor = world.vendor()
    harness = vendor.harness()
    label = vendor.version(harness)
    data = archive(harness.name, label.version, script)
    body = {"harness_version": str(label.id), "sha256": sha256(data), "size": len(data), "kind": "image"}
    upload = vendor.api.post("uploads", body).body
    done = vendor.api.post(f"uploads/{upload['id']}/complete", {"parts": send(upload["parts"], data)})
    assert done.status == 200, done.body
    order = {"harness_version": str(label.id), "task_set": version.label, "upload": upload["id"]}
    admitted = vendor.api.post("submissions", {**order, "publication_consent": False})
    assert admitted.status == 202, admitted.body
    services.check(admitted.body["id"])
    return Submission.objects.get(pk=admitted.body["id"])


def cut(run: EvaluationRun, count: int = TASKS) -> EvaluationRun:
    keep = Episode.objects.filter(run=run).order_by("position").values_list("pk", flat=True)[:count]
    Episode.objects.filter(run=run).exclude(pk__in=list(keep)).update(state=Episode.State.CANCELLED)
    return run


@pytest.fixture
def sandbox(imported: Any, settings: Any, tmp_path: Path) -> Backend:
    settings.WORK_DIR = tmp_path / "work"
    settings.WORK_DIR.mkdir()
    return default_backend()


@pytest.mark.acceptance("fleet:1")
def test_an_image_runs_on_public_tasks(imported: Any, sandbox: Backend, tmp_path: Path) -> None:
    submission = submitted(imported)
    assert submission.state == Submission.State.PREFLIGHT, submission.reason_code
    assert submission.package is not None
    assert submission.package.kind == StoredPackage.Kind.IMAGE
    assert submission.preflight_run is not None
    run = cut(submission.preflight_run)
    executor, grader = Executor("w", tmp_path / "w", sandbox), Grader("g", tmp_path / "g", sandbox, "1")
    while executor.run_one(Holding()):
        pass
    while grader.grade_one(Holding()):
        pass
    rows = list(PublicTaskResult.objects.filter(run=run))
    assert len(rows) == TASKS
    assert {(row.ending, row.exit_code) for row in rows} == {(Ending.FINISHED, 0)}
    assert all("from an image, turn" in row.reply and "hello" in row.reply for row in rows)
    assert {line for row in rows for line in row.stdout.splitlines()} == {"uid 1000"}
    isolation = f"image root {submission.package.tree_digest[:12]}"
    assert set(
        Attempt.objects.filter(episode__run=run).exclude(ending="").values_list("isolation", flat=True)
    ) == {isolation}
    kept = [path for path in (settings.WORK_DIR / IMAGES).iterdir() if not path.name.startswith(".")]
    assert len(kept) == 1, "unpacked once for all episodes"
    for word in (
        submission.package.tree_digest,
        submission.package_digest,
        submission.package.id.hex,
        "probe",
    ):
        assert word not in kept[0].name
    assert run.total >= TASKS


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H33")
def test_workers_of_one_host_share_an_image_and_drop_none_that_is_in_use(
    imported: Any, sandbox: Backend, tmp_path: Path, settings: Any
) -> None:
    """The cache is too small for both images; each is dropped and made again between uses, none while it is used."""
    settings.IMAGE_CACHE_BYTES = 1
    runs = [submitted(imported, SCRIPT + f"# {number}\nsleep 0.2\n").preflight_run for number in range(2)]
    assert all(runs)
    ids = [cut(run).pk for run in runs if run is not None]

    def work(number: int) -> None:
        from django.db import connection

        executor = Executor(f"w{number}", tmp_path / f"w{number}", sandbox)
        while executor.run_one(Holding()):
            pass
        connection.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ended = Attempt.objects.filter(episode__run__in=ids).exclude(ending="")
    assert {(row.ending, row.exit_code) for row in ended} == {(Ending.FINISHED, 0)}, list(
        ended.values("ending", "cause")
    )
    assert ended.count() == 2 * TASKS


@pytest.mark.acceptance("fleet:1")
@pytest.mark.parametrize("harm", ["content", "mode", "extra", "gone"])
def test_a_tree_that_was_changed_is_made_again_before_it_is_used(
    imported: Any, sandbox: Backend, tmp_path: Path, harm: str
) -> None:
    run = submitted(imported).preflight_run
    assert run is not None
    cut(run, 2)
    executor = Executor("w", tmp_path / "w", sandbox)
    executor.run_one(Holding())
    (root,) = [path for path in (settings.WORK_DIR / IMAGES).iterdir() if not path.name.startswith(".")]
    script = root / "harness/run.sh"
    harms: dict[str, Callable[[], object]] = {
        "content": lambda: _overwrite(script, b"echo tampered > /reply/reply.md\n"),
        "mode": lambda: script.chmod(0o4755),
        "extra": lambda: (root / "usr/bin/extra").symlink_to("/bin/sh"),
        "gone": lambda: shutil.rmtree(root / "usr"),
    }
    harms[harm]()
    executor.run_one(Holding())
    assert script.stat().st_mode & 0o7777 == 0o755
    assert not (root / "usr/bin/extra").is_symlink()
    ended = Attempt.objects.filter(episode__run=run).exclude(ending="")
    assert [row.ending for row in ended] == [Ending.FINISHED] * 2
    grader = Grader("g", tmp_path / "g", sandbox, "1")
    while grader.grade_one(Holding()):
        pass
    assert all("from an image" in row.reply for row in PublicTaskResult.objects.filter(run=run))


def _overwrite(path: Path, content: bytes) -> None:
    """As somebody would who hides it: the same length and times."""
    facts = path.stat()
    path.write_bytes(content.ljust(facts.st_size, b"\n")[: facts.st_size])
    os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("G22")
def test_no_room_for_an_image_is_a_fault_of_ours(
    imported: Any, sandbox: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's disk has less room than the image takes: the attempt ends as infrastructure fault and is repeated."""
    run = submitted(imported).preflight_run
    assert run is not None
    cut(run, 1)
    executor = Executor("w", tmp_path / "w", sandbox)
    with monkeypatch.context() as patch:
        full = shutil.disk_usage("/")._replace(free=0)
        patch.setattr("evaluation.images.cache.shutil.disk_usage", lambda path: full)
        executor.run_one(Holding())
    first = Attempt.objects.exclude(ending="").get(episode__run=run)
    assert (first.ending, first.cause) == (Ending.INFRASTRUCTURE_FAULT, "disk_full")
    executor.run_one(Holding())
    assert (
        Attempt.objects.filter(episode__run=run).exclude(ending="").order_by("number").last().ending
        == Ending.FINISHED
    )


def test_a_package_whose_image_is_not_the_one_that_was_checked_runs_nowhere(
    imported: Any, sandbox: Backend, tmp_path: Path
) -> None:
    run = submitted(imported).preflight_run
    assert run is not None
    cut(run, 1)
    StoredPackage.objects.filter(pk=run.package_id).update(tree_digest="0" * 64)
    executor = Executor("w", tmp_path / "w", sandbox)
    for _ in range(claims.retries() + 1):
        executor.run_one(Holding())
    ended = Attempt.objects.filter(episode__run=run).exclude(ending="")
    assert {row.ending for row in ended} == {Ending.INFRASTRUCTURE_FAULT}


@pytest.mark.acceptance("fleet:1")
def test_a_bundle_runs_on_the_official_root_once_there_is_one(
    imported: Any, sandbox: Backend, tmp_path: Path, settings: Any
) -> None:
    """The attempt says on which root it ran; before the root was made it says that it was the host's."""
    settings.ROOTFS_DIR = tmp_path / "rootfs"
    vendor = world.vendor()
    harness = vendor.harness()
    label = vendor.version(harness)
    toml = toml_of(harness.name, label.version).replace(
        b'"python3", "/harness/run.py"', b'"sh", "/harness/run.sh"'
    )
    script = b"echo done > /reply/reply.md; while read -r line; do echo $line; done < /etc/marker\n"
    upload = vendor.upload(label, pack([entry("run.sh", script)], toml))
    order = {"harness_version": str(label.id), "task_set": imported.label, "upload": str(upload.id)}
    admitted = vendor.api.post("submissions", {**order, "publication_consent": False})
    services.check(admitted.body["id"])
    run = Submission.objects.get(pk=admitted.body["id"]).preflight_run
    assert run is not None
    cut(run, 2)
    executor = Executor("w", tmp_path / "w", sandbox)
    executor.run_one(Holding())
    with (tmp_path / "root.tar").open("w+b") as out:
        official.clean(io.BytesIO(tar([*programs(*SHELL), file("etc/marker", b"base\n")])), out, 1)
    made = official.install(tmp_path / "root.tar", settings.ROOTFS_DIR)
    executor.run_one(Holding())
    ended = Attempt.objects.filter(episode__run=run).exclude(ending="").order_by("ended_at")
    assert [row.isolation for row in ended] == ["embedded, not the official root", made.label]
    assert ended[1].ending == Ending.FINISHED
