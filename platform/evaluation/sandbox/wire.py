"""Messages between a worker and its keeper: one JSON head and any number of byte strings after it."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

_HEAD = struct.Struct("!II")
_LENGTH = struct.Struct("!Q")
_MAX_HEAD = 16 << 20


def send(sock: socket.socket, head: dict[str, Any], blobs: Sequence[bytes] = ()) -> None:
    """Send one message; raises OSError when the other side is gone."""
    text = json.dumps(head).encode()
    parts = [_HEAD.pack(len(text), len(blobs)), text]
    for blob in blobs:
        parts += [_LENGTH.pack(len(blob)), blob]
    sock.sendall(b"".join(parts))


def receive(sock: socket.socket) -> tuple[dict[str, Any], list[bytes]]:
    """Receive one message; raises EOFError when the other side closed, TimeoutError by the socket."""
    size, count = _HEAD.unpack(_exactly(sock, _HEAD.size))
    if size > _MAX_HEAD:
        raise ValueError("message head too large")
    head = json.loads(_exactly(sock, size))
    blobs = [_exactly(sock, _LENGTH.unpack(_exactly(sock, _LENGTH.size))[0]) for _ in range(count)]
    return head, blobs


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
