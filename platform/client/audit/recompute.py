"""`lgbench-audit recompute`: does what was graded lead to what was released?

From a sealed export (client.audit.sealed) it checks, in this order, and stops at the first difference: the two events
in the log; each run against its leaf hash, all runs against the root that the release names; each task against the
root that freezing names; that every held-out task was run equally often, with different seeds; with `--log`, each run
against the end of its attempt as the log has it; the policy row. Then it computes the aggregates of each domain and
the release function again, by the code that the platform itself runs.

Exit codes: 0 equal, 1 a difference, 2 the question is wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path
from typing import Any

from audit.canonical import NotCanonical
from audit.merkle import commitment
from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid
from audit.merkle.commitment import ASSET_FIELDS, RUN_FIELDS, NoScore
from audit.merkle.note import NoteInvalid, Verifier, parse_note
from audit.merkle.proof import Proof, verify
from audit.merkle.tree import ProofInvalid, leaf_hash, verify_inclusion
from client.audit import attempts, sealed
from client.audit.attempts import Ended
from client.audit.events import Malformed, Read, read_entry
from client.audit.report import shown
from client.audit.sealed import Member, SealedExport
from governance.disclosure.gate import Silence
from governance.release import Shown, by_domain, release_summaries
from scoring import interval
from scoring.aggregate import DomainSummary, RunScore, summarise

AGGREGATE_PLACES = Decimal("1e-10")
_PRECISION = 50
HELD_OUT = "held_out"


class Difference(Exception):
    """The first thing that is not as it should be: in which part, at which leaf or domain, and what."""

    def __init__(self, part: str, what: str) -> None:
        super().__init__(f"{part}: {what}")
        self.part = part
        self.what = what


@dataclass(frozen=True)
class Outcome:
    """What was found: equal, or the first difference. `notices` are checks that could not be made here."""

    submission: str
    runs: int
    tasks: int
    equal: bool = True
    part: str = ""
    what: str = ""
    notices: tuple[str, ...] = ()

    def with_difference(self, part: str, what: str, notices: Iterable[str]) -> Outcome:
        """The same question with another answer."""
        return replace(self, equal=False, part=part, what=what, notices=tuple(notices))

    def lines(self) -> list[str]:
        """For a person; the first line is the verdict."""
        if not self.equal:
            return [f"difference in {self.part}: {self.what}", *(f"notice: {text}" for text in self.notices)]
        figures = (
            f"submission {self.submission}: {self.runs} runs on {self.tasks} tasks lead to what was released"
        )
        return ["equal", figures, *(f"notice: {text}" for text in self.notices)]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    parser.add_argument("path", type=Path, metavar="DIR", help="the sealed export's directory")
    parser.add_argument("--key", help="the log's verifier key, or a file of its keys")
    parser.add_argument("--log", type=Path, metavar="EXPORT", help="an export of the log, with its attempts")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(given: argparse.Namespace) -> int:
    """The subcommand; returns its exit code. Raises WrongQuestion."""
    from client.audit.main import BROKEN, FINE, read_keys

    keys = read_keys(given.key) if given.key else []
    known = attempts.ends(given.log) if given.log else None
    outcome = recompute(sealed.read(given.path), keys, known)
    if given.json:
        print(json.dumps(asdict(outcome)))
    else:
        print("\n".join(map(shown, outcome.lines())))
    return FINE if outcome.equal else BROKEN


def recompute(
    export: SealedExport, keys: Sequence[Verifier], known: Mapping[str, Ended] | None = None
) -> Outcome:
    """The outcome for one export; without keys nobody's signature is asked for, and a notice says so.

    `known` are the ends of attempts by episode, where an export of the log is at hand.
    """
    notices: list[str] = []
    if not keys:
        notices.append("no key was given, so no signature was checked: this log may be anybody's")
    tasks = [member.leaf for member in export.assets if member.leaf.get("group") == HELD_OUT]
    facts = Outcome(export.submission, len(export.runs), len(tasks))
    try:
        _compare(export, keys, known, notices)
    except Difference as found:
        return facts.with_difference(found.part, found.what, notices)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
        what = f"something is missing or of the wrong type ({type(error).__name__}: {error})"
        return facts.with_difference("form", what[:300], notices)
    return replace(facts, notices=tuple(notices))


def _compare(
    export: SealedExport,
    keys: Sequence[Verifier],
    known: Mapping[str, Ended] | None,
    notices: list[str],
) -> None:
    released, at = _event("release", export.release, ("result.released", export.submission), keys)
    frozen, earlier = _event("frozen", export.frozen, ("task_set.frozen", export.task_set), keys)
    if earlier >= at:
        raise Difference("log", "the task set was frozen after the release")
    _set("run", export.runs, (RUN_FIELDS, "episode"), (released.data["runs"], released.data["runs_root"]))
    _set("task", export.assets, (ASSET_FIELDS, "id"), (frozen.data["tasks"], frozen.data["assets_root"]))
    _content(export, frozen)
    tasks = _tasks(export)
    if known is not None:
        _attempts(export, attempts.Check(known, at), notices)
    _policy(export, released, list(tasks.values()), notices)
    summaries = _summaries(export, tasks)
    _aggregates(export.aggregates, summaries)
    shown = release_summaries(
        summaries, half_widths=export.policy["half_widths"], silences=_silences(released, notices)
    )
    _values(shown, released)


def _event(name: str, text: str, expected: tuple[str, str], keys: Sequence[Verifier]) -> tuple[Read, int]:
    """The event that a proof shows, and its position."""
    kind, subject = expected
    try:
        proof = Proof.parse(text)
        if proof.extra is None:
            raise ProofInvalid("the proof does not hold its entry")
        if keys:
            verify(proof, proof.extra, keys)
        else:
            found = Checkpoint.parse(parse_note(proof.checkpoint).body)
            verify_inclusion(leaf_hash(proof.extra), proof.index, found.size, proof.path, found.root)
        event = read_entry(proof.extra)
    except (ProofInvalid, NoteInvalid, CheckpointInvalid, Malformed) as error:
        raise Difference("log", f"{name}: {error}") from error
    if (event.kind, event.subject) != (kind, subject):
        raise Difference("log", f"{name}: the entry is {event.kind} of {event.subject}")
    return event, proof.index


def _set(
    what: str, members: Sequence[Member], form: tuple[frozenset[str], str], committed: tuple[int, str]
) -> None:
    """Leaves against their hashes and their order, then their number, then the root."""
    fields, key = form
    count, root = committed
    before = ""
    for place, member in enumerate(members):
        name = f"{what} {place} ({key} {member.leaf.get(key)})"
        if set(member.leaf) != fields:
            raise Difference("leaf", f"{name} has other fields than it should")
        try:
            found = commitment.hash_of(member.leaf)
        except NotCanonical as error:
            raise Difference("leaf", f"{name} has no canonical form: {error}") from error
        if found != member.hash:
            raise Difference("leaf", f"{name} is not what its hash commits")
        if not before < member.leaf[key]:
            raise Difference("leaf", f"{name} stands twice or out of order")
        before = member.leaf[key]
    if len(members) != count:
        raise Difference("root", f"{count} {what}s are committed, the export holds {len(members)}")
    if (found_root := commitment.root_of(member.hash for member in members)) != root:
        raise Difference("root", f"the {what}s lead to {found_root}, committed is {root}")


def _content(export: SealedExport, frozen: Read) -> None:
    """The version's own digest, over id, group and digest of each task."""
    lines = sorted(f"{leaf['id']} {leaf['group']} {leaf['task']}\n" for leaf in _leaves(export.assets))
    if hashlib.sha256("".join(lines).encode()).hexdigest() != frozen.data["digest"]:
        raise Difference("root", "the tasks lead to another digest than the one the version was frozen with")
    if frozen.data["label"] != export.label:
        raise Difference("log", f"frozen: the entry is of the version {frozen.data['label']}")


def _leaves(members: Sequence[Member]) -> list[dict[str, Any]]:
    return [member.leaf for member in members]


def _tasks(export: SealedExport) -> dict[str, dict[str, Any]]:
    """The held-out tasks by digest, each of which was run equally often, with seeds of its own."""
    tasks = {leaf["task"]: leaf for leaf in _leaves(export.assets) if leaf["group"] == HELD_OUT}
    times = Counter[str]()
    seeds: set[tuple[str, str]] = set()
    for place, leaf in enumerate(_leaves(export.runs)):
        name = f"run {place} (episode {leaf['episode']})"
        if leaf["task"] not in tasks:
            raise Difference("task", f"{name} is of a task that is not in the held-out group")
        if (leaf["task"], leaf["seed"]) in seeds:
            raise Difference("task", f"{name} has the task and the seed of another run")
        seeds.add((leaf["task"], leaf["seed"]))
        times[leaf["task"]] += 1
    often = max(times.values(), default=0)
    for digest, leaf in tasks.items():
        if times[digest] != often:
            raise Difference("task", f"{leaf['id']} was run {times[digest]} times, others {often} times")
    return tasks


def _attempts(export: SealedExport, check: attempts.Check, notices: list[str]) -> None:
    """Each run against the end of its attempt as it was recorded at the time."""
    for place, leaf in enumerate(_leaves(export.runs)):
        if wrong := check.wrong(leaf):
            raise Difference("attempt", f"run {place} (episode {leaf['episode']}): {wrong}")
    if check.unseen:
        notices.append(f"the log's export does not disclose the attempts of {check.unseen} runs")


def _policy(
    export: SealedExport, released: Read, tasks: Sequence[Mapping[str, Any]], notices: list[str]
) -> None:
    policy = export.policy
    if commitment.digest_of(policy) != released.data["policy_row"]:
        raise Difference("policy", "the row is not the one that the release names")
    if (policy["id"], policy["task_set"]) != (released.data["policy"], export.task_set):
        raise Difference("policy", "the row is another's, or of another task set")
    for domain, widths in policy["half_widths"].items():
        sizes = Counter(leaf["family"] for leaf in tasks if leaf["domain"] == domain)
        try:
            due = interval.table(sorted(sizes.values(), reverse=True), float(policy["rho"]))
        except ImportError:
            notices.append("half widths were not computed again: that needs scipy")
            return
        if due != widths:
            raise Difference("policy", f"the half widths of {domain} do not follow from its families")


def _summaries(export: SealedExport, tasks: Mapping[str, Mapping[str, Any]]) -> dict[str, DomainSummary]:
    rows = []
    for place, leaf in enumerate(_leaves(export.runs)):
        try:
            score = commitment.parse_score(leaf["score"])
        except NoScore as error:
            raise Difference("leaf", f"run {place} (episode {leaf['episode']}): {error}") from error
        # Success is not committed and plays no part in what is shown.
        found = None if score is None else RunScore(score, success=False, failure_type=None)
        rows.append((tasks[leaf["task"]]["domain"], leaf["task"], found))
    return {domain: summarise(runs) for domain, runs in by_domain(rows).items()}


def figures(summary: DomainSummary) -> dict[str, str | int]:
    """A domain's aggregates as an export states them; the score is empty where no task was valid."""
    return {
        "task_score": "" if summary.task_score is None else rounded(summary.task_score),
        "tasks": summary.tasks_prescribed,
        "valid_tasks": summary.tasks_valid,
        "runs": summary.runs_prescribed,
        "valid_runs": summary.runs_valid,
    }


def rounded(score: Decimal) -> str:
    """A score with the ten places that the database keeps; PostgreSQL rounds halves away from zero."""
    with localcontext(prec=_PRECISION):
        return f"{score.quantize(AGGREGATE_PLACES, rounding=ROUND_HALF_UP):f}"


def _aggregates(stated: Mapping[str, Any], found: Mapping[str, DomainSummary]) -> None:
    if set(stated) != set(found):
        raise Difference(
            "domain", f"computed are {', '.join(sorted(found))}, stated {', '.join(sorted(stated))}"
        )
    for domain, summary in found.items():
        computed = figures(summary)
        if stated[domain] != computed:
            raise Difference(
                "domain", f"{domain}: computed {_plain(computed)}, stated {_plain(stated[domain])}"
            )


def _silences(released: Read, notices: list[str]) -> dict[str, Silence]:
    """Domains that the release says it left out by rule. Whether rightly, needs the earlier submissions' runs."""
    stated = {domain: Silence(reason) for domain, reason in released.data.get("silences", {}).items()}
    found: dict[str, Silence] = {
        domain: reason for domain, reason in stated.items() if reason is not Silence.NO_VALID_RUN
    }
    notices.extend(
        f"{domain} shows no value ({reason}); that rule was not computed again"
        for domain, reason in sorted(found.items())
    )
    return found


def _values(shown: Shown, released: Read) -> None:
    for name, computed, stated in (
        ("value", shown.values(), released.data["values"]),
        ("bounds", shown.bounds(), released.data.get("bounds", {})),
        # Releases from before reasons were kept name none.
        ("silences", shown.silences(), released.data.get("silences", shown.silences())),
    ):
        for domain in sorted({*computed, *stated}):
            if computed.get(domain) != stated.get(domain):
                raise Difference(
                    name,
                    f"{domain}: computed {_plain(computed.get(domain))}, released {_plain(stated.get(domain))}",
                )
    if shown.coverage != released.data["coverage"]:
        raise Difference(
            "value", f"coverage: computed {shown.coverage}, released {released.data['coverage']}"
        )


def _plain(facts: object) -> str:
    """Facts as they stand in a sentence."""
    if not isinstance(facts, Mapping):
        return "nothing" if facts is None else str(facts)
    return ", ".join(f"{name} {value}" for name, value in facts.items())
