"""Messages between a worker and its keeper: one JSON head and any number of byte strings after it."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

from evaluation.sandbox.spec import ProtocolFault

_HEAD = struct.Struct("!II")
_LENGTH = struct.Struct("!Q")
# Far above what either side sends: heads are capped where they are made, blobs by the limits.
_MAX_HEAD, _MAX_BLOBS, _MAX_BLOB = 16 << 20, 10_000, 1 << 30


def send(sock: socket.socket, head: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Send one message; raises OSError when the other side is gone."""
    text = json.dumps(head).encode()
    parts = [_HEAD.pack(len(text), len(blobs)), text]
    for blob in blobs:
        parts += [_LENGTH.pack(len(blob)), blob]
    sock.sendall(b"".join(parts))


def receive(sock: socket.socket) -> tuple[dict[str, Any], list[bytes]]:
    """Receive one message.

    Raises EOFError when the other side closed, TimeoutError by the socket, ProtocolFault on any message
    that is not one.
    """
    size, count = _HEAD.unpack(_exactly(sock, _HEAD.size))
    if size > _MAX_HEAD or count > _MAX_BLOBS:
        raise ProtocolFault("message head too large")
    try:
        head = json.loads(_exactly(sock, size))
    except (ValueError, RecursionError) as fault:
        raise ProtocolFault("message head is not JSON") from fault
    if not isinstance(head, dict):
        raise ProtocolFault("message head is not an object")
    return head, [_blob(sock) for _ in range(count)]


def _blob(sock: socket.socket) -> bytes:
    size = _LENGTH.unpack(_exactly(sock, _LENGTH.size))[0]
    if size > _MAX_BLOB:
        raise ProtocolFault("byte string too large")
    return _exactly(sock, size)


def _exactly(sock: socket.socket, size: int) -> bytes:
    buffer = bytearray(size)
    view = memoryview(buffer)
    done = 0
    while done < size:
        got = sock.recv_into(view[done:])
        if got == 0:
            raise EOFError("peer closed")
        done += got
    return bytes(buffer)
