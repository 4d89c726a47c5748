"""Unpacked images of one host: made once by many processes, never dropped in use, found where they were changed."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evaluation.images import cache
from evaluation.images.cache import Made, RootCache, TreeChanged
from evaluation.images.image import Image, inspect, unpack
from tests.images.builder import file, image

ROOT = Path(__file__).parents[2]
LARGE = 1 << 40
USER = """
import sys, time, random
from pathlib import Path
sys.path[:0] = [{platform!r}, {root!r}]
from evaluation.images.cache import Made, RootCache
from evaluation.images.image import inspect, unpack
base, archives = Path(sys.argv[1]), sys.argv[2].split(",")
rounds, seed, limit = map(int, sys.argv[3:])
random.seed(seed)
images = RootCache(base, limit)
def make(name):
    def run(target):
        with open(base / "made", "a") as log:
            log.write(name + "\\n")
        with open(name, "rb") as archive:
            image = inspect(archive)
            unpack(archive, image, target)
        return Made(image.rows, image.environment)
    return run
for _ in range(rounds):
    name = random.choice(archives)
    with open(name, "rb") as archive:
        digest = inspect(archive).tree_digest
    with images.hold(digest, 1000, make(name)) as held:
        for _ in range(3):
            assert (held.path / "who").read_text() == Path(name).name, "another tree, or none"
            assert (held.path / "harness/harness.toml").exists()
            time.sleep(random.random() / 200)
print("done")
"""


def archive_of(folder: Path, name: str, size: int = 10) -> Path:
    path = folder / name
    path.write_bytes(image([file("who", name.encode()), file("bulk", os.urandom(size))]).oci())
    return path


def made(path: Path) -> tuple[Image, cache.Make]:
    data = path.read_bytes()
    found = inspect(io.BytesIO(data))

    def make(target: Path) -> Made:
        unpack(io.BytesIO(data), found, target)
        return Made(found.rows, found.environment)

    return found, make


def user(
    base: Path, archives: list[Path], *, rounds: int, seed: int, limit: int = LARGE
) -> subprocess.Popen[bytes]:
    code = USER.format(platform=str(ROOT / "platform"), root=str(ROOT))
    words = [str(base), ",".join(map(str, archives)), str(rounds), str(seed), str(limit)]
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={}
    )


def trees(base: Path) -> list[Path]:
    return [path for path in base.iterdir() if path.is_dir() and not path.name.startswith(".")]


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H33")
def test_many_processes_make_a_tree_once(tmp_path: Path) -> None:
    one = archive_of(tmp_path, "one")
    base = tmp_path / "base"
    base.mkdir()
    users = [user(base, [one], rounds=5, seed=seed) for seed in range(6)]
    said = [process.communicate(timeout=60) for process in users]
    assert [out for out, _ in said] == [b"done\n"] * 6, said
    assert (base / "made").read_text().splitlines() == [str(one)]
    assert len(trees(base)) == 1


@pytest.mark.acceptance("fleet:1")
@pytest.mark.case("H33")
def test_trees_are_dropped_under_many_users_and_never_one_that_is_used(tmp_path: Path) -> None:
    """Four processes want five images in turn where hardly one fits; one of them is killed with a tree in hand."""
    archives = [archive_of(tmp_path, f"image-{number}", 2000) for number in range(5)]
    base = tmp_path / "base"
    base.mkdir()
    victim = user(base, archives, rounds=10_000, seed=99, limit=3000)
    users = [user(base, archives, rounds=25, seed=seed, limit=3000) for seed in range(4)]
    time.sleep(0.5)
    victim.send_signal(signal.SIGKILL)
    victim.communicate()
    said = [process.communicate(timeout=120) for process in users]
    assert [out for out, _ in said] == [b"done\n"] * 4, said
    assert len((base / "made").read_text().splitlines()) > len(archives), "trees were dropped and made again"
    found, make = made(archive_of(tmp_path, "one-more", 2000))
    with RootCache(base, 1).hold(found.tree_digest, 1000, make) as held:
        assert trees(base) == [held.path], "nobody holds the others any more, and this one is made anew"
    assert not list(base.glob(".*.new"))


def test_what_a_killed_process_left_half_made_is_removed(tmp_path: Path) -> None:
    found, make = made(archive_of(tmp_path, "one"))
    other, make_other = made(archive_of(tmp_path, "two"))
    base = tmp_path / "base"
    images = RootCache(base, LARGE)

    def dies(target: Path) -> Made:
        make(target)
        os._exit(1)

    child = os.fork()
    if child == 0:
        with images.hold(found.tree_digest, 1000, dies):
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert list(base.glob(".*.new"))
    with images.hold(other.tree_digest, 1000, make_other) as held:
        assert trees(base) == [held.path]
    assert not list(base.glob(".*.new"))


def test_the_longest_unused_goes_first(tmp_path: Path) -> None:
    built = [made(archive_of(tmp_path, f"image-{number}", 4000)) for number in range(3)]
    images = RootCache(tmp_path / "base", 10_000)
    places = []
    for at, (found, make) in enumerate([built[0], built[1], built[0], built[2]]):
        with images.hold(found.tree_digest, 5000, make) as held:
            places.append(held.path)
            lock = held.path.parent / f".{held.path.name}.lock"
        os.utime(lock, (at, at))
    assert [path.exists() for path in places] == [True, False, True, True]


def test_the_name_says_nothing_and_differs_between_hosts(tmp_path: Path) -> None:
    found, make = made(archive_of(tmp_path, "one"))
    names = []
    for host in ("a", "b"):
        with RootCache(tmp_path / host, LARGE).hold(found.tree_digest, 1000, make) as held:
            names.append(held.path.name)
            assert RootCache(tmp_path / host, LARGE)._name(found.tree_digest) == held.path.name
    assert len({*names, found.tree_digest[:32], found.digest[:32]}) == 4


def test_bytes_that_changed_under_the_same_facts_are_found_when_a_process_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a failing disk does it: no inode tells, so all contents are read at first use and at intervals."""
    found, make = made(archive_of(tmp_path, "one"))
    first = RootCache(tmp_path / "base", LARGE)
    with first.hold(found.tree_digest, 1000, make) as held:
        (held.path / "bulk").write_bytes(b"another!!!")
    monkeypatch.setattr(cache, "_facts", lambda root: ("the same", 1))
    note = next((tmp_path / "base").glob(".*.json"))
    note.write_text(note.read_text().replace('"facts": "', '"facts": "the same", "former": "', 1))
    with first.hold(found.tree_digest, 1000, make) as held:
        assert (held.path / "bulk").read_bytes() == b"another!!!", "this process read all of it not long ago"
    with RootCache(tmp_path / "base", LARGE).hold(found.tree_digest, 1000, make) as held:
        assert (held.path / "bulk").read_bytes() != b"another!!!"


def test_one_that_was_changed_while_another_uses_it_is_a_fault_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "ALONE_SECONDS", 0.2)
    found, make = made(archive_of(tmp_path, "one"))
    with RootCache(tmp_path / "base", LARGE).hold(found.tree_digest, 1000, make) as held:
        (held.path / "who").write_text("evil")
        with (
            pytest.raises(TreeChanged) as caught,
            RootCache(tmp_path / "base", LARGE).hold(found.tree_digest, 1, make),
        ):
            pass
    assert isinstance(caught.value, OSError)


def test_a_failed_making_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    found, make = made(archive_of(tmp_path, "one"))
    images = RootCache(tmp_path / "base", LARGE)

    def full(target: Path) -> Made:
        (target / "half").write_bytes(b"x")
        raise OSError(errno.ENOSPC, "no room")

    with pytest.raises(OSError, match="no room"), images.hold(found.tree_digest, 1000, full):
        pass
    with pytest.raises(ValueError, match="another digest"), images.hold("0" * 64, 1000, make):
        pass
    assert trees(tmp_path / "base") == []
    assert not list((tmp_path / "base").glob(".*.new"))
    with images.hold(found.tree_digest, 1000, make) as held:
        lock = os.open(held.path.parent / f".{held.path.name}.lock", os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(lock)
