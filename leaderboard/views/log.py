"""The public log for people: checkpoints, and a page that verifies receipts and proofs, here or from a disk."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path

from csp.decorators import csp_exempt
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from audit import explore, queries

PAGE = 50
_SIZE = re.compile(r"[0-9]{1,18}")


@require_safe
def checkpoints(request: HttpRequest) -> HttpResponse:
    """Public checkpoints, largest first, with who cosigned them."""
    before = request.GET.get("before", "")
    if before and not _SIZE.fullmatch(before):
        raise Http404
    try:
        found = queries.public_checkpoints(int(before) if before else None, PAGE + 1)
    except queries.NotInLog:
        raise Http404 from None
    rows = explore.cosigned(found[:PAGE], using=DEFAULT_DB_ALIAS)
    context = {
        "rows": rows,
        "more": found[PAGE - 1].size if len(found) > PAGE else None,
        "keys": queries.verifier_keys(),
        "vouched": any(row.witnesses for row in rows),
        "public": True,
    }
    return render(request, "audit/checkpoints.html", context)


@require_safe
def verify(request: HttpRequest) -> HttpResponse:
    """The verifier; everything happens in the reader's browser."""
    context = {
        "keys": queries.verifier_keys(),
        "origin": settings.LOG_ORIGIN,
        "download": reverse("leaderboard:log_verify_file"),
    }
    return render(request, "audit/verify.html", context)


@require_safe
@csp_exempt()
def verify_file(request: HttpRequest) -> HttpResponse:
    """The verifier as one file to keep. Its own policy allows exactly its script and style, and no network.

    It is an attachment and never shown under this site's origin.
    """
    script = (Path(settings.ROOT) / "static/js/verify.js").read_text("utf-8")
    style = (Path(settings.ROOT) / "static/css/verify.css").read_text("utf-8")
    allowed = f"script-src {_hashed(script)}; style-src {_hashed(style)}"
    policy = f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"
    language = get_language() or "en"
    context = {
        "script": script,
        "style": style,
        "policy": policy,
        "origin": settings.LOG_ORIGIN,
        "html_language": {"zh-hans": "zh-Hans"}.get(language, language),
    }
    headers = {
        "Content-Disposition": 'attachment; filename="verify.html"',
        "Content-Security-Policy": f"{policy}; sandbox",
    }
    return HttpResponse(render_to_string("audit/verify_offline.html", context), headers=headers)


def _hashed(text: str) -> str:
    """The source expression that allows exactly this inline text (CSP level 2)."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
