"""The rules of undoing a link, held by the database."""

from importlib import import_module

from django.db import migrations

from audit.database import grant
from audit.governed import governed, ungoverned

BEFORE = import_module("accounts.migrations.0020_link_rules").GUARD
CREATED = BEFORE[: BEFORE.index("REVOKE ALL")].strip()
GUARD = """
CREATE OR REPLACE FUNCTION accounts_link_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'open' OR NEW.absorbed IS NOT NULL THEN
      PERFORM public.accounts_duty_refuse('link_is_fixed', 'a case begins as open');
    END IF;
    RETURN NEW;
  END IF;
  IF ROW(NEW.id, NEW.first, NEW.second, NEW.opened_at) IS DISTINCT FROM ROW(OLD.id, OLD.first, OLD.second, OLD.opened_at)
    OR OLD.state IN ('cleared', 'parted') THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'the parties of a case and what was decided do not change');
  ELSIF NEW.state <> OLD.state AND (OLD.state, NEW.state) NOT IN (
    VALUES ('open', 'proposed'), ('proposed', 'open'), ('proposed', 'linked'), ('proposed', 'cleared'),
           ('linked', 'parting'), ('parting', 'linked'), ('parting', 'parted')) THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'a case is decided once it was proposed');
  ELSIF OLD.state IN ('proposed', 'linked', 'parting') AND NEW.state <> 'open' AND
    ROW(NEW.verdict, NEW.reason, NEW.proposed_by, NEW.proposed_at) IS DISTINCT FROM
    ROW(OLD.verdict, OLD.reason, OLD.proposed_by, OLD.proposed_at) THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'what was proposed does not change');
  ELSIF OLD.state IN ('linked', 'parting') AND (NEW.state = OLD.state OR
    ROW(NEW.decided_by, NEW.decided_at, NEW.absorbed, NEW."into", NEW.moved) IS DISTINCT FROM
    ROW(OLD.decided_by, OLD.decided_at, OLD.absorbed, OLD."into", OLD.moved)) THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'what was decided does not change');
  ELSIF NEW.state = 'parted' AND ROW(NEW.parting_by, NEW.parting_at, NEW.parting_reason) IS DISTINCT FROM
    ROW(OLD.parting_by, OLD.parting_at, OLD.parting_reason) THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'what was proposed does not change');
  END IF;
  IF NEW.proposed_by IS NOT NULL AND OLD.proposed_by IS NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.proposed_by, NEW.proposed_at, NEW.first);
    PERFORM public.accounts_reviewer_allowed(NEW.proposed_by, NEW.proposed_at, NEW.second);
  END IF;
  IF NEW.decided_by IS NOT NULL AND OLD.decided_by IS NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.decided_by, NEW.decided_at, NEW.first);
    PERFORM public.accounts_reviewer_allowed(NEW.decided_by, NEW.decided_at, NEW.second);
  END IF;
  IF NEW.parting_by IS NOT NULL AND OLD.parting_by IS NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.parting_by, NEW.parting_at, NEW.first);
    PERFORM public.accounts_reviewer_allowed(NEW.parting_by, NEW.parting_at, NEW.second);
  END IF;
  IF NEW.parted_by IS NOT NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.parted_by, NEW.parted_at, NEW.first);
    PERFORM public.accounts_reviewer_allowed(NEW.parted_by, NEW.parted_at, NEW.second);
  END IF;
  RETURN NEW;
END $$;
"""
DECIDED = "moved, parting_reason, parting_by, parting_at, parted_by, parted_at"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0023_links_can_be_parted")]

    operations = [
        migrations.RunSQL(GUARD, CREATED.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")),
        ungoverned("accounts_linkcase"),
        governed("accounts_linkcase", subject="link"),
        grant(f"UPDATE ({DECIDED})", ["accounts_linkcase"], ["console"]),
        grant("SELECT (parting_by, parting_at, parted_by, parted_at)", ["accounts_linkcase"], ["auditor"]),
    ]
