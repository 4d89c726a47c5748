"""The rules of link cases, held by the database, and who may read and write them."""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

GUARD = """
CREATE FUNCTION accounts_link_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'open' OR NEW.absorbed IS NOT NULL THEN
      PERFORM public.accounts_duty_refuse('link_is_fixed', 'a case begins as open');
    END IF;
    RETURN NEW;
  END IF;
  IF ROW(NEW.id, NEW.first, NEW.second, NEW.opened_at) IS DISTINCT FROM ROW(OLD.id, OLD.first, OLD.second, OLD.opened_at)
    OR OLD.state NOT IN ('open', 'proposed') THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'the parties of a case and what was decided do not change');
  ELSIF NEW.state <> OLD.state AND (OLD.state, NEW.state) NOT IN (
    VALUES ('open', 'proposed'), ('proposed', 'open'), ('proposed', 'linked'), ('proposed', 'cleared')) THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'a case is decided once it was proposed');
  ELSIF OLD.state = 'proposed' AND NEW.state <> 'open' AND
    ROW(NEW.verdict, NEW.reason, NEW.proposed_by, NEW.proposed_at) IS DISTINCT FROM
    ROW(OLD.verdict, OLD.reason, OLD.proposed_by, OLD.proposed_at) THEN
    PERFORM public.accounts_duty_refuse('link_is_fixed', 'what was proposed does not change');
  END IF;
  IF NEW.proposed_by IS NOT NULL AND OLD.proposed_by IS NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.proposed_by, NEW.proposed_at, NEW.first);
    PERFORM public.accounts_reviewer_allowed(NEW.proposed_by, NEW.proposed_at, NEW.second);
  END IF;
  IF NEW.decided_by IS NOT NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.decided_by, NEW.decided_at, NEW.first);
    PERFORM public.accounts_reviewer_allowed(NEW.decided_by, NEW.decided_at, NEW.second);
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION accounts_link_guard() FROM PUBLIC;
CREATE TRIGGER accounts_link_guard BEFORE INSERT OR UPDATE ON accounts_linkcase
  FOR EACH ROW EXECUTE FUNCTION accounts_link_guard();
ALTER TABLE accounts_linkcase ENABLE ALWAYS TRIGGER accounts_link_guard;
"""
UNDONE = "DROP TRIGGER accounts_link_guard ON accounts_linkcase; DROP FUNCTION accounts_link_guard();"
DECIDED = 'state, verdict, reason, proposed_by, proposed_at, decided_by, decided_at, absorbed, "into"'
SHOWN = (
    'id, "first", "second", state, opened_at, verdict, proposed_by, proposed_at, decided_by, decided_at, '
    'absorbed, "into"'
)


class Migration(migrations.Migration):
    dependencies = [("accounts", "0019_links")]

    operations = [
        migrations.RunSQL(GUARD, UNDONE),
        governed("accounts_linkcase", subject="link"),
        immutable(
            "accounts_linkcase",
            name="accounts_link_kept",
            message="cases stay on record",
            operations="DELETE",
        ),
        grant("INSERT", ["accounts_networkmark"], ["web"]),
        grant("SELECT, DELETE", ["accounts_networkmark"], ["sealed"]),
        grant('SELECT (id, "first", "second", state)', ["accounts_linkcase"], ["web"]),
        grant("SELECT, INSERT, UPDATE (signals)", ["accounts_linkcase"], ["sealed"]),
        grant(f"SELECT, UPDATE ({DECIDED})", ["accounts_linkcase"], ["console"]),
        grant(f"SELECT ({SHOWN})", ["accounts_linkcase"], ["auditor"]),
    ]
