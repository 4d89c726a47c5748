"""What events say about release policies and released values, for `manage.py audit verify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from audit.merkle import commitment
from audit.replay import INSTANT, Ledger, State, Told, becomes, sets, together

POLICY = (
    *("id", "task_set", "profile", "rule", "grid_points", "rho", "tick_seconds", "half_widths"),
    *("fewest_changed", "budget_millibits", "confirmation_millibits"),
)
"""The fields of a policy row in the form that release events commit to (governance.commitments.policy_row)."""

RELEASES = """
SELECT release.submission_id, release.coverage, release.enterprise_value, release.enterprise_h,
       coalesce((SELECT json_agg(json_build_array(domain, value, half_width, low, high, reason) ORDER BY domain)
                   FROM governance_domainaggregate WHERE release_id = release.id), '[]'::json),
       policy.id, policy.task_set_id, policy.profile, policy.rule, policy.grid_points, policy.rho,
       policy.tick_seconds, policy.half_widths::json, policy.fewest_changed, policy.budget_millibits,
       policy.confirmation_millibits
  FROM governance_release release JOIN governance_releasepolicy policy ON policy.id = release.policy_id
"""


def _shown(values: Mapping[str, Any], bounds: Mapping[str, Any], silences: Mapping[str, str]) -> str:
    """All numbers of a release, and why others are missing, as one text in a fixed order."""
    shown = [f"{name} {row['value']}±{row['h']}" for name, row in sorted(values.items())]
    shown += [f"{name} {row['low']}…{row['high']}" for name, row in sorted(bounds.items())]
    return ", ".join([*shown, *(f"{name} {reason}" for name, reason in sorted(silences.items()))])


def _released(state: State, event: Told) -> None:
    state["shown"] = _shown(*(event.data.get(name) or {} for name in ("values", "bounds", "silences")))


def _ran(state: State, event: Told) -> None:
    state["run"] = event.text("run") or state.get("run", "")


def _charged(state: State, event: Told) -> None:
    state["millibits"] = str(int(state.get("millibits") or 0) + event.data["millibits"])


def _shape(row: Sequence[Any]) -> Sequence[Any]:
    submission, coverage, enterprise, width, domains, *policy = row
    values = {
        name: {"value": value, "h": half} for name, value, half, *_ in domains if None not in (value, half)
    }
    if None not in (enterprise, width):
        values["enterprise"] = {"value": enterprise, "h": width}
    bounds = {
        name: {"low": low, "high": high} for name, _, _, low, high, _ in domains if None not in (low, high)
    }
    silences = {name: reason for name, *_, reason in domains if reason}
    facts = dict(zip(POLICY, policy, strict=True))
    facts = {name: value for name, value in facts.items() if value is not None}
    facts |= {"id": str(facts["id"]), "task_set": str(facts["task_set"]), "rho": f"{facts['rho']:.3f}"}
    return submission, coverage, facts["id"], commitment.digest_of(facts), _shown(values, bounds, silences)


LEDGERS = [
    Ledger(
        table="governance_releasepolicy",
        columns=("task_set", "profile", "rule", "grid_points", "tick_seconds"),
        query="SELECT policy.id, version.label, policy.profile, policy.rule, policy.grid_points, policy.tick_seconds "
        "FROM governance_releasepolicy policy "
        "JOIN benchmark_tasksetversion version ON version.id = policy.task_set_id",
        begins=frozenset({"release_policy.set"}),
        steps={
            "release_policy.set": sets(
                task_set="task_set",
                profile="profile",
                rule="rule",
                grid_points="grid_points",
                tick_seconds="tick_seconds",
            )
        },
    ),
    Ledger(
        table="governance_release",
        columns=("coverage", "policy", "policy_row", "shown"),
        query=RELEASES,
        shape=_shape,
        begins=frozenset({"result.released"}),
        steps={
            "result.released": together(
                sets(coverage="coverage", policy="policy", policy_row="policy_row"), _released
            )
        },
    ),
    Ledger(
        table="governance_leakcharge",
        columns=("millibits",),
        query="SELECT submission_id, sum(millibits)::bigint FROM governance_leakcharge GROUP BY submission_id",
        begins=frozenset({"leak.charged"}),
        steps={"leak.charged": _charged},
    ),
    Ledger(
        table="governance_confirmationrun",
        columns=("submission", "harness", "task_set", "number", "state", "cause", "run", "release_date"),
        query="SELECT confirmed.id, submission_id, harness_id, version.label, number, confirmed.state, cause, run_id, "
        "release_date_id FROM governance_confirmationrun confirmed "
        "JOIN benchmark_tasksetversion version ON version.id = confirmed.task_set_id",
        begins=frozenset({"confirmation.requested"}),
        steps={
            "confirmation.requested": together(
                sets(submission="submission", harness="harness", task_set="task_set", number="number"),
                becomes(state="requested", cause="asked", run="", release_date=""),
            ),
            "confirmation.moved": together(sets(state="after", cause="cause"), _ran),
            "confirmation.dated": sets(release_date="release_date"),
        },
    ),
    Ledger(
        table="governance_confirmationresult",
        columns=("root", "runs"),
        query="SELECT confirmation_id, root, runs FROM governance_confirmationresult",
        begins=frozenset({"confirmation.sealed"}),
        steps={"confirmation.sealed": sets(root="runs_root", runs="runs")},
    ),
    Ledger(
        table="governance_releasedate",
        columns=("label", "kind", "planned", "sha256", "document"),
        query="SELECT id, label, kind, "  # noqa: S608 - an expression of this module
        f"{INSTANT.format('planned_for')}, sha256, CASE WHEN document = '' THEN '' "
        "ELSE encode(sha256(convert_to(document, 'UTF8')), 'hex') END FROM governance_releasedate",
        begins=frozenset({"release.planned"}),
        steps={
            "release.planned": together(
                sets(label="label", kind="purpose", planned="planned_for"), becomes(sha256="", document="")
            ),
            "release.dated": sets(sha256="sha256", document="sha256"),
        },
    ),
    Ledger(
        table="governance_runcommitment",
        columns=("root", "runs"),
        query="SELECT submission_id, root, runs FROM governance_runcommitment",
        begins=frozenset({"result.released"}),
        steps={"result.released": sets(root="runs_root", runs="runs")},
    ),
    Ledger(
        table="governance_regrading",
        columns=("submission", "cause", "reference", "runs", "root"),
        query="SELECT id, submission_id, cause, reference, runs, root FROM governance_regrading",
        begins=frozenset({"regrading.ordered"}),
        steps={
            "regrading.ordered": together(
                sets(submission="submission", cause="cause", reference="reference"), becomes(runs="", root="")
            ),
            "regrading.ended": sets(runs="runs", root="runs_root"),
        },
    ),
]
