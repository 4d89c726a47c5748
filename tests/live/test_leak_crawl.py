"""After a full run over a bank full of canaries, with a harness that shouts what it reads: nothing held out is outside.

The crawl visits every address of the vendor site as an anonymous visitor, as the vendor, as another vendor and as
the vendor's CI token, in both languages, with every method, and by following links. A new address that the tables
here do not name fails the test: say what it takes, and it is crawled too.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from tests.live.conftest import import_bank
from tests.live.crawl import (
    LANGUAGES,
    Answer,
    Visitor,
    addresses,
    every_method,
    follow_links,
    name_of,
    session_of,
)
from tests.live.crawl_tables import ASKED_FOR, EVERYBODYS, FREE, LIBRARY, UNKNOWN, arguments, paths_of
from tests.notices.receiver import Receiver, receiver

pytestmark = [pytest.mark.serial, pytest.mark.timeout(900)]

CANARY = "zqcanaryxv"
VISITORS_AT_ONCE = 3
CLOCK = re.compile(r"\d\d:\d\d:\d\d\.\d+")
"""A time of day: its last digits look like the seconds that an attempt took."""


@dataclass
class Site:
    """The running site after the full run, and what must not be found in it."""

    scene: SimpleNamespace
    visitors: list[Visitor]
    forbidden: list[str]
    state_dir: Path
    redis_url: str
    results: dict[str, Any]
    received: Receiver
    """What the vendor's webhook was sent."""


@pytest.fixture(scope="module")
def imported(
    servers: Any, django_db_setup: None, django_db_blocker: Any, tmp_path_factory: Any
) -> Iterator[Any]:
    """A fresh database with a mini bank that carries canaries."""
    from django.db import connections

    from benchmark.synthetic import generate

    bank = tmp_path_factory.mktemp("canaries") / "mini"
    generate(bank, version="2026.1-mini", seed=20261101, size="mini", canary=CANARY)
    with django_db_blocker.unblock():
        connections.close_all()
        servers.renew_database()
        yield import_bank(bank)
        connections.close_all()
        servers.renew_database()


@pytest.fixture(scope="module")
def received() -> Iterator[Receiver]:
    with receiver() as found:
        yield found


@pytest.fixture(scope="module")
def site(
    make_fleet: Callable[..., Any], servers: Any, imported: Any, tmp_path_factory: Any, received: Receiver
) -> Site:
    from config.site.stage import free_port
    from tests.live.vendors import (
        SHOUTING,
        confirmed_and_dated,
        job_visitors,
        outgoing,
        submit_over_http,
        told,
        vendor,
    )

    log = str(tmp_path_factory.mktemp("log") / "sequencer")
    fleet = make_fleet(LINGEE_SEQUENCER_DIR=log, LINGEE_OUTGOING_LOOPBACK="1")
    fleet.supervisor.start(fleet.processes.sequencer())
    fleet.supervisor.start(fleet.processes.worker("post-1", role="web", queues=["web"]))
    port = free_port()
    fleet.supervisor.start(fleet.processes.web(f"127.0.0.1:{port}"))
    address = f"http://127.0.0.1:{port}"
    one, other = vendor("One"), vendor("Other")
    sent = outgoing(one, received.url)
    scene = submit_over_http(address, one, imported, SHOUTING, wait=fleet.supervisor.wait)
    assert fleet.wait(lambda: told(sent.webhook, received), 120), fleet.supervisor.tail("post-1")
    vars(scene).update(vars(sent), deliveries=sent.delivered())
    scene.date = confirmed_and_dated(scene, fleet.wait)
    visitors = [
        Visitor("anonymous", address),
        Visitor("vendor", address, cookies=session_of(one.user)),
        Visitor("other vendor", address, cookies=session_of(other.user)),
        Visitor("CI token", address, headers={"Authorization": f"Bearer {one.secret}"}),
        Visitor("other CI token", address, headers={"Authorization": f"Bearer {other.secret}"}),
        *job_visitors(one, scene, address),
    ]
    found = forbidden(scene)
    return Site(scene, visitors, found, servers.state_dir, servers.redis_url, scene.result, received)


def figure(attempt: Any) -> str:
    """The seconds of an attempt as a page would show them; nothing for what is too short to be told apart."""
    return f"{attempt.seconds:.3f}" if attempt.seconds and attempt.seconds >= 1 else ""


def forbidden(scene: SimpleNamespace) -> list[str]:
    """Canaries, held-out task ids, and figures and ids of single held-out attempts."""
    from evaluation.models import Attempt, EvaluationRun

    kinds = (EvaluationRun.Kind.HELD_OUT, EvaluationRun.Kind.CANARY)
    attempts = list(Attempt.objects.filter(episode__run__kind__in=kinds))
    assert len(attempts) >= len(scene.held_out)
    found = [CANARY, *scene.held_out]
    # A preflight shows its seconds; where one took as many as a held-out attempt, they say nothing of that.
    public = Attempt.objects.exclude(episode__run__kind__in=kinds).exclude(seconds=None)
    shown = " ".join(f"{seconds:.3f} {seconds!r}" for seconds in public.values_list("seconds", flat=True))
    for attempt in attempts:
        found += [str(attempt.id), attempt.id.hex, attempt.artefact_sha256, attempt.answer_sha256]
        found += [attempt.artefact_key]
        found += [] if figure(attempt) in shown else [figure(attempt)]
    found = [text for text in found if text]
    assert any(
        text.startswith("3.7") or float(text) > 1 for text in found if re.fullmatch(r"\d+\.\d{3}", text)
    )
    return found


def crawl(visitor: Visitor, paths: list[str]) -> Iterator[Answer]:
    for path in paths:
        yield from every_method(visitor, path)
    if visitor.below == "/":
        starts = [f"/{language}{path}" for language in LANGUAGES for path in ("/", "/v/", "/rules/")]
        yield from follow_links(visitor, starts)
    for path in (
        "/robots.txt",
        "/favicon.ico",
        "/metrics",
        "/admin/",
        "/en/console/",
        "/static/",
        "/api/",
        "/en/x/",
    ):
        yield visitor.ask("GET", path)


@dataclass
class Found:
    """What the visits of all visitors brought."""

    seen: set[str | None] = field(default_factory=set)
    leaks: list[tuple[str, ...]] = field(default_factory=list)
    broken: list[tuple[Any, ...]] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)

    def look_at(self, answer: Answer, forbidden: list[str]) -> None:
        self.seen.add(name_of(answer.address))
        if answer.status >= 500:
            self.broken.append((answer.visitor, answer.method, answer.address, answer.status))
        carried = carried_entries(answer.text)
        self.entries += carried
        text = CLOCK.sub("", "\n".join([answer.text, *carried]))
        words = (word for word in forbidden if word in text)
        # An address that names a held-out task is echoed by nobody but the asker's own request line.
        self.leaks += [
            (answer.visitor, answer.method, answer.address, word)
            for word in words
            if word not in answer.address
        ]


def carried_entries(text: str) -> list[str]:
    """The entries of the log that a receipt carries in base64."""
    return [base64.b64decode(found).decode() for found in re.findall(r"extra ([A-Za-z0-9+/]+=*)", text)]


def test_no_address_is_outside_the_crawl(site: Site) -> None:
    known = {*FREE, *arguments(site.scene)}
    unknown = {name for name, _ in addresses() if name not in known and not LIBRARY.match(name)}
    assert not unknown, "new addresses: add them to the tables of this module"
    gone = known - {name for name, _ in addresses()}
    assert not gone, "these addresses are no more"


@pytest.mark.acceptance("main-job:6")
@pytest.mark.case("G31")
@pytest.mark.case("G33")
@pytest.mark.case("E52")
@pytest.mark.case("U17")
def test_nothing_held_out_is_found_anywhere(site: Site) -> None:
    found = Found()

    table = arguments(site.scene)
    paths = [path for name, pattern in addresses() for path in paths_of(name, pattern, table)]

    def visit(visitor: Visitor) -> None:
        for answer in crawl(visitor, paths):
            found.look_at(answer, site.forbidden)

    with ThreadPoolExecutor(VISITORS_AT_ONCE) as pool:
        list(pool.map(visit, site.visitors))
    assert not found.leaks
    assert not found.broken
    assert {json.loads(entry)["kind"] for entry in found.entries} == {
        "submission.admitted",
        "result.released",
    }
    expected = {name for name, _ in addresses() if not LIBRARY.match(name)}
    assert not expected - found.seen - {"api-nothing"}


@pytest.mark.case("G31")
def test_every_value_is_on_the_grid_and_nothing_else_is_there(site: Site) -> None:
    result = site.results
    assert set(result) == {
        *("submission", "domains", "enterprise", "coverage", "complete", "episodes", "released_at", "policy"),
        *("versions", "isolation", "speed", "models", "exposure"),
    }
    assert (result["models"], result["exposure"]) == ([], "sealed"), "it could call no model"
    assert all(isinstance(one, str) for one in result["isolation"] + result["speed"])
    for row in [*result["domains"].values(), result["enterprise"]]:
        assert set(row) == {"value", "h", "status"}
        assert isinstance(row["value"], int)
        assert isinstance(row["h"], int)
    assert set(result["domains"]) == {"general", "finance", "supply_chain", "manufacturing"}


@pytest.mark.acceptance("main-job:6")
@pytest.mark.case("G32")
def test_anothers_object_and_none_at_all_are_the_same_404(site: Site) -> None:
    others = [visitor for visitor in site.visitors if visitor.name.startswith("other")]
    table = arguments(site.scene)
    for name, rows in table.items():
        if name in EVERYBODYS:
            continue
        pattern = next(pattern for found, pattern in addresses() if found == name)
        row = rows[0]
        nobody = {**row, next(iter(row)): UNKNOWN}
        for visitor in others:
            for path, missing in zip(
                paths_of(name, pattern, {name: [row]}), paths_of(name, pattern, {name: [nobody]}), strict=True
            ):
                for method in ("GET", "POST"):
                    theirs, none = visitor.ask(method, path, json={}), visitor.ask(method, missing, json={})
                    assert theirs.status == none.status, (visitor.name, method, path)
                    assert plain(theirs.text) == plain(none.text), (visitor.name, method, path)


def plain(text: str) -> str:
    """An answer without what differs from request to request: ids, times, tokens, lengths."""
    text = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "ID", text)
    text = re.sub(r'name="csrfmiddlewaretoken" value="[^"]+"', "TOKEN", text)
    text = re.sub(r"(?im)^(date|set-cookie|content-length|x-request-id|etag|server-timing): .*$", "", text)
    # Says only how many requests a worker process has served, of anybody.
    return re.sub(r"(?im)^connection: .*$", "", text)


def test_what_was_sent_to_the_vendors_webhook_holds_nothing(site: Site) -> None:
    bodies = [body.decode() for _headers, body in site.received.taken]
    kinds = {json.loads(body)["type"] for body in bodies}
    assert {"submission.state", "preflight.state", "submission.released", "test"} <= kinds
    for headers, body in site.received.taken:
        text = CLOCK.sub("", f"{headers}\n{body.decode()}")
        assert not [word for word in site.forbidden if word in text]


@pytest.mark.acceptance("main-job:6")
@pytest.mark.case("S41")
def test_logs_redis_and_mail_hold_no_canary(site: Site) -> None:
    from accounts.notices.models import Notice

    told = dict(Notice.objects.values_list("kind", "facts"))  # all that mail is written from
    assert "submission.complete" in told
    assert not [text for text in site.forbidden if text in str(told)]
    client = redis.Redis.from_url(site.redis_url)
    for key in client.scan_iter("*"):
        assert CANARY.encode() not in key + (client.dump(key) or b"")
    for path in (site.state_dir / "log").glob("*.log"):
        text = path.read_text(errors="replace")
        assert CANARY not in text, path.name
        # The crawl itself asked for the first few by name, and request lines are logged.
        assert not [task for task in site.scene.held_out[ASKED_FOR:] if task in text], path.name


def test_the_run_was_worth_crawling(site: Site) -> None:
    """The harness shouted: its output, artefacts and failures carry canaries inside the walls."""
    from evaluation import artefacts, packages
    from evaluation.models import Attempt, EvaluationRun

    attempts = Attempt.objects.filter(episode__run__kind=EvaluationRun.Kind.HELD_OUT)
    package = EvaluationRun.objects.filter(kind=EvaluationRun.Kind.HELD_OUT).first().package  # type: ignore[union-attr]
    shouted = 0
    for attempt in attempts:
        left = artefacts.unbundle(packages.load_artefacts(package, attempt.artefact_key))
        shouted += CANARY.encode() in left.stdout + left.stderr + (left.reply or b"") + left.snapshot
    assert shouted >= len(attempts) // 2
    assert len(set(attempts.values_list("ending", flat=True))) >= 2


def test_events_explain_every_row_of_a_real_run(site: Site) -> None:
    """Task bank, uploads, runs, slots, release: what the live check replays is what the services left."""
    from audit import live

    report = live.check()
    assert report.ok, report.findings[:5]
    assert report.entries > 0
