"""Server-sent events out of pieces of bytes, however they were cut.

Source: WHATWG HTML, "Server-sent events", 9.2.5 (parsing an event stream) and 9.2.6 (interpreting it).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LONGEST = 16 * 1024 * 1024
"""Bytes of one event: the last one of the responses dialect repeats the whole answer."""

_LINE = re.compile(rb"\r\n|\n|\r(?=[^\n])")
"""The end of a line. A carriage return at the very end is not one yet: a line feed may follow."""


class EventTooLong(Exception):
    """One event is longer than any answer."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event; `raw` are its bytes with the empty line that ended it."""

    raw: bytes
    name: str
    data: bytes | None
    """None for an event without data: a comment, for instance, that keeps a connection open."""


class Splitter:
    """Collects bytes and gives whole events; the same events for every way of cutting the bytes."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._line = 0
        self._scanned = 0

    def feed(self, piece: bytes) -> Iterator[Event]:
        """The events that are whole now. Raises EventTooLong."""
        self._held += piece
        while end := _LINE.search(self._held, self._scanned):
            stop, empty = end.end(), end.start() == self._line
            self._line = self._scanned = stop
            if empty:
                raw = bytes(self._held[:stop])
                del self._held[:stop]
                self._line = self._scanned = 0
                yield event_of(raw)
        self._scanned = max(self._line, len(self._held) - 1)
        if len(self._held) > LONGEST:
            raise EventTooLong

    def close(self) -> Iterator[Event]:
        """What is left at the end of the stream: an event whose empty line never came is given all the same."""
        if self._held:
            raw = bytes(self._held)
            self._held.clear()
            yield event_of(raw)


def event_of(raw: bytes) -> Event:
    """One event out of its lines; fields other than `event` and `data` mean nothing here."""
    name, data = "", None
    for line in re.split(rb"\r\n|\n|\r", raw.removeprefix(b"\xef\xbb\xbf")):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data = value if data is None else data + b"\n" + value
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    return Event(raw, name, data)
