"""log:5: what it costs to verify a log of a million events, against a raw SHA-256 of the same bytes."""

from __future__ import annotations

import hashlib
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import psutil

from audit.merkle.checkpoint import Checkpoint
from audit.merkle.export import ExportWriter
from audit.merkle.tiles import decode_bundle
from client.audit.prove import Prover
from client.audit.source import Folder
from tests.benchmarks.registry import Bar, bars
from tests.client import synthetic

ROOT = Path(__file__).resolve().parents[2]
EVENTS = 1_000_000
EPISODES = 750
"""Held-out episodes of a submission, so that most events are attempts, as in life."""
EVERY = 5_000
"""Entries between two checkpoints."""
PROOFS, STRICT, MILLISECONDS, MEGABYTES = 6.0, 40.0, 1.0, 300.0
TURNS, STRICT_TURNS = 5, 2
SAMPLE = 500
STRETCH = 1000
"""Bundles hashed at a time, about 130 MB."""
SEED = 20261130


@bars.measure("log:5")
def log_verify() -> list[Bar]:
    """Raw hashing, --proofs and --strict in turn, the best of each; proofs in this process.

    What disturbs a measurement only ever makes it longer, so the shortest of several is the machine's own figure.
    """
    with tempfile.TemporaryDirectory(prefix="bench-log-") as folder:
        place = Path(folder) / "export"
        key = _write(place)
        raws: list[float] = []
        proofs: list[float] = []
        stricts: list[float] = []
        peaks: list[float] = []
        for turn in range(TURNS):
            raws.append(_raw(place))
            modes = [(proofs, "--proofs"), *([(stricts, "--strict")] if turn < STRICT_TURNS else [])]
            for seconds, mode in modes:
                spent, peak = _verify(place, key, mode)
                seconds.append(spent)
                peaks.append(peak)
        proof = _proof(place)
    return [
        Bar("verify_proofs", figure=min(proofs) / min(raws), at_most=PROOFS, unit="x"),
        Bar("verify_strict", figure=min(stricts) / min(raws), at_most=STRICT, unit="x"),
        Bar("proof", figure=proof, at_most=MILLISECONDS, unit="ms"),
        Bar("verifier_memory", figure=max(peaks), at_most=MEGABYTES, unit="MB"),
    ]


def _events() -> Iterator[bytes]:
    submissions = EVENTS // EPISODES + 1
    history = synthetic.history(SEED, submissions=submissions * 2, episodes=EPISODES)
    for _ in range(EVENTS):
        yield next(history)


def _write(place: Path) -> str:
    """The export of a million events; the key's verifier text."""
    signer = synthetic.signer()
    writer = ExportWriter(place, synthetic.ORIGIN)
    notes = []
    for entry in _events():
        writer.add(entry)
        if writer.size % EVERY == 0:
            notes.append(signer.sign(Checkpoint(signer.name, writer.size, writer.root()).body()))
    writer.finish(checkpoints=notes, keys=[signer.vkey], made_at="2026-11-30T08:00:00.000000Z")
    return signer.vkey


def _raw(place: Path) -> float:
    """Seconds to hash the entries' bytes in one stream. Each stretch lies in memory and is long enough to be disturbed
    by whatever else the machine does as much as the verifier is."""
    spent = 0.0
    digest = hashlib.sha256()
    paths = sorted(path for path in (place / "entries").rglob("*") if path.is_file())
    for begin in range(0, len(paths), STRETCH):
        bundles = [decode_bundle(path.read_bytes()) for path in paths[begin : begin + STRETCH]]
        data = b"".join(entry for bundle in bundles for entry in bundle if entry)
        started = time.perf_counter()
        digest.update(data)
        spent += time.perf_counter() - started
    return spent


def _verify(place: Path, key: str, *more: str) -> tuple[float, float]:
    """Seconds of the command from start to end, and the most memory of all its processes together, in MB."""
    command = [sys.executable, "-m", "client.audit", "verify", str(place), "--key", key, *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    begin = time.perf_counter()
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    peak = [0.0]
    watcher = threading.Thread(target=_watch, args=(process.pid, peak))
    watcher.start()
    out, _ = process.communicate()
    seconds = time.perf_counter() - begin
    watcher.join()
    assert process.returncode == 0, out
    assert f"{EVENTS} entries" in out
    return seconds, peak[0]


def _watch(pid: int, peak: list[float]) -> None:
    """Every tenth of a second the memory of the process and its helpers; shared pages count once for each."""
    while True:
        try:
            main = psutil.Process(pid)
            if main.status() == psutil.STATUS_ZOMBIE:
                return
            family = [main, *main.children(recursive=True)]
            peak[0] = max(peak[0], sum(one.memory_info().rss for one in family) / 1e6)
        except psutil.NoSuchProcess:
            if not psutil.pid_exists(pid):
                return
        time.sleep(0.1)


def _proof(place: Path) -> float:
    """Milliseconds for a proof at a random place, the median; half of all lie in a tile not yet seen."""
    prover = Prover(Folder(place))
    chosen = random.Random(SEED).sample(range(prover.size), SAMPLE)
    spent = []
    for index in chosen:
        begin = time.perf_counter()
        prover.prove(index)
        spent.append(1000 * (time.perf_counter() - begin))
    return median(spent)
