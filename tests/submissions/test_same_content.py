"""A package under another version's name draws no second sample: it ends at intake and names the earlier one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmark.models import TaskSetVersion
from submissions import services
from submissions.intake import content_digest
from submissions.models import Harness, Slot, Submission
from submissions.queries import Order
from tests.governance.committed import done, frozen_set
from tests.submissions import world
from tests.submissions.bundles import bundle
from tests.submissions.outcomes import bring_to

pytestmark = pytest.mark.acceptance("governance:3")

MANIFEST = 'schema = "harness/1"\nname = "h"\nversion = "{}"\ncommand = ["sh", "run.sh"]\n'


@pytest.fixture
def version(transactional_db: None) -> TaskSetVersion:
    return frozen_set()


def submit(
    vendor: world.Vendor, version: TaskSetVersion, harness: Harness, extra: bytes | None = None
) -> Submission:
    label = vendor.version(harness)
    data = bundle(harness.name, label.version, {"extra.txt": extra} if extra else None)
    order = Order(vendor.organisation, label, version, vendor.upload(label, data))
    receipt = services.submit(order, by=vendor.actor, key=str(order.upload.pk))
    services.check(receipt.submission_id)
    return Submission.objects.get(pk=receipt.submission_id)


def test_it_ends_at_intake_and_costs_nothing(version: TaskSetVersion) -> None:
    vendor = world.vendor()
    harness = vendor.harness()
    first = done(bring_to(submit(vendor, version, harness), "running"))
    again = submit(vendor, version, harness)
    assert (again.state, again.reason_code) == ("rejected", "same_as_earlier")
    assert Slot.objects.get(submission=again).state == "refunded"
    assert again.preflight_run is None
    shown = vendor.api.get(f"submissions/{again.id}").body
    assert str(first.id) in str(shown)
    assert submit(vendor, version, harness, b"a change").state == "preflight"


def test_another_organisation_learns_nothing(version: TaskSetVersion) -> None:
    one, other = world.vendor(), world.vendor()
    done(bring_to(submit(one, version, one.harness()), "running"))
    assert submit(other, version, other.harness()).state == "preflight"


def test_one_that_is_not_complete_has_drawn_nothing(version: TaskSetVersion) -> None:
    vendor = world.vendor()
    harness = vendor.harness()
    first = submit(vendor, version, harness)
    services.cancel(first.id, by=vendor.actor)
    assert submit(vendor, version, harness).state == "preflight"


def files(folder: Path, label: str = "1", **others: str) -> Path:
    folder.mkdir()
    (folder / "harness.toml").write_text(MANIFEST.format(label))
    (folder / "run.sh").write_text("echo\n")
    for name, text in others.items():
        (folder / name).write_text(text)
    return folder


def test_the_version_line_and_times_do_not_count(tmp_path: Path) -> None:
    one, other = files(tmp_path / "a"), files(tmp_path / "b", "2")
    os.utime(other / "run.sh", (1, 1))
    assert content_digest(one) == content_digest(other)


def test_everything_else_does(tmp_path: Path) -> None:
    one = content_digest(files(tmp_path / "a"))
    renamed = files(tmp_path / "b")
    (renamed / "run.sh").rename(renamed / "run2.sh")
    executable = files(tmp_path / "c")
    (executable / "run.sh").chmod(0o755)
    command = files(tmp_path / "d")
    (command / "harness.toml").write_text(MANIFEST.format("1").replace("run.sh", "run2.sh"))
    linked = files(tmp_path / "e")
    (linked / "link").symlink_to("run.sh")
    more = files(tmp_path / "f", extra="x")
    moved = files(tmp_path / "g")
    (moved / "sub").mkdir()
    (moved / "sub" / "harness.toml").write_text(MANIFEST.format("2"))
    below = files(tmp_path / "h")
    (below / "sub").mkdir()
    (below / "sub" / "harness.toml").write_text(MANIFEST.format("3"))
    found = [content_digest(folder) for folder in (renamed, executable, command, linked, more, moved, below)]
    assert len({one, *found}) == len(found) + 1
