"""Checks of a package before anything of it runs. Pure and streaming: no Django, nothing is unpacked to disk."""

from submissions.intake.archive import LIMITS, Archive, Limits, inspect
from submissions.intake.content import content_digest
from submissions.intake.findings import Finding
from submissions.intake.manifest import Manifest, read_manifest
from submissions.intake.rules import Rule

__all__ = [
    "LIMITS",
    "Archive",
    "Finding",
    "Limits",
    "Manifest",
    "Rule",
    "content_digest",
    "inspect",
    "read_manifest",
]
