"""Plausible histories of events that obey every rule, the same for the same seed; and exports of them."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from audit.merkle.checkpoint import Checkpoint
from audit.merkle.export import ExportWriter, Manifest
from audit.merkle.note import Cosigner, Signer, add_signature, generate_key
from audit.merkle.tree import Frontier, leaf_hash

ORIGIN = "bench.example/log"
BUDGET = 1_335_000
DOMAINS = ("finance", "supply_chain", "manufacturing", "office")
BEGIN = 1_790_000_000
"""Time of the first event, seconds since 1970."""

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode


def signer() -> Signer:
    """A fresh key of the log."""
    return Signer(ORIGIN, generate_key())


class Scribe:
    """Writes events one after the other, about half a second apart."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.microseconds = BEGIN * 1_000_000
        self.organisation = self.id()

    def id(self) -> str:
        """A random identifier."""
        digits = f"{self.random.getrandbits(128):032x}"
        return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"

    def sha256(self) -> str:
        """A digest of something."""
        return f"{self.random.getrandbits(256):064x}"

    def event(self, kind: str, type_: str, subject: str, *, outcome: str = "ok", **data: object) -> bytes:
        """The canonical bytes of one event."""
        self.microseconds += self.random.getrandbits(20) + 1
        body = {
            "actor": {"channel": "api", "id": self.id(), "kind": "token", "organisation": self.organisation},
            "data": data,
            "kind": kind,
            "nonce": f"{self.random.getrandbits(128):032x}",
            "outcome": outcome,
            "schema": "event/1",
            "subject": {"id": subject, "type": type_},
            "time": self.time(),
            "version": 1,
        }
        return _encode(body).encode()

    def time(self) -> str:
        """The present time of the history, RFC 3339 with microseconds."""
        seconds, rest = divmod(self.microseconds, 1_000_000)
        return f"{_stamp(seconds)}.{rest:06}Z"


def _stamp(seconds: int) -> str:
    days, left = divmod(seconds, 86_400)
    return f"{_date(days)}T{left // 3600:02}:{left // 60 % 60:02}:{left % 60:02}"


def _date(days: int, known: dict[int, str] = {}) -> str:  # noqa: B006
    from datetime import date, timedelta

    if days not in known:
        known[days] = (date(1970, 1, 1) + timedelta(days)).isoformat()
    return known[days]


def history(seed: int, *, submissions: int = 4, episodes: int = 6) -> Iterator[bytes]:
    """A site from its first day: a task set, a harness, and `submissions` of several fates in turn."""
    write = Scribe(seed)
    organisation, task_set, policy, harness = (write.id() for _ in range(4))
    digest = write.sha256()
    yield write.event("organisation.created", "organisation", organisation, lineage=write.id())
    yield write.event(
        "organisation.member_added", "organisation", organisation, account=write.id(), role="owner"
    )
    yield write.event("organisation.verified", "organisation", organisation)
    token = write.id()
    yield write.event("token.issued", "token", token, scopes=["submissions"], expires=write.time())
    yield write.event("task_set.imported", "task_set", task_set, label="2026.1", digest=digest, tasks=100)
    yield write.event("task_set.admitted", "task_set", task_set, digest=digest, tasks=100)
    yield write.event(
        "task_set.frozen",
        "task_set",
        task_set,
        label="2026.1",
        digest=digest,
        tasks=100,
        assets_root=write.sha256(),
    )
    yield write.event(
        "release_policy.set",
        "release_policy",
        policy,
        task_set="2026.1",
        profile="official",
        rule="all",
        grid_points=1,
        rho="0.100",
        tick_seconds=900,
        budget_millibits=BUDGET,
    )
    yield write.event("task_set.opened", "task_set", task_set, label="2026.1")
    yield write.event("harness.registered", "harness", harness, name="供应链助手", relation="own")
    for number in range(submissions):
        fate = ("complete", "repeated", "cancelled", "rejected")[number % 4] if number else "complete"
        yield from submission(write, fate, harness=harness, policy=policy, episodes=episodes)
    yield write.event("token.revoked", "token", token)


def submission(write: Scribe, fate: str, *, harness: str, policy: str, episodes: int) -> Iterator[bytes]:
    """Everything that happens to one submission."""
    version, upload, name, slot, package = (*(write.id() for _ in range(4)), write.sha256())
    card = write.sha256()
    yield write.event(
        "harness.version_registered",
        "harness_version",
        version,
        harness=harness,
        harness_version="1.0.0",
        card_digest=card,
        card_schema=1,
    )
    yield write.event("upload.opened", "upload", upload, harness_version=version, sha256=package, size=100)
    yield write.event("upload.verifying", "upload", upload)
    yield write.event("upload.ended", "upload", upload, outcome="complete", sha256=package, size=100)
    yield write.event("upload.used", "upload", upload, submission=name)
    yield write.event(
        "submission.admitted",
        "submission",
        name,
        harness_version=version,
        task_set="2026.1",
        package_digest=package,
        card_digest=card,
        upload=upload,
        lineage=write.id(),
        publication_consent=1,
    )
    yield write.event(
        "slot.reserved",
        "slot",
        slot,
        submission=name,
        task_set="2026.1",
        line=harness,
        lineage=write.id(),
    )
    yield move(write, name, "created", "checking", "check_started")
    if fate == "rejected":
        yield move(write, name, "checking", "rejected", "manifest_missing")
        yield write.event("slot.refunded", "slot", slot, submission=name, cause="manifest_missing")
        return
    yield from run(write, "preflight", package, name, ("checking", "preflight"), episodes=2)
    if fate == "cancelled":
        yield move(write, name, "preflight", "cancelled", "cancelled_by_vendor")
        yield write.event("slot.refunded", "slot", slot, submission=name, cause="cancelled_by_vendor")
        return
    yield from run(write, "canary", package, name, ("preflight", "queued"), episodes=1)
    lost = 1 if fate == "repeated" else 0
    paid = write.event("slot.consumed", "slot", slot, submission=name, cause="canary_passed")
    yield from run(
        write, "held_out", package, name, ("queued", "running"), episodes=episodes, lost=lost, paid=paid
    )
    yield move(write, name, "running", "grading", "all_runs_executed")
    yield write.event(
        *("leak.charged", "submission", name),
        charge="result",
        task_set="2026.1",
        lineage="l",
        millibits=26_633,
        spent=26_633,
        budget=BUDGET,
    )
    yield released(write, name, policy)
    yield move(write, name, "grading", "complete", "results_released")
    yield write.event("result.read", "submission", name, representation=write.sha256(), surface="api")


def move(write: Scribe, name: str, before: str, after: str, cause: str) -> bytes:
    """A submission moves."""
    return write.event("submission.moved", "submission", name, before=before, after=after, cause=cause)


def released(write: Scribe, name: str, policy: str) -> bytes:
    """The release of a result, as the platform writes it."""
    values = {domain: {"value": write.random.randrange(101), "h": 5} for domain in DOMAINS}
    return write.event(
        "result.released",
        "submission",
        name,
        policy=policy,
        policy_row=write.sha256(),
        values=values,
        coverage="1.00",
        runs=100,
        runs_root=write.sha256(),
    )


def run(
    write: Scribe,
    kind: str,
    package: str,
    name: str,
    moved: tuple[str, str],
    *,
    episodes: int,
    lost: int = 0,
    paid: bytes = b"",
) -> Iterator[bytes]:
    """A run with its attempts; `lost` episodes are missing at first and are repeated. `paid` follows the move."""
    run_id = write.id()
    yield write.event(
        "run.created",
        "run",
        run_id,
        run_kind=kind,
        task_set="2026.1",
        package=package,
        runs_per_task=1,
        episodes=episodes,
    )
    yield move(write, name, *moved, "went_on")
    if paid:
        yield paid
    yield from attempts(write, run_id, episodes - lost)
    for number in (1, 2, 3) if lost else ():
        yield attempt(write, run_id, number, "infrastructure_fault")
    yield write.event("run.executed", "run", run_id)
    yield write.event("run.ended", "run", run_id, missing=lost)
    if lost:
        yield write.event("submission.lost_runs_repeated", "submission", name, count=lost, round=1)
        yield write.event("run.reopened", "run", run_id, episodes=lost)
        yield attempt(write, run_id, 4, "completed")
        yield write.event("run.executed", "run", run_id)
        yield write.event("run.ended", "run", run_id, missing=0)


def attempts(write: Scribe, run_id: str, count: int) -> Iterator[bytes]:
    """First attempts; every eighth falls to a fault and has a second one."""
    for number in range(count):
        if number % 8 == 7:
            yield attempt(write, run_id, 1, "infrastructure_fault")
            yield attempt(write, run_id, 2, "completed")
        else:
            yield attempt(write, run_id, 1, "completed")


def attempt(write: Scribe, run_id: str, number: int, ending: str) -> bytes:
    """The end of an attempt."""
    fault = ending == "infrastructure_fault"
    return write.event(
        "attempt.ended",
        "attempt",
        write.id(),
        outcome="fault" if fault else "ok",
        run=run_id,
        number=number,
        ending=ending,
        artefact="" if fault else write.sha256(),
    )


def checkpoint(signers: Sequence[Signer], size: int, root: bytes) -> str:
    """A signed checkpoint; several signers hand over."""
    body = Checkpoint(signers[0].name, size, root).body()
    return signers[0].sign(body) + "".join(signer.line(body) for signer in signers[1:])


def checkpoints(
    entries: Iterable[bytes],
    sizes: Collection[int],
    signers: Sequence[Signer] | Mapping[int, Sequence[Signer]],
) -> list[str]:
    """The signed checkpoints at these sizes; a dict says who signs from which size on."""
    tree, notes = Frontier(), []
    plan = signers if isinstance(signers, Mapping) else {0: signers}
    for entry in entries:
        tree.append(leaf_hash(entry))
        if tree.size in sizes:
            due = plan[max(size for size in plan if size <= tree.size)]
            notes.append(checkpoint(due, tree.size, tree.root()))
    return notes


def export(
    directory: Path,
    entries: Sequence[bytes],
    signers: Sequence[Signer] | Mapping[int, Sequence[Signer]],
    *,
    sizes: Collection[int] = (),
    withheld: Collection[int] = (),
    cosigned: Mapping[int, Sequence[Cosigner]] = {},
) -> Manifest:
    """Write an export with checkpoints at `sizes` and at its end; the positions in `withheld` keep their entries.

    `cosigned` says which witnesses sign at which size.
    """
    notes = checkpoints(entries, {*sizes, *cosigned, len(entries)}, signers)
    notes = [cosign(note, cosigned.get(int(note.split("\n")[1]), ())) for note in notes]
    witnesses = dict.fromkeys((one.name, one.vkey) for group in cosigned.values() for one in group)
    groups = list(signers.values()) if isinstance(signers, Mapping) else [signers]
    keys = dict.fromkeys(signer.vkey for group in groups for signer in group)
    writer = ExportWriter(directory, ORIGIN, row=_row, header=["position", "kind", "subject", "time"])
    for position, entry in enumerate(entries):
        if position in withheld:
            writer.withhold(leaf_hash(entry))
        else:
            writer.add(entry)
    return writer.finish(
        checkpoints=notes, keys=keys, witnesses=witnesses, made_at="2026-11-30T08:00:00.000000Z"
    )


def witness(name: str = "witness.example", at: int = BEGIN) -> Cosigner:
    """A witness with a fresh key that signs at `at`."""
    return Cosigner(name, generate_key(), at)


def cosign(note: str, cosigners: Iterable[Cosigner]) -> str:
    """The note with the lines of these witnesses."""
    for cosigner in cosigners:
        note = add_signature(note, cosigner)
    return note


def _row(position: int, entry: bytes) -> list[str]:
    body = json.loads(entry)
    return [str(position), body["kind"], body["subject"]["id"], body["time"]]


def rehash(directory: Path) -> None:
    """Make the manifest fit the files again, as somebody would who changes an export on purpose."""
    path = directory / "manifest.json"
    body = json.loads(path.read_bytes())
    for name in body["files"]:
        body["files"][name] = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(body))
