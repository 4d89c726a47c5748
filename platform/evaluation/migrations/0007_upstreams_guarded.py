"""What of an upstream never changes, who may read and write it, and that no change goes without an event.

Web and console write a credential and cannot read it back: they have no SELECT on what is boxed, and no key to it.
"""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

UPSTREAM, CREDENTIAL, TRIAL = (
    "evaluation_modelupstream",
    "evaluation_upstreamcredential",
    "evaluation_upstreamtrial",
)

FIXED = """
CREATE FUNCTION evaluation_upstream_fixed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.dialect, NEW.base_url, NEW.snapshot, NEW.exposure, NEW.created_at)
       IS DISTINCT FROM (OLD.id, OLD.dialect, OLD.base_url, OLD.snapshot, OLD.exposure, OLD.created_at)
     OR NEW.organisation_id IS DISTINCT FROM OLD.organisation_id THEN
    RAISE EXCEPTION 'what is called never changes; register another' USING ERRCODE = 'integrity_constraint_violation';
  ELSIF OLD.state = 'retired' THEN
    RAISE EXCEPTION 'a retired upstream stays as it is' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER evaluation_upstream_fixed BEFORE UPDATE ON evaluation_modelupstream
  FOR EACH ROW EXECUTE FUNCTION evaluation_upstream_fixed();
ALTER TABLE evaluation_modelupstream ENABLE ALWAYS TRIGGER evaluation_upstream_fixed;
"""
LOOSE = """
DROP TRIGGER evaluation_upstream_fixed ON evaluation_modelupstream; DROP FUNCTION evaluation_upstream_fixed();
"""


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0006_model_upstreams")]

    operations = [
        migrations.RunSQL(FIXED, LOOSE),
        immutable(
            UPSTREAM,
            name="evaluation_upstream_kept",
            message="an upstream stays on record",
            operations="DELETE",
        ),
        governed(UPSTREAM, subject="upstream"),
        governed(CREDENTIAL, subject="upstream", id_column="upstream_id"),
        governed(TRIAL, subject="upstream", id_column="upstream_id"),
        grant("SELECT, INSERT", [UPSTREAM, TRIAL], ["web", "console"]),
        grant(
            "UPDATE (name, requests_per_minute, concurrency, ceiling, currency, state, retired_at)",
            [UPSTREAM],
            ["web", "console"],
        ),
        grant(
            "INSERT, DELETE, SELECT (upstream_id, hint, set_at), UPDATE (boxed, hint, set_at)",
            [CREDENTIAL],
            ["web", "console"],
        ),
        grant("SELECT", [UPSTREAM, CREDENTIAL, TRIAL], ["sealed"]),
        grant("UPDATE (ended_at, outcome, milliseconds)", [TRIAL], ["sealed"]),
        grant(
            "SELECT (id, organisation_id, dialect, exposure, ceiling, currency, state)",
            [UPSTREAM],
            ["auditor"],
        ),
    ]
