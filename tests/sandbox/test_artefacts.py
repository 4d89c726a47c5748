"""Hostile artefacts: nothing outside the workspace is read or made, and the run still grades."""

from __future__ import annotations

import io
import os
import stat
import tarfile
from pathlib import Path

import pytest

from evaluation.sandbox import files
from evaluation.sandbox.spec import Ending

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
def test_a_reply_that_is_a_link_is_no_reply(bench) -> None:
    for code in (
        "os.symlink('/etc/passwd', '/reply/reply.md')",
        "os.mkfifo('/reply/reply.md')",
        "os.mkdir('/reply/reply.md')",
    ):
        assert bench.run(f"import os; {code}").reply is None


@pytest.mark.case("H8")
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
