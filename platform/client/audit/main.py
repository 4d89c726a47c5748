"""The command `lgbench-audit`: verify, prove, witness and, on a sealed export, recompute and draw.

Exit codes: 0 all is well, 1 the log is broken, 2 the question is wrong.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from audit.merkle.checkpoint import Checkpoint, CheckpointInvalid, open_checkpoint
from audit.merkle.note import COSIGNATURE, MAXIMUM_BYTES, NoteInvalid, Verifier
from client.audit import prove, receipt, single, source, verify, witness
from client.audit.report import Report, WrongQuestion, shown
from client.audit.trust import parse_keys

FINE, BROKEN, WRONG = 0, 1, 2
LARGEST_RECEIPT = 1 << 20
WITH_SCORING = {
    "recompute": "recompute a sealed export's aggregates and values",
    "draw": "say which runs a seed draws for grading again",
}
"""Commands in modules of their own, found where those are: they offer `add_arguments(parser)` and `run(arguments)`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    try:
        given = _parser().parse_args(arguments)
        return int(given.run(given))
    except WrongQuestion as error:
        print(shown(f"lgbench-audit: {error}"), file=sys.stderr)
    except OSError as error:
        print(shown(f"lgbench-audit: {error.strerror or error}: {error.filename or ''}"), file=sys.stderr)
    except KeyboardInterrupt:
        print("lgbench-audit: stopped", file=sys.stderr)
    return WRONG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lgbench-audit", description="Check the transparency log.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_verify(commands.add_parser("verify", help="check an export or a receipt"))
    _add_prove(commands.add_parser("prove", help="make a proof for one entry of an export"))
    _add_witness(commands.add_parser("witness", help="watch a log and cosign its checkpoints"))
    for name, text in WITH_SCORING.items():
        if importlib.util.find_spec(f"client.audit.{name}") is not None:
            module = importlib.import_module(f"client.audit.{name}")
            command = commands.add_parser(name, help=text)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser


def _add_verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, help="an export's directory, its tar, a receipt, or a proof")
    parser.add_argument(
        "--key", required=True, help="the log's verifier key, or a file of its keys, oldest first"
    )
    parser.add_argument("--since", type=Path, metavar="FILE", help="a checkpoint saved earlier")
    parser.add_argument(
        "--witness",
        action="append",
        default=[],
        metavar="VKEY",
        help="a witness's verifier key, or a file of such keys; may be repeated. Each must have cosigned a checkpoint "
        "of the export, not necessarily the newest: it is told at which size it last did, and when",
    )
    modes = parser.add_mutually_exclusive_group()
    modes.add_argument("--proofs", action="store_true", help="hashes, tree and signatures (the default)")
    modes.add_argument("--strict", action="store_true", help="also canonical form and rules across events")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--jobs", type=int, metavar="N", help="helper processes (default: by size)")
    parser.set_defaults(run=_verify)


def _add_prove(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", type=Path, help="an export's directory or its tar")
    parser.add_argument("--index", type=int, required=True, help="position of the entry, from 0")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write it (default: print)")
    parser.set_defaults(run=_prove)


def _add_witness(parser: argparse.ArgumentParser) -> None:
    origin = parser.add_mutually_exclusive_group(required=True)
    origin.add_argument("--url", metavar="BASE", help="the site, for instance https://bench.example")
    origin.add_argument("--checkpoint", type=Path, nargs="+", metavar="FILE", help="checkpoints by hand")
    parser.add_argument(
        "--key", required=True, help="the log's verifier key, or a file of its keys, oldest first"
    )
    parser.add_argument("--state", type=Path, required=True, metavar="DIR", help="where to remember")
    parser.add_argument("--name", help="name of this witness, used at first start")
    often = parser.add_mutually_exclusive_group()
    often.add_argument("--once", action="store_true", help="look once (the default)")
    often.add_argument("--every", type=int, metavar="SECONDS", help="look again and again")
    parser.add_argument("--post", action="store_true", help="send the cosigned checkpoint back")
    parser.set_defaults(run=_witness)


def read_keys(text: str, option: str = "--key") -> list[Verifier]:
    """The verifier keys in an argument: one key, or the name of a file of them. Raises WrongQuestion."""
    try:
        if "+" in text and not Path(text).exists():
            return [Verifier.parse(text)]
        return parse_keys(Path(text).read_text(encoding="utf-8"))
    except (NoteInvalid, OSError, UnicodeError) as error:
        raise WrongQuestion(f"{option}: neither a verifier key nor a file of one: {error}") from error


def read_witnesses(texts: Sequence[str]) -> list[Verifier]:
    """The keys of the named witnesses, each once. Raises WrongQuestion."""
    found: dict[Verifier, None] = {}
    for text in texts:
        keys = read_keys(text, "--witness")
        if not keys:
            raise WrongQuestion(f"--witness: {text} holds no key")
        if strange := [key for key in keys if key.kind != COSIGNATURE]:
            raise WrongQuestion(f"--witness: {strange[0].vkey} signs logs, it is no witness's key")
        found.update(dict.fromkeys(keys))
    return list(found)


def _verify(given: argparse.Namespace) -> int:
    with _uncollected():
        keys = read_keys(given.key)
        if not keys:
            raise WrongQuestion(f"--key: {given.key} holds no key")
        report = _report(given, keys)
    if given.json:
        print(json.dumps(report.as_dict()))
    else:
        print("\n".join(report.lines()))
    return FINE if report.ok else BROKEN


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nothing here refers to itself, and looking for what does would take a tenth of the time."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _report(given: argparse.Namespace, keys: list[Verifier]) -> Report:
    path: Path = given.path
    witnesses = read_witnesses(given.witness)
    if path.is_file() and _begins_like_json(path):
        _only_exports(given, "a receipt holds the first checkpoints over its entries")
        return receipt.verify_receipt(receipt.parse_receipt(_beginning(path, LARGEST_RECEIPT)), keys)
    if path.is_file() and single.is_proof(_beginning(path)):
        _only_exports(given, "a proof holds one checkpoint")
        text = _beginning(path, single.LARGEST).decode("utf-8", "replace")
        return single.verify_proof(text, keys)
    if not path.exists():
        raise WrongQuestion(f"there is no {path}")
    # An export teaches the keys after the one that is trusted: of several, as /log/keys gives them, the oldest does.
    key = keys[0]
    found = source.open_source(path)
    since = _since(given.since, [key, *verify.read_keys(found)]) if given.since else None
    options = verify.Options(given.strict, since, given.jobs, witnesses)
    return verify.verify_export(found, key, options, _progress())


def _only_exports(given: argparse.Namespace, why: str) -> None:
    """Raises WrongQuestion where something is asked that only an export can answer."""
    for option, value in (("--since", given.since), ("--witness", given.witness)):
        if value:
            raise WrongQuestion(f"{option} is a question about exports; {why}")


def _begins_like_json(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(64).lstrip()[:1] == b"{" and path.stat().st_size <= LARGEST_RECEIPT


def _beginning(path: Path, most: int = 64) -> bytes:
    with path.open("rb") as file:
        return file.read(most)


def _since(path: Path, keys: Sequence[Verifier]) -> Checkpoint:
    """The saved checkpoint, which any key of the log may have signed. Raises WrongQuestion."""
    try:
        return open_checkpoint(_beginning(path, MAXIMUM_BYTES + 1).decode(), keys)
    except (NoteInvalid, CheckpointInvalid, OSError, UnicodeDecodeError) as error:
        raise WrongQuestion(f"--since: {path} is no checkpoint of this log: {error}") from error


def _progress() -> verify.Tick:
    """A line on standard error that is written over, where that is a terminal."""
    if not sys.stderr.isatty():
        return lambda done, total: None
    shown = [-1]

    def tick(done: int, total: int) -> None:
        percent = 100 * done // total
        if percent != shown[0]:
            shown[0] = percent
            bar = "#" * (percent // 4)
            end = "\n" if done == total else ""
            print(f"\r[{bar:<25}] {percent:3} % of {total} entries", end=end, file=sys.stderr, flush=True)

    return tick


def _prove(given: argparse.Namespace) -> int:
    text = prove.Prover(source.open_source(given.path)).prove(given.index).format()
    if given.out:
        given.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return FINE


def _witness(given: argparse.Namespace) -> int:
    state = witness.State(given.state, read_keys(given.key), name=given.name)
    if given.checkpoint:
        return witness.by_hand(state, given.checkpoint)
    return witness.watch(state, given.url, every=given.every, post=given.post)
