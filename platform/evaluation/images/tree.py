"""The tree that the layers of an image make, in memory: what each name is in the end, before a byte is written.

Layers and whiteouts follow the OCI Image Format Specification 1.1 (layer.md): a whiteout removes what lower layers
hold, never what its own layer brings, whatever the order of the entries.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from evaluation.images import places
from evaluation.images.findings import ArchiveRule, Finding, shown


@dataclass(slots=True)
class Content:
    """A regular file's content; several names may share it. `source` is the layer, and which entry of it."""

    source: tuple[int, int]
    name: str
    size: int = 0
    sha256: str = ""
    executable: bool = False
    mtime: int = 0
    set_id: bool = False
    capable: bool = False


@dataclass(slots=True)
class Node:
    """A folder (`children`), a file (`content`) or a symbolic link (`target`); `layer` is the last that touched it."""

    layer: int
    children: dict[str, Node] | None = None
    content: Content | None = None
    target: str = ""
    mtime: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """One name of the finished tree. `kind` is dir, file or link; `content` is that of a file the image brought."""

    name: str
    kind: str
    content: Content | None = None
    target: str = ""
    mtime: int = 0

    def line(self) -> str:
        """What the digest of the tree is taken over."""
        file = self.content
        facts: list[object] = [self.kind, self.name]
        if self.kind == "link":
            facts += [self.target, self.mtime]
        elif self.kind == "file":
            facts += [file.executable, file.mtime, file.size, file.sha256] if file else [False, 0, 0, EMPTY]
        return json.dumps(facts, ensure_ascii=True, separators=(",", ":")) + "\n"


EMPTY = hashlib.sha256(b"").hexdigest()


def folder(layer: int) -> Node:
    return Node(layer, children={})


@dataclass
class Tree:
    """All layers so far."""

    root: Node = field(default_factory=lambda: folder(-1))

    def parent(self, name: str, layer: int, entry: str) -> dict[str, Node]:
        """The folder that `name` lies in, made where it is missing. Raises Finding below a file or link."""
        here = self.root
        here.layer = layer
        for part in name.split("/")[:-1]:
            assert here.children is not None
            found = here.children.setdefault(part, folder(layer))
            if found.children is None:
                raise Finding(ArchiveRule.ENTRY_UNDER_LINK, entry=shown(entry))
            found.layer = layer
            here = found
        assert here.children is not None
        return here.children

    def find(self, name: str) -> Node | None:
        """What lies at `name`, followed through no link."""
        here: Node | None = self.root
        for part in filter(None, name.split("/")):
            here = here.children.get(part) if here is not None and here.children is not None else None
        return here

    def put(self, name: str, node: Node, entry: str) -> None:
        """A file or link; what lower layers had there goes. Raises Finding where its own layer put a folder there."""
        siblings = self.parent(name, node.layer, entry)
        leaf = name.rpartition("/")[2]
        former = siblings.get(leaf)
        if former is not None and former.children is not None and former.layer == node.layer:
            raise Finding(ArchiveRule.ENTRY_UNDER_LINK, entry=shown(entry))
        siblings[leaf] = node

    def put_folder(self, name: str, layer: int, entry: str) -> None:
        """A folder; where lower layers had one their content stays."""
        if not name:
            return
        siblings = self.parent(name, layer, entry)
        leaf = name.rpartition("/")[2]
        former = siblings.get(leaf)
        if former is not None and former.children is not None:
            former.layer = layer
        else:
            siblings[leaf] = folder(layer)

    def white_out(self, name: str, layer: int) -> None:
        """Remove what lower layers hold at `name`; nothing where there is nothing."""
        above, _, leaf = name.rpartition("/")
        parent = self.find(above)
        if parent is not None and parent.children is not None and leaf in parent.children:
            _prune(parent.children, leaf, layer)

    def make_opaque(self, name: str, layer: int) -> None:
        """Remove what lower layers hold in the folder `name`."""
        found = self.find(name)
        if found is not None and found.children is not None:
            for leaf in list(found.children):
                _prune(found.children, leaf, layer)

    def rows(self) -> Iterator[Row]:
        """The finished tree in the order of its names, the mount points of the sandbox included. Raises Finding."""
        _require_places(self)
        found = {row.name: row for row in _walk(self.root, "") if not places.is_hidden(row.name)}
        for name in places.FOLDERS:
            for part in (*places.parents(name), name):
                found[part] = Row(part, "dir")
        for name in places.FILES:
            for part in places.parents(name):
                found.setdefault(part, Row(part, "dir"))
            found.setdefault(name, Row(name, "file"))
        for name in sorted(found):
            yield found[name]


def _prune(siblings: dict[str, Node], leaf: str, layer: int) -> None:
    node = siblings[leaf]
    if node.layer != layer:
        del siblings[leaf]
    elif node.children is not None:
        for below in list(node.children):
            _prune(node.children, below, layer)


def _walk(node: Node, name: str) -> Iterator[Row]:
    for leaf, child in (node.children or {}).items():
        path = f"{name}/{leaf}" if name else leaf
        if child.children is not None:
            yield Row(path, "dir")
            yield from _walk(child, path)
        elif child.content is not None:
            yield Row(path, "file", child.content)
        else:
            yield Row(path, "link", None, child.target, child.mtime)


def _require_places(tree: Tree) -> None:
    """Every place that is mounted over is a folder (or file) of its own, or absent: never a link to elsewhere."""
    for name in places.FOLDERS:
        for part in (*places.parents(name), name):
            node = tree.find(part)
            if node is not None and node.children is None:
                raise Finding(ArchiveRule.IMAGE_PLACE_TAKEN, entry=shown(part))
    for name in places.FILES:
        for part in places.parents(name):
            node = tree.find(part)
            if node is not None and node.children is None:
                raise Finding(ArchiveRule.IMAGE_PLACE_TAKEN, entry=shown(part))
        node = tree.find(name)
        if node is not None and node.content is None:
            raise Finding(ArchiveRule.IMAGE_PLACE_TAKEN, entry=shown(name))


def require_harmless(rows: list[Row]) -> None:
    """No file of the finished tree has set-id bits or capabilities, no link climbs out. Raises Finding."""
    for row in rows:
        if row.content is not None and row.content.set_id:
            raise Finding(ArchiveRule.ENTRY_SETUID, entry=shown(row.name))
        if row.content is not None and row.content.capable:
            raise Finding(ArchiveRule.IMAGE_CAPABILITIES, entry=shown(row.name))
        if row.kind == "link" and climbs(row.name, row.target):
            raise Finding(ArchiveRule.ENTRY_LINK_LEAVES_TREE, entry=shown(row.name))


def climbs(name: str, target: str) -> bool:
    """Whether a link's own text leads above the root; an absolute one begins at the root of the image."""
    depth = 0 if target.startswith("/") else name.count("/")
    for part in target.split("/"):
        if part == "..":
            depth -= 1
        elif part not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def digest(rows: list[Row]) -> str:
    """SHA-256 in hex over every name of the tree, its kind, content and time."""
    found = hashlib.sha256(b"tree 1\n")
    for row in rows:
        found.update(row.line().encode())
    return found.hexdigest()
