"""The XML parts of an .xlsx archive, streamed through handlers under caps on everything that costs time.

The parser begins an unfinished token anew with each chunk, so one token as large as a part would cost the square
of its length; a part may be named by many sheets; a tag may carry millions of attributes. Hence the caps on a
token, on the bytes parsed in all, on elements and on attributes. Prefixes are cut off here and never resolved:
resolving copies the name of the namespace for every element that has one.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from typing import TypeAlias
from xml.parsers import expat

from scoring.artefacts import ArtefactError, Reason

MAX_PARTS = 500
MAX_UNPACKED_BYTES = 64 * 1024 * 1024
MAX_PARSED_BYTES = 32 * 1024 * 1024
MAX_ELEMENTS = 600_000
MAX_ATTRIBUTES = 1_200_000
MAX_ATTRIBUTES_OF_ONE = 128
MAX_DEPTH = 40
MAX_TEXT_CHARS = 32_767
MAX_TOKEN_BYTES = 256 * 1024
_CHUNK_BYTES = 64 * 1024
_ENTRY = b"PK\x01\x02"
# Others (LZMA, bzip2) are no part of the format and fail in ways of their own.
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})

OnStart: TypeAlias = Callable[[str, dict[str, str]], None]
OnEnd: TypeAlias = Callable[[str, str], None]


class Parts:
    """The parts of one archive by name. Methods raise ArtefactError, or what zipfile and expat raise."""

    def __init__(self, content: bytes) -> None:
        # Counted before the directory is read: eight megabytes have room for 180,000 entries.
        if content.count(_ENTRY) > 2 * MAX_PARTS:
            raise ArtefactError(Reason.TOO_LARGE)
        self._archive = zipfile.ZipFile(io.BytesIO(content))
        parts = self._archive.infolist()
        if len(parts) > MAX_PARTS or sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
            raise ArtefactError(Reason.TOO_LARGE)
        self.names = frozenset(part.filename for part in parts)
        self._bytes = self._elements = self._attributes = 0

    def parse(self, part: str, start: OnStart, end: OnEnd | None = None) -> None:
        """Run one part through the handlers: tags without prefix, at the end with their text."""
        info = self._archive.getinfo(part)
        if info.compress_type not in _METHODS:
            raise ArtefactError(Reason.MALFORMED)
        parser = self._parser(start, end)
        fed = 0
        with self._archive.open(info) as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                fed += len(chunk)
                self._bytes += len(chunk)
                parser.Parse(chunk)
                if self._bytes > MAX_PARSED_BYTES or fed - parser.CurrentByteIndex > MAX_TOKEN_BYTES:
                    raise ArtefactError(Reason.TOO_LARGE)
        parser.Parse(b"", True)  # noqa: FBT003 - the parser takes no keywords

    def _parser(self, start: OnStart, end: OnEnd | None) -> expat.XMLParserType:
        parser = expat.ParserCreate()
        parser.ordered_attributes = True
        # Without it every line break and every entity is a call of its own.
        parser.buffer_text = True
        parser.buffer_size = _CHUNK_BYTES
        open_elements: list[str] = []
        text: list[str] = []
        length = 0

        def on_start(name: str, listed: list[str]) -> None:
            nonlocal length
            self._elements += 1
            tag = name.rpartition(":")[2]
            open_elements.append(tag)
            if self._elements > MAX_ELEMENTS or len(open_elements) > MAX_DEPTH:
                raise ArtefactError(Reason.TOO_LARGE)
            text.clear()
            length = 0
            start(tag, self._named(listed) if listed else {})

        def on_text(data: str) -> None:
            nonlocal length
            length += len(data)
            if length > MAX_TEXT_CHARS:
                raise ArtefactError(Reason.TOO_LARGE)
            text.append(data)

        def on_end(name: str) -> None:
            nonlocal length
            tag = open_elements.pop()
            if end is not None:
                end(tag, "".join(text))
            text.clear()
            length = 0

        parser.StartElementHandler, parser.EndElementHandler = on_start, on_end
        parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = on_text, _refuse
        return parser

    def _named(self, listed: list[str]) -> dict[str, str]:
        """Attributes by name without prefix, from a flat list; declarations of prefixes are left out."""
        self._attributes += len(listed) // 2
        if len(listed) > 2 * MAX_ATTRIBUTES_OF_ONE or self._attributes > MAX_ATTRIBUTES:
            raise ArtefactError(Reason.TOO_LARGE)
        return {
            name.rpartition(":")[2]: value
            for name, value in zip(listed[::2], listed[1::2], strict=True)
            if not name.startswith("xmlns")
        }


def _refuse(*_: object) -> None:
    # A workbook never declares a document type; entity bombs do.
    raise ArtefactError(Reason.MALFORMED)
