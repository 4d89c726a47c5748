"""Hostile artefacts: nothing outside the workspace is read or made, and the run still grades."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tarfile
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.sandbox import files
from evaluation.sandbox.spec import Ending
from tests.sandbox.conftest import on_both

HOSTILE = """
import os, socket
open("result.csv", "w").write("k,v\\n1,2\\n")
os.symlink("/etc/shadow", "link")
os.symlink("../../../../etc/passwd", "up")
os.symlink("/proc/1/environ", "env")
os.symlink(".", "loop")
os.symlink("/etc", "folder")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
os.link("result.csv", "hard")
open("suid", "w").write("x"); os.chmod("suid", 0o4755)
os.makedirs("a/b/c"); open("a/b/c/deep", "w").write("deep")
os.chmod("a/b/c/deep", 0); os.chmod("a/b", 0)
for kind in ("b", "c"):
    try: os.mknod("device" + kind, 0o600 | (0o060000 if kind == "b" else 0o020000), os.makedev(1, 3))
    except OSError: pass
try: os.link("/etc/passwd", "outside")
except OSError: pass
"""


@pytest.mark.case("H24")
@pytest.mark.case("H25")
def test_links_devices_and_the_like_are_refused_and_named(bench, snapshot_of) -> None:
    outcome = bench.run(HOSTILE)
    kept = snapshot_of(outcome)
    assert kept == {
        "data.csv": b"a,b\n1,2\n", "dir/note.txt": b"note", "result.csv": b"k,v\n1,2\n", "hard": b"k,v\n1,2\n",
        "a/b/c/deep": b"deep",
    }  # fmt: skip
    wanted = {
        "link link",
        "link up",
        "link env",
        "link loop",
        "link folder",
        "fifo pipe",
        "socket socket",
        "setuid suid",
    }
    assert wanted == set(outcome.refused)
    assert b"root:" not in outcome.snapshot.read_bytes()
    graded = bench.grade(
        outcome,
        "python3",
        "-c",
        "import os; print(os.listdir()); open('/grade/out/reward.json', 'w').write('{}')",
    )
    assert graded.fault is None


@pytest.mark.case("H25")
@on_both
def test_a_reply_that_is_a_link_is_no_reply(bench) -> None:
    for code in (
        "os.symlink('/etc/passwd', '/reply/reply.md')",
        "os.mkfifo('/reply/reply.md')",
        "os.mkdir('/reply/reply.md')",
        "os.mknod('/reply/reply.md', 0o020644, 0)",
        "import socket; socket.socket(socket.AF_UNIX).bind('/reply/reply.md')",
        "os.symlink('/reply', '/reply/reply.md'); os.chmod('/reply', 0)",
    ):
        assert bench.run(f"import os; {code}").reply is None


@pytest.mark.case("H8")
@on_both
def test_random_bytes_in_names_and_output(bench) -> None:
    code = (
        "import os, sys\n"
        "noise = bytes(range(1, 256)).replace(b'/', b'')\n"
        "open(noise[:200], 'wb').write(b'kept'); os.symlink('x', b'\\xff\\xfe')\n"
        "sys.stdout.buffer.write(noise); sys.stderr.buffer.write(noise[::-1])\n"
    )
    outcome = bench.run(code)
    noise = bytes(range(1, 256)).replace(b"/", b"")
    assert outcome.ending is Ending.FINISHED
    assert (outcome.stdout, outcome.stderr) == (noise, noise[::-1])
    with tarfile.open(outcome.snapshot, errors="surrogateescape") as archive:
        assert os.fsencode(archive.getnames()[0]) == noise[:200]
    assert outcome.refused == ("link \\xff\\xfe",)
    outcome.refused[0].encode("utf-8")
    assert (
        bench.grade(outcome, "python3", "-c", "open('/grade/out/reward.json', 'w').write('{}')").fault is None
    )


def test_too_many_and_too_deep(bench, snapshot_of) -> None:
    code = "import os\nfor n in range(21_000): open(f'f{n:05}', 'w').close()\nos.chdir(os.environ['HOME'])\n"
    outcome = bench.run(code)
    assert outcome.snapshot_truncated
    assert len(snapshot_of(outcome)) <= files.MAX_FILES
    deep = "import os\nfor n in range(300): os.mkdir('d'); os.chdir('d'); open('f', 'w').close()\n"
    outcome = bench.run(deep)
    assert len(snapshot_of(outcome)) == files.MAX_DEPTH - 1 + 2
    assert [line.split()[0] for line in outcome.refused] == ["depth"]


def archive(*entries: tarfile.TarInfo) -> io.BytesIO:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as out:
        for entry in entries:
            out.addfile(entry, io.BytesIO(b"x" * entry.size))
    buffer.seek(0)
    return buffer


def entry(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0, target: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.size, made.linkname = kind, size, target
    return made


@pytest.mark.case("H24")
@pytest.mark.parametrize(
    "bad",
    [
        entry("../out", size=1), entry("/abs", size=1), entry("a/../../out", size=1), entry("a//b", size=1),
        entry("link", tarfile.SYMTYPE, target="/etc"), entry("hard", tarfile.LNKTYPE, target="/etc/passwd"),
        entry("device", tarfile.CHRTYPE), entry("pipe", tarfile.FIFOTYPE), entry("big", size=2000),
        entry("/".join("d" * 70), size=1),
    ],
    ids=lambda bad: bad.name[:12],
)  # fmt: skip
def test_a_stored_archive_with_anything_but_plain_files_is_refused(tmp_path, bad) -> None:
    target = tmp_path / "target"
    target.mkdir()
    with pytest.raises(files.BadArchive):
        files.unpack(archive(entry("fine", size=1), bad), target, os.getuid(), max_bytes=1000)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["target"]
    assert {path.name for path in target.rglob("*")} <= {"fine", "a"}


def test_unpacked_files_are_plain(tmp_path) -> None:
    odd = entry("run.sh", size=3)
    odd.mode = 0o6777
    files.unpack(archive(odd, entry("d", tarfile.DIRTYPE)), tmp_path, os.getuid(), max_bytes=1000)
    assert stat.S_IMODE((tmp_path / "run.sh").stat().st_mode) == 0o755
    assert (tmp_path / "run.sh").stat().st_mtime == files.UNPACKED_AT


def test_a_broken_archive_is_a_fault_of_ours(tmp_path) -> None:
    for junk in (b"", b"junk" * 1000, archive(entry("a", size=600)).getvalue()[:800]):
        if junk:
            with pytest.raises(files.BadArchive):
                files.unpack(io.BytesIO(junk), tmp_path, os.getuid(), max_bytes=1000)
    assert Path(tmp_path).is_dir()


def test_a_name_that_looks_like_a_compressed_archive(bench) -> None:
    """The first bytes of a snapshot are a name of the harness's choice."""
    grade = ("python3", "-c", "import os; open('/grade/out/reward.json', 'w').write(str(len(os.listdir())))")
    for magic in (b"\x1f\x8b\x08", b"BZh91AY&SY", b"]\x00\x00\x80"[:1], b"\xfd7zXZ"):
        code = f"import os\nfor n in os.listdir():\n  os.system('rm -r ' + n)\nopen({magic!r}, 'w').close()"
        graded = bench.grade(bench.run(code), *grade)
        assert (graded.fault, graded.reward) == (None, b"1"), graded


LINKS = """
import os
for name in sorted(os.listdir()): os.system("rm -r " + name)
for a in range(10):
    os.chdir("/workspace")
    for step in range(15):
        os.mkdir(b"\\xff" * 250); os.chdir(b"\\xff" * 250)
    for n in range(100): os.symlink("x", b"\\xfe" * 240 + b"%d" % n)
    os.chdir("/workspace"); os.rename(b"\\xff" * 250, b"%d" % a)
"""


def test_refusals_are_capped_in_number_and_length(bench) -> None:
    code = (
        "import os\n"
        "for n in range(1500): os.symlink('x', b'\\xff' * 240 + b'%d' % n)\n"
        "for n in range(3): os.mkfifo(f'a{n}')\n"
    )
    outcome = bench.run(code)
    assert outcome.ending is Ending.FINISHED
    assert len(outcome.refused) == files.MAX_REFUSALS + 1
    assert max(map(len, outcome.refused)) <= files.REFUSAL_LENGTH
    assert outcome.refused[-1] == "and 1403 more"
    outcome = bench.run(LINKS)
    assert outcome.ending is Ending.FINISHED, outcome.stderr
    assert len("".join(outcome.refused)) < 30_000
    grade = "open('/grade/out/reward.json', 'w').write('{}')"
    assert bench.grade(outcome, "python3", "-c", grade).fault is None


PART = st.binary(min_size=1, max_size=255).map(lambda raw: raw.replace(b"/", b"_").replace(b"\0", b"0"))
NAMES = PART.filter(lambda part: part not in (b".", b".."))
MAGIC = st.sampled_from(
    [b"\x1f\x8b\x08", b"BZh", b"././@LongLink", b"ustar  ", b"PaxHeaders", b"\xfd7zXZ\x00"[:5]]
)
PATHS = st.lists(st.one_of(NAMES, MAGIC), min_size=1, max_size=6)
DEEP = st.tuples(NAMES, st.integers(1, 80)).map(lambda pair: [pair[0]] * pair[1])
TREES = st.lists(st.tuples(st.one_of(PATHS, DEEP), st.binary(max_size=700)), max_size=6)


def plant(root: Path, path: list[bytes], content: bytes) -> None:
    """Write a file however long its path is; what stands in the way is left as it is."""
    folder = os.open(root, os.O_RDONLY)
    try:
        for part in path[:-1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=folder)
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = inner
        fd = os.open(path[-1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, dir_fd=folder)
        os.write(fd, content)
        os.close(fd)
    except (NotADirectoryError, IsADirectoryError):
        pass
    finally:
        os.close(folder)


@given(TREES)
@settings(max_examples=150, deadline=None)
def test_whatever_is_taken_can_be_unpacked(trees) -> None:
    """Hostile names, depths and lengths: what a snapshot holds comes out again, and nothing else."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        for path, content in trees:
            plant(Path(first), path, content)
        once, twice = io.BytesIO(), io.BytesIO()
        found = files.take(Path(first), once, max_bytes=1 << 20)
        once.seek(0)
        files.unpack(once, Path(second), os.getuid(), max_bytes=1 << 20, plain=True)
        again = files.take(Path(second), twice, max_bytes=1 << 20)
        assert once.getvalue() == twice.getvalue()
        assert (again.refused, again.files) == ([], found.files)


def test_a_path_that_is_too_long_is_refused_and_named(tmp_path) -> None:
    plant(tmp_path, [b"d" * 249] * 3 + [b"f" * 250], b"kept")
    plant(tmp_path, [b"d" * 249] * 3 + [b"f" * 251], b"left out")
    plant(tmp_path, [b"e" * 255] * 30 + [b"f"], b"left out")
    found = files.take(tmp_path, io.BytesIO(), max_bytes=1 << 20)
    assert found.files == 1
    assert [line[:8] for line in found.refused] == ["path ddd", "path eee"]
