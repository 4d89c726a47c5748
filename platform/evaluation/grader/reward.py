"""The reward file (reward/1): what the grader hands back, written and strictly read."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation

from scoring.artefacts import Reason
from scoring.channel import FailureType, ItemOutcome, RuleOutcome

SCHEMA = "reward/1"
MAX_BYTES = 256 * 1024
_KEYS = frozenset({"schema", "score", "success", "failure_type", "threshold_failed", "fatal_failed", "items"})


class RewardError(ValueError):
    """The bytes are no reward of this schema: a technical fault of the grader, never a score."""


def encode(outcome: RuleOutcome) -> bytes:
    """The reward of a run as JSON; decimals are texts."""
    data = {
        "schema": SCHEMA,
        "score": decimal_text(outcome.score),
        "success": outcome.success,
        "failure_type": outcome.failure_type.value if outcome.failure_type else None,
        "threshold_failed": list(outcome.threshold_failed),
        "fatal_failed": list(outcome.fatal_failed),
        "items": [
            {"id": item.id, "score": decimal_text(item.score), "reason": item.reason.value}
            for item in outcome.items
        ],
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def decimal_text(number: Decimal) -> str:
    """A score without exponent and at most nine places: "0", "0.75", "0.333333333"."""
    text = f"{number:.9f}".rstrip("0").rstrip(".")
    return text or "0"


def decode(content: bytes) -> RuleOutcome:
    """Read a reward; raises RewardError for anything that `encode` would not have written."""
    if len(content) > MAX_BYTES:
        raise RewardError("too large")
    try:
        data = json.loads(content)
        if not isinstance(data, dict) or data.keys() != _KEYS or data["schema"] != SCHEMA:
            raise RewardError(f"not {SCHEMA}")
        outcome = RuleOutcome(
            score=_score(data["score"]),
            success=data["success"] is True,
            threshold_failed=tuple(map(str, data["threshold_failed"])),
            fatal_failed=tuple(map(str, data["fatal_failed"])),
            items=tuple(
                ItemOutcome(str(item["id"]), _score(item["score"]), Reason(item["reason"]))
                for item in data["items"]
            ),
            failure_type=None if data["failure_type"] is None else FailureType(data["failure_type"]),
        )
    except RewardError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise RewardError(str(error)) from error
    if encode(outcome) != content:
        raise RewardError("not in canonical form")
    return outcome


def _score(value: object) -> Decimal:
    try:
        number = Decimal(value) if isinstance(value, str) and len(value) < 16 else Decimal("NaN")
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or number.is_signed() or number > 1:
        raise RewardError(f"no score: {value!r:.40}")
    return number
