"""The S3 client: the only interface to stored objects, in the demo as in production."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, BinaryIO

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError
from django.conf import settings

from config import vault

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

SPOOL_BYTES = 8 * 1024 * 1024
PART_BYTES = 8 * 1024 * 1024


class ObjectMissing(Exception):
    """There is no such object."""


@lru_cache(maxsize=1)
def client() -> S3Client:
    """One client per process, with path-style addresses and our own retries kept small."""
    return boto3.client(
        "s3",
        endpoint_url=settings.S3_ENDPOINT_URL,
        aws_access_key_id=settings.S3_ACCESS_KEY,
        aws_secret_access_key=settings.S3_SECRET_KEY,
        region_name=settings.S3_REGION,
        config=Config(
            signature_version="s3v4",
            s3={"addressing_style": "path"},
            retries={"max_attempts": 3, "mode": "standard"},
            connect_timeout=5,
            read_timeout=60,
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        ),
    )


def ensure_buckets() -> None:
    """Create our buckets where they are missing."""
    known = {bucket["Name"] for bucket in client().list_buckets().get("Buckets", [])}
    for name in (
        settings.S3_BUCKET_QUARANTINE,
        settings.S3_BUCKET_PACKAGES,
        settings.S3_BUCKET_SEALED,
        settings.S3_BUCKET_EXPORTS,
    ):
        if name not in known:
            client().create_bucket(Bucket=name)


def fetch(bucket: str, key: str, target: BinaryIO) -> None:
    """Copy an object into `target`; raises ObjectMissing."""
    try:
        body = client().get_object(Bucket=bucket, Key=key)["Body"]
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
            raise ObjectMissing(key) from error
        raise
    for chunk in body.iter_chunks(1024 * 1024):
        target.write(chunk)


def put_sealed(bucket: str, key: str, source: BinaryIO, *, under: bytes) -> int:
    """Store `source` encrypted under the 32-byte key `under`; returns the stored size in bytes."""
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        size = vault.seal(source, spool, key=under)  # type: ignore[arg-type]
        spool.seek(0)
        client().put_object(Bucket=bucket, Key=key, Body=spool, ContentLength=size)  # type: ignore[arg-type]
    return size


def fetch_sealed(bucket: str, key: str, target: BinaryIO, *, under: bytes) -> int:
    """Decrypt an object into `target`; returns the plain size. Raises ObjectMissing, vault.SealBroken."""
    with tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES) as spool:
        fetch(bucket, key, spool)  # type: ignore[arg-type]
        spool.seek(0)
        return vault.open_sealed(spool, target, key=under)  # type: ignore[arg-type]


def get_sealed_bytes(bucket: str, key: str, *, under: bytes) -> bytes:
    """A small sealed object as bytes."""
    target = io.BytesIO()
    fetch_sealed(bucket, key, target, under=under)
    return target.getvalue()


def put_sealed_bytes(bucket: str, key: str, data: bytes, *, under: bytes) -> int:
    """Store little data in one piece: without a file between, the client need not ask first whether it may send."""
    sealed = io.BytesIO()
    size = vault.seal(io.BytesIO(data), sealed, key=under)
    client().put_object(Bucket=bucket, Key=key, Body=sealed.getvalue())
    return size


def delete_many(bucket: str, keys: Sequence[str]) -> None:
    """Delete at most 1,000 objects in one call; those that are gone already do no harm. Raises OSError for any left."""
    if not keys:
        return
    objects = [{"Key": key} for key in keys]
    answer = client().delete_objects(Bucket=bucket, Delete={"Objects": objects, "Quiet": True})  # type: ignore[typeddict-item]
    if failed := answer.get("Errors"):
        raise OSError(f"{len(failed)} of {len(keys)} objects were not deleted: {failed[0].get('Code')}")


def size_of(bucket: str, key: str) -> int:
    """Stored size of an object in bytes; 0 where there is none."""
    try:
        return int(client().head_object(Bucket=bucket, Key=key)["ContentLength"])
    except ClientError as error:
        if error.response["Error"]["Code"] in ("NoSuchKey", "404"):
            return 0
        raise


def listed(bucket: str, prefix: str) -> Iterator[tuple[str, int, datetime]]:
    """Key, stored size in bytes and time of storing of every object below `prefix`."""
    pages = client().get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    for page in pages:
        for found in page.get("Contents", []):
            yield found["Key"], found["Size"], found["LastModified"]


def delete(bucket: str, key: str) -> None:
    client().delete_object(Bucket=bucket, Key=key)
