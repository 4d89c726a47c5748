"""Problems of cards, uploads and packages. Nothing is charged for any of them."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

_REPACK = _(
    "Pack the package again from a clean folder and submit it. No submission was used; the attempt was a preflight."
)
_UPLOAD_AGAIN = _("Start a new upload; nothing was charged.")
_MAKE_GZIP = _("Make the bundle with `tar -czf` and upload it again. No submission was used.")
_MANIFEST = _("The schema of harness.toml: GET /api/v1/schemas/harness-toml/1")


def _upload(code: Code, status: int, title: Promise, sentence: Promise) -> Row:
    return (code, status, Fault.REQUEST, title, sentence, _UPLOAD_AGAIN)


def _package(code: Code, title: Promise, sentence: Promise, remedy: Promise = _REPACK) -> Row:
    return (code, 422, Fault.HARNESS, title, sentence, remedy)


ROWS: list[Row] = [
    (
        Code.CARD_INVALID,
        422,
        Fault.REQUEST,
        _("HarnessCard not valid"),
        _("The HarnessCard does not follow its schema in the places listed."),
        _("The schema: GET /api/v1/schemas/harness-card/1"),
    ),
    (
        Code.CARD_INCOMPLETE,
        422,
        Fault.REQUEST,
        _("HarnessCard not complete"),
        _("This version's HarnessCard was written under an older schema."),
        _("Register a new version with a card under the present schema."),
    ),
    _upload(
        Code.PACKAGE_TOO_LARGE,
        413,
        _("Package too large"),
        _("A package of this kind may have at most %(limit)s bytes packed."),
    ),
    _upload(Code.PACKAGE_EMPTY, 422, _("Package empty"), _("The file is empty.")),
    _upload(
        Code.UPLOAD_TRUNCATED,
        422,
        _("Upload truncated"),
        _("%(received)s of %(declared)s bytes arrived."),
    ),
    _upload(
        Code.UPLOAD_TOO_LONG,
        422,
        _("Upload too long"),
        _("%(received)s bytes arrived where %(declared)s were declared."),
    ),
    _upload(
        Code.UPLOAD_PARTS_WRONG,
        422,
        _("Parts do not fit"),
        _("The store did not accept the list of parts."),
    ),
    _upload(Code.UPLOAD_MISSING, 422, _("Nothing arrived"), _("The store holds no bytes of this upload.")),
    _upload(
        Code.HASH_MISMATCH,
        422,
        _("SHA-256 differs"),
        _("The SHA-256 of what arrived is not the declared one."),
    ),
    (
        Code.TOO_MANY_UPLOADS,
        429,
        Fault.POLICY,
        _("Too many uploads at once"),
        _("Your organisation has %(limit)s uploads that no submission has used."),
        _("Submit or delete some of them; each one expires after a day."),
    ),
    _upload(
        Code.UPLOAD_NOT_OPEN,
        409,
        _("Upload not open"),
        _("This upload has ended already; it is %(state)s."),
    ),
    _upload(Code.UPLOAD_EXPIRED, 409, _("Upload expired"), _("This upload was not used in time.")),
    _upload(
        Code.UPLOAD_NOT_COMPLETE,
        409,
        _("Upload not complete"),
        _("Only an upload whose bytes are complete and checked can be submitted."),
    ),
    _upload(
        Code.UPLOAD_USED,
        409,
        _("Upload used already"),
        _("Another submission has used this upload."),
    ),
    _upload(
        Code.UPLOAD_OF_ANOTHER_VERSION,
        422,
        _("Upload of another version"),
        _("This upload was declared for another harness version."),
    ),
    _package(
        Code.PACKAGE_NOT_GZIP,
        _("Not a .tar.gz"),
        _("The package is neither gzip-compressed nor an image archive."),
        _MAKE_GZIP,
    ),
    _package(Code.PACKAGE_TRUNCATED, _("Archive cut off"), _("The archive ends too early.")),
    _package(
        Code.PACKAGE_DAMAGED,
        _("Archive damaged"),
        _("The archive cannot be read after entry %(entry)s."),
    ),
    _package(
        Code.PACKAGE_UNPACKED_TOO_LARGE,
        _("Too large when unpacked"),
        _("Unpacked, the package exceeds %(limit)s bytes at entry %(entry)s."),
    ),
    _package(
        Code.PACKAGE_TOO_MANY_ENTRIES,
        _("Too many entries"),
        _("The package has more than %(limit)s entries."),
    ),
    _package(Code.ENTRY_ABSOLUTE, _("Absolute name"), _("Entry %(entry)s has an absolute name.")),
    _package(Code.ENTRY_TRAVERSAL, _("Name leaves the tree"), _("Entry %(entry)s holds `..`.")),
    _package(
        Code.ENTRY_NAME_INVALID,
        _("Name not usable"),
        _("Entry %(entry)s has a name that is not UTF-8, holds control characters or is too long."),
    ),
    _package(
        Code.ENTRY_LINK_LEAVES_TREE,
        _("Link leaves the tree"),
        _("Symbolic link %(entry)s points out of the package."),
    ),
    _package(
        Code.ENTRY_HARD_LINK_LEAVES_TREE,
        _("Hard link not to an earlier file"),
        _("Hard link %(entry)s points to no earlier file of the package."),
    ),
    _package(
        Code.ENTRY_DEVICE,
        _("Not a file, folder or link"),
        _("Entry %(entry)s is a device, pipe or another special file."),
    ),
    _package(
        Code.ENTRY_SETUID,
        _("Set-uid or set-gid bit"),
        _("Entry %(entry)s has a set-uid or set-gid bit."),
        _(
            "Clear it in the package; in a Dockerfile: RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} +"
        ),
    ),
    _package(
        Code.ENTRY_DUPLICATE,
        _("Two names that are one"),
        _("Entry %(entry)s has the name of an earlier one (in a bundle after Unicode and case folding)."),
    ),
    _package(
        Code.ENTRY_UNDER_LINK,
        _("Name leads through a link or file"),
        _("Entry %(entry)s lies under an entry that is not a folder."),
    ),
    _package(
        Code.IMAGE_COMPRESSED,
        _("Image archive compressed"),
        _("The image archive is compressed as a whole."),
        _(
            "Send it as `docker save -o` or `podman save --format oci-archive` writes it: an uncompressed tar."
        ),
    ),
    _package(
        Code.IMAGE_NOT_ARCHIVE,
        _("Not an image archive"),
        _("The file is a tar, but no image archive."),
        _("Make it with `docker save -o` or `podman save --format oci-archive`; a bundle is a .tar.gz."),
    ),
    _package(
        Code.IMAGE_NOT_SINGLE,
        _("Not exactly one image"),
        _("The archive holds %(count)s images; exactly one is taken."),
        _("Save one image, of one platform, and submit it."),
    ),
    _package(
        Code.IMAGE_PLATFORM,
        _("Another platform"),
        _("The image is for %(found)s; linux/amd64 is taken."),
        _("Build it with `--platform linux/amd64`."),
    ),
    _package(
        Code.IMAGE_DIGEST_MISMATCH,
        _("A digest differs"),
        _("%(entry)s of the archive is not what its digest or size says."),
        _("Save the image again; the archive was changed or damaged."),
    ),
    _package(
        Code.IMAGE_DOCUMENT_INVALID,
        _("A document of the image not readable"),
        _("%(entry)s of the archive cannot be used: %(detail)s."),
        _("Save the image again with a current tool."),
    ),
    _package(
        Code.IMAGE_LAYER_UNSUPPORTED,
        _("Layer of a kind that is not taken"),
        _("Layer %(entry)s is of a kind that is not taken: %(what)s."),
        _(
            "Save the image with layers that are plain or gzip-compressed, none encrypted or stored elsewhere."
        ),
    ),
    _package(
        Code.IMAGE_TOO_MANY_LAYERS,
        _("Too many layers"),
        _("The image has %(found)s layers; at most %(limit)s are taken."),
        _("Join layers, for instance with `docker build --squash` or a copy from another stage."),
    ),
    _package(
        Code.IMAGE_SETTING_REFUSED,
        _("Setting of the image refused"),
        _("The image's configuration sets `%(key)s`, which is not taken."),
        _("Remove the setting; the harness contract lists what becomes of each one."),
    ),
    _package(
        Code.IMAGE_WHITEOUT_INVALID,
        _("Whiteout not valid"),
        _("Entry %(entry)s is a whiteout that names nothing it could remove."),
        _("Build the image again; names that begin with `.wh.` are reserved."),
    ),
    _package(
        Code.IMAGE_CAPABILITIES,
        _("File with capabilities"),
        _("File %(entry)s carries capabilities of the kernel."),
        _("Remove them in the image, for instance with `setcap -r`."),
    ),
    _package(
        Code.IMAGE_PLACE_TAKEN,
        _("A place of the contract is taken"),
        _("%(entry)s in the image is not a plain folder or file, and the contract puts something there."),
        _("Make it a folder (or, below /etc, a file) in the image, or leave it out."),
    ),
    _package(
        Code.MANIFEST_MISSING,
        _("harness.toml missing"),
        _("The package has no file harness.toml at its root (an image: /harness/harness.toml)."),
        _MANIFEST,
    ),
    _package(
        Code.MANIFEST_NOT_TOML,
        _("harness.toml not readable"),
        _("harness.toml is not TOML in UTF-8: %(detail)s."),
        _MANIFEST,
    ),
    _package(
        Code.MANIFEST_UNKNOWN_KEY,
        _("Unknown key in harness.toml"),
        _("harness.toml has an unknown key `%(key)s`."),
        _MANIFEST,
    ),
    _package(
        Code.MANIFEST_KEY_MISSING,
        _("Key missing in harness.toml"),
        _("harness.toml lacks the key `%(key)s`."),
        _MANIFEST,
    ),
    _package(
        Code.MANIFEST_VALUE_INVALID,
        _("Wrong value in harness.toml"),
        _("`%(key)s` in harness.toml has a wrong value: %(detail)s."),
        _MANIFEST,
    ),
    _package(
        Code.MANIFEST_NAME_DIFFERS,
        _("Harness name differs"),
        _("harness.toml says name `%(found)s`; the registered harness is `%(expected)s`."),
        _("Set `name` in harness.toml to the registered one, or submit under the harness it says."),
    ),
    _package(
        Code.MANIFEST_VERSION_DIFFERS,
        _("Version differs"),
        _("harness.toml says version `%(found)s`; the registered version is `%(expected)s`."),
        _("Set `version` in harness.toml to the registered one, or register and submit the version it says."),
    ),
    _package(
        Code.NOT_YET_SUPPORTED,
        _("Not yet supported"),
        _("The platform does not take this yet: %(what)s."),
        _("Submit a bundle without it. No submission was used; the attempt was a preflight."),
    ),
    _package(
        Code.MODEL_NOT_REGISTERED,
        _("Model upstream not registered"),
        _("There is no active model upstream `%(upstream)s` of the dialect %(dialect)s with a credential."),
        _(
            "Register the upstream or correct harness.toml. No submission was used; the attempt was a preflight."
        ),
    ),
    _package(
        Code.MODEL_NOT_IN_CARD,
        _("Model not in the HarnessCard"),
        _("The HarnessCard lists no model of the role `%(role)s` with the snapshot `%(snapshot)s`."),
        _("Register a version whose card lists it. No submission was used; the attempt was a preflight."),
    ),
    _package(
        Code.MODEL_EXPOSURE_REFUSED,
        _("Own model endpoint not admitted"),
        _(
            "The upstream `%(upstream)s` is your own endpoint or no approved provider's: it could read every prompt."
        ),
        _(
            "Use a copy of the weights that the platform hosts, or a provider on the public list of approved ones. "
            "No submission was used; the attempt was a preflight."
        ),
    ),
]
