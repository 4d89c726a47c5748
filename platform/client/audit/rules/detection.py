"""Detection, rotation, model calls: kinds that an export may hold and of which no rule across events is checked."""

from __future__ import annotations

from client.audit.rules.base import known_without_rule

known_without_rule(
    "alarm.evidence_read",
    "alarm.raised",
    "detection_levels.set",
    "exposure.read",
    "held_out.read",
    "model.refused",
    "rotation.escalated",
    "rotation.profiled",
    "rotation.read",
    "rotation_plan.anchors_run",
    "rotation_plan.escalated",
    "rotation_plan.read",
    "submission.analysed",
    "submission.analysis_failed",
    "submission.analysis_given_up",
)
