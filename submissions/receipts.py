"""The receipt of a submission: proofs that its admission, and later its release, are in the transparency log."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.http import HttpResponse

from audit.events import Actor
from audit.receipts import proof_of
from submissions.delivery import PRECISION, hand_out
from submissions.models import Submission
from submissions.problems import Code, refuse

SCHEMA = "lingee-receipt/1"


@dataclass(frozen=True)
class Receipt:
    """`text` is the file: JSON of the schema in docs/transparency-log.md, the same from page and API."""

    submission_id: UUID
    text: str
    shows_release: bool

    @property
    def filename(self) -> str:
        return f"receipt-{self.submission_id}.json"


def receipt_of(submission: Submission) -> Receipt:
    """The receipt of a submission that the caller may see. Raises Refused (receipt_not_ready).

    The event of a release shares the transaction of the release, so its proof exists only once the vendor sees the
    result. Position and size of the tree at both events are disclosed, and nothing of the log in between.
    """
    admission = proof_of("submission.admitted", submission.id)
    if admission is None:
        raise refuse(Code.RECEIPT_NOT_READY)
    body = {"schema": SCHEMA, "submission": str(submission.id), "log": admission.vkey}
    body["admission"] = admission.text
    release = proof_of("result.released", submission.id)
    if release is not None:
        body["release"] = release.text
    return Receipt(submission.id, json.dumps(body, indent=1) + "\n", release is not None)


def hand_out_receipt(request: Any, receipt: Receipt, *, by: Actor) -> None:
    """Record its delivery; with the release in it, it delivers the result. Raises Refused (read_not_recorded)."""
    precision = PRECISION if receipt.shows_release else ""
    hand_out(request, "receipt", receipt.submission_id, receipt.text, by=by, precision=precision)


def receipt_file(receipt: Receipt) -> HttpResponse:
    """The receipt as a file to keep."""
    name = f'attachment; filename="{receipt.filename}"'
    return HttpResponse(receipt.text, content_type="application/json", headers={"Content-Disposition": name})
