"""For migrations: no change of a governed row is committed without an event of the same transaction about it.

A deferred constraint trigger looks, when the transaction commits, for a row of `audit_event` that carries the number
of this very transaction and speaks of the changed row. It sees what any statement did: services, `queryset.update()`,
`bulk_create()` and SQL typed by hand. ENABLE ALWAYS: replica mode does not switch it off. What it cannot tell is
whether the event says the right thing; that is for the verifier, which replays states from events.

Governed today: people, organisations, members, tokens and duties; harnesses, versions, uploads, submissions with their
transitions, slots, quota policies, admission stops; runs and the ends of attempts; task-set versions; release
policies and everything released; upstreams, publishers. A table that comes later (cases, holds, links,
appeals, problems) names its subject in the migration that makes it. tests/audit/test_governed.py lists what is not
governed, each with its reason, and fails for a table or column that nobody decided about.

A migration that changes governed rows appends an event itself, and `SET CONSTRAINTS ALL IMMEDIATE` before it alters
the table: PostgreSQL alters none that has checks waiting.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import migrations

FUNCTION = "audit_demand_event"
NAME = "audit_recorded"
PARTS = ("inserted", "deleted", "changed", "table")

# Arguments of the trigger: subject types joined by commas; the column that holds the subject's id; and, where that
# column only points to a row that knows the subject, that row's table and column.
DEMAND = """
CREATE FUNCTION audit_demand_event() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  key text;
  subject text;
  checked text;
BEGIN
  FOREACH key IN ARRAY array_remove(ARRAY[to_jsonb(NEW) ->> TG_ARGV[1], to_jsonb(OLD) ->> TG_ARGV[1]], NULL) LOOP
    CONTINUE WHEN key = checked;
    checked := key;
    subject := key;
    IF TG_NARGS > 2 THEN
      EXECUTE format('SELECT %I::text FROM public.%I WHERE id = %L', TG_ARGV[3], TG_ARGV[2], key) INTO subject;
    END IF;
    PERFORM FROM public.audit_event
      WHERE subject_type = ANY (string_to_array(TG_ARGV[0], ',')) AND subject_id = subject
        AND transaction = pg_current_xact_id()::text::bigint;
    IF NOT FOUND THEN
      RAISE EXCEPTION '%: the % of row % has no audit event about % % in its transaction',
        TG_TABLE_NAME, lower(TG_OP), coalesce(coalesce(to_jsonb(NEW), to_jsonb(OLD)) ->> 'id', key),
        replace(TG_ARGV[0], ',', ' or '), coalesce(subject, 'that is gone')
        USING ERRCODE = 'integrity_constraint_violation', TABLE = TG_TABLE_NAME;
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
REVOKE ALL ON FUNCTION audit_demand_event() FROM PUBLIC;
CREATE FUNCTION audit_demand_event_table() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%: governed rows are never truncated', TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;
"""


def demand_event() -> migrations.RunSQL:
    """The functions that every governed table calls; run once, before the first `governed`."""
    return migrations.RunSQL(DEMAND, f"DROP FUNCTION {FUNCTION}(), {FUNCTION}_table();")


def governed(
    table: str,
    *,
    subject: str | Sequence[str],
    id_column: str = "id",
    columns: Sequence[str] | None = None,
    besides: Sequence[str] = (),
    through: tuple[str, str] | None = None,
    inserted_when: str = "true",
    name: str = NAME,
) -> migrations.RunSQL:
    """Demand an event about `subject` (a subject type, or several of which one will do) for each changed row.

    `id_column` holds the subject's id: the row's own, or its parent's for rows that belong to another. With
    `through=(table, column)` it points to the row of `table` whose `column` is the subject's id. An update counts
    where one of `columns` changes: all of today's but the bookkeeping in `besides`. `inserted_when` is a condition on
    NEW that tells which inserts count. TRUNCATE is refused altogether.
    """
    types = [subject] if isinstance(subject, str) else list(subject)
    arguments = ", ".join(f"'{value}'" for value in (",".join(types), id_column, *(through or ())))
    rows = f'AFTER {{}} ON "{table}" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW'
    calls = f"EXECUTE FUNCTION {FUNCTION}({arguments})"
    inserted, deleted, changed, whole = triggers = [f"{name}_{part}" for part in PARTS]
    statements = [
        f"CREATE CONSTRAINT TRIGGER {inserted} {rows.format('INSERT')} WHEN ({inserted_when}) {calls};",
        f"CREATE CONSTRAINT TRIGGER {deleted} {rows.format('DELETE')} {calls};",
        _on_change(table, columns, besides, f"{changed} {rows.format('UPDATE')}", calls),
        f'CREATE TRIGGER {whole} BEFORE TRUNCATE ON "{table}" EXECUTE FUNCTION {FUNCTION}_table();',
        *(f'ALTER TABLE "{table}" ENABLE ALWAYS TRIGGER {trigger};' for trigger in triggers),
    ]
    undone = "".join(f'DROP TRIGGER {trigger} ON "{table}";' for trigger in triggers)
    return migrations.RunSQL("\n".join(statements), undone)


def ungoverned(table: str, *, name: str = NAME) -> migrations.RunSQL:
    """Take the triggers off, so that a watched column can be dropped; `governed` follows in the same migration."""
    dropped = "".join(f'DROP TRIGGER {name}_{part} ON "{table}";' for part in PARTS)
    return migrations.RunSQL(dropped, migrations.RunSQL.noop)


def _on_change(
    table: str, columns: Sequence[str] | None, besides: Sequence[str], head: str, calls: str
) -> str:
    """The trigger on updates; its WHEN names the watched columns, which the database itself lists if need be."""
    watched = _array(columns) if columns is not None else _all_columns(table, besides)
    made = f"CREATE CONSTRAINT TRIGGER {head} WHEN (ROW(%s) IS DISTINCT FROM ROW(%s)) {calls}"
    return f"""
DO $do$
DECLARE watched text[] := {watched};
BEGIN
  EXECUTE format($make${made}$make$,
    (SELECT string_agg(format('OLD.%I', name), ', ') FROM unnest(watched) AS name),
    (SELECT string_agg(format('NEW.%I', name), ', ') FROM unnest(watched) AS name));
END $do$;"""  # noqa: S608 - names are a migration's own


def _all_columns(table: str, besides: Sequence[str]) -> str:
    return f"""ARRAY(
  SELECT attname::text FROM pg_attribute
  WHERE attrelid = '"{table}"'::regclass AND attnum > 0 AND NOT attisdropped AND attname <> ALL ({_array(besides)})
  ORDER BY attnum)"""  # noqa: S608 - names are a migration's own


def _array(names: Sequence[str]) -> str:
    quoted = ", ".join(f"'{name}'" for name in names)
    return f"ARRAY[{quoted}]::text[]"
