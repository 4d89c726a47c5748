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
from accounts.members import services as members
from accounts.models import Membership, Organisation, User
from audit import log
from audit.events import system
from evaluation import claims
from tests.accounts.duties import opened
from tests.accounts.test_auditors import appointed
from tests.audit.test_log import Connect
from tests.factories import run_of
from tests.pages import site
from tests.servers import Servers
from tests.submissions import world

BY = system("test")
NO_EVENT = "has no audit event about"

UNGOVERNED = {
    "accounts_lineage": "an id and nothing else; the event of its organisation names it",
    "accounts_notice": "what people are told; nothing is decided by it, and what it tells has its own event",
    "accounts_noticepreference": "what a person wants by mail; nothing else depends on it",
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
    "submissions_quotacounter": "what an admission locks; the numbers are the slots",
    "submissions_idempotencyrecord": "answers given again for a month, then forgotten",
}
"""Why changes of these rows need no event of their own; the tables of the log itself (audit_…) are append-only."""

BOOKKEEPING = {
    "accounts_user": {"last_login"},
    "accounts_membership": {"chosen_at"},
    "accounts_apitoken": {"last_used_at"},
    "evaluation_evaluationrun": {"quarter", "quarter_at"},
    "submissions_upload": {"verifying_since"},
    "submissions_submission": {"check_lease", "check_lease_until"},
}


def _models() -> list[Any]:
    return [
        model
        for name in settings.LOCAL_APPS
        if name != "audit"
        for model in apps.get_app_config(name).get_models(include_auto_created=True)
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
    """A row in each governed table, a harness version without submission, and an attempt under way."""
    vendor, version = world.vendor(), site.task_set(in_flight=9)
    harness = vendor.harness()
    shown = site.moved(vendor.submit(version, harness), *site.TO_COMPLETE)
    site.release(shown)
    vendor.submit(version, harness)
    mark_audit_organisation(world.vendor(verified=False).organisation, by=BY)
    world.vendor(verified=False)
    members.invite(vendor.organisation, "new@lingee.invalid", "viewer", inviter=vendor.user, by=vendor.actor)
    opened()
    appointed()
    run_of(version)
    assert claims.claim_execution("w") is not None


STATEMENTS = """
UPDATE accounts_user SET password = 'x';
UPDATE accounts_user SET email = 'else-' || email;
INSERT INTO accounts_user (id, pseudonym, email, password, is_superuser, is_staff, is_active, language, sealed_name,
    date_joined)
  VALUES (gen_random_uuid(), gen_random_uuid(), 'ghost@lingee.invalid', '', true, true, true, 'en', '', now());
INSERT INTO accounts_user_groups (user_id, group_id)
  SELECT u.id, g.id FROM accounts_user u, auth_group g;
INSERT INTO accounts_user_user_permissions (user_id, permission_id)
  SELECT id, (SELECT min(id) FROM auth_permission) FROM accounts_user;
INSERT INTO accounts_personkey (user_id, wrapped_key) SELECT id, 'k' FROM accounts_user;
UPDATE accounts_organisation SET state = 'suspended';
UPDATE accounts_membership SET role = 'viewer';
DELETE FROM accounts_membership;
UPDATE accounts_invitation SET role = 'owner';
UPDATE accounts_apitoken SET expiry = now() + interval '9 years';
INSERT INTO accounts_auditorganisation (organisation_id, since)
  SELECT id, now() FROM accounts_organisation
  WHERE id NOT IN (SELECT organisation_id FROM accounts_auditorganisation) AND state = 'under_review';
INSERT INTO accounts_auditorterm (id, person_id, organisation_id, begins_at, ends_at, scope, declaration)
  SELECT gen_random_uuid(), u.id, o.organisation_id, now(), now() + interval '1 year', '', ''
  FROM accounts_user u, accounts_auditorganisation o
  WHERE u.pseudonym NOT IN (SELECT person FROM accounts_dutyassignment);
UPDATE accounts_dutyassignment SET review_due_at = review_due_at + interval '9 years';
INSERT INTO accounts_dutyassignment (id, person, duty, begins_at, ends_at, assigned_by, assigned_at, reason,
    confirm_reason, review_reason, end_reason)
  SELECT gen_random_uuid(), person, 'identity_reviewer', now(), ends_at, assigned_by, now(), '', '', '', ''
  FROM accounts_dutyassignment;
UPDATE accounts_dutyceremony SET held_at = now();
INSERT INTO accounts_auditroom (id, term_id, submission_id, lineage_id, hours, reason, proposed_by, proposed_at)
  SELECT gen_random_uuid(), t.id, t.id, t.id, 1, 'x', u.pseudonym, now() FROM accounts_auditorterm t, accounts_user u;
UPDATE benchmark_tasksetversion SET closed_at = now();
INSERT INTO benchmark_assetcommitment (version_id, root, tasks, wrapped_secret, made_at)
  SELECT id, '', 1, 's', now() FROM benchmark_tasksetversion;
UPDATE evaluation_evaluationrun SET missing = 1;
UPDATE evaluation_attempt SET ended_at = now(), ending = 'finished';
INSERT INTO evaluation_attempt (id, episode_id, number, fence, worker, started_at, ended_at, ending, cause, isolation,
    has_output, artefact_key, artefact_sha256)
  SELECT gen_random_uuid(), episode_id, 9, 9, '', now(), now(), 'finished', '', '', true, 'k', 's'
  FROM evaluation_attempt;
DELETE FROM evaluation_attempt;
UPDATE submissions_harness SET title = 'x';
INSERT INTO submissions_harnessversion (id, harness_id, version, card, card_digest, card_schema, created_at)
  SELECT gen_random_uuid(), id, '77', '{}', '', 1, now() FROM submissions_harness;
UPDATE submissions_upload SET sha256 = repeat('0', 64);
UPDATE submissions_submission SET publication_consent = NOT publication_consent;
INSERT INTO submissions_submissiontransition (submission_id, state, at, cause, actor_kind)
  SELECT id, 'complete', now(), 'x', 'person' FROM submissions_submission;
UPDATE submissions_slot SET reason = 'x';
INSERT INTO submissions_quotapolicy (id, task_set_id, profile, rule, value, valid_from)
  SELECT gen_random_uuid(), id, 'demo', 'line', 99, now() FROM benchmark_tasksetversion;
INSERT INTO submissions_admissionstop (id, task_set_id, cause, since)
  SELECT gen_random_uuid(), id, 'governance', now() FROM benchmark_tasksetversion;
INSERT INTO governance_runcommitment (submission_id, root, runs, wrapped_secret, made_at)
  SELECT id, '', 1, 's', now() FROM submissions_submission;
INSERT INTO governance_releasepolicy (id, task_set_id, profile, rule, grid_points, rho, tick_seconds, half_widths,
    valid_from)
  SELECT gen_random_uuid(), id, 'demo', 'grid', 1, 0.1, 1, '{}', now() FROM benchmark_tasksetversion;
INSERT INTO governance_sealedaggregate (submission_id, domain, reliability, failures, tasks, valid_tasks, runs,
    valid_runs, computed_at)
  SELECT id, 'x', '{}', '{}', 1, 1, 1, 1, now() FROM submissions_submission;
INSERT INTO governance_release (id, submission_id, policy_id, coverage, is_complete, versions, released_at)
  SELECT gen_random_uuid(), id, (SELECT id FROM governance_releasepolicy), '1.00', true, '{}', now()
  FROM submissions_submission WHERE state = 'created';
INSERT INTO governance_domainaggregate (release_id, domain, status, value, half_width)
  SELECT id, 'x', 'reported', 100, 1 FROM governance_release
"""
CHANGES = [" ".join(statement.split()) for statement in STATEMENTS.split(";")]


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
    before = _events()
    with connection.cursor() as cursor:
        for table, columns in BOOKKEEPING.items():
            values = {"quarter": "75", "check_lease": "gen_random_uuid()"}
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
