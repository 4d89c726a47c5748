"""Pure rules of submissions: no database, no clock."""

from submissions.policies.admission import (
    Facts,
    Standing,
    Stop,
    UploadFacts,
    may_act,
    may_ask,
    may_compete,
    may_preflight,
    may_submit,
    not_entitled,
)
from submissions.policies.quota import (
    PREFLIGHT_WINDOW,
    Counter,
    Ledger,
    Purpose,
    QuotaWindow,
    Rule,
    Terms,
    Usage,
    window,
)

__all__ = [
    "PREFLIGHT_WINDOW",
    "Counter",
    "Facts",
    "Ledger",
    "Purpose",
    "QuotaWindow",
    "Rule",
    "Standing",
    "Stop",
    "Terms",
    "UploadFacts",
    "Usage",
    "may_act",
    "may_ask",
    "may_compete",
    "may_preflight",
    "may_submit",
    "not_entitled",
    "window",
]
