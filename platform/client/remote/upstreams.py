"""Model upstreams of the organisation: found by name or id, and tried by one small call that the platform makes."""

from __future__ import annotations

from typing import Any

from client.exits import Exit
from client.remote.http import Site
from client.remote.waiting import poll
from client.trouble import Trouble
from client.words import say


def find(site: Site, wanted: str) -> dict[str, Any]:
    """The active upstream of that name, else the one with that id. Raises Trouble."""
    rows = site.pages("upstreams")
    active = [row for row in rows if row["state"] == "active"]
    named = [row for row in active if row["name"] == wanted] or [row for row in rows if row["id"] == wanted]
    if not named:
        raise Trouble(
            "no_upstream",
            say("There is no upstream {name}.").format(name=repr(wanted)),
            hint=say("Your organisation has: {names}").format(
                names=", ".join(sorted(row["name"] for row in active)) or "–"
            ),
            exit=Exit.USAGE,
        )
    return named[0]


def try_out(site: Site, upstream_id: str, *, timeout: float) -> dict[str, Any]:
    """Have the call made and wait for its outcome, which is null in the answer where time was up. Raises Trouble."""
    asked = site.post(f"upstreams/{upstream_id}/test", None)
    if ended(asked):
        return asked
    site.wait(1.0)
    return poll(lambda: site.get(f"upstreams/{upstream_id}"), ended, site.wait, timeout=timeout)


def ended(upstream: dict[str, Any]) -> bool:
    """Whether its latest call has an outcome. The latest one is never older than the one just asked for."""
    return bool((upstream.get("trial") or {}).get("outcome"))
