"""The quarantine bucket: multipart uploads, presigned parts, measuring what arrived. No rows, no rules.

Signed addresses are made here and returned; they are never logged, and errors of the store are re-raised without them.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from botocore.exceptions import ClientError
from django.conf import settings

from config import store
from submissions.intake import START_BYTES

PART_BYTES = 16 * 1024 * 1024
"""Size of every part but the last; the store's lower bound is 5 MiB."""

CHUNK = 1024 * 1024


class PartsWrong(Exception):
    """The store did not accept the list of parts."""


class Nothing(Exception):
    """There is no such object."""


class TooLarge(Exception):
    """More bytes than allowed came in."""


@dataclass(frozen=True)
class Received:
    """What arrived, by our own measuring: bytes, SHA-256 in hex, and the first bytes (`START_BYTES` of them)."""

    size: int
    sha256: str
    start: bytes = b""


def part_sizes(size: int) -> list[int]:
    """How `size` bytes are cut."""
    full, rest = divmod(size, PART_BYTES)
    return [PART_BYTES] * full + ([rest] if rest else [])


def begin(key: str) -> str:
    """Start a multipart upload; returns its id."""
    answer = store.client().create_multipart_upload(Bucket=settings.S3_BUCKET_QUARANTINE, Key=key)
    return answer["UploadId"]


def sign(key: str, multipart_id: str, number: int, size: int, seconds: int) -> str:
    """A SigV4 address for one part of exactly `size` bytes, good for `seconds`."""
    return store.client().generate_presigned_url(
        "upload_part",
        Params={
            "Bucket": settings.S3_BUCKET_QUARANTINE,
            "Key": key,
            "UploadId": multipart_id,
            "PartNumber": number,
            "ContentLength": size,
        },
        ExpiresIn=seconds,
    )


def join(key: str, multipart_id: str, parts: Sequence[tuple[int, str]]) -> None:
    """Make one object of the parts. An upload that was joined before is left as it is. Raises PartsWrong."""
    listed = [{"PartNumber": number, "ETag": tag} for number, tag in sorted(parts)]
    try:
        store.client().complete_multipart_upload(
            Bucket=settings.S3_BUCKET_QUARANTINE,
            Key=key,
            UploadId=multipart_id,
            MultipartUpload={"Parts": listed},  # type: ignore[typeddict-item]
        )
    except ClientError as error:
        if _status(error) >= 500:
            raise
        if error.response.get("Error", {}).get("Code") == "NoSuchUpload" and _exists(key):
            return
        raise PartsWrong from None


def measure(key: str, limit: int) -> Received:
    """Size by HEAD, then our own SHA-256 over the bytes. Raises Nothing."""
    try:
        head = store.client().head_object(Bucket=settings.S3_BUCKET_QUARANTINE, Key=key)
        size = int(head["ContentLength"])
        if size > limit:
            return Received(size, "")
        body = store.client().get_object(Bucket=settings.S3_BUCKET_QUARANTINE, Key=key)["Body"]
    except ClientError as error:
        if _status(error) == 404:
            raise Nothing from None
        raise
    digest, count, start = hashlib.sha256(), 0, b""
    for chunk in body.iter_chunks(CHUNK):
        digest.update(chunk)
        count += len(chunk)
        start = (start + chunk[:START_BYTES])[:START_BYTES]
    return Received(count, digest.hexdigest(), start)


def write(key: str, stream: BinaryIO, limit: int) -> Received:
    """Copy `stream` into the bucket part by part, measuring on the way; nothing stays if it fails. Raises TooLarge."""
    multipart_id = begin(key)
    digest, count, start, tags = hashlib.sha256(), 0, b"", []
    try:
        for number, part in enumerate(_parts(stream), start=1):
            count += len(part)
            if count > limit:
                raise TooLarge
            digest.update(part)
            start = start or part[:START_BYTES]
            answer = store.client().upload_part(
                Bucket=settings.S3_BUCKET_QUARANTINE,
                Key=key,
                UploadId=multipart_id,
                PartNumber=number,
                Body=part,
            )
            tags.append((number, answer["ETag"]))
        if count:
            join(key, multipart_id, tags)
            return Received(count, digest.hexdigest(), start)
    except BaseException:
        discard(key, multipart_id)
        raise
    discard(key, multipart_id)
    return Received(0, digest.hexdigest())


def discard(key: str, multipart_id: str) -> None:
    """Remove the object and whatever parts there are; removing what is gone changes nothing."""
    if multipart_id:
        with contextlib.suppress(ClientError):
            store.client().abort_multipart_upload(
                Bucket=settings.S3_BUCKET_QUARANTINE, Key=key, UploadId=multipart_id
            )
    with contextlib.suppress(ClientError):
        store.delete(settings.S3_BUCKET_QUARANTINE, key)


def _parts(stream: BinaryIO) -> Iterator[bytes]:
    """The stream in parts of PART_BYTES; a short read is not the end."""
    while True:
        buffer = bytearray()
        while len(buffer) < PART_BYTES:
            chunk = stream.read(min(CHUNK, PART_BYTES - len(buffer)))
            if not chunk:
                break
            buffer += chunk
        if not buffer:
            return
        yield bytes(buffer)
        if len(buffer) < PART_BYTES:
            return


def _exists(key: str) -> bool:
    try:
        store.client().head_object(Bucket=settings.S3_BUCKET_QUARANTINE, Key=key)
    except ClientError:
        return False
    return True


def _status(error: ClientError) -> int:
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 500))
