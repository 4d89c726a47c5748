"""One finding of a check, and the texts of its rule."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from client.words import accept_language, say
from submissions.intake.rules import Rule, problem_code


@dataclass(frozen=True)
class Found:
    """What is wrong where. `path` is a JSON path, `$` for a whole file."""

    file: str
    path: str
    rule: Rule
    expected: str
    found: str

    @property
    def fix(self) -> str:
        return fix_of(self.rule)

    def link(self, site: str) -> str:
        """Where the rule is explained."""
        return f"{site.rstrip('/')}/{accept_language()}/problems/{problem_code(self.rule)}/"

    def shown(self, site: str) -> dict[str, Any]:
        """As `--json` gives it."""
        return {**asdict(self), "rule": self.rule.value, "help": self.link(site), "fix": self.fix}


def expected_of(rule: Rule) -> str:
    """What the rule asks for."""
    return say(TEXTS[rule][0])


def fix_of(rule: Rule) -> str:
    """What to do about it."""
    return say(TEXTS[rule][1])


_REPACK = "Remove or replace the entry, then run `lgbench check` again."
_AGAIN = "Pack the bundle again from a clean folder."
_SCHEMA = "Correct the key; the schema lists every key with its meaning."

TEXTS: dict[Rule, tuple[str, str]] = {
    Rule.PACKAGE_EMPTY: ("a bundle that is not empty", _AGAIN),
    Rule.PACKAGE_TOO_LARGE: (
        "at most 512 MiB packed, an image archive 4 GiB",
        "Leave out what the harness does not need.",
    ),
    Rule.PACKAGE_NOT_GZIP: (
        "a gzip-compressed tar, or an image archive",
        "Let `lgbench` pack the folder, or use `tar -czf`.",
    ),
    Rule.PACKAGE_TRUNCATED: ("an archive that is whole", _AGAIN),
    Rule.PACKAGE_DAMAGED: ("an archive that can be read to its end", _AGAIN),
    Rule.PACKAGE_UNPACKED_TOO_LARGE: (
        "at most 2 GiB of file contents, of an image 8 GiB in all layers together",
        "Leave out what the harness does not need.",
    ),
    Rule.PACKAGE_TOO_MANY_ENTRIES: (
        "at most 50,000 entries, of an image 200,000 in all layers together",
        "Put many small files into one archive of yours.",
    ),
    Rule.ENTRY_ABSOLUTE: ("names relative to the harness folder", _REPACK),
    Rule.ENTRY_TRAVERSAL: ("names without `..`", _REPACK),
    Rule.ENTRY_NAME_INVALID: (
        "names in UTF-8 without control characters or backslashes, 255 bytes a part, 1,024 bytes and 64 parts in all",
        _REPACK,
    ),
    Rule.ENTRY_LINK_LEAVES_TREE: ("symbolic links to places inside the folder", _REPACK),
    Rule.ENTRY_HARD_LINK_LEAVES_TREE: ("hard links to earlier files of the bundle", _REPACK),
    Rule.ENTRY_DEVICE: ("files, folders and links only", _REPACK),
    Rule.ENTRY_SETUID: (
        "files without set-uid and set-gid bits",
        "Clear them; in a Dockerfile: `RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} +`",
    ),
    Rule.ENTRY_DUPLICATE: (
        "names that stay different after Unicode NFC and case folding; within a layer of an image, different names",
        "Rename one of the two entries.",
    ),
    Rule.ENTRY_UNDER_LINK: ("entries below folders only", _REPACK),
    Rule.IMAGE_COMPRESSED: (
        "an uncompressed tar, as `docker save -o` writes it",
        "Leave the archive uncompressed; its layers may be compressed.",
    ),
    Rule.IMAGE_NOT_ARCHIVE: (
        "an archive with index.json or manifest.json at its root",
        "Make it with `docker save -o FILE IMAGE` or `podman save --format oci-archive -o FILE IMAGE`.",
    ),
    Rule.IMAGE_NOT_SINGLE: (
        "exactly one image",
        "Save one image, of one platform.",
    ),
    Rule.IMAGE_PLATFORM: (
        "an image for linux/amd64",
        "Build it with `--platform linux/amd64`.",
    ),
    Rule.IMAGE_DIGEST_MISMATCH: (
        "blobs and layers that match their digests and sizes",
        "Save the image again.",
    ),
    Rule.IMAGE_DOCUMENT_INVALID: (
        "documents as the OCI image format describes them",
        "Save the image again with a current tool.",
    ),
    Rule.IMAGE_LAYER_UNSUPPORTED: (
        "layers that are plain or gzip-compressed, in the archive itself",
        "Save the image with gzip-compressed layers.",
    ),
    Rule.IMAGE_TOO_MANY_LAYERS: (
        "at most 127 layers",
        "Join layers, for instance with a copy from another build stage.",
    ),
    Rule.IMAGE_SETTING_REFUSED: (
        "settings that the harness contract lists",
        "Remove the setting and save the image again.",
    ),
    Rule.IMAGE_WHITEOUT_INVALID: (
        "whiteouts as the OCI image format describes them",
        "Build the image again; names that begin with `.wh.` are reserved.",
    ),
    Rule.IMAGE_CAPABILITIES: (
        "files without capabilities",
        "Remove them in the image, for instance with `setcap -r`.",
    ),
    Rule.IMAGE_PLACE_TAKEN: (
        "plain folders and files, or nothing, where the contract mounts something",
        "Make it a folder (or, below /etc, a file), or leave it out.",
    ),
    Rule.MANIFEST_MISSING: (
        "a file harness.toml at the root of the bundle, of an image at /harness/harness.toml",
        "Run `lgbench init` in a new folder.",
    ),
    Rule.MANIFEST_NOT_TOML: ("TOML in UTF-8, at most 64 KiB", "Correct the file at the place that is named."),
    Rule.MANIFEST_UNKNOWN_KEY: ("only keys of the schema", "Remove the key, or correct its spelling."),
    Rule.MANIFEST_KEY_MISSING: ("every required key", "Add the key."),
    Rule.MANIFEST_VALUE_INVALID: ("a value as the schema says", _SCHEMA),
    Rule.MANIFEST_NAME_DIFFERS: ("the name of the registered harness", "Set `name` to the registered one."),
    Rule.MANIFEST_VERSION_DIFFERS: ("the registered version", "Set `version` to the registered one."),
    Rule.NOT_YET_SUPPORTED: ("what the platform takes today", "Submit a bundle without it."),
    Rule.MODEL_NOT_REGISTERED: (
        "an active model upstream of this name and dialect, with a credential",
        "Register it (`lgbench upstream`), or correct harness.toml.",
    ),
    Rule.MODEL_NOT_IN_CARD: (
        "a model in the HarnessCard with this role and the upstream's snapshot",
        "Add it to `models` in card.json and register a new version.",
    ),
    Rule.MODEL_EXPOSURE_REFUSED: (
        "an upstream that is not operated by the submitter",
        "Use a model that the platform hosts, or an approved provider.",
    ),
    Rule.CARD_NOT_JSON: ("one JSON object in UTF-8", "Correct the file at the place that is named."),
    Rule.CARD_UNKNOWN_KEY: ("only keys of the schema", "Remove the key, or correct its spelling."),
    Rule.CARD_KEY_MISSING: ("every required key", "Add the key."),
    Rule.CARD_VALUE_INVALID: ("a value as the schema says", _SCHEMA),
    Rule.CARD_TOO_LARGE: ("at most 256 KiB", "Shorten the texts."),
}
