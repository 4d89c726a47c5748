"""What the contract tells vendors about images is what the code does."""

from __future__ import annotations

from pathlib import Path

import pytest

from evaluation.images import places
from evaluation.images.archive import LAYERS
from evaluation.images.findings import ArchiveRule
from evaluation.images.image import LIMITS
from evaluation.images.settings import SETTINGS

TEXT = (Path(__file__).parents[2] / "docs/harness-contract.md").read_text(encoding="utf-8")


@pytest.mark.case("H31")
def test_every_setting_of_an_image_is_listed_with_its_decision() -> None:
    for key, (decision, why) in SETTINGS.items():
        assert f"| `{key}` | {decision} | {why} |" in TEXT


def test_limits_places_and_codes_are_those_of_the_code() -> None:
    assert (LIMITS.packed, LIMITS.unpacked, LIMITS.entries, LAYERS) == (4 << 30, 8 << 30, 200_000, 127)
    section = TEXT[TEXT.index("## An image") : TEXT.index("## The HarnessCard")]
    for figure in ("4 GiB", "8 GiB", "200,000", "127 layers"):
        assert figure in section
    for place in (*places.FOLDERS, *places.FILES, "home", "etc"):
        assert f"`/{place}`" in section
    named = {rule for rule in ArchiveRule if f"`{rule}`" in TEXT}
    unnamed = {"image_compressed", "image_not_archive", "image_document_invalid"}
    assert {rule.value for rule in ArchiveRule if rule not in named} <= unnamed | {"manifest_missing"}
