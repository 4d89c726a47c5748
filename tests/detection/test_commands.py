"""`manage.py governance`: replay, calibrate and drill over a stream directory, and what they refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from governance.detection import calibration, levels
from governance.detection.synthetic import files
from governance.detection.synthetic.worlds import world

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A third of a bank, a dozen honest vendors and one campaign of each kind, as files."""
    folder = tmp_path_factory.mktemp("streams") / "mixed"
    files.write(world(31, honest=12, attackers=7, scale=0.3), folder)
    return folder


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams") / "honest"
    files.write(world(32, honest=12, attackers=0, scale=0.3), folder)
    return folder


def run(*arguments: object) -> str:
    out = StringIO()
    call_command("governance", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_a_replay_writes_its_report(stream: Path, tmp_path: Path) -> None:
    (stream / "labels.json").write_text("never opened", encoding="utf-8")
    said = run("replay", stream, "--report", tmp_path / "report.json")
    found = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert {
        "flagged_accounts",
        "first_alarm",
        "flagged_submissions",
        "rotation",
        "gap_alerts",
    } <= set(found)
    made = world(31, honest=12, attackers=7, scale=0.3)
    assert f"{len(made.submissions)} submissions" in said
    kinds = {made.kinds[account] for account in found["flagged_accounts"]}
    assert kinds >= {"abstainer", "wacky_boosting", "block"}
    assert set(found["rotation"][0]) == {"task", "exposure_bits"}


def test_files_and_memory_say_the_same(stream: Path) -> None:
    from governance.detection import streams

    made = world(31, honest=12, attackers=7, scale=0.3)
    read = list(streams.read_submissions(stream))
    assert [one.id for one in read] == [one.id for one in made.submissions]
    assert streams.read_tasks(stream).ids == made.table.ids
    for one, other in zip(read[:20], made.submissions, strict=False):
        for column in ("artefact", "log_tokens", "successes", "valid", "activity"):
            assert (one.rows[column] == other.rows[column]).all()


def test_calibration_keeps_its_record(honest: Path, tmp_path: Path) -> None:
    run("calibrate", honest, "--worlds", 1, "--runs", 2, "--out", tmp_path / "levels.json")
    found = levels.read(tmp_path / "levels.json")
    assert set(found.levels) == set(levels.CHANNELS)
    assert all(found.levels[channel] >= floor for channel, floor in levels.FLOORS.items())
    assert found.record["streams"] == ["honest", "made-up 100000"]
    assert found.record["lineages"] == 72
    assert found.record["runs"] == [2, 3]
    assert set(found.record["channels"]) == set(levels.CHANNELS)
    never = json.dumps({"levels": dict.fromkeys(levels.CHANNELS, 1e9)})
    (tmp_path / "never.json").write_text(never, encoding="utf-8")
    said = run("replay", honest, "--report", tmp_path / "r.json", "--levels", tmp_path / "never.json")
    assert " 0 accounts flagged" in said


def test_a_drill_reports_power_by_kind_and_changes_nothing(honest: Path, tmp_path: Path) -> None:
    before = {path.name: path.read_bytes() for path in honest.iterdir()}
    found = json.loads(run("drill", honest, "--times", 2, "--seed", 3))
    assert set(found["power"]) == {
        "single_task",
        "block",
        "binary_search",
        "slow_drip",
        "wacky_boosting",
        "abstainer",
        "memoriser",
    }
    assert found["power"]["abstainer"] == 1.0
    assert found["median_alarm"]["abstainer"] == 1
    said = run("replay", honest, "--report", tmp_path / "r.json")
    assert f" {int(found['history'])} accounts flagged" in said
    assert {path.name: path.read_bytes() for path in honest.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("replay", "/nowhere", "--report", "/tmp/r.json"), "FileNotFoundError"),
        (("calibrate", "--out", "/tmp/l.json"), "name a stream"),
        (("drill", "/nowhere"), "FileNotFoundError"),
    ],
)
def test_what_is_no_stream_is_refused(arguments: tuple[str, ...], says: str) -> None:
    with pytest.raises(CommandError, match=says):
        run(*arguments)


def test_levels_that_lack_a_channel_are_refused(honest: Path, tmp_path: Path) -> None:
    (tmp_path / "levels.json").write_text('{"levels": {"contrast": 3}}', encoding="utf-8")
    with pytest.raises(CommandError, match="no level for"):
        run("replay", honest, "--report", tmp_path / "r.json", "--levels", tmp_path / "levels.json")


def test_a_fitted_tail_is_the_tail() -> None:
    """Exponential excesses: one in a thousand lies at ln 1000 = 6.91 scales."""
    values = np.random.default_rng(8).exponential(1.0, 20_000)
    found = calibration.fit(values, floor=1.0)
    assert found["level"] == pytest.approx(np.log(1000), abs=0.5)
    assert abs(found["shape"]) < 0.1
    assert found["tail"] == 2000


def test_where_nothing_is_in_the_tail_the_floor_stands() -> None:
    quiet = np.zeros(500)
    quiet[:5] = 1.2
    assert calibration.fit(quiet, floor=3.05) == {"level": 3.05, "largest": 1.2, "tail": 5}
    assert calibration.fit(np.zeros(0), floor=2.0)["level"] == 2.0


def test_the_shipped_levels_have_their_record() -> None:
    shipped = levels.read()
    assert shipped.record["lineages"] > 1000
    assert shipped.record["runs"] == [3]
    assert all(shipped.levels[channel] >= floor for channel, floor in levels.FLOORS.items())


def test_site_and_workers_start_without_the_detectors() -> None:
    """Numerical libraries cost memory and seconds in each web process and each worker."""
    program = (
        "import sys, django; django.setup(); from django.urls import get_resolver; get_resolver().url_patterns;"
        "import evaluation.tasks, governance.tasks, governance.appeals.tasks;"
        "print([name for name in sys.modules if name in ('numpy', 'scipy') or name.startswith('governance.detection')])"
    )
    environment = {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "config.settings.test",
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=ROOT,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip().splitlines()[-1:] == ["[]"], done.stderr
