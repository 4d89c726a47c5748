"""Where words go: one JSON object or lines on standard output, notes and progress on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from client.trouble import Trouble
from client.words import say

HELP = "docs/client.md#"
"""Where codes of the client itself are explained."""


class Output:
    """How one command speaks."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json

    def result(self, content: dict[str, Any], lines: list[str]) -> None:
        """The answer of a command."""
        text = json.dumps(content, ensure_ascii=False, indent=2) if self.as_json else "\n".join(lines)
        print(text, flush=True)

    def note(self, text: str) -> None:
        """What happens meanwhile."""
        print(text, file=sys.stderr, flush=True)

    def trouble(self, trouble: Trouble) -> None:
        """A failure: code, cause, what next, and where it is explained."""
        trouble.link = trouble.link or f"{HELP}{trouble.code}"
        if self.as_json:
            print(json.dumps({"error": trouble.shown()}, ensure_ascii=False, indent=2), flush=True)
        cause = trouble.cause.replace("\n", "\n    ")
        self.note(f"lgbench: {trouble.code}: {cause}")
        self.note("  " + say("Next: {hint}").format(hint=trouble.hint))
        self.note("  " + say("Help: {link}").format(link=trouble.link))

    @contextmanager
    def bar(self, title: str) -> Iterator[Callable[[int, int], None]]:
        """A progress bar on a terminal; silence elsewhere."""
        if not sys.stderr.isatty() or self.as_json:
            yield lambda done, total: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(title, total=None)
            yield lambda done, total: progress.update(task, completed=done, total=total)
