"""Holds the services in the foreground until it is told to stop, or until a watched process ends."""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import sys
import time
from pathlib import Path

from embedded.box import ServiceError
from embedded.services import Services, born, current_holder
from embedded.state import state_dir
from embedded.status import status

WHAT = "services start"
#: Seconds between two looks at whether every server still lives.
LOOK = 1.0


def keep(folder: Path, watched: int | None = None) -> None:
    """Start the services, print one line, stay until SIGTERM, SIGINT, SIGHUP or the end of `watched`."""
    told, tell = os.pipe()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: os.write(tell, b"."))
    waiting = [told]
    if watched is not None:
        waiting.append(os.pidfd_open(watched))
    with Services(folder, what=WHAT) as services:
        print(f"services running, state in {folder}", flush=True)
        while not select.select(waiting, [], [], LOOK)[0]:
            for name in services.heal():
                print(f"{name} had died and was started again", file=sys.stderr, flush=True)


def stop(folder: Path, seconds: float = 40) -> str:
    """End the keeper of this folder and say what happened; leaves alone what another tool holds."""
    holder = current_holder(folder)
    if holder is None:
        return "nothing to stop"
    if holder["what"] != WHAT:
        return f"held by {holder['what']} (process {holder['pid']}): stop that instead"
    pid = int(str(holder["pid"]))
    os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while born(pid) == holder["born"] and time.monotonic() < deadline:
        time.sleep(0.05)
    return "stopped" if born(pid) != holder["born"] else f"process {pid} is still stopping"


def describe(folder: Path, *, as_json: bool) -> tuple[str, int]:
    """The status as text or JSON, and an exit code: 0 where all run, 3 otherwise."""
    found = status(folder)
    code = 0 if found["running"] else 3
    if as_json:
        return json.dumps(found), code
    lines = [
        f"{row['name']:<12}{row['state']:<10}{row['address'] or ''}".rstrip() for row in found["services"]
    ]
    return "\n".join(lines), code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of both entry points: `manage.py services` and `python -m embedded`."""
    parser.add_argument("action", choices=["start", "stop", "status"])
    parser.add_argument("--json", action="store_true", dest="as_json", help="status as JSON")
    parser.add_argument("--state-dir", type=Path, default=None, help="default: LINGEE_STATE_DIR or .embedded")
    parser.add_argument("--watch-pid", type=int, default=None, help="stop when that process ends")


def act(action: str, folder: Path | None, *, as_json: bool, watched: int | None) -> int:
    """Carry out one action; the exit code."""
    folder = folder.absolute() if folder else state_dir()
    try:
        if action == "start":
            keep(folder, watched)
        elif action == "stop":
            print(stop(folder))
        else:
            text, code = describe(folder, as_json=as_json)
            print(text)
            return code
    except ServiceError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
