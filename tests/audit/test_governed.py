"""No governed row changes without an event of the same transaction about it, whoever changes it and however."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.db import IntegrityError, connection, transaction

from accounts import events, services
from accounts.auditors import mark_audit_organisation
from accounts.duties.table import Duty
from accounts.members import services as members
from accounts.models import Membership, Organisation, User
from audit import log
from audit.events import system
from config import clock
from evaluation import claims
from evaluation.calls.services import stop as stop_calls
from evaluation.fleet import services as fleet
from evaluation.models import Attempt, Episode
from governance.appeals.models import RecheckItem
from governance.confirmation import services as confirmations
from governance.correcting import services as correcting
from submissions.relations.services import order_notice
from submissions.webhooks.services import create as create_webhook
from tests.access.oidc.arranged import exchanged
from tests.access.registration.filing import filed
from tests.access.relations.test_owners import submitted as owned_by_somebody_else
from tests.access.upstreams.arranged import upstream_with_credential
from tests.accounts.duties import acting, opened
from tests.accounts.test_auditors import appointed
from tests.audit.changes import CHANGES
from tests.audit.test_log import Connect
from tests.factories import draft_version, recorded_as, run_of, saved
from tests.governance.appeals.arranged import filed as appealed
from tests.governance.desk.arranged import open_case
from tests.governance.rotation import rows as rotation
from tests.governance.watching import alarm_of
from tests.pages import site
from tests.servers import Servers
from tests.submissions import world

BY = system("test")
NO_EVENT = "has no audit event about"

UNGOVERNED = {
    "accounts_usedidentity": "written with the event of its exchange, and forgotten when the token is long expired",
    "accounts_signin": "where somebody is signed in, forgotten with the session",
    "accounts_networkmark": "a coarse keyed hash of where somebody submitted from; forgotten after 90 days",
    "accounts_lineage": "an id and nothing else; the event of its organisation names it",
    "accounts_notice": "what people are told; nothing is decided by it, and what it tells has its own event",
    "accounts_noticepreference": "what a person wants by mail; nothing else depends on it",
    "accounts_leakreport": "somebody's word, until a worker has looked; the revocation has its event",
    "benchmark_assetpack": "no change once frozen; the digest of all tasks is in the version's events",
    "benchmark_taskrevision": "no change once frozen; the digest of all tasks is in the version's events",
    "benchmark_publictask": "no change once frozen; shows what public tasks hold anyway",
    "evaluation_storedpackage": "keys and places; the package's digest is in the submission's and the run's events",
    "evaluation_runsecret": "made with its run; the root over all runs commits the seeds drawn from it",
    "evaluation_runshare": "whose turn it is",
    "evaluation_episode": "claims and lease renewals; each ended attempt has its event",
    "evaluation_taskresult": "never changes; the release event commits the root over all of them",
    "evaluation_publictaskresult": "never changes; shown to the vendor as it is",
    "evaluation_workerreport": "signs of life",
    "evaluation_hostspeed": "measurements of machines; what a run got of them is in the event of its end",
    "evaluation_fleetalert": "an alarm about waiting work; raising it and its end have their events",
    "evaluation_artefactpurge": "never changes; made with the event that says the same",
    "evaluation_purgedartefact": "never changes; the event of its purge has the digest over all of them",
    "submissions_queuestanding": "coarse words about the queue, as coarse progress is; nothing is decided by them",
    "evaluation_modelcall": "counts of one call, fixed when it ends; each ended attempt has its event",
    "evaluation_upstreamuse": "a sum over calls; reaching the ceiling is a stop, which has its event",
    "evaluation_upstreamdoubt": "a worker's word until the probe was made; a stop has its event",
    "submissions_quotacounter": "what an admission locks; the numbers are the slots",
    "governance_leakaccount": "what a charge locks; the numbers are the charges",
    "watch_behaviour": "never changes; the event of its analysis conceals its digest",
    "watch_taskmarks": "never changes; an analysis of the stored behaviour gives it again",
    "watch_gapfigure": "never changes; an analysis of the stored behaviour gives it again",
    "watch_exposureshare": "never changes; stored behaviour and releases give it again",
    "submissions_webhookdelivery": "messages about what has its own event; kept for a month",
    "submissions_idempotencyrecord": "answers given again for a month, then forgotten",
}
"""Why changes of these rows need no event of their own; the tables of the log itself (audit_…) are append-only."""

BOOKKEEPING = {
    "accounts_user": {"last_login"},
    "accounts_membership": {"chosen_at"},
    "accounts_apitoken": {"last_used_at", "announced_days"},
    "evaluation_evaluationrun": {"quarter", "quarter_at"},
    "evaluation_upstreamstop": {"probed_at"},
    "submissions_upload": {"verifying_since"},
    "submissions_webhookendpoint": {"failing_since"},
    "submissions_submission": {"check_lease", "check_lease_until"},
    "submissions_ownernotice": {"mail_due_at", "mail_attempts"},
}


def _models() -> list[Any]:
    return [
        model
        for name in settings.LOCAL_APPS
        if name != "audit"
        for model in apps.get_app_config(name.rpartition(".")[2]).get_models(include_auto_created=True)
    ]


def _triggers() -> dict[str, dict[str, str]]:
    """By table: the definitions of the triggers that demand events, of those that fire always and at the commit."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger "
            "WHERE tgname LIKE 'audit_recorded_%' AND tgenabled = 'A' AND (tginitdeferred OR tgname LIKE '%_table')"
        )
        found: dict[str, dict[str, str]] = {}
        for table, name, definition in cursor.fetchall():
            found.setdefault(table, {})[name.removeprefix("audit_recorded_")] = definition
    return found


@pytest.mark.django_db
def test_every_table_is_governed_or_says_why_not() -> None:
    tables = {model._meta.db_table for model in _models()}
    governed = {table for table in _triggers() if not table.startswith("audit_")}
    assert governed == tables - set(UNGOVERNED)
    assert set(UNGOVERNED) < tables
    assert all(set(found) == {"inserted", "deleted", "changed", "table"} for found in _triggers().values())


@pytest.mark.django_db
def test_every_column_is_watched_or_is_bookkeeping() -> None:
    triggers = _triggers()
    for model in _models():
        table = model._meta.db_table
        if table in UNGOVERNED:
            continue
        watched = set(re.findall(r'old\."?(\w+)"?', triggers[table]["changed"]))
        columns = {field.column for field in model._meta.concrete_fields}
        assert watched == columns - BOOKKEEPING.get(table, set()), table


@pytest.mark.django_db
def test_the_function_looks_with_the_owners_eyes_along_a_fixed_path() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_get_userbyid(proowner), prosecdef, proconfig, proacl::text FROM pg_proc "
            "WHERE proname = 'audit_demand_event'"
        )
        owner, definer, path, rights = cursor.fetchone()
    assert (owner, definer, path) == ("lingee_owner", True, ["search_path=pg_catalog, pg_temp"])
    assert rights == "{lingee_owner=X/lingee_owner}"


@pytest.fixture
def everything(transactional_db: None) -> None:
    """A row in each governed table, a harness version without submission, and two attempts under way."""
    vendor, version = world.vendor(), site.task_set(in_flight=9)
    harness = vendor.harness()
    shown = site.moved(vendor.submit(version, harness), *site.TO_COMPLETE)
    site.release(shown)
    confirmations.request(shown, consent=True, by=vendor.actor, key="k")
    alarm_of(shown)
    appeal = appealed(vendor, version, subject="rule")
    vendor.submit(version, harness)
    mark_audit_organisation(world.vendor(verified=False).organisation, by=BY)
    filed(world.vendor(verified=False))
    members.invite(vendor.organisation, "new@lingee.invalid", "viewer", inviter=vendor.user, by=vendor.actor)
    create_webhook(vendor.organisation, url="https://hooks.example/", kinds=["test"], by=vendor.actor)
    office = opened()
    one, other = (acting(office.holder(Duty.HELD_OUT_GOVERNOR)) for _ in range(2))
    correcting.order(shown, cause="ruling", by=one, approved_by=other)
    appointed()
    stop_calls(upstream_with_credential(vendor).id, "down", by=BY)
    exchanged(vendor, harness)
    open_case(vendor, version, opened().holder(Duty.HELD_OUT_GOVERNOR))
    run_of(version)
    rotation.arranged(version)
    draft_version("bare", {"finance": (1, 1)})
    assert claims.claim_execution("w") is not None
    episode = Attempt.objects.get().episode
    fleet.order_fleet("drain", "worker", "another", reason="x", by=system("test"))
    apart = Episode.objects.filter(run=episode.run, state="ready").first()
    assert apart is not None
    assert fleet.quarantine_episode(apart.pk, reason="x", by=system("test")) is not None
    drawn = saved(Attempt(episode=episode, number=2, fence=2, worker="w", started_at=clock.now()))
    with recorded_as("appeal", appeal.id):
        RecheckItem.objects.create(appeal=appeal, attempt=drawn, verdict=True)


def test_the_list_of_changes_leaves_no_governed_table_out() -> None:
    named = {re.search(r"^(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)", text).group(1) for text in CHANGES}  # type: ignore[union-attr]
    assert named == {model._meta.db_table for model in _models()} - set(UNGOVERNED)


@pytest.mark.case("S31")
@pytest.mark.acceptance("log:8")
def test_sql_typed_by_hand_is_refused_on_every_governed_table(
    everything: None, connect_as: Connect, servers: Servers
) -> None:
    """Under the owner and, in replica mode, under the superuser: more than any role that serves may do."""
    with servers.superuser(servers.database) as root:
        root.execute("INSERT INTO auth_group (name) VALUES ('x')")
        root.execute("SET session_replication_role = replica")
        for who in (connect_as("owner"), root):
            for statement in CHANGES:
                with pytest.raises(psycopg.errors.IntegrityError, match=NO_EVENT) as refused:
                    who.execute(statement)
                assert re.search(r"\w+_\w+: the (insert|update|delete) of row", str(refused.value))


@pytest.mark.case("S31")
@pytest.mark.acceptance("log:8")
def test_the_roles_that_serve_are_refused_too(everything: None, connect_as: Connect) -> None:
    for role, statement in [
        ("web", "UPDATE accounts_user SET password = 'x'"),
        ("console", "UPDATE accounts_user SET is_staff = true"),
        ("web", "UPDATE submissions_submission SET publication_consent = true"),
        (
            "sealed",
            "UPDATE submissions_slot SET state = 'consumed', consumed_at = now() WHERE state = 'reserved'",
        ),
        ("execute", "UPDATE evaluation_attempt SET ended_at = now(), ending = 'finished'"),
    ]:
        with pytest.raises(psycopg.errors.IntegrityError, match=NO_EVENT):
            connect_as(role).execute(statement)


@pytest.mark.django_db(transaction=True)
def test_changes_of_many_rows_by_the_object_mapper_are_refused() -> None:
    vendor = world.vendor()
    with pytest.raises(IntegrityError, match=NO_EVENT):
        Organisation.objects.update(name="x")
    with pytest.raises(IntegrityError, match=NO_EVENT):
        Membership.objects.bulk_create(
            [
                Membership(organisation=vendor.organisation, user=world.person(), role="owner")
                for _ in range(3)
            ]
        )


@pytest.fixture
def person(transactional_db: None) -> User:
    return world.person()


def _rename(user: User, password: str = "x") -> None:
    User.objects.filter(pk=user.pk).update(password=password)


def test_the_event_may_come_before_or_after_the_change(person: User) -> None:
    event = events.PasswordSet(subject=person.pseudonym)
    with transaction.atomic():
        _rename(person)
        log.append(event, by=BY)
    with transaction.atomic():
        log.append(event, by=BY)
        _rename(person, "y")
    person.refresh_from_db()
    assert person.password == "y"


def _undone(user: User) -> None:
    point = transaction.savepoint()
    log.append(events.PasswordSet(subject=user.pseudonym), by=BY)
    transaction.savepoint_rollback(point)


WRONG: dict[str, Callable[[User], object]] = {
    "none": lambda user: None,
    "about another row": lambda user: log.append(events.PasswordSet(subject=world.person().pseudonym), by=BY),
    "of another type": lambda user: log.append(events.TokenRevoked(subject=user.pseudonym), by=BY),
    "undone": _undone,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_only_an_event_of_this_transaction_about_this_row_counts(person: User, wrong: str) -> None:
    services.set_password(person, "a long password", by=BY)  # an event about it, of an earlier transaction

    def change() -> None:
        with transaction.atomic():
            _rename(person)
            WRONG[wrong](person)

    with pytest.raises(IntegrityError, match=f"about account {person.pseudonym} in its transaction"):
        change()


def test_a_member_who_changes_sides_is_an_event_for_both_organisations(transactional_db: None) -> None:
    one, two = world.vendor(), world.vendor()

    def change(*told: Organisation) -> None:
        with transaction.atomic():
            Membership.objects.filter(user=one.user).update(organisation=two.organisation)
            for organisation in told:
                log.append(events.OrganisationVerified(subject=organisation.id), by=BY)

    for told, missing in ((one, two), (two, one)):
        with pytest.raises(IntegrityError, match=f"about organisation {missing.organisation.id}"):
            change(told.organisation)
    change(one.organisation, two.organisation)
    assert Membership.objects.filter(organisation=two.organisation).count() == 2


def test_bookkeeping_needs_no_event(everything: None) -> None:
    reviewer = opened().holder(Duty.IDENTITY_REVIEWER)
    order_notice(owned_by_somebody_else(world.vendor()).id, by=acting(reviewer))
    before = _events()
    with connection.cursor() as cursor:
        for table, columns in BOOKKEEPING.items():
            values = {
                "quarter": "75",
                "check_lease": "gen_random_uuid()",
                "announced_days": "3",
                "mail_attempts": "3",
            }
            changes = ", ".join(f"{column} = {values.get(column, 'now()')}" for column in sorted(columns))
            cursor.execute(f"UPDATE {table} SET {changes}")
            assert cursor.rowcount
    assert _events() == before


def test_a_claim_needs_none_either(everything: None) -> None:
    before = _events()
    assert claims.claim_execution("w", "another kernel") is not None
    assert _events() == before


@pytest.mark.parametrize("table", ["accounts_user", "evaluation_attempt", "submissions_slot"])
def test_no_governed_table_is_truncated(everything: None, connect_as: Connect, table: str) -> None:
    with pytest.raises(psycopg.errors.IntegrityError, match=r"never truncated|stays on record|never changes"):
        connect_as("owner").execute(f"TRUNCATE {table} CASCADE")


def _events() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(id) FROM audit_event")
        (count,) = cursor.fetchone()
    return int(count)


THREADS, ROUNDS = 16, 6


@pytest.fixture
def vendors(transactional_db: None) -> list[world.Vendor]:
    return [world.vendor() for _ in range(THREADS)]


@pytest.mark.case("S31")
@pytest.mark.acceptance("log:8")
def test_sixteen_threads_and_workers_are_never_taken_for_one_another(
    vendors: list[world.Vendor], connect_as: Connect
) -> None:
    """Each thread acts by its token and in person, while others do a worker's part on what it made."""
    with ThreadPoolExecutor(THREADS) as pool:
        made = dict(item for found in pool.map(_act, vendors) for item in found)
    rows = connect_as("auditor").execute(
        "SELECT subject_id, actor_kind, actor_id, organisation_id FROM audit_event WHERE subject_id = ANY (%s)",
        [list(made)],
    )
    found = {subject: (kind, actor, organisation) for subject, kind, actor, organisation in rows}
    assert len(made) == THREADS * ROUNDS * 3
    assert found == made


def _act(vendor: world.Vendor) -> list[tuple[str, tuple[str, str, str]]]:
    """What was made, with who the event must name."""
    made = []
    place = str(vendor.organisation.id)
    try:
        for number in range(ROUNDS):
            name = {"name": f"api-{number}", "title": "x", "relation": "owner"}
            answer = vendor.api.post("harnesses", name)
            assert answer.status == 201, answer.body
            made.append((answer.body["id"], ("token", str(vendor.token.public_id), place)))
            harness = vendor.harness(f"web-{number}")
            made.append((str(harness.id), ("person", str(vendor.user.pseudonym), place)))
            worker = system(f"worker-{vendor.user.pseudonym.hex[:8]}")
            someone = services.create_user(f"{harness.id}@lingee.invalid", None, by=worker)
            made.append((str(someone.pseudonym), ("system", worker.id, "")))
    finally:
        connection.close()
    return made
