"""Who may do what to the log's tables: tried as every role, and read from the catalogue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.audit.conftest import Connection, add_events, event_body, figure

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.acceptance("log:3")]
Connect = Callable[[str], psycopg.Connection[Any]]

SERVING = ["web", "execute", "sealed", "console"]
EVERYONE = [*SERVING, "auditor", "sequencer"]
#: Each table with a column to change and a column to join by.
TABLES = {
    "audit_event": ("body", "id"),
    "audit_pending": ("event_id", "event_id"),
    "audit_entry": ("leaf_hash", "position"),
    "audit_tile": ("hashes", "number"),
    "audit_checkpoint": ("note", "size"),
    "audit_log_key": ("vkey", "vkey"),
    "audit_witness": ("vkey", "id"),
    "audit_cosignature": ("line", "id"),
}
BODY = f"convert_to('{event_body('forged')}', 'UTF8')"


def changes(table: str) -> list[str]:
    column, key = TABLES[table]
    unique = "level, number" if table == "audit_tile" else key
    joined = f"MERGE INTO {table} old USING {table} new ON old.{key} = new.{key} WHEN MATCHED THEN"
    return [
        f"UPDATE {table} SET {column} = {column}",
        f"DELETE FROM {table}",
        f"TRUNCATE {table} CASCADE",
        f"INSERT INTO {table} SELECT * FROM {table} ON CONFLICT ({unique}) DO UPDATE SET {column} = EXCLUDED.{column}",
        f"{joined} UPDATE SET {column} = new.{column}",
        f"{joined} DELETE",
    ]


def ways_around(table: str) -> list[str]:
    return [
        f"ALTER TABLE {table} DISABLE TRIGGER ALL",
        f"ALTER TABLE {table} RENAME TO gone",
        f"DROP TABLE {table}",
        f"CREATE TRIGGER mine BEFORE INSERT ON {table} EXECUTE FUNCTION audit_event_append_only()",
        f"CREATE RULE mine AS ON INSERT TO {table} DO INSTEAD NOTHING",
    ]


GENERAL = [
    "SET session_replication_role = replica",
    "SET ROLE lingee_owner",
    "SET ROLE lingee_superuser",
    "SET SESSION AUTHORIZATION lingee_owner",
    "GRANT lingee_owner TO CURRENT_USER",
    "SELECT setval(pg_get_serial_sequence('audit_event', 'id'), 1)",
    "SELECT nextval(pg_get_serial_sequence('audit_event', 'id'))",
    "CREATE OR REPLACE FUNCTION audit_event_append_only() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
    "CREATE TABLE mine (id bigint)",
    "SELECT pg_read_file('/etc/passwd')",
]
#: Columns that the database fills; whoever chooses them could forge order, time or cause.
CHOSEN = [
    f"INSERT INTO audit_event (id, body) VALUES (1000000, {BODY})",
    f"INSERT INTO audit_event (id, body) OVERRIDING SYSTEM VALUE VALUES (1000000, {BODY})",
    f"INSERT INTO audit_event (body, recorded_at) VALUES ({BODY}, '2020-01-01T00:00:00Z')",
    f"INSERT INTO audit_event (body, transaction) VALUES ({BODY}, 1)",
    f"INSERT INTO audit_event (body, leaf_hash) VALUES ({BODY}, sha256('x'))",
    f"INSERT INTO audit_event (body, subject_id) VALUES ({BODY}, 'other')",
]


@pytest.fixture
def log(connect_as: Connect, sequence: Callable[[], int]) -> None:
    """Three hundred events in the tree under a checkpoint, and one that waits."""
    web = connect_as("web")
    add_events(web, 300)
    sequence()
    add_events(web, 1)


def refuse(connection: Connection, statements: list[str]) -> None:
    for statement in statements:
        with pytest.raises(psycopg.Error) as caught:
            connection.execute(statement)
        state = caught.value.sqlstate or ""
        assert state[:2] in {"42", "23", "22"}, (statement, caught.value)
        # Not a statement that fails because it is wrongly written.
        assert state not in {"42601", "42703", "42P01", "42P10", "42883"}, (statement, caught.value)


@pytest.mark.case("S32")
@pytest.mark.parametrize("role", EVERYONE)
def test_no_role_of_a_process_changes_what_is_recorded(connect_as: Connect, role: str, log: None) -> None:
    mine = connect_as(role)
    for table in TABLES:
        refuse(mine, [*changes(table), *ways_around(table)])
    refuse(mine, [*GENERAL, *CHOSEN])


@pytest.mark.case("S32")
@pytest.mark.parametrize("role", SERVING)
def test_serving_roles_cannot_write_the_tree(connect_as: Connect, role: str, log: None) -> None:
    refuse(connect_as(role), TREE)


TREE = [
    "INSERT INTO audit_pending (event_id) VALUES (1)",
    "INSERT INTO audit_entry (position, event_id, leaf_hash) VALUES (300, 301, sha256('x'))",
    "INSERT INTO audit_tile (level, number, hashes, root) VALUES (0, 1, '', '')",
    "INSERT INTO audit_checkpoint (size, root, note, made_at) VALUES (300, sha256('x'), 'forged', now())",
    "INSERT INTO audit_log_key (vkey, name, since_size) VALUES ('forged', 'forged', 0)",
]


@pytest.mark.parametrize("role", ["web", "execute", "sealed", "console", "auditor"])
def test_nobody_else_makes_events_wait(connect_as: Connect, role: str, log: None) -> None:
    """The function that notes them runs as the owner: as a trigger of one's own table it would take any number."""
    mine = connect_as(role)
    mine.execute("CREATE TEMP TABLE bait (id bigint)")
    trigger = "CREATE TRIGGER bait AFTER INSERT ON bait FOR EACH ROW EXECUTE FUNCTION audit_event_pending()"
    refuse(mine, [trigger])


@pytest.mark.case("S32")
def test_the_sequencer_can_only_continue_the_log(connect_as: Connect, log: None) -> None:
    mine = connect_as("sequencer")
    waiting = figure(mine, "SELECT event_id FROM audit_pending")
    leaf = f"(SELECT leaf_hash FROM audit_event WHERE id = {waiting})"
    add = "INSERT INTO audit_entry (position, event_id, leaf_hash) VALUES"
    sign = "INSERT INTO audit_checkpoint (size, root, note, made_at) VALUES"
    refuse(
        mine,
        [
            f"DELETE FROM audit_pending WHERE event_id = {waiting}",
            "INSERT INTO audit_pending (event_id) VALUES (5)",
            f"INSERT INTO audit_event (body) VALUES ({BODY})",
            "SELECT body FROM audit_event",
            f"{add} (301, {waiting}, {leaf})",
            f"{add} (299, {waiting}, {leaf})",
            f"{add} (-1, {waiting}, {leaf})",
            f"{add} (300, {waiting}, sha256('x'))",
            f"{add} (300, 999999, sha256('x'))",
            f"{add} (300, 1, (SELECT leaf_hash FROM audit_event WHERE id = 1))",
            f"{sign} (299, sha256('x'), 'n', now())",
            f"{sign} (300, sha256('x'), 'n', now())",
            f"{sign} (301, sha256('x'), 'n', now())",
            "INSERT INTO audit_witness (id, name, vkey, added_at) VALUES (gen_random_uuid(), 'n', 'v', now())",
        ],
    )
    mine.execute(f"{add} (300, {waiting}, {leaf})")
    refuse(mine, [f"{sign} (301, 'short', 'n', now())", f"{sign} (302, sha256('x'), 'n', now())"])
    mine.execute(f"{sign} (301, sha256('x'), 'n', now())")


def test_the_owner_is_refused_until_it_disarms_the_guards(connect_as: Connect, log: None) -> None:
    """What it can do after that, and what reveals it, is tested with the sequencer and stands in the docs."""
    owner = connect_as("owner")
    for table in TABLES:
        has_rows = figure(owner, f"SELECT EXISTS (SELECT FROM {table})")
        refuse(owner, changes(table) if has_rows else [f"TRUNCATE {table} CASCADE"])
    refuse(owner, ["SET session_replication_role = replica", "SET ROLE lingee_sequencer"])
    owner.execute("ALTER TABLE audit_event DISABLE TRIGGER USER")
    assert owner.execute("DELETE FROM audit_event WHERE id = 1").rowcount == 1


def test_columns_that_the_database_fills_are_filled_even_for_the_owner(
    connect_as: Connect, log: None
) -> None:
    owner = connect_as("owner")
    owner.execute(
        "INSERT INTO audit_event (body, leaf_hash, kind, subject_type, subject_id, actor_kind, actor_id, "
        "organisation_id, channel, outcome, recorded_at, transaction) "
        f"VALUES ({BODY}, 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', 'x', '2020-01-01T00:00:00Z', 1)"
    )
    found = "SELECT recorded_at > now() - interval '1 hour' AND transaction > 1 AND kind = 'test.plain'"
    assert figure(owner, f"{found} FROM audit_event WHERE subject_id = 'forged'")


NAMES = ", ".join(f"'{table}'" for table in TABLES)
OURS = f"SELECT oid FROM pg_class WHERE relkind = 'r' AND relname IN ({NAMES})"


def test_every_guard_also_works_in_replica_mode(connect_as: Connect, servers: Any) -> None:
    catalogue = connect_as("auditor")
    rows = catalogue.execute(
        "SELECT relname, tgname, tgenabled FROM pg_trigger JOIN pg_class table_ ON table_.oid = tgrelid "
        f"WHERE NOT tgisinternal AND tgrelid IN ({OURS})"
    ).fetchall()
    assert {name for name, _, _ in rows} == set(TABLES)
    assert {enabled for _, _, enabled in rows} == {"A"}
    with servers.superuser(servers.database) as above:
        add_events(above, 1)
        above.execute("SET session_replication_role = replica")
        with pytest.raises(psycopg.Error, match="append-only"):
            above.execute("UPDATE audit_event SET body = body")
        before = figure(above, "SELECT count(*) FROM audit_pending")
        add_events(above, 1)
        assert figure(above, "SELECT count(*) FROM audit_pending") == before + 1


def test_everything_belongs_to_the_owner_and_runs_only_with_a_fixed_path(connect_as: Connect) -> None:
    catalogue = connect_as("auditor")
    owners = catalogue.execute(
        f"SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE oid IN ({OURS})"
    )
    assert owners.fetchall() == [("lingee_owner",)]
    functions = catalogue.execute(
        "SELECT proname, pg_get_userbyid(proowner), prosecdef, proconfig, has_function_privilege("
        "'lingee_web', oid, 'EXECUTE') FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    ).fetchall()
    assert {owner for _, owner, *_ in functions} == {"lingee_owner"}
    definers = {name: (config, callable_) for name, _, definer, config, callable_ in functions if definer}
    assert definers["audit_event_pending"] == (["search_path=pg_catalog, pg_temp"], False)
    assert all(config and config[0].startswith("search_path=") for config, _ in definers.values())
    # Receipts: two kinds of entries by submission, and nothing else of the bodies.
    assert {name for name, (_, callable_) in definers.items() if callable_} == {"audit_receipt_entry"}


SELECT, INSERT = "SELECT", "INSERT"
TREE_TABLES = ("audit_entry", "audit_tile", "audit_checkpoint", "audit_log_key")
READ_TREE = {table: {SELECT} for table in (*TREE_TABLES, "audit_witness", "audit_cosignature")}
TALLY = {SELECT, INSERT, "UPDATE"}
FINDINGS = {"audit_withholding": {SELECT}, "audit_integrity": {SELECT}}
WHOLE_TABLES: dict[str, dict[str, set[str]]] = {
    "web": {**READ_TREE, "audit_cosignature": {SELECT, INSERT}, "audit_read_tally": TALLY},
    "execute": {},
    "sealed": {
        **READ_TREE,
        **FINDINGS,
        "audit_read_tally": {SELECT},
        "audit_integrity": {SELECT, INSERT, "DELETE"},
        "audit_export": {SELECT, "UPDATE"},
    },
    "console": {
        **READ_TREE,
        "audit_cosignature": {SELECT, INSERT},
        "audit_witness": {SELECT, INSERT},
        "audit_pending": {SELECT},
        "audit_read_tally": TALLY,
        **FINDINGS,
        "audit_withholding": {SELECT, INSERT},
        "audit_export": {SELECT, INSERT},
    },
    "auditor": {**READ_TREE, **FINDINGS, "audit_event": {SELECT}, "audit_pending": {SELECT}},
    "sequencer": {
        "audit_pending": {SELECT, "DELETE"},
        **{table: {SELECT, INSERT} for table in TREE_TABLES},
    },
}


@pytest.mark.parametrize("role", EVERYONE)
def test_grants_are_exactly_these(connect_as: Connect, role: str) -> None:
    catalogue = connect_as(role)
    rights = catalogue.execute(
        "SELECT table_name, privilege_type FROM information_schema.role_table_grants "
        "WHERE grantee = %s AND table_name LIKE 'audit\\_%%'",
        [f"lingee_{role}"],
    ).fetchall()
    found: dict[str, set[str]] = {}
    for table, right in rights:
        found.setdefault(table, set()).add(right)
    assert found == WHOLE_TABLES[role]
    columns = catalogue.execute(
        "SELECT column_name, privilege_type FROM information_schema.role_column_grants "
        "WHERE grantee = %s AND table_name = 'audit_event' ORDER BY 1",
        [f"lingee_{role}"],
    ).fetchall()
    if role in SERVING:
        assert columns == [("body", INSERT), ("id", SELECT)]
    if role == "sequencer":
        assert columns == [("id", SELECT), ("leaf_hash", SELECT)]


def test_the_sequencer_is_nobody_elses_role(connect_as: Connect) -> None:
    catalogue = connect_as("auditor")
    members = catalogue.execute(
        "SELECT 1 FROM pg_auth_members WHERE 'lingee_sequencer'::regrole IN (roleid, member)"
    )
    assert members.fetchall() == []
    attributes = catalogue.execute(
        "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls, rolreplication FROM pg_roles "
        "WHERE rolname LIKE 'lingee\\_%' AND rolname NOT IN ('lingee_superuser', 'lingee_owner')"
    )
    assert set(attributes.fetchall()) == {(False,) * 5}
