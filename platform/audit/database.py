"""Helpers for migrations: the database roles, their grants, and triggers that guard rows.

Roles (one per kind of process; see docs): owner runs migrations; web, execute, sealed, console and auditor serve;
the sequencer turns events into the tree and can do nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import migrations

ROLES = ("web", "execute", "sealed", "console", "auditor", "sequencer")
APP_ROLES = ("web", "execute", "sealed", "console")


def role(name: str) -> str:
    return f"lingee_{name}"


def create_roles() -> migrations.RunSQL:
    """The roles without login; services or an administrator give them passwords. Existing ones are left alone."""
    statements = [
        f"DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{role(name)}') THEN "
        f"CREATE ROLE {role(name)} NOLOGIN; END IF; END $$;"
        for name in ROLES
    ]
    return migrations.RunSQL("\n".join(statements), migrations.RunSQL.noop)


def grant(privileges: str, tables: Sequence[str], to: Sequence[str]) -> migrations.RunSQL:
    """`privileges` may carry columns, as in `SELECT (id), INSERT (body)`. Undone by revoking all of them."""
    roles = ", ".join(role(name) for name in to)
    names = ", ".join(f'"{table}"' for table in tables)
    return migrations.RunSQL(
        f"GRANT {privileges} ON {names} TO {roles};", f"REVOKE ALL ON {names} FROM {roles};"
    )


def immutable(
    table: str, *, name: str, message: str, operations: str = "UPDATE OR DELETE"
) -> migrations.RunSQL:
    """Refuse `operations` on every row, and TRUNCATE, for every role, also in replica mode."""
    return migrations.RunSQL(
        f"""
        CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END $$;
        CREATE TRIGGER {name}_rows BEFORE {operations} ON "{table}" FOR EACH ROW EXECUTE FUNCTION {name}();
        CREATE TRIGGER {name}_table BEFORE TRUNCATE ON "{table}" FOR EACH STATEMENT EXECUTE FUNCTION {name}();
        ALTER TABLE "{table}" ENABLE ALWAYS TRIGGER {name}_rows;
        ALTER TABLE "{table}" ENABLE ALWAYS TRIGGER {name}_table;
        """,
        f'DROP TRIGGER {name}_rows ON "{table}"; DROP TRIGGER {name}_table ON "{table}"; DROP FUNCTION {name}();',
    )


def legal_moves(table: str, moves: dict[str, Sequence[str]], *, name: str, initial: str) -> migrations.RunSQL:
    """Refuse a row born in another state than `initial` and every change of `state` that `moves` does not list."""
    pairs = ", ".join(
        f"('{old}', '{new}')" for old, targets in sorted(moves.items()) for new in sorted(targets)
    )
    return migrations.RunSQL(
        f"""
        CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          IF TG_OP = 'INSERT' THEN
            IF NEW.state <> '{initial}' THEN
              RAISE EXCEPTION '% is not an initial state', NEW.state USING ERRCODE = 'check_violation';
            END IF;
          ELSIF NEW.state <> OLD.state AND (OLD.state, NEW.state) NOT IN (VALUES {pairs}) THEN
            RAISE EXCEPTION 'no move from % to %', OLD.state, NEW.state USING ERRCODE = 'check_violation';
          END IF;
          RETURN NEW;
        END $$;
        DROP TRIGGER IF EXISTS {name} ON "{table}";
        CREATE TRIGGER {name} BEFORE INSERT OR UPDATE ON "{table}" FOR EACH ROW EXECUTE FUNCTION {name}();
        ALTER TABLE "{table}" ENABLE ALWAYS TRIGGER {name};
        """,
        f'DROP TRIGGER {name} ON "{table}"; DROP FUNCTION {name}();',
    )
