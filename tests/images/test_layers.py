"""Layers and whiteouts against a straightforward oracle, both layouts, and the tree on disk."""

from __future__ import annotations

import io
import tarfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.images import places, tree
from evaluation.images.findings import Finding
from evaluation.images.image import Image, inspect, unpack
from tests.images.builder import Built, Entry, file, folder, hard, image, link, tar

PLACES = {*places.FOLDERS, *places.FILES, "home", "etc"}
OWN = {"harness", "harness/harness.toml", "harness/run.sh"}


def seen(image: Image) -> dict[str, str]:
    """Name → content, `/` for a folder, `→target` for a link, without the places every tree has."""
    found = {}
    for row in image.rows:
        if row.name not in PLACES | OWN:
            content = row.content.sha256[:8] if row.content else ""
            found[row.name] = {"dir": "/", "link": f"→{row.target}", "file": content}[row.kind]
    return found


def on_disk(root: Path) -> dict[str, bytes | str]:
    found: dict[str, bytes | str] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            found[name] = f"→{path.readlink()}"
        else:
            found[name] = "/" if path.is_dir() else path.read_bytes()
    return found


def inspected(data: bytes) -> Image:
    return inspect(io.BytesIO(data))


NAMES = st.sampled_from(["a", "b", "c"])
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)
STEPS = st.one_of(
    st.tuples(st.just("file"), PATHS, st.binary(max_size=3)),
    st.tuples(st.just("dir"), PATHS, st.just(b"")),
    st.tuples(st.just("gone"), PATHS, st.just(b"")),
    st.tuples(st.just("opaque"), PATHS, st.just(b"")),
)
Step = tuple[str, str, bytes]


def oracle(layers: list[list[Step]]) -> dict[str, bytes | None]:
    """Two passes a layer: first all that lower layers lose, then all it brings. None is a folder."""
    found: dict[str, bytes | None] = {}

    def lose(path: str) -> None:
        for name in [name for name in found if name == path or name.startswith(f"{path}/")]:
            del found[name]

    for steps in layers:
        for kind, path, _ in steps:
            if kind == "gone":
                lose(path)
            elif kind == "opaque":
                for name in [name for name in found if name.startswith(f"{path}/")]:
                    del found[name]
        for kind, path, content in steps:
            if kind not in ("file", "dir"):
                continue
            parts = path.split("/")
            for count in range(1, len(parts)):
                found.setdefault("/".join(parts[:count]), None)
            if kind == "file":
                lose(path)
                found[path] = content
            elif found.get(path, b"") is not None:
                found[path] = None
    return found


def legal(steps: list[Step]) -> list[Step]:
    """What a tool could have written: no name twice, nothing below a file of the same layer, folders before files."""
    files = {path for kind, path, _ in steps if kind == "file"}
    kept: dict[tuple[bool, str], Step] = {}
    for step in steps:
        above = places.parents(step[1])
        mark = step[0] in ("gone", "opaque")
        below = any(name.startswith(f"{step[1]}/") for kind, name, _ in steps if kind in ("file", "dir"))
        if any(name in files for name in above) or (step[0] == "file" and below):
            continue
        kept.setdefault((mark, step[1]), step)
    return list(kept.values())


def entries(steps: list[Step]) -> list[Entry]:
    found = []
    for kind, path, content in steps:
        above, _, leaf = path.rpartition("/")
        beside = f"{above}/" if above else ""
        match kind:
            case "file":
                found.append(file(path, content))
            case "dir":
                found.append(folder(path))
            case "gone":
                found.append(file(f"{beside}.wh.{leaf}"))
            case "opaque":
                found.append(file(f"{path}/.wh..wh..opq"))
    return found


@settings(max_examples=150, deadline=None)
@given(layers=st.lists(st.lists(STEPS, max_size=6).map(legal), min_size=1, max_size=4), data=st.data())
def test_layers_make_what_the_oracle_makes_in_any_order_of_the_marks(
    layers: list[list[Step]], data: st.DataObject
) -> None:
    """Whiteouts stand before or after what their layer brings."""
    orders: list[list[Step]] = []
    for steps in layers:
        marks = [step for step in steps if step[0] in ("gone", "opaque")]
        rest = sorted((step for step in steps if step not in marks), key=lambda step: step[1])
        marks_first = _needs_marks_first(layers[: len(orders)], rest)
        first = True if marks_first else data.draw(st.booleans())
        orders.append([*marks, *rest] if first else [*rest, *marks])
    wanted = oracle(layers)
    archive = image((), *(entries(steps) for steps in orders)).oci()
    if _below_a_file(layers):
        with suppress(Finding):  # whether it is refused depends on which mark stands where
            inspected(archive)
        return
    found = inspected(archive)
    assert {name: kind == "/" for name, kind in seen(found).items()} == {
        name: content is None for name, content in wanted.items()
    }
    for row in found.rows:
        if row.content is not None and row.name not in OWN:
            assert row.content.size == len(wanted[row.name] or b"")


def _needs_marks_first(lower: list[list[Step]], rest: list[Step]) -> bool:
    below = oracle(lower)
    return any(isinstance(below.get(above), bytes) for _, path, _ in rest for above in places.parents(path))


def _below_a_file(layers: list[list[Step]]) -> bool:
    """Whether some layer puts a name below what is a file in the layers under it, without replacing that file."""
    return any(
        isinstance(oracle(layers[:at]).get(above), bytes)
        for at, steps in enumerate(layers)
        for kind, path, _ in steps
        if kind in ("file", "dir")
        for above in places.parents(path)
    )


def test_both_layouts_and_both_compressions_give_one_tree() -> None:
    built = image([folder("x"), file("x/y", b"1"), link("x/z", "y")], [file("x/.wh.y"), file("x/new", b"2")])
    plain = Built(built.layers, compress=False)
    found = [inspected(data) for data in (built.oci(), plain.oci(), built.docker())]
    assert len({one.tree_digest for one in found}) == 1
    assert set(seen(found[0])) == {"x", "x/z", "x/new"}


def test_the_archive_of_newer_docker_holds_both_layouts_and_attestations_do_not_count() -> None:
    import json

    built = image([file("x", b"1")])
    files = built.oci_files()
    index = json.loads(files["index.json"])
    config = next(name for name in files if files[name] == built.config())
    attestation = b"{}"
    from tests.images.builder import OCI, hexed

    files[f"blobs/sha256/{hexed(attestation)}"] = attestation
    index["manifests"].append(
        {
            "mediaType": OCI + "manifest.v1+json",
            "digest": f"sha256:{hexed(attestation)}",
            "size": 2,
            "annotations": {"vnd.docker.reference.type": "attestation-manifest"},
        }
    )
    absent = {"mediaType": OCI + "manifest.v1+json", "digest": "sha256:" + "0" * 64, "size": 2}
    index["manifests"].append(absent)  # another platform of the index that was not saved
    nested = json.dumps(index).encode()
    files[f"blobs/sha256/{hexed(nested)}"] = nested
    outer = {"mediaType": OCI + "index.v1+json", "digest": f"sha256:{hexed(nested)}", "size": len(nested)}
    files["index.json"] = json.dumps({"schemaVersion": 2, "manifests": [outer]}).encode()
    rows = [{"Config": config, "RepoTags": ["a:1", "a:2"], "Layers": []}]
    files["manifest.json"] = json.dumps(rows).encode()
    found = inspected(tar(file(name, content) for name, content in files.items()))
    assert found.tree_digest == inspected(built.docker()).tree_digest


def test_a_layer_that_older_docker_stored_once_is_found_through_its_link() -> None:
    built = Built([tar([file("x", b"1")]), image().layers[0], tar([file("x", b"1")])])
    data = built.docker(Layers=["0/layer.tar", "1/layer.tar", "twin/layer.tar"])
    linked = tar([link("twin/layer.tar", "../0/layer.tar")])
    # Put the link behind what is there already: two zero blocks end the first archive.
    body = data.rstrip(b"\0")
    joined = body + bytes(-len(body) % 512) + linked
    assert seen(inspected(joined))["x"]


def test_what_is_unpacked_is_what_was_inspected(tmp_path: Path) -> None:
    built = image(
        [
            folder("d"),
            file("d/one", b"1", mode=0o711),
            hard("d/two", "d/one"),
            link("l", "/d/one"),
            file("old"),
        ],
        [file(".wh.old"), hard("three", "d/one"), file("tmp/hidden", b"x"), file("home/agent/hidden", b"x")],
    )
    data = built.oci()
    found = inspected(data)
    unpack(io.BytesIO(data), found, tmp_path)
    disk = on_disk(tmp_path)
    assert {name: disk[name] for name in ("d/one", "d/two", "three", "l")} == {
        "d/one": b"1",
        "d/two": b"1",
        "three": b"1",
        "l": "→/d/one",
    }
    assert (tmp_path / "three").stat().st_ino == (tmp_path / "d/one").stat().st_ino
    assert (tmp_path / "d/one").stat().st_mode & 0o7777 == 0o755
    assert (tmp_path / "d/one").stat().st_mtime == 1_600_000_000
    assert set(disk) == {row.name for row in found.rows}
    assert {"old", "tmp/hidden", "home/agent/hidden"}.isdisjoint(disk)
    assert set(disk) >= PLACES


def test_the_digest_of_the_tree_tells_content_names_and_the_right_to_execute_apart() -> None:
    variants: list[list[Entry]] = [
        [file("x", b"1")],
        [file("x", b"2")],
        [file("y", b"1")],
        [file("x", b"1", mode=0o755)],
        [link("x", "1")],
        [folder("x")],
        [file("x", b"1", mtime=1)],
    ]
    assert len({inspected(image(entries).oci()).tree_digest for entries in variants}) == len(variants)
    assert len({tree.digest(inspected(image([file("x")], [file("z")]).oci()).rows) for _ in range(2)}) == 1


def test_names_that_differ_in_case_and_backslashes_are_two_names_of_an_image() -> None:
    found = seen(inspected(image([file("A"), file("a"), file("x\\x2d.slice")]).oci()))
    assert {"A", "a", "x\\x2d.slice"} <= set(found)


def test_old_gnu_headers_are_read() -> None:
    long = "n/" * 60 + "end"
    layer = tar([file(long, b"1")], tarfile.GNU_FORMAT)
    assert long in seen(inspected(Built([image().layers[0], layer]).oci()))


@pytest.mark.parametrize("target", ["/etc/x", "../x", "x/../../y"])
def test_links_that_stay_below_the_root_are_taken(target: str) -> None:
    assert seen(inspected(image([folder("d"), link("d/l", target)]).oci()))["d/l"] == f"→{target}"
