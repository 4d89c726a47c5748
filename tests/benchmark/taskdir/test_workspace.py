"""The workspace archive: same bytes every time, and nothing unsafe comes out of one."""

import gzip
import io
import tarfile
import tomllib
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmark.taskdir import TaskDirError, pack, toml, unpack


def test_packing_depends_on_names_and_contents_only() -> None:
    files = {"b/数据.csv": b"1", "a.txt": b"2"}
    assert pack(files) == pack(dict(reversed(files.items())))
    assert unpack(pack(files)) == files


def _archive(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz", format=tarfile.PAX_FORMAT) as archive:
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return raw.getvalue()


def _member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", mode: int = 0o644) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname, member.mode = kind, link, mode
    return member


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([(_member("../up"), b"x")], "unsafe name '../up'"),
        ([(_member("/etc/passwd"), b"x")], "unsafe name"),
        ([(_member("a\\b"), b"x")], "unsafe name"),
        ([(_member("a\nb"), b"x")], "unsafe name"),
        ([(_member("n" * 500), b"x")], "unsafe name"),
        ([(_member("link", tarfile.SYMTYPE, "/etc/shadow"), b"")], "'link' is not a regular file"),
        (
            [(_member("a"), b"x"), (_member("hard", tarfile.LNKTYPE, "a"), b"")],
            "'hard' is not a regular file",
        ),
        ([(_member("fifo", tarfile.FIFOTYPE), b"")], "'fifo' is not a regular file"),
        ([(_member("dev", tarfile.CHRTYPE), b"")], "'dev' is not a regular file"),
        ([(_member("suid", mode=0o4755), b"")], "'suid' is not a regular file"),
        ([(_member("a"), b"x"), (_member("a"), b"y")], "'a' stands twice"),
        ([(_member("a"), b"x"), (_member("a/b"), b"y")], "'a/b' lies below a file"),
        ([(_member(f"f{number}"), b"") for number in range(2001)], "more than 2000 entries"),
    ],
)
def test_an_unsafe_entry_is_named(members: list[tuple[tarfile.TarInfo, bytes]], message: str) -> None:
    with pytest.raises(TaskDirError, match=message):
        unpack(_archive(*members))


def test_folders_are_allowed() -> None:
    assert unpack(_archive((_member("d", tarfile.DIRTYPE, mode=0o755), b""), (_member("d/f"), b"x"))) == {
        "d/f": b"x"
    }


def test_a_bomb_is_met_at_the_cap() -> None:
    packer, chunk = zlib.compressobj(9, zlib.DEFLATED, 31), bytes(1024 * 1024)
    bomb = b"".join(packer.compress(chunk) for _ in range(100)) + packer.flush()
    with pytest.raises(TaskDirError, match="unpacks to more than"):
        unpack(bomb)


@pytest.mark.parametrize(
    "content", [b"", b"not gzip", gzip.compress(b"not a tar" * 100), pack({"a": b"x" * 9000})[:60]]
)
def test_a_broken_archive_is_an_error_of_its_own_kind(content: bytes) -> None:
    with pytest.raises(TaskDirError):
        unpack(content)


_scalars = st.one_of(st.text(), st.integers(-(2**60), 2**60), st.booleans(), st.lists(st.text(), max_size=3))


@given(
    st.dictionaries(st.text(min_size=1), st.one_of(_scalars, st.dictionaries(st.text(min_size=1), _scalars)))
)
def test_written_toml_reads_back(data: dict[str, object]) -> None:
    assert tomllib.loads(toml(data).decode()) == data


def test_toml_refuses_what_it_cannot_write() -> None:
    with pytest.raises(TaskDirError, match="float"):
        toml({"a": 0.5})
