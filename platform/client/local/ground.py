"""What a harness stands on: the host's root, the official base root or an image; in bubblewrap or in a container."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from client.check.package import Checked
from client.exits import Exit
from client.local import box, containers
from client.local.containers import Container
from client.trouble import Trouble
from client.words import say
from evaluation.images import official
from evaluation.images.cache import Made, RootCache
from evaluation.images.findings import Finding
from evaluation.images.image import LIMITS, Image, unpack

BUBBLEWRAP = "bubblewrap"
KEPT_BYTES = LIMITS.unpacked
"""Unpacked roots that stay for the next time."""


@dataclass(frozen=True)
class Ground:
    """`root` is a tree in place of the host's; `harness` lies outside of it, or is None where an image brings it."""

    harness: Path | None
    root: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    container: Container | None = None


def chosen(wish: str, *, models: bool = False) -> str:
    """bubblewrap, podman or docker: the one that is wished, else the first that is there. Raises Trouble.

    `models`: whether the harness calls models, whose gateway listens in bubblewrap's network only.
    """
    if models:
        box.bubblewrap()
        if wish not in ("", BUBBLEWRAP):
            raise Trouble(
                "models_need_bubblewrap",
                say("Models are reached from bubblewrap only, not from {engine}.").format(engine=wish),
                hint=say("Leave out --engine, on Linux with bubblewrap."),
                exit=Exit.USAGE,
            )
    if wish in ("", BUBBLEWRAP) and (wish or shutil.which("bwrap")):
        box.bubblewrap()
        return BUBBLEWRAP
    found = containers.find(wish)
    if not found:
        raise box.no_sandbox()
    return found


@contextmanager
def prepared(
    checked: Checked, harness: Path | None, place: Path, root: Path | None, engine: str
) -> Iterator[Ground]:
    """The ground for a checked package, for as long as it runs; `engine` as `chosen` gave it.

    Raises Trouble where a root cannot be used, or an engine fails.
    """
    if engine == BUBBLEWRAP:
        with _in_bubblewrap(checked, harness, place, root) as ground:
            yield ground
    elif checked.image is not None:
        yield Ground(None, container=containers.load(engine, checked.bundle.path))
    elif root is not None and root.is_file():
        yield Ground(harness, container=containers.import_root(engine, root))
    else:
        raise Trouble(
            "root_unusable",
            say("A bundle in a container needs the base root: --root FILE."),
            hint=say("`make rootfs` in the checkout makes it; the harness contract names its digest."),
            exit=Exit.USAGE,
        )


@contextmanager
def _in_bubblewrap(
    checked: Checked, harness: Path | None, place: Path, root: Path | None
) -> Iterator[Ground]:
    if checked.image is None and root is None:
        yield Ground(harness)
        return
    archive, image = (checked.bundle.path, checked.image) if checked.image else _root(root or Path())

    def make(target: Path) -> Made:
        with archive.open("rb") as file:
            unpack(file, image, target)
        return Made(image.rows, image.environment)

    kept = RootCache(place / "roots", KEPT_BYTES)
    with kept.hold(image.tree_digest, image.unpacked, make) as held:
        own = None if checked.image else harness
        yield Ground(own, held.path, held.environment)


def _root(tar: Path) -> tuple[Path, Image]:
    """A root tar, checked. Raises Trouble."""
    try:
        with tar.open("rb") as file:
            return tar, official.inspect(file)
    except (Finding, OSError) as error:
        raise Trouble(
            "root_unusable",
            say("{path} is no base root: {what}").format(path=tar, what=error),
            hint=say("`make rootfs` in the checkout makes it; the harness contract names its digest."),
            exit=Exit.USAGE,
        ) from None
