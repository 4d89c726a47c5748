"""Messages that are not messages: always a fault of ours by class, never an exception of Python's."""

from __future__ import annotations

import socket
import struct

import pytest

from evaluation.sandbox import stage, wire
from evaluation.sandbox.spec import InfrastructureFault, ProtocolFault

HEAD = struct.Struct("!II")


@pytest.mark.parametrize(
    "message",
    [
        HEAD.pack(17 << 20, 0),
        HEAD.pack(2, 20_000) + b"{}",
        HEAD.pack(2, 0) + b"[]",
        HEAD.pack(2, 0) + b"\xff\xff",
        HEAD.pack(100_000, 0) + b"[" * 100_000,
        HEAD.pack(2, 1) + b"{}" + struct.pack("!Q", 1 << 60),
    ],
)
def test_a_bad_message_is_a_protocol_fault(message) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        ours.sendall(message)
        with pytest.raises(ProtocolFault):
            wire.receive(theirs)
    assert issubclass(ProtocolFault, InfrastructureFault)


@pytest.mark.parametrize("answer", [{}, {"ending": "no such"}, {"ending": []}])
def test_an_answer_that_cannot_be_read_is_a_protocol_fault(bench, monkeypatch, answer) -> None:
    monkeypatch.setattr(bench.backend, "_ask", lambda *_: (answer, [b"", b"", b""]))
    with pytest.raises(ProtocolFault):
        bench.run("pass")
    monkeypatch.setattr(bench.backend, "_ask", lambda *_: (answer, []))
    with pytest.raises(ProtocolFault):
        bench.run("pass")


def test_uids_have_no_order_and_are_not_shared() -> None:
    taken: set[int] = set()
    for _ in range(200):
        uid = stage.free_uid(taken)
        assert uid not in taken
        assert 100_000 <= uid < 100_000 + (1 << 30)
        taken.add(uid)
    assert max(taken) - min(taken) > 1 << 28
