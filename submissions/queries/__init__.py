"""Reads of submissions, shaped for pages and API. The only place that decides who may see which rows: a member of the
organisation sees what is the organisation's; everybody else gets NotVisible, the same as for what does not exist."""

from submissions.policies import QuotaWindow
from submissions.queries.admission import Forecast, Intent, Order, forecast, may_submit
from submissions.queries.ledger import (
    QuotaCard,
    TaskSetTerms,
    quota_cards,
    quota_window,
    shut_everywhere,
    terms_at,
    usage_of,
)
from submissions.queries.preflight import PreflightReport, PreflightRun, preflight_report
from submissions.queries.registry import (
    NotVisible,
    harness_of,
    harness_versions,
    harnesses_of,
    open_task_sets,
    task_set_labelled,
    upload_of,
    uploads_of,
    version_of,
)
from submissions.queries.staff import StaffRow, due_submissions, running_for_staff
from submissions.queries.submissions import (
    Charge,
    Moment,
    Outcome,
    charge,
    in_flight_of,
    outcome,
    progress,
    submission_made_of,
    submission_of,
    submissions_of,
    timeline,
    who_pays,
)

__all__ = [
    "Charge",
    "Forecast",
    "Intent",
    "Moment",
    "NotVisible",
    "Order",
    "Outcome",
    "PreflightReport",
    "PreflightRun",
    "QuotaCard",
    "QuotaWindow",
    "StaffRow",
    "TaskSetTerms",
    "charge",
    "due_submissions",
    "forecast",
    "harness_of",
    "harness_versions",
    "harnesses_of",
    "in_flight_of",
    "may_submit",
    "open_task_sets",
    "outcome",
    "preflight_report",
    "progress",
    "quota_cards",
    "quota_window",
    "running_for_staff",
    "shut_everywhere",
    "submission_made_of",
    "submission_of",
    "submissions_of",
    "task_set_labelled",
    "terms_at",
    "timeline",
    "upload_of",
    "uploads_of",
    "usage_of",
    "version_of",
    "who_pays",
]
