"""The identifiers of every rule that a package, its manifest and its card are checked by. The one list of them.

Those of packages and manifests are problem codes of the platform; those of cards are parts of `card_invalid`.
"""

from __future__ import annotations

from enum import StrEnum


class Rule(StrEnum):
    # the archive
    PACKAGE_EMPTY = "package_empty"
    PACKAGE_TOO_LARGE = "package_too_large"
    PACKAGE_NOT_GZIP = "package_not_gzip"
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
    # an image archive
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
    # harness.toml
    MANIFEST_MISSING = "manifest_missing"
    MANIFEST_NOT_TOML = "manifest_not_toml"
    MANIFEST_UNKNOWN_KEY = "manifest_unknown_key"
    MANIFEST_KEY_MISSING = "manifest_key_missing"
    MANIFEST_VALUE_INVALID = "manifest_value_invalid"
    MANIFEST_NAME_DIFFERS = "manifest_name_differs"
    MANIFEST_VERSION_DIFFERS = "manifest_version_differs"
    NOT_YET_SUPPORTED = "not_yet_supported"
    # what harness.toml, card and registered upstreams say together
    MODEL_NOT_REGISTERED = "model_not_registered"
    MODEL_NOT_IN_CARD = "model_not_in_card"
    MODEL_EXPOSURE_REFUSED = "model_exposure_refused"
    # card.json
    CARD_NOT_JSON = "card_not_json"
    CARD_UNKNOWN_KEY = "card_unknown_key"
    CARD_KEY_MISSING = "card_key_missing"
    CARD_VALUE_INVALID = "card_value_invalid"
    CARD_TOO_LARGE = "card_too_large"


MANIFEST_RULES = tuple(
    rule for rule in Rule if rule.startswith(("manifest_", "model_")) or rule is Rule.NOT_YET_SUPPORTED
)
CARD_RULES = tuple(rule for rule in Rule if rule.startswith("card_"))
PACKAGE_RULES = tuple(rule for rule in Rule if rule not in (*MANIFEST_RULES, *CARD_RULES))


def problem_code(rule: Rule) -> str:
    """The platform's problem code under which a broken rule is refused."""
    return "card_invalid" if rule in CARD_RULES else rule.value
