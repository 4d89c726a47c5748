"""A project as intake would see it: the folder is packed, the bundle read from front to end, both documents checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client.check.documents import check_card, check_manifest
from client.check.findings import Found, expected_of
from client.packing import Bundle, pack
from client.project import Project
from client.words import say
from submissions.intake import LIMITS, Finding, Manifest, inspect
from submissions.intake.archive import MANIFEST
from submissions.intake.rules import Rule

GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Checked:
    """What a check saw. `manifest` and `card` are there where there is no finding."""

    bundle: Bundle
    findings: list[Found]
    entries: int = 0
    unpacked: int = 0
    manifest: Manifest | None = None
    card: dict[str, Any] | None = None


def check_project(project: Project) -> Checked:
    """Pack the harness folder into `.lgbench/` and check everything that intake checks, offline. Raises Trouble."""
    bundle = pack(project.folder, project.made_state() / "bundle.tar.gz")
    card, of_card = check_card(project.card_path)
    found = check_bundle(bundle.path)
    return Checked(bundle, [*found.findings, *of_card], found.entries, found.unpacked, found.manifest, card)


def check_bundle(path: Path) -> Checked:
    """Check a packed bundle alone."""
    bundle = Bundle(path, "", path.stat().st_size)
    if bundle.size == 0:
        return Checked(bundle, [_of_archive(Finding(Rule.PACKAGE_EMPTY), path)])
    if bundle.size > LIMITS.packed:
        return Checked(bundle, [_of_archive(Finding(Rule.PACKAGE_TOO_LARGE, limit=LIMITS.packed), path)])
    with path.open("rb") as file:
        try:
            archive = inspect(file)
        except Finding as finding:
            return Checked(bundle, [_of_archive(finding, path)])
    manifest, findings = check_manifest(archive.manifest or b"")
    return Checked(bundle, findings, archive.entries, archive.unpacked, manifest)


def _of_archive(finding: Finding, path: Path) -> Found:
    rule = Rule(finding.code)
    entry = str(finding.facts.get("entry", ""))
    if rule is Rule.MANIFEST_MISSING:
        return Found(MANIFEST, "$", rule, expected_of(rule), say("no such file"))
    said = ", ".join(f"{name} {value}" for name, value in finding.facts.items() if name != "entry")
    return Found(entry or path.name, "$", rule, expected_of(rule), said or entry or say("another content"))
