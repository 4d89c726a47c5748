"""The first thing that is wrong with a package, and the rules of archives and images by their codes."""

from __future__ import annotations

from enum import StrEnum

SHOWN = 200
"""Characters of an entry's name that are repeated."""


class Finding(Exception):
    """A package is refused: the rule, and facts for its sentence; `entry` names the first offending one."""

    def __init__(self, code: StrEnum, **facts: str | int) -> None:
        super().__init__(code.value)
        self.code = code
        self.facts = facts


class ArchiveRule(StrEnum):
    """Codes of what an archive is refused for. Those of images begin with `image_`."""

    PACKAGE_TRUNCATED = "package_truncated"
    PACKAGE_DAMAGED = "package_damaged"
    PACKAGE_UNPACKED_TOO_LARGE = "package_unpacked_too_large"
    PACKAGE_TOO_MANY_ENTRIES = "package_too_many_entries"
    ENTRY_ABSOLUTE = "entry_absolute"
    ENTRY_TRAVERSAL = "entry_traversal"
    ENTRY_NAME_INVALID = "entry_name_invalid"
    ENTRY_LINK_LEAVES_TREE = "entry_link_leaves_tree"
    ENTRY_HARD_LINK_LEAVES_TREE = "entry_hard_link_leaves_tree"
    ENTRY_DEVICE = "entry_device"
    ENTRY_SETUID = "entry_setuid"
    ENTRY_DUPLICATE = "entry_duplicate"
    ENTRY_UNDER_LINK = "entry_under_link"
    MANIFEST_MISSING = "manifest_missing"
    MANIFEST_NOT_TOML = "manifest_not_toml"
    IMAGE_COMPRESSED = "image_compressed"
    IMAGE_NOT_ARCHIVE = "image_not_archive"
    IMAGE_NOT_SINGLE = "image_not_single"
    IMAGE_PLATFORM = "image_platform"
    IMAGE_DIGEST_MISMATCH = "image_digest_mismatch"
    IMAGE_DOCUMENT_INVALID = "image_document_invalid"
    IMAGE_LAYER_UNSUPPORTED = "image_layer_unsupported"
    IMAGE_TOO_MANY_LAYERS = "image_too_many_layers"
    IMAGE_SETTING_REFUSED = "image_setting_refused"
    IMAGE_WHITEOUT_INVALID = "image_whiteout_invalid"
    IMAGE_CAPABILITIES = "image_capabilities"
    IMAGE_PLACE_TAKEN = "image_place_taken"


def shown(name: str) -> str:
    """An entry's name, safe to store and print: no control characters, no lone surrogates, not endless."""
    clean = "".join(
        character
        if character.isprintable() and not "\ud800" <= character <= "\udfff"
        else "\N{REPLACEMENT CHARACTER}"
        for character in name
    )
    return clean if len(clean) <= SHOWN else clean[:SHOWN] + "…"
