"""Answers of the site as lines for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from client.remote.http import explained, reason_words
from client.remote.results import Verdict, lines
from client.words import accept_language, say


def moving(found: dict[str, Any]) -> str:
    """One line while a submission runs."""
    line = f"{found['state']} {int(found.get('progress') or 0)} %"
    waits = found.get("queue") or {}
    if not waits.get("evaluation_paused"):
        return line
    since = waits["evaluation_paused_since"] or "?"
    return f"{line}; " + say("queued, evaluation is paused since {since}").format(since=since)


def admitted(found: dict[str, Any], site: str) -> list[str]:
    """What a submission says right after its admission."""
    shown = submission(found, site)
    if found.get("receipt"):
        shown.append(say("Receipt: {path}").format(path=found["receipt"]))
    shown.append(say("Next: `lgbench wait`, then `lgbench result`."))
    return shown


def submission(found: dict[str, Any], site: str) -> list[str]:
    """State, progress, what is to be said about it, and what it costs."""
    shown = [
        say("Submission {id}").format(id=found["id"]),
        say("  harness {id}").format(id=found["harness"]),
        say("  version {version} on task set {task_set}").format(
            **{k: found[k] for k in ("version", "task_set")}
        ),
        say("  state {state} since {since}, {progress} %").format(
            state=found["state"], since=found["state_since"], progress=found.get("progress") or 0
        ),
    ]
    shown += queue(found)
    outcome = found.get("outcome")
    if outcome:
        shown.append(f"  {outcome['code']}: {outcome['detail']}")
        if found.get("failure_class"):
            shown.append(say("  class {value}").format(value=found["failure_class"]))
        shown.append("  " + say("Next: {hint}").format(hint=outcome["remedy"]))
        shown.append("  " + say("Help: {link}").format(link=explained(site, outcome["code"])))
    charge = found.get("charge") or {}
    if charge.get("words"):
        shown.append("  " + say("Quota: {words}").format(words=charge["words"]))
    if found.get("support_id"):
        shown.append("  " + say("Support id: {id}").format(id=found["support_id"]))
    return shown


def queue(found: dict[str, Any]) -> list[str]:
    """Place and expected times, and since when evaluation is paused, where it is."""
    waits = found.get("queue")
    if not waits:
        return []
    shown = []
    if waits["evaluation_paused"]:
        shown.append(
            say(
                "  queued: evaluation is paused since {since}; the longest wait is {minutes} min or more"
            ).format(since=waits["evaluation_paused_since"] or "?", minutes=waits["oldest_wait_minutes"])
        )
    if waits["place"]:
        shown.append(say("  place in the queue: {words}").format(words=waits["place_words"]))
    if waits["starts"]:
        shown.append(say("  held-out tasks start: {words}").format(words=waits["starts_words"]))
    if waits["ends"]:
        shown.append(
            say("  all runs are through: {words} (as of {time})").format(
                words=waits["ends_words"], time=waits["noted_at"]
            )
        )
    return shown


def listed(body: dict[str, Any]) -> list[str]:
    """One line a submission."""
    rows = body.get("submissions", [])
    shown = [f"{row['id']}  {row['version']}  {row['task_set']}  {moving(row)}" for row in rows]
    return shown or [say("No submission yet.")]


def result(body: dict[str, Any], verdicts: Mapping[str, Verdict]) -> list[str]:
    """Every number with its interval, and what it says about its bar."""
    shown = [
        say("Result of {id}, coverage {coverage}").format(id=body["submission"], coverage=body["coverage"])
    ]
    for line in lines(body):
        verdict = verdicts.get(line.name)
        words = f"  {verdict_words(verdict)}" if verdict else ""
        shown.append(
            f"  {line.name:<14} {_number(line.value):>4}  [{_number(line.low)}, {_number(line.high)}]{words}"
        )
    if not body.get("complete", True):
        shown.append("  " + say("Incomplete: runs are missing."))
    return shown


def markdown(body: dict[str, Any], verdicts: Mapping[str, Verdict]) -> list[str]:
    """The same as a table for the summary of a CI job."""
    shown = ["| | | | |", "|---|---|---|---|"]
    for line in lines(body):
        verdict = verdicts.get(line.name)
        words = verdict_words(verdict) if verdict else ""
        shown.append(
            f"| {line.name} | {_number(line.value)} | {_number(line.low)} – {_number(line.high)} | {words} |"
        )
    return shown


def verdict_words(verdict: Verdict) -> str:
    return {
        Verdict.REACHED: say("reached"),
        Verdict.BELOW: say("below the bar"),
        Verdict.INCONCLUSIVE: say("inconclusive"),
    }[verdict]


def _number(value: int | None) -> str:
    return "–" if value is None else str(value)


def preview(found: dict[str, Any]) -> list[str]:
    """What a dry run says."""
    quota_ = found["quota"] or {}
    shown = [
        say("Dry run: nothing was registered, uploaded or submitted."),
        say("  {harness} {version} on task set {task_set}").format(
            **{k: found[k] for k in ("harness", "version", "task_set")}
        ),
        say("  bundle {size} bytes, sha256 {package_digest}").format(
            **{k: found[k] for k in ("size", "package_digest")}
        ),
    ]
    if (found["estimate"] or {}).get("rerun_offer"):
        return [*shown, say("  cost: none; it takes the re-run that was offered, and starts no cooldown")]
    shown.append(say("  cost: one use, reserved now and counted once held-out tasks start"))
    if quota_:
        shown.append(
            say("  left now: {remaining}; after it: {after}").format(
                remaining=quota_["remaining"], after=max(int(quota_["remaining"]) - 1, 0)
            )
        )
        seconds = int((quota_.get("cooldown") or {}).get("seconds") or 0)
        shown.append(say("  cooldown after it: {hours} h").format(hours=round(seconds / 3600, 1)))
    else:
        shown.append(say("  the harness is not registered yet; its allowance is untouched"))
    return shown


def quota(body: dict[str, Any]) -> list[str]:
    """Every task set with every harness, what is left, and why there is nothing where there is nothing."""
    shown = []
    for row in body["task_sets"]:
        shown.append(say("Task set {label}").format(label=row["task_set"]))
        if not row["entitled"]:
            shown.append("  " + say("0 left: you are not entitled to it"))
        elif not row["harnesses"]:
            shown.append(
                "  " + say("no harness registered; allowance: {limits}").format(limits=_limits(row["policy"]))
            )
        for line in row["harnesses"]:
            shown += _line(line)
    return shown or [say("No task set is open.")]


def counters() -> dict[str, str]:
    """What the site's pages call each counter."""
    return {
        "line": say("On this harness, all versions"),
        "lineage": say("In the organisation, with linked accounts"),
        "account": say("By you"),
        "in_flight": say("In flight on this harness"),
        "preflight": say("Preflights of this harness in seven days"),
        "preflights_in_flight": say("Preflights of the organisation in flight"),
    }


def _limits(policy: dict[str, Any]) -> str:
    return ", ".join(f"{name} {policy[name]}" for name in ("line", "lineage", "account") if name in policy)


def _line(line: dict[str, Any]) -> list[str]:
    if line["allowed"]:
        words = say("allowed now")
    elif line["next_allowed_at"]:
        words = say("refused by `{rule}` until {time}").format(
            rule=line["bites"], time=line["next_allowed_at"]
        )
    else:
        reason = reason_words(str(line["next_allowed_reason"] or ""))
        words = say("refused by `{rule}`: {reason}").format(rule=line["bites"], reason=reason)
    shown = [
        f"  {line['name']}: " + say("{remaining} left").format(remaining=line["remaining"]) + f", {words}"
    ]
    for counter in line["counters"]:
        shown.append(
            "    "
            + say("{name} ({counter}): {used} of {limit} used, {refunded} returned").format(
                name=counters().get(counter["counter"], counter["counter"]),
                **{k: counter[k] for k in ("counter", "used", "limit", "refunded")},
            )
        )
    return shown


def upstreams(body: dict[str, Any], site: str) -> list[str]:
    """One line an upstream: what it calls, whether it has a credential, and how the last test call went."""
    pages = f"{site}/{accept_language()}/v/upstreams"
    shown = []
    for row in body["upstreams"]:
        credential = row["credential"]
        words = say("credential …{hint}") if credential else say("no credential; set it at {link}")
        link = f"{pages}/{row['id']}/"
        shown.append(
            f"{row['name']:<24} {row['state']:<8} {row['snapshot']} ({row['dialect']}), "
            + words.format(hint=(credential or {}).get("hint", ""), link=link)
        )
        if row["trial"]:
            shown.append("  " + trial(row))
    for row in body["platform"]:
        shown.append(
            f"{row['name']:<24} " + say("of the platform") + f"  {row['snapshot']} ({row['dialect']})"
        )
    return shown or [say("No upstream yet; register one at {link}").format(link=f"{pages}/new/")]


def trial(row: dict[str, Any]) -> str:
    """The latest test call in a line."""
    found = row["trial"]
    if not found["outcome"]:
        return say("{name}: the test call asked for at {time} is under way").format(
            name=row["name"], time=found["asked_at"]
        )
    line = f"{row['name']}: {found['outcome']}: {found['words']}"
    return line if found["milliseconds"] is None else f"{line} ({found['milliseconds']} ms)"
