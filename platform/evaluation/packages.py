"""Packages at rest and at work: sealed under their upload's key, unpacked by workers for the time of a run."""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

from django.conf import settings

from config import store, vault
from config.ids import new_id
from evaluation.images import official
from evaluation.images.cache import Made, RootCache
from evaluation.images.findings import Finding
from evaluation.images.image import inspect, unpack
from evaluation.models import StoredPackage
from evaluation.sandbox.spec import Root

SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
"""A second wall behind intake's own checks, which already refuse all that this filter would; Python 3.11.4 has it."""
OUR_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE})
"""Errors of this machine's disk, as against those that a bundle's own names and contents cause."""
_NAMES = os.urandom(32)
ARTEFACTS = "artefacts"
"""Under which names the bucket holds what attempts left."""
COMPRESSED = b"LBZ1"
"""First bytes of artefacts that are compressed. A tar archive, as older ones are, begins with a file's name."""
COMPRESSION = 1
"""zlib's quickest level: the platform has 30 ms of processor time an episode."""
KEPT_PACKAGES = 3
"""Unpacked packages a worker keeps; the longest unused goes first."""


class Unpackable(Exception):
    """The bundle cannot be unpacked; its message names the kind of error only."""


def worker_key() -> bytes:
    """The key that wraps submissions' keys; only workers hold it."""
    key: bytes | None = settings.VAULT_KEY_WORKER
    if key is None:
        raise PermissionError("this process holds no key of the workers")
    return key


def seal(path: Path, *, digest: str, unpacked_size: int, tree_digest: str = "") -> StoredPackage:
    """Store a checked package file, encrypted, under new keys for its upload and its submission.

    `digest` is the SHA-256 of the file in hex, `tree_digest` that of an image's finished tree; a bundle has none. The
    object is stored first: a row never points to nothing.
    """
    upload_key, submission_key = vault.new_key(), vault.new_key()
    package = StoredPackage(
        id=new_id(),
        kind=StoredPackage.Kind.IMAGE if tree_digest else StoredPackage.Kind.BUNDLE,
        digest=digest,
        tree_digest=tree_digest,
        size=path.stat().st_size,
        unpacked_size=unpacked_size,
        wrapped_upload_key=vault.wrap(upload_key, under=submission_key),
        wrapped_submission_key=vault.wrap(submission_key, under=worker_key()),
    )
    package.object_key = f"packages/{package.id}"
    with path.open("rb") as source:
        store.put_sealed(settings.S3_BUCKET_PACKAGES, package.object_key, source, under=upload_key)
    package.save(force_insert=True)
    return package


def submission_key(package: StoredPackage) -> bytes:
    """The key of the package's submission, under which its artefacts are kept too."""
    return vault.unwrap(bytes(package.wrapped_submission_key), under=worker_key())


@contextmanager
def in_place(package: StoredPackage, base: Path, images: RootCache) -> Iterator[tuple[Path, Root | None]]:
    """The harness folder of a package and the root file system it runs on, for as long as they are used.

    An image brings its own root; a bundle stands on the official one, on the host's (None) where none was made. Raises
    Unpackable, OSError where the disk has no room.
    """
    if package.kind == StoredPackage.Kind.BUNDLE:
        harness, folder = unpacked(package, base), Path(settings.ROOTFS_DIR)
        found = official.current(folder)
        if found is None:
            yield harness, None
            return
        with official.held(folder, found, images) as path:
            yield harness, Root(path, found.label)
        return
    with images.hold(package.tree_digest, package.unpacked_size, partial(_make_image, package)) as held:
        label = f"image root {held.digest[:12]}"
        yield held.path / "harness", Root(held.path, label, held.environment)


def _make_image(package: StoredPackage, target: Path) -> Made:
    """Unpack the image from the store; its tree is compared with what intake saw before anything is written."""
    with tempfile.TemporaryFile(dir=target.parent) as plain:
        _fetch(package, plain)
        try:
            image = inspect(plain)
            if image.tree_digest != package.tree_digest:
                raise Unpackable("another tree than intake saw")
            unpack(plain, image, target)
        except Finding as finding:
            raise Unpackable(finding.code.value) from finding
    return Made(image.rows, image.environment)


def _fetch(package: StoredPackage, target: BinaryIO) -> None:
    """The package as it was uploaded, at its start."""
    key = vault.unwrap(bytes(package.wrapped_upload_key), under=submission_key(package))
    store.fetch_sealed(settings.S3_BUCKET_PACKAGES, package.object_key, target, under=key)
    target.seek(0)


def unpacked(package: StoredPackage, base: Path) -> Path:
    """The package's tree below `base`, unpacked once per worker and readable by everybody.

    An episode can see the folder's name, so it is a digest that is new with each worker: neither the package nor its
    time can be told from it. Raises Unpackable.
    """
    place = base / hmac.new(_NAMES, package.id.bytes, hashlib.sha256).hexdigest()[:32]
    if place.is_dir():
        os.utime(place)
        return place
    _make_room(base)
    scratch = Path(tempfile.mkdtemp(prefix=".unpack-", dir=base))
    try:
        with tempfile.TemporaryFile(dir=base) as plain:
            _fetch(package, plain)
            extract(plain, scratch)
        _open_to_all(scratch)
        try:
            scratch.rename(place)
        except OSError:
            if not place.is_dir():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return place


def extract(bundle: IO[bytes], target: Path) -> None:
    """Unpack a bundle as workers do; raises Unpackable. Intake tries this too, before it accepts one."""
    try:
        with tarfile.open(fileobj=bundle, mode="r:gz") as archive:
            archive.extractall(target, **SAFELY)  # noqa: S202 - intake refused what leaves the tree
    except (
        tarfile.TarError,
        EOFError,
        zlib.error,
        ValueError,
        OverflowError,
        KeyError,
        RecursionError,
    ) as error:
        raise Unpackable(type(error).__name__) from error
    except OSError as error:
        if error.errno in OUR_ERRNOS:
            raise
        raise Unpackable(type(error).__name__) from error


def _make_room(base: Path) -> None:
    base.mkdir(parents=True, exist_ok=True)
    kept = sorted(
        (entry for entry in base.iterdir() if not entry.name.startswith(".")), key=lambda e: e.stat().st_mtime
    )
    for old in kept[: max(0, len(kept) - KEPT_PACKAGES + 1)]:
        shutil.rmtree(old, ignore_errors=True)


def _open_to_all(tree: Path) -> None:
    """Readable, and executable where the vendor said so; writable by nobody else."""
    tree.chmod(0o755)
    for folder, names, files in os.walk(tree):
        for name in names:
            path = Path(folder) / name
            if not path.is_symlink():
                path.chmod(0o755)
        for name in files:
            path = Path(folder) / name
            if not path.is_symlink():
                path.chmod(0o755 if path.stat().st_mode & 0o100 else 0o644)


def store_artefacts(package: StoredPackage, data: bytes) -> str:
    """Keep what an attempt left, compressed and encrypted under its submission's key; returns where it lies.

    The place follows from the content, so the same bytes of one submission lie there once. It is keyed: from the names
    of objects nobody sees that two submissions left the same. Their sizes tell how well the content compresses, to
    whoever may list the bucket; nothing of it reaches a vendor.
    """
    key = submission_key(package)
    name = hmac.new(key, b"artefact" + hashlib.sha256(data).digest(), hashlib.sha256).hexdigest()
    place = f"{ARTEFACTS}/{package.id}/{name}"
    packed = COMPRESSED + zlib.compress(data, COMPRESSION)
    store.put_sealed_bytes(settings.S3_BUCKET_SEALED, place, packed, under=key)
    return place


def load_artefacts(package: StoredPackage, key: str) -> bytes:
    """The same bytes again. Raises store.ObjectMissing, vault.SealBroken."""
    stored = store.get_sealed_bytes(settings.S3_BUCKET_SEALED, key, under=submission_key(package))
    if not stored.startswith(COMPRESSED):
        return stored  # of before artefacts were compressed
    return zlib.decompress(memoryview(stored)[len(COMPRESSED) :])
