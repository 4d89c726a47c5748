"""Checks of a package before anything of it runs. Pure and streaming: no Django, nothing is unpacked to disk."""

from evaluation.images.image import Image
from evaluation.images.image import inspect as inspect_image
from submissions.intake.archive import LIMITS, Archive, Limits, inspect
from submissions.intake.content import content_digest, image_content_digest
from submissions.intake.findings import Finding
from submissions.intake.kinds import LARGEST, START_BYTES, Kind, kind_of
from submissions.intake.manifest import Manifest, read_manifest
from submissions.intake.rules import Rule

__all__ = [
    "LARGEST",
    "LIMITS",
    "START_BYTES",
    "Archive",
    "Finding",
    "Image",
    "Kind",
    "Limits",
    "Manifest",
    "Rule",
    "content_digest",
    "image_content_digest",
    "inspect",
    "inspect_image",
    "kind_of",
    "read_manifest",
]
