"""Who may read and write what of model calls, and that no upstream stops or goes on without an event.

Where vendors are served nothing of a call can be read; the execute role opens credentials, and no sandbox sees one.
"""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed, ungoverned

MODEL, CALL, USE, STOP, DOUBT = (
    "evaluation_runmodel",
    "evaluation_modelcall",
    "evaluation_upstreamuse",
    "evaluation_upstreamstop",
    "evaluation_upstreamdoubt",
)
UPSTREAM, CREDENTIAL, ATTEMPT = (
    "evaluation_modelupstream",
    "evaluation_upstreamcredential",
    "evaluation_attempt",
)
ENDED_CALL = """
CREATE FUNCTION evaluation_call_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.ended_at IS NOT NULL THEN
    RAISE EXCEPTION 'an ended call never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER evaluation_call_ended BEFORE UPDATE ON evaluation_modelcall
  FOR EACH ROW EXECUTE FUNCTION evaluation_call_ended();
ALTER TABLE evaluation_modelcall ENABLE ALWAYS TRIGGER evaluation_call_ended;
"""
REOPEN = "DROP TRIGGER evaluation_call_ended ON evaluation_modelcall; DROP FUNCTION evaluation_call_ended();"


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0017_model_calls")]

    operations = [
        migrations.RunSQL(ENDED_CALL, REOPEN),
        immutable(CALL, name="model_call_kept", message="a model call stays on record", operations="DELETE"),
        immutable(MODEL, name="run_model_immutable", message="what a run may call never changes"),
        governed(MODEL, subject="run", id_column="run_id"),
        governed(STOP, subject="upstream", id_column="upstream_id", besides=["probed_at"]),
        ungoverned(UPSTREAM),
        governed(UPSTREAM, subject="upstream"),
        ungoverned(ATTEMPT),
        governed(ATTEMPT, subject="attempt", inserted_when="NEW.ended_at IS NOT NULL"),
        grant("SELECT", [MODEL, UPSTREAM, CREDENTIAL], ["execute"]),
        grant("SELECT, INSERT, UPDATE", [CALL, USE], ["execute"]),
        grant("SELECT, INSERT", [STOP, DOUBT], ["execute"]),
        grant("SELECT, INSERT", [MODEL], ["sealed"]),
        grant("SELECT", [CALL], ["sealed", "console"]),
        grant("SELECT, INSERT, UPDATE", [USE, STOP], ["sealed"]),
        grant("SELECT, INSERT, DELETE", [DOUBT], ["sealed"]),
        grant("SELECT", [MODEL, STOP], ["web", "console"]),
        grant("SELECT", [USE], ["console"]),
        grant("UPDATE (input_price, cached_price, output_price)", [UPSTREAM], ["web", "console"]),
    ]
