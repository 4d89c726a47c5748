"""Two episodes at once share a kernel and read-only files: neither can tell that the other is there."""

from __future__ import annotations

import ast
import json
import platform
import threading
import time

import pytest

from evaluation.sandbox.spec import Ending, Outcome

pytestmark = [pytest.mark.serial, pytest.mark.acceptance("main-job:7")]


def both(bench, first: str, second: str) -> list[Outcome]:
    """Run two harnesses at once."""
    outcomes: dict[int, Outcome] = {}

    def one(number: int, code: str) -> None:
        work, harness = bench.tmp / f"work{number}", bench.tmp / f"h{number}"
        work.mkdir(exist_ok=True)
        harness.mkdir(exist_ok=True)
        (harness / "run.py").write_text(code)
        outcomes[number] = bench.backend.run_episode(bench.spec("", harness_dir=harness), work)

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate((first, second))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [outcomes[0], outcomes[1]]


LOCKER = """
import fcntl, os, time
fd = os.open("/usr/bin/env", os.O_RDONLY)
fcntl.flock(fd, fcntl.LOCK_SH)
fcntl.lockf(fd, fcntl.LOCK_SH)
time.sleep(max(0, {at} + 0.3 - time.time()))
"""
PROBER = """
import fcntl, os, struct, time
fd = os.open("/usr/bin/env", os.O_RDONLY)
time.sleep(max(0, {at} - time.time()))
fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
for command in (5, 36):
    kind = struct.unpack("hhqqi4x", fcntl.fcntl(fd, command, struct.pack("hhqqi4x", 1, 0, 0, 1, 0)))[0]
    print(kind == fcntl.F_UNLCK)
"""


def test_a_lock_of_one_is_not_seen_by_the_other(bench) -> None:
    at = time.time() + 1.0
    locker, prober = both(bench, LOCKER.format(at=at), PROBER.format(at=at))
    assert (locker.ending, prober.ending) == (Ending.FINISHED, Ending.FINISHED), prober.stderr
    assert prober.stdout == b"True\nTrue\n"


BUSY = """
import os, pty, time
until = time.time() + 2.5
kept = [pty.openpty() for _ in range(5)] + [os.pipe() for _ in range(50)]
block = bytearray(b"x") * (40 << 20)
while time.time() < until:
    for n in range(200): open(f"f{n}", "w").write("x" * 20_000)
    os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)
"""
READER = """
import json, os, time
def read():
    found = {}
    for top, folders, names in os.walk("/proc"):
        if top == "/proc":
            folders[:] = [name for name in folders if not name.isdigit()]
        for name in names:
            path = os.path.join(top, name)
            try:
                fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
                found[path] = os.read(fd, 1 << 16)
                os.close(fd)
            except OSError: pass
    return found
first = read()
time.sleep(1.5)
second = read()
print(json.dumps([sorted(p for p in first if first[p] != second.get(p)), len(first)]))
"""
OF_EACH_READING = {"/proc/sys/kernel/random/uuid", "/proc/sys/kernel/ns_last_pid"}


def test_nothing_in_proc_moves_while_the_other_works(bench) -> None:
    """Two readings of every file of /proc that is not a process's own, while the other episode is busy."""
    _, reader = both(bench, BUSY, READER)
    moved, count = json.loads(reader.stdout)
    assert count > 100
    assert set(moved) <= OF_EACH_READING


REFUSALS = """
import ctypes, errno, fcntl, mmap, os, select, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open("/usr/bin/env", os.O_RDONLY)
def says(result):
    return "ok" if result >= 0 else errno.errorcode[ctypes.get_errno()]
def call(number, *arguments):
    ctypes.set_errno(0)
    return says(libc.syscall(ctypes.c_long(number), *[ctypes.c_long(a) for a in arguments]))
def of(function, *arguments):
    try: function(*arguments)
    except OSError as fault: return errno.errorcode[fault.errno]
    return "ok"
sock = socket.socket(socket.AF_UNIX)
page = mmap.mmap(-1, 4096)
print({
    "lease": of(fcntl.fcntl, fd, 1024, 0), "get lease": of(fcntl.fcntl, fd, 1025),
    "notify": of(fcntl.fcntl, fd, 1026, 1),
    "hint": of(fcntl.fcntl, fd, 1035, bytes(8)), "hint high": call(72, fd, (1 << 32) | 1024, 0),
    "inotify": call(253), "inotify1": call(294, 0), "watch": call(254, 0, 0, 0), "fanotify": call(300, 0, 0),
    "fadvise": call(221, fd, 0, 4096, 4), "readahead": call(187, fd, 0, 4096), "mincore": call(27, 0, 0, 0),
    "cachestat": call(451, fd, 0, 0, 0), "kcmp": call(312, 0, 0, 0, 0, 0), "pidfd_open": call(434, os.getpid(), 0),
    "pidfd_getfd": call(438, 0, 0, 0), "vm_readv": call(310, 1, 0, 0, 0, 0, 0), "sysinfo": call(99, 0),
    "statfs": of(os.statvfs, "/usr"), "aio": call(206, 1, 0), "sync": call(162),
    "nowait": of(os.preadv, fd, [bytearray(1)], 0, os.RWF_NOWAIT),
    "preadv2": of(os.preadv, fd, [bytearray(1)], 0, os.RWF_HIPRI),
    "cookie": of(sock.getsockopt, 1, 57, 8), "peer pidfd": of(sock.getsockopt, 1, 77, 4),
    "type": of(sock.getsockopt, 1, 3),
    "extents": of(fcntl.ioctl, fd, 0xC020660B, bytes(64)), "flags": of(fcntl.ioctl, fd, 0x80086601, bytes(8)),
    "pageout": of(page.madvise, 21), "merge": of(page.madvise, 12),
    "xattr": of(os.setxattr, "/workspace", "user.x", b"1"),
    "unique mount": call(332, fd, 0, 0x1000, 0x4000, 0),
    "size of pipe": of(fcntl.fcntl, os.pipe()[0], 1032), "duplicate": of(fcntl.fcntl, fd, 1030, 0),
})
"""


def test_what_is_refused_and_what_does_nothing(bench) -> None:
    outcome = bench.run(REFUSALS)
    assert outcome.ending is Ending.FINISHED, outcome.stderr
    said: dict[str, str] = ast.literal_eval(outcome.stdout.decode())
    inert = {
        "fadvise",
        "readahead",
        "sync",
        "pageout",
        "merge",
        "preadv2",
        "type",
        "size of pipe",
        "duplicate",
    }
    assert {name for name, answer in said.items() if answer == "ok"} == inert
    assert set(said.values()) <= {"ok", "EPERM", "ENOSYS", "ENOTTY", "EOPNOTSUPP", "ENOTSUP"}


ABI = """
import ctypes, mmap
code = {code!r}
page = mmap.mmap(-1, 4096, prot=7)
page.write(code)
print("before", flush=True)
print(ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""


@pytest.mark.parametrize(
    "code",
    [b"\xb8\x14\x00\x00\x00\xcd\x80\xc3", b"\xb8\x27\x00\x00\x40\x0f\x05\xc3"],
    ids=["int 0x80", "x32"],
)
def test_another_abi_kills(bench, code) -> None:
    """getpid by the 32-bit gate and by an x32 number."""
    if platform.machine() != "x86_64":
        pytest.skip("x86-64 only")
    outcome = bench.run(ABI.format(code=code))
    assert (outcome.stdout, outcome.ending, outcome.exit_code) == (b"before\n", Ending.CRASHED, 128 + 31)


SQLITE = """
import os, sqlite3
for mode in ("DELETE", "TRUNCATE", "PERSIST", "MEMORY", "OFF", "WAL"):
    base = sqlite3.connect(f"{mode}.db", timeout=1)
    assert base.execute(f"PRAGMA journal_mode={mode}").fetchone()[0].upper() == mode
    base.execute("create table t (n)")
    with base: base.executemany("insert into t values (?)", [(n,) for n in range(100)])
    other = sqlite3.connect(f"{mode}.db", timeout=1)
    assert other.execute("select count(*) from t").fetchone() == (100,)
    with other: other.execute("delete from t where n < 50")
    assert base.execute("select count(*), min(n) from t").fetchone() == (50, 50)
    assert base.execute("pragma integrity_check").fetchone() == ("ok",)
print("fine")
"""
HOT_JOURNAL = """
import os, sqlite3
base = sqlite3.connect("b.db", isolation_level=None)
if os.environ["TURN"] == "1":
    base.execute("create table t (n)")
    base.execute("insert into t values (1)")
    base.execute("pragma cache_size=1"); base.execute("pragma cache_spill=1")
    base.execute("begin")
    base.execute("update t set n = 2")
    base.executemany("insert into t values (?)", [("x" * 900,) for n in range(3000)])
    os.kill(os.getpid(), 9)
assert os.path.exists("b.db-journal")
print(base.execute("select n from t").fetchall(), base.execute("pragma integrity_check").fetchone())
"""


def test_sqlite_works_in_the_workspace(bench) -> None:
    outcome = bench.run(SQLITE)
    assert outcome.stdout == b"fine\n", outcome.stderr


def test_sqlite_undoes_what_a_killed_turn_left_half_done(bench) -> None:
    outcome = bench.run(HOT_JOURNAL, turns=(b"2",))
    assert outcome.stdout == b"[(1,)] ('ok',)\n", outcome.stderr


def test_the_machine_s_figures_are_the_episode_s_own(bench) -> None:
    code = (
        "import os, subprocess, sys\n"
        "print(open('/proc/meminfo').readline().split()[1], os.cpu_count() > 0, open('/proc/uptime').read())\n"
        "try: os.getloadavg()\n"
        "except OSError: print('no load')\n"
        "print(subprocess.run([sys.executable, '-c', 'print(1)'], capture_output=True).stdout)\n"
    )
    outcome = bench.run(code)
    total = bench.spec("").limits.memory_bytes >> 10
    assert outcome.stdout.decode().splitlines() == [
        f"{total} True 86400.00 86400.00", "", "no load", "b'1\\n'",
    ], outcome.stderr  # fmt: skip
