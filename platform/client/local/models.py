"""The harness's models on this machine: through the platform's own gateway, to upstreams that a file names.

Counted, bounded and refused by the code of the platform; but nothing waits in a queue here, and the clock never stands.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from client.exits import Exit
from client.trouble import Trouble
from client.words import say
from evaluation.gateway.contract import PORT, Budget, Call, Dialect, Patience, Record, Route, Rules, variables
from evaluation.gateway.gateway import Gateway
from evaluation.gateway.listening import Listening
from submissions.intake import Manifest
from submissions.intake.manifest import ModelUse

KEYS = ("dialect", "base_url", "snapshot", "key")
UNSHARE = "--unshare-all"
DRAIN_SECONDS = 5.0
"""For answers that nobody waits for any more, so that their usage is known."""


@dataclass(frozen=True)
class Target:
    """The address as the file has it: on his own machine a vendor may call any."""

    url: str
    host_header: str
    extensions: Mapping[str, Any] = field(default_factory=dict)


def as_named(url: str) -> Target:
    """Nothing is looked up or refused here."""
    return Target(url, urlsplit(url).netloc)


def routes(path: Path | None, manifest: Manifest, environment: Mapping[str, str]) -> dict[str, Route]:
    """The routes of the manifest's models by role, to the upstreams of the file. Raises Trouble."""
    if not manifest.models:
        return {}
    if path is None:
        raise _unusable(say("harness.toml names models, and no --models FILE says where they are"))
    try:
        table = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _unusable(f"{path}: {error}") from None
    return {model.role: _route(model, table.get(model.upstream), environment) for model in manifest.models}


def _route(model: ModelUse, entry: object, environment: Mapping[str, str]) -> Route:
    where = f"[{model.upstream}]"
    if not isinstance(entry, dict) or any(not isinstance(entry.get(key), str) for key in KEYS):
        raise _unusable(say("{where} needs the texts {keys}").format(where=where, keys=", ".join(KEYS)))
    if entry["dialect"] != model.dialect:
        raise _unusable(say("{where} has another dialect than harness.toml").format(where=where))
    if urlsplit(entry["base_url"]).scheme not in ("http", "https"):
        raise _unusable(say("{where} needs an address with http or https").format(where=where))
    credential = environment.get(entry["key"], "")
    if not credential.isascii() or not credential.isprintable() or not credential:
        what = say("the variable {name}, which {where} names for its key, is not set")
        raise _unusable(what.format(name=entry["key"], where=where))
    return Route(
        role=model.role,
        name=model.upstream,
        dialect=Dialect(entry["dialect"]),
        base_url=entry["base_url"],
        snapshot=entry["snapshot"],
        credential=credential,
        exposure="vendor_endpoint",
    )


def _unusable(what: str) -> Trouble:
    return Trouble(
        "models_unusable",
        say("The models cannot be called: {what}.").format(what=what),
        hint=say(
            "In the file: a table for each upstream, with dialect, base_url, snapshot, and key, a variable."
        ),
        exit=Exit.USAGE,
    )


class Lines:
    """A ledger in a file: one JSON object for each attempt at an upstream."""

    def __init__(self, path: Path) -> None:
        self._path, self._lock = path, threading.Lock()

    def attempt_started(self, call: Call) -> Call:
        return call

    def attempt_ended(self, attempt: Call, record: Record) -> None:
        row = {
            "step": attempt.number,
            "attempt": attempt.attempt,
            "stripped": attempt.stripped,
            **asdict(record),
        }
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")


class OpenGate:
    """There is no queue on one's own machine."""

    def enter(self, route: Route, stopped: threading.Event) -> nullcontext[None]:
        return nullcontext()


class FreeClock:
    """And no clock that could stand."""

    def hold(self) -> None: ...

    def release(self) -> None: ...


class Voice:
    """One episode's gateway; without routes it changes nothing."""

    def __init__(self, found: Mapping[str, Route], budget: Budget, ledger: Path) -> None:
        key = secrets.token_urlsafe(32)
        self.variables = variables(f"http://127.0.0.1:{PORT}", key, found) if found else {}
        self._gateway = Gateway(
            found,
            key,
            budget,
            ledger=Lines(ledger),
            gate=OpenGate(),
            clock=FreeClock(),
            rules=Rules(),
            reach=as_named,
            patience=Patience(drain=DRAIN_SECONDS),
        )

    @contextmanager
    def turn(self, command: Sequence[str]) -> Iterator[tuple[list[str], tuple[int, ...]]]:
        """The command of one turn, as it is to be started, and the descriptors it needs. Raises Trouble."""
        if not self.variables:
            yield list(command), ()
            return
        ours, theirs = socket.socketpair()
        served: list[Listening] = []
        thread = threading.Thread(target=self._serve, args=(ours, served), daemon=True)
        thread.start()
        try:
            start = [sys.executable, "-P", "-m", "client.local.inside", str(theirs.fileno()), "--"]
            yield [*start, *shared(command)], (theirs.fileno(),)
        finally:
            theirs.close()
            thread.join()
            ours.close()
            for listening in served:
                listening.close()
        if not served:
            raise Trouble(
                "no_sandbox",
                say("This machine makes no network of its own for the harness, which a model gateway needs."),
                hint=say("Allow user namespaces (sysctl user.max_user_namespaces), or run it as root."),
                exit=Exit.USAGE,
            )

    def _serve(self, way: socket.socket, served: list[Listening]) -> None:
        _, handles, _, _ = socket.recv_fds(way, 1, 1)
        served += [self._gateway.serve(socket.socket(fileno=handle)) for handle in handles]

    def close(self) -> None:
        self._gateway.close(grace=DRAIN_SECONDS)


def shared(command: Sequence[str]) -> list[str]:
    """Bubblewrap's command, which keeps the network that it is started in. Raises Trouble for any other command."""
    if UNSHARE not in command:
        raise _unusable(say("they are reached out of bubblewrap only, not out of a container"))
    at = command.index(UNSHARE) + 1
    return [*command[:at], "--share-net", *command[at:]]


@contextmanager
def speaking(found: Mapping[str, Route], budget: Budget, ledger: Path) -> Iterator[Voice]:
    """A voice for one episode."""
    voice = Voice(found, budget, ledger)
    try:
        yield voice
    finally:
        voice.close()
