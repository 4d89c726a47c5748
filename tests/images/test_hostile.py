"""Archives that are refused, one per rule, each with the first offending entry named."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.images import archive, places
from evaluation.images.archive import LAYERS
from evaluation.images.findings import ArchiveRule, Finding
from evaluation.images.image import LIMITS, Limits, inspect, unpack
from submissions.intake.rules import Rule
from tests.images.builder import (
    OCI,
    Built,
    Entry,
    file,
    folder,
    hard,
    hexed,
    image,
    link,
    manifest,
    special,
    tar,
)

CAPABLE = {"SCHILY.xattr.security.capability": "\x01\x00\x00\x02"}


def refusal(data: bytes, limits: Limits = LIMITS) -> Finding:
    with pytest.raises(Finding) as caught:
        inspect(io.BytesIO(data), limits)
    return caught.value


ENTRIES: dict[str, tuple[list[Entry], str, str]] = {
    "absolute": ([file("/etc/x")], "entry_absolute", "/etc/x"),
    "dots": ([file("a/../../x")], "entry_traversal", "a/../../x"),
    "control": ([file("a\nb")], "entry_name_invalid", "a\ufffdb"),
    "long part": ([file("x" * 256)], "entry_name_invalid", "x" * 200 + "…"),
    "deep": ([file("d/" * 64 + "x")], "entry_name_invalid", "d/" * 64 + "x"),
    "not UTF-8": ([file("x\udcff")], "entry_name_invalid", "x\ufffd"),
    "link climbs": ([folder("d"), link("d/l", "../../x")], "entry_link_leaves_tree", "d/l"),
    "link with a control character": ([link("l", "a\nb")], "entry_link_leaves_tree", "l"),
    "hard link out": ([hard("h", "../x")], "entry_hard_link_leaves_tree", "h"),
    "hard link to nothing": ([hard("h", "none")], "entry_hard_link_leaves_tree", "h"),
    "hard link to itself": ([hard("h", "h")], "entry_hard_link_leaves_tree", "h"),
    "hard link to a link": ([link("l", "x"), hard("h", "l")], "entry_hard_link_leaves_tree", "h"),
    "fifo": ([special("f", tarfile.FIFOTYPE)], "entry_device", "f"),
    "character device": ([special("c", tarfile.CHRTYPE)], "entry_device", "c"),
    "block device": ([special("b", tarfile.BLKTYPE)], "entry_device", "b"),
    "set-uid": ([file("su", b"x", mode=0o4755)], "entry_setuid", "su"),
    "set-gid": ([file("sg", b"x", mode=0o2755)], "entry_setuid", "sg"),
    "capabilities": ([file("ping", b"x", pax_headers=CAPABLE)], "image_capabilities", "ping"),
    "twice": ([file("x"), file("./x")], "entry_duplicate", "./x"),
    "below a link": ([link("l", "d"), file("l/x")], "entry_under_link", "l/x"),
    "below a file": ([file("f"), file("f/x")], "entry_under_link", "f/x"),
    "file over its own folder": ([file("d/x"), file("d")], "entry_under_link", "d"),
    "whiteout of dots": ([file(".wh...")], "image_whiteout_invalid", ".wh..."),
    "whiteout of the folder": ([file("d/.wh..")], "image_whiteout_invalid", "d/.wh.."),
    "whiteout of nothing": ([file(".wh.")], "image_whiteout_invalid", ".wh."),
    "reserved whiteout": ([file(".wh..wh.aufs")], "image_whiteout_invalid", ".wh..wh.aufs"),
    "whiteout with content": ([file(".wh.x", b"x")], "image_whiteout_invalid", ".wh.x"),
    "whiteout that is a link": ([link(".wh.x", "y")], "image_whiteout_invalid", ".wh.x"),
    "opaque link": ([link("d/.wh..wh..opq", "y")], "image_whiteout_invalid", "d/.wh..wh..opq"),
}


@pytest.mark.acceptance("fleet:1")
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_that_breaks_a_rule_is_named(name: str) -> None:
    entries, code, entry = ENTRIES[name]
    found = refusal(image((), [file("before"), *entries, file("z-after", mode=0o4755)]).oci())
    assert (found.code, found.facts.get("entry")) == (code, entry)


@pytest.mark.parametrize("place", [*places.FOLDERS, *places.FILES, "home", "etc"])
def test_a_place_of_the_contract_may_be_no_link(place: str) -> None:
    """A mount over a link would land where the link leads."""
    layer = (
        [link(place, "/usr")] if place not in ("harness",) else [file(".wh.harness"), link("harness", "/usr")]
    )
    found = refusal(image((), layer).oci())
    assert (found.code, found.facts["entry"]) == ("image_place_taken", place)


def test_what_a_later_layer_mends_is_not_refused() -> None:
    """As `chmod a-s` in a Dockerfile does: the file of the layer below is not part of the image."""
    found = inspect(io.BytesIO(image([file("su", b"x", mode=0o4755)], [file("su", b"x", mode=0o755)]).oci()))
    assert next(row for row in found.rows if row.name == "su").content.set_id is False


def index_of(built: Built, change: Callable[[dict], object]) -> bytes:
    files = built.oci_files()
    index = json.loads(files["index.json"])
    change(index)
    return built.oci(changes={"index.json": json.dumps(index).encode()})


def with_layer(blob: bytes, kind: str, **more: object) -> bytes:
    """An archive whose only layer is `blob`, of the media type `kind`."""
    built = image()
    descriptor = {"mediaType": kind, "digest": f"sha256:{hexed(blob)}", "size": len(blob)} | more
    files = built.oci_files(layers=[descriptor]) | {f"blobs/sha256/{hexed(blob)}": blob}
    return tar(file(name, content) for name, content in files.items())


BUILT = image([file("x", b"1")])
LAYER = f"blobs/sha256/{hexed(BUILT.blobs()[0])}"
CONFIG = f"blobs/sha256/{hexed(BUILT.config())}"
PLAIN = image().layers[0]
ARCHIVES: dict[str, tuple[Callable[[], bytes], str, str | None]] = {
    "empty": (lambda: b"", "package_truncated", None),
    "no archive": (lambda: b"PK\x03\x04" + bytes(2000), "image_not_archive", None),
    "another tar": (lambda: tar([file("x")]), "image_not_archive", None),
    "gzip around it": (lambda: gzip.compress(BUILT.oci()), "image_compressed", None),
    "cut off": (lambda: BUILT.oci()[: len(BUILT.oci()) // 2], "package_truncated", None),
    "outer link out": (lambda: tar([hard("x", "/etc/passwd")]), "entry_device", "x"),
    "outer name twice": (lambda: tar([file("x"), file("x")]), "entry_duplicate", "x"),
    "outer dots": (lambda: tar([file("../x")]), "entry_traversal", "../x"),
    "two images": (lambda: BUILT.docker(rows=2), "image_not_single", None),
    "no image": (lambda: index_of(BUILT, lambda index: index.update(manifests=[])), "image_not_single", None),
    "arm": (lambda: image(above={"architecture": "arm64"}).oci(), "image_platform", None),
    "windows": (lambda: image(above={"os": "windows"}).docker(), "image_platform", None),
    "layer changed": (
        lambda: BUILT.oci(changes={LAYER: b"x" * len(BUILT.blobs()[0])}),
        "image_digest_mismatch",
        LAYER,
    ),
    "layer longer": (
        lambda: BUILT.oci(changes={LAYER: BUILT.blobs()[0] + b"x"}),
        "image_digest_mismatch",
        LAYER,
    ),
    "configuration changed": (lambda: BUILT.oci(changes={CONFIG: b"{}"}), "image_digest_mismatch", CONFIG),
    "configuration of another name": (
        lambda: BUILT.docker(Config="0/VERSION"),
        "image_digest_mismatch",
        "0/VERSION",
    ),
    "tar of another digest": (
        lambda: Built(
            [PLAIN], above={"rootfs": {"type": "layers", "diff_ids": ["sha256:" + "0" * 64]}}
        ).docker(),
        "image_digest_mismatch",
        "0/layer.tar",
    ),
    "layer missing": (lambda: BUILT.oci(changes={LAYER: None}), "image_document_invalid", LAYER),
    "layers not as many": (
        lambda: Built([PLAIN], above={"rootfs": {"type": "layers", "diff_ids": []}}).docker(),
        "image_document_invalid",
        None,
    ),
    "no JSON": (lambda: BUILT.oci(changes={"index.json": b"{"}), "image_document_invalid", "index.json"),
    "a key twice": (
        lambda: BUILT.oci(changes={"index.json": b'{"manifests": [], "manifests": []}'}),
        "image_document_invalid",
        "index.json",
    ),
    "digest of another kind": (
        lambda: index_of(BUILT, lambda index: index["manifests"][0].update(digest="sha512:" + "0" * 128)),
        "image_document_invalid",
        "index.json",
    ),
    "no image but an artefact": (
        lambda: BUILT.oci(config={"mediaType": "application/x", "digest": "sha256:" + "0" * 64, "size": 1}),
        "image_document_invalid",
        None,
    ),
    "two manifests that differ": (
        lambda: BUILT.oci(
            changes={
                "other.json": b"{}",
                "manifest.json": b'[{"Config": "other.json", "Layers": []}]',
            }
        ),
        "image_document_invalid",
        "manifest.json",
    ),
    "encrypted": (
        lambda: with_layer(b"x", OCI + "layer.v1.tar+gzip+encrypted"),
        "image_layer_unsupported",
        f"blobs/sha256/{hexed(b'x')}",
    ),
    "foreign": (
        lambda: with_layer(PLAIN, OCI + "layer.v1.tar", urls=["https://example.org/layer"]),
        "image_layer_unsupported",
        f"blobs/sha256/{hexed(PLAIN)}",
    ),
    "zstd by its type": (
        lambda: with_layer(b"x", OCI + "layer.v1.tar+zstd"),
        "image_layer_unsupported",
        f"blobs/sha256/{hexed(b'x')}",
    ),
    "zstd by its bytes": (
        lambda: with_layer(b"\x28\xb5\x2f\xfd", OCI + "layer.v1.tar+gzip"),
        "image_layer_unsupported",
        f"blobs/sha256/{hexed(bytes.fromhex('28b52ffd'))}",
    ),
    "layer cut off": (
        lambda: with_layer(gzip.compress(PLAIN)[:-20], OCI + "layer.v1.tar+gzip"),
        "package_truncated",
        None,
    ),
    "layer that is none": (lambda: with_layer(b"x" * 2000, OCI + "layer.v1.tar"), "package_damaged", "–"),
    "no manifest": (lambda: image((), [file("harness/.wh.harness.toml")]).oci(), "manifest_missing", None),
    "linked manifest": (
        lambda: image(
            (), [file("m", manifest()), file(".wh.harness"), hard("harness/harness.toml", "m")]
        ).oci(),
        "manifest_missing",
        None,
    ),
    "large manifest": (
        lambda: image((), [file("harness/harness.toml", b"#" * 70_000)]).oci(),
        "manifest_not_toml",
        None,
    ),
    "too many layers": (
        lambda: Built([PLAIN, *[tar([])] * LAYERS]).oci(),
        "image_too_many_layers",
        None,
    ),
}


@pytest.mark.acceptance("fleet:1")
@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_breaks_a_rule_is_refused(name: str) -> None:
    make, code, entry = ARCHIVES[name]
    found = refusal(make())
    assert (found.code, found.facts.get("entry")) == (code, entry) if entry else found.code == code


@pytest.mark.acceptance("fleet:1")
def test_bombs_stop_at_the_limit() -> None:
    """Two hundred megabytes of zeros are not read to their end, nor counted by what a header says."""
    small = Limits(unpacked=1 << 20, entries=20)
    bomb = Built([PLAIN, tar([file("zeros", bytes(64 << 20))])]).oci()
    assert refusal(bomb, small).code == "package_unpacked_too_large"
    removed = Built([PLAIN, *[tar([file("x", bytes(600_000))])] * 2]).oci()
    assert refusal(removed, small).code == "package_unpacked_too_large"
    many = refusal(image([file(f"f{number}") for number in range(30)]).oci(), small)
    assert (many.code, many.facts["entry"]) == ("package_too_many_entries", "f17")
    tail = Built([PLAIN + bytes(64 << 20)]).oci()
    assert refusal(tail, small).code == "package_unpacked_too_large"
    padded = Built([PLAIN, *[tar([]) + bytes(1 << 20)] * 3]).oci()
    assert refusal(padded, small).code == "package_unpacked_too_large", (
        "the bound is that of all layers together"
    )


def test_an_index_that_is_listed_often_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    files = Built([PLAIN]).oci_files()
    (listed,) = json.loads(files["index.json"])["manifests"]
    for _ in range(3):
        data = json.dumps({"schemaVersion": 2, "manifests": [listed] * 30}).encode()
        files[f"blobs/sha256/{hexed(data)}"] = data
        kind = OCI + "index.v1+json"
        listed = {"mediaType": kind, "digest": f"sha256:{hexed(data)}", "size": len(data)}
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [listed]}).encode()
    read: list[str] = []
    plain = archive._Archive.document

    def counted(found: Any, name: str, kind: type) -> Any:
        read.append(name)
        return plain(found, name, kind)

    monkeypatch.setattr(archive._Archive, "document", counted)
    with contextlib.suppress(Finding):
        inspect(io.BytesIO(tar(file(name, content) for name, content in files.items())))
    assert 2 <= len(read) == len(set(read))


def test_every_code_is_one_of_intake_s_too() -> None:
    assert {rule.value for rule in ArchiveRule} <= {rule.value for rule in Rule}


def test_an_archive_that_changes_between_two_readings_leaves_no_tree_that_was_not_inspected(
    tmp_path: Path,
) -> None:
    data = image([file("x", b"1")]).oci()
    found = inspect(io.BytesIO(data))
    with pytest.raises(Finding, match="image_digest_mismatch"):
        unpack(io.BytesIO(image([file("x", b"2")]).oci()), found, tmp_path)


@pytest.mark.acceptance("fleet:1")
def test_nothing_outside_the_target_is_written(tmp_path: Path) -> None:
    """Links in place of folders, in every order that passes: all that comes out lies below the target."""
    outside = tmp_path / "outside"
    outside.mkdir()
    target = tmp_path / "deep" / "target"
    target.mkdir(parents=True)
    data = image(
        [link("l", str(outside)), folder("d"), link("d/up", "../l")],
        [folder("l"), file("l/x", b"1"), file("d/.wh..wh..opq"), file("d/up", b"2")],
        [file(".wh.l"), link("l", "/")],
    ).oci()
    unpack(io.BytesIO(data), inspect(io.BytesIO(data)), target)
    assert list(outside.iterdir()) == []
    assert (target / "l").is_symlink()
    assert (target / "d/up").read_bytes() == b"2"
    assert {path.name for path in tmp_path.iterdir()} == {"outside", "deep"}


def test_an_archive_written_by_the_system_s_tar_is_read(tmp_path: Path) -> None:
    for name, content in image([file("x", b"1")]).oci_files().items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(content)
    packed = subprocess.run(["tar", "-C", str(tmp_path), "-c", "."], capture_output=True, check=True).stdout
    assert any(row.name == "x" for row in inspect(io.BytesIO(packed)).rows)
