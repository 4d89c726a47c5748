"""Small grey-scale PNG scans of printed bills, digits in seven segments as receipt printers have them."""

from __future__ import annotations

import struct
import zlib
from random import Random

_SEGMENTS = {
    "0": "abcdef",
    "1": "bc",
    "2": "abged",
    "3": "abgcd",
    "4": "fgbc",
    "5": "afgcd",
    "6": "afgedc",
    "7": "abc",
    "8": "abcdefg",
    "9": "abcdfg",
    "-": "g",
    ".": "",
    " ": "",
}


class Canvas:
    """A white sheet of grey pixels (0 black, 255 white)."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.pixels = [bytearray(b"\xff" * width) for _ in range(height)]

    def box(self, x: int, y: int, width: int, height: int, ink: int) -> None:
        """A filled rectangle, clipped to the sheet."""
        for row in self.pixels[max(y, 0) : y + height]:
            row[max(x, 0) : x + width] = bytes([ink]) * (min(x + width, self.width) - max(x, 0))

    def text(self, x: int, y: int, text: str, size: int, ink: int) -> None:
        """Seven-segment characters, `size` pixels of stroke, 6 strokes wide and 9 high with a gap of 2."""
        s = size
        boxes = {
            "a": (s, 0, 4 * s, s),
            "b": (5 * s, s, s, 3 * s),
            "c": (5 * s, 5 * s, s, 3 * s),
            "d": (s, 8 * s, 4 * s, s),
            "e": (0, 5 * s, s, 3 * s),
            "f": (0, s, s, 3 * s),
            "g": (s, 4 * s, 4 * s, s),
        }
        for char in text:
            for segment in _SEGMENTS[char]:
                left, top, width, height = boxes[segment]
                self.box(x + left, y + top, width, height, ink)
            if char == ".":
                self.box(x + 2 * s, y + 8 * s, s, s, ink)
            x += 8 * s

    def cross(self, x: int, y: int, side: int, ink: int) -> None:
        """A framed cross, the cancelled stamp."""
        for step in range(side):
            self.box(x + step, y + step, 2, 2, ink)
            self.box(x + side - step, y + step, 2, 2, ink)
        for left, top, width, height in (
            (0, 0, side, 2),
            (0, side, side + 2, 2),
            (0, 0, 2, side),
            (side, 0, 2, side),
        ):
            self.box(x + left, y + top, width, height, ink)

    def speckle(self, rng: Random, count: int) -> None:
        """Single grey dots, as dust on the glass; dust never makes ink lighter."""
        for _ in range(count):
            row, x, grey = rng.randrange(self.height), rng.randrange(self.width), rng.randint(120, 200)
            self.pixels[row][x] = min(self.pixels[row][x], grey)

    def turn(self) -> None:
        """Turn the sheet by 180 degrees."""
        self.pixels = [row[::-1] for row in reversed(self.pixels)]

    def png(self) -> bytes:
        """The sheet as an 8-bit grey PNG."""
        raw = b"".join(b"\x00" + bytes(row) for row in self.pixels)
        header = struct.pack(">IIBBBBB", self.width, self.height, 8, 0, 0, 0, 0)
        chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(raw, 9)), (b"IEND", b""))
        return b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
            for kind, data in chunks
        )
