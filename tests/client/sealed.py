"""Sealed exports of made-up submissions, signed by a log of one's own: what an honest operator hands over."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from audit.canonical import canonical_bytes
from audit.merkle import commitment
from audit.merkle.checkpoint import Checkpoint
from audit.merkle.note import Signer
from audit.merkle.proof import Proof
from audit.merkle.tree import leaf_hash, node_hash
from client.audit.recompute import figures
from governance.release import by_domain, release_summaries
from scoring import interval
from scoring.aggregate import RunScore, summarise

SUBMISSION = "0191d1c0-0000-7000-8000-000000000001"
TASK_SET = "0191d1c0-0000-7000-8000-000000000002"
POLICY = "0191d1c0-0000-7000-8000-000000000003"
DOMAINS = ("general", "finance", "supply_chain", "manufacturing")
Scores = Mapping[str, Sequence[Sequence[str]]]
"""By domain, task by task: the scores of its runs."""


def event(kind: str, type_: str, subject: str, data: Mapping[str, Any]) -> bytes:
    return canonical_bytes(
        {
            "actor": {"channel": "system", "id": "release", "kind": "system"},
            "data": data,
            "kind": kind,
            "nonce": "0" * 32,
            "outcome": "ok",
            "schema": "event/1",
            "subject": {"id": subject, "type": type_},
            "time": "2026-11-30T12:00:00.000000Z",
            "version": 1,
        }
    )


@dataclass
class Case:
    """The parts before they are signed; a test changes some of them and asks for the document."""

    runs: list[dict[str, Any]]
    assets: list[dict[str, Any]]
    policy: dict[str, Any]
    released: dict[str, Any]
    frozen: dict[str, Any]
    aggregates: dict[str, Any] = field(default_factory=dict)

    def document(self, signer: Signer) -> dict[str, Any]:
        """The export over these parts as they are; every hash, root and signature fits them."""
        for name, leaves, facts in (
            ("runs", self.runs, self.released),
            ("assets", self.assets, self.frozen),
        ):
            facts[f"{name}_root"] = commitment.root_of(map(commitment.hash_of, leaves))
        self.released["runs"], self.frozen["tasks"] = len(self.runs), len(self.assets)
        lines = sorted(f"{leaf['id']} {leaf['group']} {leaf['task']}\n" for leaf in self.assets)
        self.frozen["digest"] = hashlib.sha256("".join(lines).encode()).hexdigest()
        frozen = event("task_set.frozen", "task_set", TASK_SET, self.frozen)
        released = event("result.released", "submission", SUBMISSION, self.released)
        root = node_hash(leaf_hash(frozen), leaf_hash(released))
        note = signer.sign(Checkpoint(signer.name, 2, root).body())
        return {
            "schema": "lingee-sealed-export/1",
            "submission": SUBMISSION,
            "task_set": TASK_SET,
            "label": self.frozen["label"],
            "log": [signer.vkey],
            "release": Proof(1, (leaf_hash(frozen),), note, released).format(),
            "frozen": Proof(0, (leaf_hash(released),), note, frozen).format(),
            "runs": [_member(leaf) for leaf in self.runs],
            "assets": [_member(leaf) for leaf in self.assets],
            "policy": self.policy,
            "aggregates": self.aggregates,
        }


def _member(leaf: Mapping[str, Any]) -> dict[str, Any]:
    return {"leaf": dict(leaf), "hash": commitment.hash_of(leaf).hex()}


def case(scores: Scores, *, seed: int = 1) -> Case:
    """A submission with these scores, released as the platform releases it."""
    chance = random.Random(seed)
    assets, runs = [], []
    for domain, tasks in scores.items():
        for number, found in enumerate(tasks):
            leaf = _asset(chance, domain, number)
            assets.append(leaf)
            runs += [_run(chance, leaf["task"], score) for score in found]
    assets.append({**_asset(chance, "general", 99), "group": "public"})
    runs.sort(key=lambda leaf: leaf["episode"])
    assets.sort(key=lambda leaf: leaf["id"])
    policy = _policy(assets)
    rows = (
        (domain, task, None if score == "unavailable" else RunScore(Decimal(score), False, None))
        for domain, task, score in _rows(assets, runs)
    )
    summaries = {domain: summarise(found) for domain, found in by_domain(rows).items()}
    shown = release_summaries(summaries, half_widths=policy["half_widths"])
    released = {
        "policy": POLICY,
        "policy_row": hashlib.sha256(canonical_bytes(policy)).hexdigest(),
        "values": shown.values(),
        "coverage": shown.coverage,
        **({"bounds": shown.bounds()} if shown.bounds() else {}),
        **({"silences": shown.silences()} if shown.silences() else {}),
    }
    aggregates = {domain: figures(summary) for domain, summary in summaries.items()}
    return Case(runs, assets, policy, released, {"label": "t1"}, aggregates)


def _rows(
    assets: Sequence[Mapping[str, Any]], runs: Sequence[Mapping[str, Any]]
) -> list[tuple[str, str, str]]:
    domains = {leaf["task"]: leaf["domain"] for leaf in assets}
    return [(domains[leaf["task"]], leaf["task"], leaf["score"]) for leaf in runs]


def _asset(chance: random.Random, domain: str, number: int) -> dict[str, Any]:
    digests = {
        name: f"{chance.getrandbits(256):064x}" for name in ("task", "instruction", "data", "rules", "gold")
    }
    return {
        "id": f"{domain}-{number:03}",
        "group": "held_out",
        "domain": domain,
        "family": f"{domain}-{number % 2}",
        **digests,
        "judge": "",
        "salt": f"{chance.getrandbits(128):032x}",
    }


def _run(chance: random.Random, task: str, score: str) -> dict[str, Any]:
    return {
        "episode": f"{chance.getrandbits(128):032x}",
        "attempt": 1,
        "task": task,
        "seed": str(chance.getrandbits(63)),
        "artefact": "" if score == "unavailable" else f"{chance.getrandbits(256):064x}",
        "score": score,
        "grader": "" if score == "unavailable" else "g1",
        "judge": "",
        "salt": f"{chance.getrandbits(128):032x}",
    }


def _policy(assets: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    sizes = {
        domain: Counter(
            leaf["family"] for leaf in assets if (leaf["domain"], leaf["group"]) == (domain, "held_out")
        )
        for domain in DOMAINS
    }
    return {
        "id": POLICY,
        "task_set": TASK_SET,
        "profile": "demo",
        "rule": "grid",
        "grid_points": 1,
        "rho": "0.100",
        "tick_seconds": 5,
        "half_widths": {
            domain: interval.table(sorted(found.values(), reverse=True), 0.1)
            for domain, found in sizes.items()
        },
    }


Change = Callable[[Any], None]


def changed(document: dict[str, Any], change: Change) -> dict[str, Any]:
    """A copy of the document with one change."""
    copy = json.loads(json.dumps(document))
    change(copy)
    return copy
