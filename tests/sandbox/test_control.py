"""What a worker can do to an episode that runs: listen in it, stop its clock, end it."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from evaluation.sandbox.control import Control, EpisodeCancelled
from evaluation.sandbox.evidence import running_with
from evaluation.sandbox.spec import Ending
from tests.sandbox.conftest import Bench, on_both

ASK = """
import os, socket
with socket.create_connection(("127.0.0.1", 8080), timeout=5) as sock:
    sock.sendall(os.environ["TURN"].encode())
    print(sock.recv(100).decode(), os.environ["WORD"])
"""


def _serving(answers: list[bytes], heard: list[bytes]) -> Control:
    """A control whose listener answers one connection with each of `answers`."""

    def serve(listener: socket.socket) -> None:
        def run() -> None:
            with listener:
                for answer in answers:
                    connection, _ = listener.accept()
                    with connection:
                        heard.append(connection.recv(100))
                        connection.sendall(answer)

        threading.Thread(target=run, daemon=True).start()

    return Control(serve)


@on_both
def test_the_worker_listens_inside_in_every_turn(bench: Bench) -> None:
    heard: list[bytes] = []
    work = bench.tmp / "work"
    work.mkdir()
    spec = bench.spec(ASK, turns=(b"second",), variables={"WORD": "w"})
    outcome = bench.backend.run_episode(spec, work, _serving([b"one", b"two"], heard))
    assert (outcome.stdout, heard) == (b"one w\ntwo w\n", [b"1", b"2"]), outcome.stderr


@on_both
def test_without_a_server_nothing_listens_inside(bench: Bench) -> None:
    outcome = bench.run(ASK, variables={"WORD": "w"})
    assert outcome.ending is Ending.CRASHED
    assert b"ConnectionRefusedError" in outcome.stderr


@on_both
def test_time_that_the_worker_holds_is_not_the_harnesss(bench: Bench) -> None:
    held = threading.Event()

    def serve(listener: socket.socket) -> None:
        def run() -> None:
            with listener:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(100)
                    control.hold()
                    held.set()
                    time.sleep(5)
                    control.release()
                    connection.sendall(b"late")

        threading.Thread(target=run, daemon=True).start()

    control = Control(serve)
    work = bench.tmp / "work"
    work.mkdir()
    code = ASK.replace("timeout=5", "timeout=60")
    spec = bench.spec(code, budget_seconds=4.0, variables={"WORD": "w"})
    outcome = bench.backend.run_episode(spec, work, control)
    assert held.is_set()
    assert (outcome.ending, outcome.stdout) == (Ending.FINISHED, b"late w\n")
    assert outcome.seconds < 4.0
    assert control.held() >= 5


def test_nothing_of_the_harness_runs_while_its_clock_stands(bench: Bench) -> None:
    def serve(listener: socket.socket) -> None:
        def run() -> None:
            with listener:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(100)
                    control.hold()
                    time.sleep(4)
                    control.release()
                    connection.sendall(b"late")

        threading.Thread(target=run, daemon=True).start()

    if not bench.backend.keeper().label.count("freezer"):
        pytest.skip("this host lets nobody freeze processes: there the clock goes on")
    control = Control(serve)
    work = bench.tmp / "work"
    work.mkdir()
    code = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'while True: pass'])\n"
        + ASK.replace("timeout=5", "timeout=60")
        + "\nchild.kill(); child.wait(); print(os.times().children_user)"
    )
    spec = bench.spec(code, budget_seconds=8.0, variables={"WORD": "w"})
    outcome = bench.backend.run_episode(spec, work, control)
    assert outcome.ending is Ending.FINISHED, outcome.stderr
    assert float(outcome.stdout.split()[-1]) < 3, "a child counted while its parent waited four seconds"
    assert outcome.seconds < 8


def test_a_frozen_episode_is_killed_all_the_same(bench: Bench) -> None:
    control = Control()
    work = bench.tmp / "work"
    work.mkdir()

    def freeze_and_cancel() -> None:
        time.sleep(1)
        control.hold()
        time.sleep(1)
        control.cancel()

    threading.Thread(target=freeze_and_cancel, daemon=True).start()
    began = time.monotonic()
    with pytest.raises(EpisodeCancelled):
        bench.backend.run_episode(bench.spec("while True: pass", budget_seconds=60.0), work, control)
    assert time.monotonic() - began < 12


def test_the_clock_goes_on_after_a_hold(bench: Bench) -> None:
    control = Control()
    control.hold()
    threading.Timer(2.0, control.release).start()
    work = bench.tmp / "work"
    work.mkdir()
    began = time.monotonic()
    outcome = bench.backend.run_episode(
        bench.spec("import time; time.sleep(60)", budget_seconds=1.0), work, control
    )
    assert outcome.ending is Ending.BUDGET_EXHAUSTED
    assert 2.0 <= time.monotonic() - began < 15


@pytest.mark.case("H3")
def test_a_cancelled_episode_is_gone_at_once(bench: Bench) -> None:
    token = f"cancelled-{time.monotonic_ns()}"
    code = (
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', {token!r}], start_new_session=True)\n"
        "time.sleep(600)"
    )
    control = Control()

    def cancel() -> None:
        while not running_with(token):
            time.sleep(0.05)
        control.cancel()

    thread = threading.Thread(target=cancel, daemon=True)
    work = bench.tmp / "work"
    work.mkdir()
    thread.start()
    with pytest.raises(EpisodeCancelled):
        bench.backend.run_episode(bench.spec(code, budget_seconds=60.0), work, control)
    assert not running_with(token)


def test_an_episode_that_was_cancelled_before_it_began_does_not_begin(bench: Bench) -> None:
    control = Control()
    control.cancel()
    work = bench.tmp / "work"
    work.mkdir()
    with pytest.raises(EpisodeCancelled):
        bench.backend.run_episode(bench.spec("print('ran')"), work, control)
