"""Each address × method × role answers as the reviewed table says; an address without a cell fails.

The table is tests/access/matrix.toml. After a change, look at the new one before it is taken:
`LINGEE_WRITE_MATRIX=1 .venv/bin/python -m pytest tests/access/test_matrix.py -k unreviewed`, then
`git diff tests/access/matrix.toml`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.http import HttpResponse
from django.urls import reverse
from django.utils import translation

from tests.access.roles import BY_SESSION, BY_TOKEN, MISSING, Address, Scene, addresses, arranged

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", "auditor"]),
    pytest.mark.acceptance("access:4"),
    pytest.mark.case("E50"),
    pytest.mark.case("U10"),
]
TABLE = Path(__file__).parent / "matrix.toml"
AREAS = ("api", "pages", "console")
METHODS = {
    "api": ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"),
    "pages": ("GET", "POST", "PUT", "DELETE"),
    "console": ("GET", "POST", "PUT", "DELETE"),
}
ROLES = {"api": "avsoxdmuzrptcw", "pages": "avsoxdmuz", "console": "avsoxdmuzige"}
WORDS = {"401": "U", "403": "F", "404": "4", "405": "M"}
LEGEND = """# Who may ask what: reviewed by people, compared with the site by test_matrix.py, cell by cell.
# Each row: "address METHODS" = the answers to the roles in the order of `roles` of its area.
# 2 done or shown · L led to the sign-in · 3 led elsewhere · U 401 · F 403 · 4 404 · M 405
# B let in, and what was sent (nothing) or the moment is not right: 400, 406, 409, 415, 422, 429
"""
OTHERWISE: dict[str, object] = {
    "code": "cooldown",
    "name": "harness-card",
    "number": 1,
    "size": 1,
    "path": "0/000",
    "key": "x",
    "uidb36": "1",
    "pk": 1,
    "identifier": 1,
    "place": 0,
    "index": 0,
    "slug": "no-such-task",
    "act": "confirm",
    "switch": "execution",
    "scope": "worker",
    "worker": "w-1",
    **dict.fromkeys(("export", "session", "sheet"), MISSING),
}
"""Arguments that are nobody's own thing."""
BY_ADDRESS: dict[str, dict[str, object]] = {
    "leaderboard:public_task": {"version": "2026.9"},
    "records:dossier": {"label": "2026.9"},
    "accounts:registration_domain": {"token": "x"},
    "console:registration_act": {"act": "propose"},
    "console:link_act": {"act": "propose"},
    "console:package_act": {"act": "approve"},
    "console:room_act": {"act": "end"},
    "console:return_act": {"act": "withdraw"},
    "console:switch_act": {"act": "pause"},
    "console:fleet_order": {"act": "drain"},
    "signals:case_act": {"act": "watch"},
    "signals:hold_act": {"act": "lift"},
    "signals:hold_decide": {"act": "withdraw"},
    "rotating:act": {"act": "suggest"},
    "rotating:plan_act": {"act": "submit"},
    "judging:appeal_act": {"act": "admit"},
}
VENDORS_OWN = frozenset(
    {"harness", "harness_id", "version", "version_id", "upload", "upload_id", "submission", "submission_id"}
    | {"token", "token_id", "upstream", "upstream_id", "member", "invitation", "publisher", "publisher_id"}
    | {"webhook", "webhook_id", "delivery_id", "preflight_id", "appeal", "appeal_id"}
)


@pytest.fixture
def scene() -> Iterator[Scene]:
    found = arranged()
    logging.disable(logging.CRITICAL)
    yield found
    logging.disable(logging.NOTSET)


def path_of(address: Address, things: dict[str, object]) -> str:
    """Where it is; fails for an argument that the tables above do not know."""
    if not address.takes:
        if address.name == "api-nothing":
            return "/api/v1/nowhere"
        with translation.override("en"):
            return reverse(address.name)
    known = {**OTHERWISE, **things, **BY_ADDRESS.get(address.name, {})}
    known |= {name: things[own] for name in address.takes if (own := f"{address.name} {name}") in things}
    missing = [name for name in address.takes if name not in known]
    assert not missing, f"{address.name} takes {missing}: say what in OTHERWISE or in the scene"
    with translation.override("en"):
        return reverse(address.name, kwargs={name: known[name] for name in address.takes})


def letter(answer: HttpResponse) -> str:
    status = answer.status_code
    if 200 <= status < 300:
        return "2"
    if 300 <= status < 400:
        return "L" if "/account/login/" in answer.headers["Location"] else "3"
    return WORDS.get(str(status), "B" if status < 500 else "!")


def measured(scene: Scene, area: str) -> dict[str, str]:
    """The table as the site answers; methods with the same row stand together."""
    rows: dict[str, str] = {}
    for address in sorted((row for row in addresses() if row.area == area), key=lambda row: row.name):
        path = path_of(address, scene.things)
        by_row: dict[str, list[str]] = {}
        for method in METHODS[area]:
            body = b"{}" if area == "api" and method in ("POST", "PUT", "PATCH") else b""
            row = "".join(letter(scene.ask(role, method, path, body)) for role in ROLES[area])
            by_row.setdefault(row, []).append(method)
        rows |= {f"{address.name} {' '.join(methods)}": row for row, methods in by_row.items()}
    return rows


def reviewed() -> dict[str, dict[str, str]]:
    return tomllib.loads(TABLE.read_text("utf-8")) if TABLE.exists() else {}


def write(area: str, rows: dict[str, str]) -> None:
    """The table with this area as it is now."""
    tables = {**reviewed(), area: {"roles": ROLES[area], **rows}}
    words = "".join(f"# {key} {word}\n" for key, word in {**BY_SESSION, **BY_TOKEN}.items())
    text = LEGEND + words
    for name in AREAS:
        text += f"\n[{name}]\n" + "".join(f'"{key}" = "{row}"\n' for key, row in tables.get(name, {}).items())
    TABLE.write_text(text, "utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("area", AREAS)
def test_no_cell_is_unreviewed(scene: Scene, area: str) -> None:
    found = measured(scene, area)
    if os.environ.get("LINGEE_WRITE_MATRIX"):
        write(area, found)
    table = dict(reviewed()[area])
    assert table.pop("roles") == ROLES[area]
    differing = {
        key: f"{table.get(key, 'no unreviewed cell: this one is new')} -> {found.get(key, 'gone')}"
        for key in sorted({*table, *found})
        if table.get(key) != found.get(key)
    }
    assert not differing, "\n".join(f"{key}: {what}" for key, what in differing.items())


SAMPLE = {
    "api": ("avxzrc", ("GET", "POST")),
    "pages": ("aoxz", ("GET",)),
    "console": ("aodeguz", ("GET", "POST")),
}
"""Who asks what where only a part of the table is compared, in the time of an ordinary test."""


@pytest.mark.parametrize("area", AREAS)
def test_a_part_of_each_row_is_as_reviewed(scene: Scene, area: str) -> None:
    known = {(name, method): by for name, method, by in cells(area)}
    roles, methods = SAMPLE[area]
    for address in (row for row in addresses() if row.area == area):
        path = path_of(address, scene.things)
        for method in methods:
            where = f"{address.name} {method}"
            assert (address.name, method) in known, f"{where}: no unreviewed cell"
            body = b"{}" if area == "api" and method == "POST" else b""
            found = {role: letter(scene.ask(role, method, path, body)) for role in roles}
            assert found == {role: known[address.name, method][role] for role in roles}, where


def cells(area: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """(address, method, answer by role) of the reviewed table."""
    for key, row in reviewed()[area].items():
        name, *methods = key.split(" ")
        for method in methods:
            yield name, method, dict(zip(ROLES[area], row, strict=True))


def test_what_no_review_may_let_through() -> None:
    """Rules over the whole table, so that a wrong cell is not waved through among hundreds."""
    takes = {row.name: row.takes for row in addresses()}
    for area in AREAS:
        for name, method, by in cells(area):
            where = f"{name} {method}: {by}"
            assert "!" not in by.values(), where
            if (
                area != "console"
                and VENDORS_OWN & set(takes[name])
                and name
                not in (
                    "leaderboard:public_task",
                    "accounts:registration_domain",
                )
            ):
                for stranger in "axdmuz":
                    assert by[stranger] in "LU4MF" if stranger in "az" else by[stranger] in "4MF3", where
            if by["a"] != "2" and name != "account_logout":
                assert by["z"] != "2", where
            if name.startswith(("account_", "mfa_")) and name != "account_logout":
                assert by["z"] == "F", where
            if area == "console":
                assert all(by[role] in "4M" for role in "vsox"), where
                assert by["a"] in "LM", where
                assert by["z"] in "FM", where
                stays_out = "dmige" if name.startswith("auditing:") else "u"
                if name.startswith(DECIDED):
                    stays_out += "di"  # what is proposed and why is for those who decide about it
                if name.startswith("signals:"):
                    stays_out += "dmie"
                if name.startswith("console:platform_"):
                    stays_out += "dmig"
                assert all(by[role] in "43M" for role in stays_out), where
            if area == "api" and method not in ("GET", "HEAD") and by["a"] not in "2B":
                for reader in "vrw":
                    assert by[reader] not in "2B" or (name, reader) in VIEWERS_MAY, where


DECIDED = ("console:room", "console:return", "console:package")
VIEWERS_MAY = {("api-token", "v"), ("api-submission-check", "v"), ("api-submission-check", "r")}
"""What somebody who may only read does all the same: end a credential of their own, and ask what would be."""


# --- another vendor's object and none at all ---------------------------------------------------------------

UNLIKE = {"Date", "X-Request-ID", "RateLimit-Reset", "RateLimit-Remaining", "Set-Cookie"}


ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def told(answer: HttpResponse) -> tuple[int, dict[str, str], str]:
    """An answer without its form token and without ids: the one that was asked for, and the page's own."""
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "TOKEN", answer.content.decode())
    headers = {key: ID.sub("ID", value) for key, value in answer.headers.items() if key not in UNLIKE}
    return answer.status_code, headers, ID.sub("ID", text)


def strangers_answers(scene: Scene, role: str) -> Iterator[tuple[str, Any, Any]]:
    for address in addresses():
        own = sorted(VENDORS_OWN & set(address.takes))
        if not own or address.name in BY_ADDRESS:
            continue
        for method in METHODS[address.area]:
            for name in own:
                foreign = scene.ask(role, method, path_of(address, scene.things), b"{}")
                things = {**scene.things, name: MISSING}
                missing = scene.ask(role, method, path_of(address, things), b"{}")
                yield f"{address.name} {method}", told(foreign), told(missing)


@pytest.mark.parametrize("role", ["x", "y"])
def test_another_vendors_object_and_none_at_all_are_the_same(scene: Scene, role: str) -> None:
    """By session, and by a token of all scopes."""
    scene.tokens["y"] = scene.other.api.secret
    compared = 0
    for where, foreign, missing in strangers_answers(scene, role):
        assert foreign == missing, where
        compared += foreign[0] == 404
    assert compared >= (50 if role == "x" else 15)


def test_bodies_that_name_anothers_object_and_none_are_refused_alike(scene: Scene) -> None:
    """Bulk and creating addresses take ids in their bodies."""
    scene.tokens["y"] = scene.other.api.secret
    for role, path, field, body in (
        ("y", "uploads", "harness_version", {"sha256": "0" * 64, "size": 9}),
        ("y", "submissions", "harness_version", {"task_set": "2026.9", "upload": MISSING}),
        ("y", "submissions/check", "harness_version", {"task_set": "2026.9", "upload": MISSING}),
        ("x", "tokens", "harness", {"name": "a", "scopes": ["read"]}),
    ):
        answers = []
        for asked in (scene.things[field.removeprefix("harness_")], MISSING):
            text = json.dumps({**body, field: str(asked)}).encode()
            answers.append(told(scene.ask(role, "POST", f"/api/v1/{path}", text)))
        assert answers[0] == answers[1], path
        assert answers[0][0] == 422, path
    for path in ("submissions", "quota"):
        answers = [
            told(scene.ask("y", "GET", f"/api/v1/{path}?harness={asked}"))
            for asked in (scene.things["harness"], MISSING)
        ]
        assert answers[0] == answers[1], path
        assert answers[0][0] == 404, path
