"""What is written to and read from control groups, on plain folders: this host has only one of the versions."""

from __future__ import annotations

import os
import subprocess

import pytest

from evaluation.sandbox import cgroups
from evaluation.sandbox.cgroups import Besides, Group, Hierarchy
from evaluation.sandbox.spec import MIB, Limits

LIMITS = Limits(memory_bytes=300 * MIB, workspace_bytes=16 * MIB, pids=10, cpus=1.5)


def contents(folder) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_version_2_files(tmp_path) -> None:
    for name in ("memory.swap.max", "memory.oom.group"):
        (tmp_path / name).touch()
    Group(2, dict.fromkeys(("memory", "pids", "cpu"), tmp_path)).limit(LIMITS, Besides(pids=2))
    assert contents(tmp_path) == {
        "memory.max": str(300 * MIB), "memory.swap.max": "0", "memory.oom.group": "1",
        "pids.max": "12", "cpu.max": "150000 100000",
    }  # fmt: skip


def test_version_1_files(tmp_path) -> None:
    dirs = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
    for place in dirs.values():
        place.mkdir()
    Group(1, dirs).limit(LIMITS, Besides(pids=2))
    assert contents(dirs["memory"]) == {"memory.limit_in_bytes": str(300 * MIB)}
    assert contents(dirs["pids"]) == {"pids.max": "12"}
    assert contents(dirs["cpu"]) == {"cpu.cfs_quota_us": "150000"}


@pytest.mark.parametrize(("version", "file"), [(1, "memory.oom_control"), (2, "memory.events")])
def test_counters(tmp_path, version, file) -> None:
    group = Group(version, dict.fromkeys(("memory", "pids"), tmp_path))
    assert (group.oom_kills(), group.pids_refused()) == (0, 0)
    (tmp_path / file).write_text("under_oom 0\noom_kill 3\n")
    (tmp_path / "pids.events").write_text("max 7\n")
    assert (group.oom_kills(), group.pids_refused()) == (3, 7)


def test_a_group_is_killed_until_it_is_empty(tmp_path) -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    (tmp_path / "cgroup.procs").write_text(f"{sleeper.pid}\n")
    assert not Group(2, {"pids": tmp_path}).kill(0.1)
    assert sleeper.wait(5) == -9


def test_version_2_freezes_before_it_kills_and_thaws_after(tmp_path, monkeypatch) -> None:
    sleeper = subprocess.Popen(["sleep", "60"])
    (tmp_path / "cgroup.procs").write_text(f"{sleeper.pid}\n")
    (tmp_path / "cgroup.freeze").write_text("0")
    (tmp_path / "cgroup.events").write_text("populated 1\nfrozen 1\n")
    seen = []

    def kill(pid: int, number: int) -> None:
        seen.append((pid, number, (tmp_path / "cgroup.freeze").read_text()))
        (tmp_path / "cgroup.procs").write_text("")

    monkeypatch.setattr(os, "kill", kill)
    assert Group(2, {"pids": tmp_path}).kill(5)
    monkeypatch.undo()
    assert seen == [(sleeper.pid, 9, "1")]
    assert (tmp_path / "cgroup.freeze").read_text() == "0"
    sleeper.kill()
    sleeper.wait()


@pytest.mark.case("H1")
def test_what_forks_without_end_is_swept_from_a_real_group() -> None:
    """Processes that replace themselves faster than they can be named: only what stands still is caught whole."""
    hierarchy = cgroups.open_hierarchy()
    group = hierarchy.make("e-forks", Limits(pids=60), Besides())
    if group is None:
        pytest.skip("no control group can be had here: there is nothing to sweep")
    joins = "".join(f"open({str(place / 'cgroup.procs')!r}, 'w').write('0')\n" for place in group.places())
    once = "    try:\n        if os.fork():\n            os._exit(0)\n    except OSError:\n        pass\n"
    forks = f"import os\n{joins}while True:\n{once}"
    try:
        first = subprocess.Popen(["python3", "-I", "-S", "-c", forks])
        first.wait(30)
        assert group.members()
        assert group.kill(20)
        assert group.members() == set()
    finally:
        group.kill(5)
        hierarchy.close()


def test_what_is_not_ours_is_not_taken(tmp_path, monkeypatch) -> None:
    """A version 2 group of somebody's session: its processes stay where they are."""
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids")
    (tmp_path / "cgroup.subtree_control").write_text("")
    (tmp_path / "cgroup.type").write_text("domain")
    (tmp_path / "cgroup.procs").write_text(f"{os.getpid()}\n")
    monkeypatch.setattr(cgroups, "_own_places", lambda version: [("", tmp_path)] if version == 2 else [])
    monkeypatch.setattr(cgroups, "_mount_of", lambda place: place)
    assert cgroups.open_hierarchy() == Hierarchy(0, {})
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_a_group_that_was_handed_over_is_used(tmp_path, monkeypatch) -> None:
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids hugetlb")
    (tmp_path / "cgroup.subtree_control").write_text("")
    (tmp_path / "cgroup.type").write_text("domain")
    (tmp_path / "cgroup.procs").write_text("4194000\n")
    monkeypatch.setattr(cgroups, "_own_places", lambda version: [("", tmp_path)] if version == 2 else [])
    monkeypatch.setattr(cgroups, "_mount_of", lambda place: place)
    monkeypatch.setattr(cgroups, "_delegated", lambda place: True)
    found = cgroups.open_hierarchy()
    assert found.label == "cgroup v2 (cpu, memory, pids)"
    assert (tmp_path / "lingee-main/cgroup.procs").read_text() == "4194000"
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


def test_no_groups_at_all() -> None:
    nothing = Hierarchy(0, {})
    assert nothing.label == "no cgroup"
    assert nothing.make("e-1", LIMITS, Besides()) is None
    nothing.close()
