"""What anyone may fetch of the log, without signing in: checkpoints, tiles, proofs, keys, witnesses. Never an entry.

Addresses carry no language and answers are for programs (C2SP tlog-tiles). Everything stops at the public size.
"""

from __future__ import annotations

import base64
import re

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from audit import queries, services
from audit.merkle.export import listed
from audit.merkle.tiles import WIDTH, TileInvalid, parse_path
from audit.models import Checkpoint

NOTE_BYTES = 16 * 1024
"""Longest cosigned note that is read."""
PAGE = 100
TEXT = "text/plain; charset=utf-8"
FOR_EVER = "public, max-age=31536000, immutable"
FOR_NOW = "no-cache"
_SIZE = re.compile(r"0|[1-9][0-9]{0,17}")

#: Status and sentence by code.
PROBLEMS = {
    "log_empty": (404, _("The public log has no checkpoint yet.")),
    "log_not_found": (
        404,
        _("The public log has no such checkpoint or tile. It shows new ones at fixed times only."),
    ),
    "bad_sizes": (400, _("Sizes are whole numbers; from is above 0 and at most to.")),
    "note_too_long": (413, _("A cosigned note has at most 16 KiB.")),
    "not_text": (415, _("A cosigned note is sent as text/plain in UTF-8.")),
    services.Fault.MALFORMED: (400, _("This is no signed note over a checkpoint.")),
    services.Fault.OTHER_LOG: (409, _("The checkpoint is of another log.")),
    services.Fault.UNKNOWN_CHECKPOINT: (409, _("The public log has no checkpoint of this size.")),
    services.Fault.OTHER_ROOT: (
        409,
        _("The checkpoint of this size has another root here. Keep your note: it is evidence."),
    ),
    services.Fault.UNKNOWN_WITNESS: (403, _("No signature is by a witness registered here.")),
    services.Fault.WRONG_SIGNATURE: (403, _("A signature by a registered witness is wrong.")),
    services.Fault.WRONG_TIME: (403, _("A cosignature's time is in the future or long past.")),
}


def problem(code: str) -> HttpResponse:
    """An error in the shape of RFC 9457."""
    status, sentence = PROBLEMS[code]
    body = {
        "type": "about:blank",
        "title": gettext("The log cannot answer this."),
        "status": status,
        "detail": str(sentence),
        "code": str(code),
    }
    return JsonResponse(
        body,
        status=status,
        content_type="application/problem+json",
        headers={"Cache-Control": "no-store"},
        json_dumps_params={"ensure_ascii": False},
    )


def _text(content: str, cache: str = FOR_NOW) -> HttpResponse:
    return HttpResponse(content, content_type=TEXT, headers={"Cache-Control": cache})


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


@require_safe
def checkpoint(request: HttpRequest) -> HttpResponse:
    """The newest public checkpoint with its cosignatures."""
    found = queries.latest_public()
    return _text(queries.note_of(found)) if found else problem("log_empty")


@require_safe
def checkpoint_of(request: HttpRequest, size: int) -> HttpResponse:
    """The public checkpoint of exactly that size."""
    try:
        return _text(queries.note_of(queries.public_checkpoint(size)))
    except queries.NotInLog:
        return problem("log_not_found")


@require_safe
def checkpoints(request: HttpRequest) -> HttpResponse:
    """Public checkpoints, newest first, 100 at a time; `next` is the `before` of the following page, or null."""
    given = request.GET.get("before")
    if given is not None and not _SIZE.fullmatch(given):
        return problem("bad_sizes")
    try:
        found = queries.public_checkpoints(int(given) if given is not None else None, PAGE)
    except queries.NotInLog:
        return problem("log_not_found")
    following = found[-1].size if len(found) == PAGE else None
    answer = JsonResponse({"checkpoints": [_row(item) for item in found], "next": following})
    answer["Cache-Control"] = FOR_NOW
    return answer


def _row(found: Checkpoint) -> dict[str, object]:
    return {"size": found.size, "root": _base64(bytes(found.root)), "time": found.made_at.isoformat()}


@require_safe
def keys(request: HttpRequest) -> HttpResponse:
    """Verifier keys of this log, oldest first, one a line."""
    return _text("".join(f"{vkey}\n" for vkey in queries.verifier_keys()))


@require_safe
def witnesses(request: HttpRequest) -> HttpResponse:
    """Verifier keys of the witnesses whose cosignatures are taken, one a line, its name in a comment above it."""
    return _text(listed((witness.name, witness.vkey) for witness in queries.public_witnesses()))


@require_safe
def tile(request: HttpRequest, path: str) -> HttpResponse:
    """A tile by its C2SP path below /log/."""
    try:
        place = parse_path(f"tile/{path}")
        if place.level is None:
            return problem("log_not_found")
        data = queries.public_tile(place.level, place.number, place.width)
    except (TileInvalid, queries.NotInLog):
        return problem("log_not_found")
    cache = FOR_EVER if place.width == WIDTH else "public, max-age=3600"
    return HttpResponse(data, content_type="application/octet-stream", headers={"Cache-Control": cache})


@require_safe
def consistency(request: HttpRequest) -> HttpResponse:
    """The proof between two public sizes, one hash in base64 a line; nothing where they are equal."""
    given = [request.GET.get(name, "") for name in ("from", "to")]
    if not all(_SIZE.fullmatch(size) for size in given) or not 0 < int(given[0]) <= int(given[1]):
        return problem("bad_sizes")
    try:
        old, new = (queries.public_checkpoint(int(size)).size for size in given)
        proof = queries.consistency(old, new)
    except queries.NotInLog:
        return problem("log_not_found")
    return _text("".join(f"{_base64(digest)}\n" for digest in proof), FOR_EVER)


@csrf_exempt
@require_POST
def cosignatures(request: HttpRequest) -> HttpResponse:
    """Take a witness's cosigned note; no session or cookie is looked at. Sent again, it changes nothing."""
    if request.content_type != "text/plain":
        return problem("not_text")
    data = request.read(NOTE_BYTES + 1)
    if len(data) > NOTE_BYTES:
        return problem("note_too_long")
    try:
        witnesses = services.accept_cosignatures(data.decode("utf-8"))
    except UnicodeDecodeError:
        return problem("not_text")
    except services.CosignatureRefused as error:
        return problem(error.fault)
    return JsonResponse({"accepted": [witness.name for witness in witnesses]})
