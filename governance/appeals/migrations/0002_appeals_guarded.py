"""Legal moves of appeals, two people behind each ruling, what never changes, and who may read which part."""

from django.db import migrations

from audit.database import grant, immutable, legal_moves
from audit.governed import governed

APPEAL, HANDLING, DRAFT, RULING, EFFECT, OUTSIDER = (
    "appeals_appeal",
    "appeals_handling",
    "appeals_draft",
    "appeals_ruling",
    "appeals_ruledeffect",
    "appeals_outsidearbiter",
)
MOVES = {
    "filed": ("admitted", "inadmissible", "withdrawn"),
    "admitted": ("assigned", "withdrawn"),
    "assigned": ("drafted", "withdrawn"),
    "drafted": ("ruled", "assigned", "withdrawn"),
    "ruled": ("carried_out",),
}
MOVED = "state, state_since, cause, due_at, ended_at"
HEAD = "id, organisation_id, lineage_id, task_set_id, subject, submission_id, domain"
FACTS = f"SELECT ({HEAD}, commitment, filed_by, filed_at, {MOVED}, escalations, admitted_at)"
DECIDED = "decision, decided_by, decided_at"

GUARDED = """
CREATE FUNCTION appeals_appeal_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.organisation_id, NEW.lineage_id, NEW.task_set_id, NEW.subject, NEW.submission_id, NEW.domain,
      NEW.grounds, NEW.facts, NEW.commitment, NEW.filed_by, NEW.filed_at)
       IS DISTINCT FROM (OLD.id, OLD.organisation_id, OLD.lineage_id, OLD.task_set_id, OLD.subject, OLD.submission_id,
      OLD.domain, OLD.grounds, OLD.facts, OLD.commitment, OLD.filed_by, OLD.filed_at)
     OR OLD.ended_at IS NOT NULL OR NEW.escalations < OLD.escalations THEN
    RAISE EXCEPTION 'what was filed, or is over, never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_appeal_guard BEFORE UPDATE ON appeals_appeal
  FOR EACH ROW EXECUTE FUNCTION appeals_appeal_guard();
ALTER TABLE appeals_appeal ENABLE ALWAYS TRIGGER appeals_appeal_guard;

CREATE FUNCTION appeals_draft_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.appeal_id, NEW.number, NEW.outcome, NEW.text, NEW.effects, NEW.proposed_by, NEW.proposed_at)
       IS DISTINCT FROM (OLD.id, OLD.appeal_id, OLD.number, OLD.outcome, OLD.text, OLD.effects, OLD.proposed_by,
      OLD.proposed_at) OR OLD.decision <> 'open' THEN
    RAISE EXCEPTION 'a draft stays as it was proposed, and is decided on once'
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_draft_guard BEFORE UPDATE ON appeals_draft
  FOR EACH ROW EXECUTE FUNCTION appeals_draft_guard();
ALTER TABLE appeals_draft ENABLE ALWAYS TRIGGER appeals_draft_guard;

CREATE FUNCTION appeals_ruling_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.outcome <> 'inadmissible' THEN
    PERFORM FROM public.appeals_draft WHERE appeal_id = NEW.appeal_id AND decision = 'approved'
      AND outcome = NEW.outcome AND text = NEW.text AND decided_by <> proposed_by;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'a ruling is a draft that a second person approved'
        USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = 'appeal_two_people';
    END IF;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_ruling_guard BEFORE INSERT ON appeals_ruling
  FOR EACH ROW EXECUTE FUNCTION appeals_ruling_guard();
ALTER TABLE appeals_ruling ENABLE ALWAYS TRIGGER appeals_ruling_guard;

CREATE FUNCTION appeals_effect_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.id, NEW.appeal_id, NEW.kind) IS DISTINCT FROM (OLD.id, OLD.appeal_id, OLD.kind)
     OR OLD.done_at IS NOT NULL THEN
    RAISE EXCEPTION 'an effect is carried out once' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_effect_guard BEFORE UPDATE ON appeals_ruledeffect
  FOR EACH ROW EXECUTE FUNCTION appeals_effect_guard();
ALTER TABLE appeals_ruledeffect ENABLE ALWAYS TRIGGER appeals_effect_guard;
"""
UNGUARDED = "".join(
    f"DROP TRIGGER appeals_{name}_guard ON appeals_{table}; DROP FUNCTION appeals_{name}_guard();"
    for name, table in (
        ("appeal", "appeal"),
        ("draft", "draft"),
        ("ruling", "ruling"),
        ("effect", "ruledeffect"),
    )
)

# Memberships that are over leave no row. Whether somebody ever was a member decides whether they may have a say.
EVER = """
CREATE FUNCTION appeals_ever_member(person text) RETURNS SETOF text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT DISTINCT event.subject_id FROM public.audit_event event
  WHERE event.kind = 'organisation.member_added'
    AND convert_from(event.body, 'UTF8')::jsonb #>> '{data,account}' = person
$$;
REVOKE ALL ON FUNCTION appeals_ever_member(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION appeals_ever_member(text) TO lingee_console;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("appeals", "0001_appeals"),
        ("audit", "0006_lighter_appends"),
        ("governance", "0006_confirmation_runs"),
    ]

    operations = [
        legal_moves(APPEAL, MOVES, name="appeal_legal_moves", initial="filed"),
        migrations.RunSQL(GUARDED, UNGUARDED),
        immutable(APPEAL, name="appeal_kept", message="appeals stay on record", operations="DELETE"),
        immutable(
            HANDLING, name="appeal_handling_kept", message="appeals stay on record", operations="DELETE"
        ),
        immutable(DRAFT, name="appeal_draft_kept", message="drafts stay on record", operations="DELETE"),
        immutable(RULING, name="appeal_ruling_immutable", message="what was ruled never changes"),
        immutable(EFFECT, name="appeal_effect_kept", message="effects stay on record", operations="DELETE"),
        immutable(
            OUTSIDER, name="outsider_kept", message="who was named stays on record", operations="DELETE"
        ),
        governed(APPEAL, subject="appeal"),
        *(
            governed(name, subject="appeal", id_column="appeal_id")
            for name in (HANDLING, DRAFT, RULING, EFFECT)
        ),
        governed(OUTSIDER, subject="outside_arbiter", id_column="person"),
        grant(f"SELECT, INSERT, UPDATE ({MOVED})", [APPEAL], ["web"]),
        grant("SELECT", [RULING, EFFECT], ["web"]),
        grant(f"SELECT, UPDATE ({MOVED}, escalations, admitted_at)", [APPEAL], ["sealed", "console"]),
        grant("SELECT", [RULING, HANDLING, OUTSIDER], ["sealed"]),
        grant("SELECT, UPDATE (done_at, result, reference)", [EFFECT], ["sealed"]),
        grant("SELECT, INSERT", [HANDLING, DRAFT, RULING, EFFECT, OUTSIDER], ["console"]),
        grant("UPDATE (opinion, opinion_at, notes, notes_at)", [HANDLING], ["console"]),
        grant(f"UPDATE ({DECIDED}, remark)", [DRAFT], ["console"]),
        grant("UPDATE (declaration, named_by, confirmed_by, named_at, ended_at)", [OUTSIDER], ["console"]),
        grant(FACTS, [APPEAL], ["auditor"]),
        grant("SELECT (appeal_id, expert, engineer, named_by, named_at)", [HANDLING], ["auditor"]),
        grant(
            f"SELECT (id, appeal_id, number, outcome, proposed_by, proposed_at, {DECIDED})",
            [DRAFT],
            ["auditor"],
        ),
        grant("SELECT (appeal_id, outcome, ruled_at)", [RULING], ["auditor"]),
        grant("SELECT", [EFFECT, OUTSIDER], ["auditor"]),
        migrations.RunSQL(EVER, "DROP FUNCTION appeals_ever_member(text);"),
    ]
