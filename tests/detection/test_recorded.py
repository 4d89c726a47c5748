"""The six recorded streams through the command, scored by their labels afterwards.

They lie outside the repository: in LINGEE_PROBING, or beside the checkout. Elsewhere made-up worlds stand in their
place (test_worlds.py), and this module says that it was skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.detection.scoring import Score, score

ROOT = Path(__file__).resolve().parents[2]
PROBING = Path(os.environ.get("LINGEE_PROBING", ROOT.parent / "shared" / "probing"))
MIXED = ("mixed-501", "mixed-502", "mixed-503", "mixed-504")
CLEAN = ("clean-511", "clean-512")
SECONDS = 60.0

pytestmark = [
    pytest.mark.acceptance("governance:1"),
    pytest.mark.xdist_group("recorded streams"),  # one replay serves all tests
    pytest.mark.skipif(not PROBING.is_dir(), reason=f"no recorded streams in {PROBING}: set LINGEE_PROBING"),
]


@pytest.fixture(scope="module")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """The reports by stream. The detectors get copies without labels."""
    place = tmp_path_factory.mktemp("replayed")
    found = {}
    for name in (*MIXED, *CLEAN):
        copy = place / name
        copy.mkdir()
        for file in ("tasks.jsonl", "submissions.jsonl.gz"):
            shutil.copy(PROBING / name / file, copy / file)
        began = time.process_time()
        call_command("governance", "replay", str(copy), report=place / f"{name}.json")
        found[name] = json.loads((place / f"{name}.json").read_text(encoding="utf-8"))
        found[name]["seconds"] = time.process_time() - began
    return found


def scored(name: str, replayed: dict[str, dict[str, Any]]) -> Score:
    labels = json.loads((PROBING / name / "labels.json").read_text(encoding="utf-8"))
    return score(labels, replayed[name])


def test_campaigns_are_caught(replayed: dict[str, dict[str, Any]]) -> None:
    caught = {name: scored(name, replayed).campaigns for name in MIXED}
    assert all(sum(found.values()) >= 6 for found in caught.values()), caught
    assert sum(sum(found.values()) for found in caught.values()) >= 31, caught


def test_no_honest_account_is_alarmed(replayed: dict[str, dict[str, Any]]) -> None:
    assert {name: scored(name, replayed).honest for name in replayed} == dict.fromkeys(replayed, ())


@pytest.mark.parametrize("name", MIXED)
def test_the_queue_names_probed_tasks(name: str, replayed: dict[str, dict[str, Any]]) -> None:
    found = scored(name, replayed)
    assert found.precision_at_100 >= 0.85
    assert found.r_precision >= 0.64


def test_public_fitters_are_told_from_others(replayed: dict[str, dict[str, Any]]) -> None:
    found = [scored(name, replayed) for name in replayed]
    assert min(one.gap_caught for one in found) >= 0.75
    assert sum(one.gap_false for one in found) == 0


def test_alarms_come_early_and_each_account_has_its_first(replayed: dict[str, dict[str, Any]]) -> None:
    for report in replayed.values():
        assert set(report["first_alarm"]) == set(report["flagged_accounts"])
        assert report["seconds"] < SECONDS
