"""Hostile bundles: each is refused with the first offending entry named, and nothing is unpacked."""

from __future__ import annotations

import contextlib
import gzip
import io
import tarfile
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation import packages
from submissions.intake import LIMITS, Finding, Limits, inspect
from tests.submissions.bundles import bundle, entry, manifest, pack, tar

LINK, HARD, DEVICE, FIFO, FOLDER = (
    tarfile.SYMTYPE,
    tarfile.LNKTYPE,
    tarfile.CHRTYPE,
    tarfile.FIFOTYPE,
    tarfile.DIRTYPE,
)


def finding(data: bytes, limits: Limits = LIMITS) -> Finding:
    with pytest.raises(Finding) as caught:
        inspect(io.BytesIO(data), limits)
    return caught.value


def test_a_good_bundle_is_counted() -> None:
    files = {"run.py": b"x" * 10, "lib/a.py": b"y" * 5}
    found = inspect(io.BytesIO(bundle(files=files)))
    assert found.entries == 3
    assert found.unpacked == 15 + len(manifest())
    assert found.manifest == manifest()


WRONG = {
    "absolute": ([entry("/etc/passwd", b"x")], "entry_absolute", "/etc/passwd"),
    "traversal": ([entry("a/../../b", b"x")], "entry_traversal", "a/../../b"),
    "traversal inside": ([entry("a/../b", b"x")], "entry_traversal", "a/../b"),
    "link out": ([entry("l", type=LINK, linkname="../x")], "entry_link_leaves_tree", "l"),
    "absolute link": ([entry("l", type=LINK, linkname="/etc/passwd")], "entry_link_leaves_tree", "l"),
    "link out from a folder": (
        [entry("d/l", type=LINK, linkname="../../x")],
        "entry_link_leaves_tree",
        "d/l",
    ),
    "link out through a link": (
        [entry("a", type=LINK, linkname="."), entry("b", type=LINK, linkname="a/../x")],
        "entry_link_leaves_tree",
        "b",
    ),
    "link loop": (
        [entry("a", type=LINK, linkname="b/x"), entry("b", type=LINK, linkname="a/x")],
        "entry_link_leaves_tree",
        "b",
    ),
    "hard link out": (
        [entry("h", type=HARD, linkname="../x")],
        "entry_hard_link_leaves_tree",
        "h",
    ),
    "hard link to nothing": ([entry("h", type=HARD, linkname="y")], "entry_hard_link_leaves_tree", "h"),
    "hard link to a link": (
        [entry("l", type=LINK, linkname="harness.toml"), entry("h", type=HARD, linkname="l")],
        "entry_hard_link_leaves_tree",
        "h",
    ),
    "device": ([entry("dev", type=DEVICE)], "entry_device", "dev"),
    "pipe": ([entry("pipe", type=FIFO)], "entry_device", "pipe"),
    "unknown type": ([entry("odd", type=b"Z")], "entry_device", "odd"),
    "setuid": ([entry("su", b"x", mode=0o4755)], "entry_setuid", "su"),
    "setgid": ([entry("sg", b"x", mode=0o2755)], "entry_setuid", "sg"),
    "same name": ([entry("a", b"1"), entry("a", b"2")], "entry_duplicate", "a"),
    "same name but for case": ([entry("Readme", b"1"), entry("README", b"2")], "entry_duplicate", "README"),
    "same name but for composition": (
        [entry("caf\u00e9", b"1"), entry("cafe\u0301", b"2")],
        "entry_duplicate",
        "cafe\u0301",
    ),
    "same name with a dot": ([entry("a", b"1"), entry("./a", b"2")], "entry_duplicate", "./a"),
    "under a link": (
        [entry("d", type=LINK, linkname="e"), entry("d/x", b"1")],
        "entry_under_link",
        "d/x",
    ),
    "under a file": ([entry("f", b""), entry("f/x", b"1")], "entry_under_link", "f/x"),
    "folder turns into a link": (
        [entry("d/x", b"1"), entry("d", type=LINK, linkname="e")],
        "entry_under_link",
        "d",
    ),
    "backslash": ([entry("a\\..\\b", b"1")], "entry_name_invalid", "a\\..\\b"),
    "line feed": ([entry("a\nb", b"1")], "entry_name_invalid", "a\N{REPLACEMENT CHARACTER}b"),
    "second manifest": ([entry("./harness.toml", b"x")], "entry_duplicate", "./harness.toml"),
}


@pytest.mark.parametrize("name", WRONG)
def test_the_first_offending_entry_is_named(name: str) -> None:
    entries, code, named = WRONG[name]
    first = [entry("fine.txt", b"ok")]
    found = finding(pack([*first, *entries, entry("later/../x", b"")]))
    assert (found.code, found.facts["entry"]) == (code, named)


def test_a_name_that_is_not_utf8_is_refused_and_shown_safely() -> None:
    raw = bytearray(tar([entry("harness.toml", manifest()), entry("name-????", b"x")]))
    raw[raw.index(b"name-????") : raw.index(b"name-????") + 9] = b"name-\xff\xfe\xfd\xfc"
    at = raw.index(b"name-\xff") // 512 * 512
    block = raw[at : at + 512]
    block[148:156] = b" " * 8
    raw[at + 148 : at + 156] = b"%06o\0 " % sum(block)
    found = finding(gzip.compress(bytes(raw)))
    assert found.code == "entry_name_invalid"
    assert str(found.facts["entry"]).encode("utf-8")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "package_not_gzip"),
        (b"PK\x03\x04" + b"0" * 600, "package_not_gzip"),
        (b"\x1f\x8b" + b"0" * 600, "package_damaged"),
        (tar([entry("harness.toml", manifest())]), "package_not_gzip"),
        (gzip.compress(b""), "package_truncated"),
        (gzip.compress(b"no archive at all " * 100), "package_damaged"),
        (bundle()[:-20], "package_truncated"),
        (bundle() + b"tail", "package_damaged"),
        (gzip.compress(tar([entry("harness.toml", manifest())])[:700]), "package_truncated"),
        (gzip.compress(tar([entry("harness.toml", manifest())])[:1024]), "package_truncated"),
        (pack([entry("run.py", b"")], b""), "manifest_missing"),
        (pack([entry("sub/harness.toml", b"x")], b""), "manifest_missing"),
        (pack([entry("oci-layout", b"{}"), entry("index.json", b"{}")], b""), "image_compressed"),
        (pack([], b"x" * 70_000), "manifest_not_toml"),
    ],
)
def test_what_is_no_bundle(data: bytes, code: str) -> None:
    assert finding(data).code == code


def test_damage_in_the_middle_is_not_the_end() -> None:
    raw = bytearray(tar([entry("harness.toml", manifest()), entry("a", b"1"), entry("b", b"2")]))
    raw[raw.index(b"b\0\0\0") + 148] ^= 0x7F
    assert finding(gzip.compress(bytes(raw))).code == "package_damaged"


def test_a_link_that_a_later_one_leads_out() -> None:
    early, late = entry("b", type=LINK, linkname="d/../x"), entry("d", type=LINK, linkname=".")
    found = finding(pack([early, late]))
    assert (found.code, found.facts["entry"]) == ("entry_link_leaves_tree", "b")


def test_a_bomb_stops_early_and_names_its_entry() -> None:
    """A tenth of the size here: 200 MiB of zero bytes in 200 KiB."""
    limits = Limits(unpacked=20 * 1024 * 1024)
    data = pack([entry("bomb.bin", bytes(200 * 1024 * 1024))])
    assert len(data) < 2 * 1024 * 1024
    started = time.monotonic()
    found = finding(data, limits)
    assert (found.code, found.facts["entry"]) == ("package_unpacked_too_large", "bomb.bin")
    assert time.monotonic() - started < 1


def test_a_bomb_in_an_extension_header_is_not_read() -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 1_500_000_000
    data = gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) + bytes(30 * 1024 * 1024))
    assert finding(data).code == "entry_name_invalid"


def test_a_chain_of_extension_headers_ends() -> None:
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 0
    data = gzip.compress(header.tobuf(tarfile.USTAR_FORMAT) * 5000 + bytes(1024))
    assert finding(data).code == "package_damaged"


def test_too_many_entries() -> None:
    limits = Limits(entries=100)
    found = finding(pack([entry(f"f{number}", b"") for number in range(200)]), limits)
    assert (found.code, found.facts["limit"]) == ("package_too_many_entries", 100)


@pytest.mark.slow
def test_the_real_limits() -> None:
    good = pack([entry(f"d/f{number}", b"") for number in range(LIMITS.entries - 1)])
    assert inspect(io.BytesIO(good)).entries == LIMITS.entries
    assert (
        finding(pack([entry(f"d/f{n}", b"") for n in range(LIMITS.entries)])).code
        == "package_too_many_entries"
    )
    with tempfile.TemporaryFile() as file:
        with gzip.open(file, "wb", compresslevel=1) as packed:
            header = tarfile.TarInfo("bomb.bin")
            header.size = 5 * 1024**3
            packed.write(header.tobuf(tarfile.GNU_FORMAT))
            for _ in range(5 * 1024):
                packed.write(bytes(1024 * 1024))
        file.seek(0)
        with pytest.raises(Finding) as caught:
            inspect(file)
    assert caught.value.code == "package_unpacked_too_large"


NAMES = st.text(st.sampled_from("ab./\\\u00e9e\u0301A \n"), min_size=1, max_size=12)
TYPES = st.sampled_from([tarfile.REGTYPE, FOLDER, LINK, HARD, FIFO, DEVICE])


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(NAMES, TYPES, NAMES, st.binary(max_size=5)), max_size=6))
def test_what_passes_unpacks_inside_its_folder(rows: list[tuple[str, bytes, str, bytes]]) -> None:
    """Whatever intake accepts, the unpacking that workers use accepts too, and nothing lands outside."""
    entries = [
        entry(name, data if kind == tarfile.REGTYPE else b"", type=kind, linkname=target)
        for name, kind, target, data in rows
    ]
    data = pack(entries)
    try:
        inspect(io.BytesIO(data))
    except Finding:
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "outer", "tree")
        place.mkdir(parents=True)
        with contextlib.suppress(packages.Unpackable):
            packages.extract(io.BytesIO(data), place)
        assert [path.name for path in Path(folder).iterdir()] == ["outer"]
        assert [path.name for path in Path(folder, "outer").iterdir()] == ["tree"]
        for path in place.rglob("*"):
            assert place.resolve() in [path.resolve(), *path.resolve().parents]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=2000), st.integers(0, 400))
def test_noise_is_refused_never_a_failure(noise: bytes, at: int) -> None:
    raw = bytearray(tar([entry("harness.toml", manifest()), entry("a", b"1")]))
    raw[at : at + len(noise)] = noise
    for data in (noise, b"\x1f\x8b\x08" + noise, gzip.compress(noise), gzip.compress(bytes(raw))):
        with contextlib.suppress(Finding):
            inspect(io.BytesIO(data))
