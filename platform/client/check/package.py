"""A project as intake would see it: the folder is packed, the bundle read from front to end, both documents checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from client.check.documents import check_card, check_manifest
from client.check.findings import Found, expected_of
from client.packing import Bundle, measured, pack
from client.project import Project
from client.words import say
from submissions.intake import START_BYTES, Finding, Image, Kind, Manifest, inspect, inspect_image, kind_of
from submissions.intake.archive import MANIFEST
from submissions.intake.rules import Rule


@dataclass(frozen=True)
class Checked:
    """What a check saw. `manifest` and `card` are there where there is no finding."""

    bundle: Bundle
    findings: list[Found]
    entries: int = 0
    unpacked: int = 0
    manifest: Manifest | None = None
    card: dict[str, Any] | None = None
    image: Image | None = None
    """Where the package is an image archive."""

    @property
    def kind(self) -> Kind:
        """As it is declared to the site."""
        return Kind.BUNDLE if self.image is None else Kind.IMAGE


def check_project(project: Project, image: Path | None = None) -> Checked:
    """Check everything that intake checks, offline: the harness folder, packed into `.lgbench/`, or an image archive.

    Raises Trouble.
    """
    bundle = measured(image) if image else pack(project.folder, project.made_state() / "bundle.tar.gz")
    card, of_card = check_card(project.card_path)
    found = check_package(bundle.path)
    return replace(found, bundle=bundle, findings=[*found.findings, *of_card], card=card)


def check_package(path: Path) -> Checked:
    """Check a packed bundle or an image archive alone; which of them it is its first bytes tell."""
    bundle = Bundle(path, "", path.stat().st_size)
    if bundle.size == 0:
        return Checked(bundle, [_of_archive(Finding(Rule.PACKAGE_EMPTY), path)])
    with path.open("rb") as file:
        kind = kind_of(file.read(START_BYTES)) or Kind.BUNDLE
        if bundle.size > kind.packed:
            return Checked(bundle, [_of_archive(Finding(Rule.PACKAGE_TOO_LARGE, limit=kind.packed), path)])
        file.seek(0)
        try:
            return _image(bundle, file) if kind is Kind.IMAGE else _bundle(bundle, file)
        except Finding as finding:
            return Checked(bundle, [_of_archive(finding, path)])


def _bundle(bundle: Bundle, file: BinaryIO) -> Checked:
    archive = inspect(file)
    manifest, findings = check_manifest(archive.manifest or b"")
    return Checked(bundle, findings, archive.entries, archive.unpacked, manifest)


def _image(bundle: Bundle, file: BinaryIO) -> Checked:
    image = inspect_image(file)
    manifest, findings = check_manifest(image.manifest, Kind.IMAGE)
    return Checked(bundle, findings, len(image.rows), image.unpacked, manifest, image=image)


def _of_archive(finding: Finding, path: Path) -> Found:
    rule = Rule(finding.code)
    entry = str(finding.facts.get("entry", ""))
    if rule is Rule.MANIFEST_MISSING:
        return Found(MANIFEST, "$", rule, expected_of(rule), say("no such file"))
    said = ", ".join(f"{name} {value}" for name, value in finding.facts.items() if name != "entry")
    return Found(entry or path.name, "$", rule, expected_of(rule), said or entry or say("another content"))
