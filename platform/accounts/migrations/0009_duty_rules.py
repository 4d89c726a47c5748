"""The rules of duties, held by the database: whatever writes, and however many at once.

A refusal names its rule as the constraint that was broken; `accounts.duties.refusals` has a sentence for each. The
pairs and the list below are those of `accounts/duties/table.py` as they were; tests compare. Whoever changes that
table replaces the two functions in a new migration.
"""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

FOUR = ("task_author", "evaluation_engineer", "scoring_maintainer", "held_out_governor")
PAIRS = [
    *((one, other) for number, one in enumerate(FOUR) for other in FOUR[number + 1 :]),
    *(("arbiter", duty) for duty in FOUR),
    *(("administrator", duty) for duty in (*FOUR, "arbiter")),
    *(("identity_reviewer", duty) for duty in ("held_out_governor", "arbiter")),
    *(("auditor", duty) for duty in (*FOUR, "arbiter", "identity_reviewer", "administrator")),
]
KEPT_APART = [*FOUR, "arbiter", "auditor", "identity_reviewer"]


def _listed() -> str:
    both_ways = sorted({*PAIRS, *((other, one) for one, other in PAIRS)})
    return ", ".join(f"('{one}', '{other}')" for one, other in both_ways)


TABLES = f"""
CREATE FUNCTION accounts_duties_conflict(one text, other text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (one, other) IN (VALUES {_listed()})
$$;
CREATE FUNCTION accounts_duty_is_kept_apart(duty text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT duty IN ({", ".join(f"'{duty}'" for duty in KEPT_APART)})
$$;
CREATE FUNCTION accounts_duty_refuse(rule text, said text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', said USING ERRCODE = 'integrity_constraint_violation', CONSTRAINT = rule;
END $$;
"""

# Whoever looks along these as the owner gets one bit back. All functions run in READ COMMITTED only, where a
# statement after a lock sees what the one who held it has committed.
LOOKS = """
CREATE FUNCTION accounts_is_administrator(who uuid, at timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM public.accounts_dutyassignment held JOIN public.accounts_user person ON pseudonym = held.person
    WHERE held.person = who AND duty = 'administrator' AND confirmed_at <= at AND begins_at <= at
      AND at < least(ends_at, ended_at) AND is_active AND suspended_at IS NULL)
$$;
CREATE FUNCTION accounts_organisation_can_submit(which uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM public.accounts_organisation organisation
    WHERE organisation.id = which AND (is_operator OR NOT EXISTS (
      SELECT FROM public.accounts_auditorganisation audits WHERE audits.organisation_id = organisation.id)))
$$;
CREATE FUNCTION accounts_can_submit(who uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM public.accounts_user person
    JOIN public.accounts_membership member ON member.user_id = person.id
    WHERE pseudonym = who AND public.accounts_organisation_can_submit(member.organisation_id))
$$;
CREATE FUNCTION accounts_lock_person(who uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM public.accounts_duty_refuse('duty_isolation', 'duties, members and terms change in READ COMMITTED only');
  END IF;
  PERFORM FROM public.accounts_user WHERE pseudonym = who FOR NO KEY UPDATE;
END $$;
"""

CHANGES = """
CREATE FUNCTION accounts_duty_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  ceremony boolean;
BEGIN
  SELECT EXISTS (
    SELECT FROM public.accounts_dutyceremony held
    WHERE held.transaction = pg_current_xact_id()::text::bigint AND NEW.duty = 'administrator'
      AND NEW.person IN (held.first, held.second) AND NEW.assigned_by IN (held.first, held.second)
      AND coalesce(NEW.confirmed_by, held.first) IN (held.first, held.second)) INTO ceremony;
  IF TG_OP = 'INSERT' THEN
    IF coalesce(NEW.confirmed_at, NEW.ended_at, NEW.reviewed_at) IS NOT NULL THEN
      PERFORM public.accounts_duty_refuse('duty_is_fixed', 'a duty begins as a proposal');
    ELSIF NOT ceremony AND NOT public.accounts_is_administrator(NEW.assigned_by, NEW.assigned_at) THEN
      PERFORM public.accounts_duty_refuse('duty_not_administrator', 'only an administrator proposes a duty');
    END IF;
    RETURN NEW;
  END IF;
  IF ROW(NEW.id, NEW.person, NEW.duty, NEW.begins_at, NEW.ends_at, NEW.assigned_by, NEW.assigned_at, NEW.reason)
    IS DISTINCT FROM
     ROW(OLD.id, OLD.person, OLD.duty, OLD.begins_at, OLD.ends_at, OLD.assigned_by, OLD.assigned_at, OLD.reason)
  THEN
    PERFORM public.accounts_duty_refuse('duty_is_fixed', 'what was proposed does not change; end it and propose anew');
  ELSIF OLD.ended_at IS NOT NULL THEN
    PERFORM public.accounts_duty_refuse('duty_is_over', 'a duty that was ended stays as it is');
  ELSIF OLD.confirmed_at IS NOT NULL AND ROW(NEW.confirmed_by, NEW.confirmed_at, NEW.confirm_reason)
    IS DISTINCT FROM ROW(OLD.confirmed_by, OLD.confirmed_at, OLD.confirm_reason) THEN
    PERFORM public.accounts_duty_refuse('duty_is_confirmed', 'a duty is confirmed once');
  END IF;
  IF NEW.reviewed_at IS DISTINCT FROM OLD.reviewed_at AND
     (NEW.confirmed_at IS NULL OR NOT public.accounts_is_administrator(NEW.reviewed_by, NEW.reviewed_at)) THEN
    PERFORM public.accounts_duty_refuse('duty_not_administrator', 'only an administrator reviews what is confirmed');
  END IF;
  IF OLD.confirmed_at IS NULL AND NEW.confirmed_at IS NOT NULL THEN
    IF NOT ceremony AND NOT public.accounts_is_administrator(NEW.confirmed_by, NEW.confirmed_at) THEN
      PERFORM public.accounts_duty_refuse('duty_not_administrator', 'only an administrator confirms a duty');
    END IF;
    PERFORM public.accounts_duty_allowed(NEW);
  END IF;
  IF NEW.ended_at IS NOT NULL THEN
    PERFORM public.accounts_duty_may_end(NEW);
  END IF;
  RETURN NEW;
END $$;
CREATE FUNCTION accounts_duty_allowed(wanted accounts_dutyassignment) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  other record;
BEGIN
  PERFORM public.accounts_lock_person(wanted.person);
  IF public.accounts_duty_is_kept_apart(wanted.duty) AND public.accounts_can_submit(wanted.person) THEN
    PERFORM public.accounts_duty_refuse('duty_member', 'a member of an organisation that can submit holds no such duty');
  END IF;
  FOR other IN
    SELECT duty FROM public.accounts_dutyassignment held
    WHERE held.person = wanted.person AND held.id <> wanted.id AND confirmed_at IS NOT NULL
      AND begins_at < wanted.ends_at AND wanted.begins_at < least(ends_at, ended_at)
    UNION ALL
    SELECT 'auditor' FROM public.accounts_auditorterm term JOIN public.accounts_user person ON person.id = term.person_id
    WHERE person.pseudonym = wanted.person
      AND begins_at < wanted.ends_at AND wanted.begins_at < least(ends_at, ended_at)
  LOOP
    IF other.duty = wanted.duty THEN
      PERFORM public.accounts_duty_refuse('duty_held', format('the person holds the duty %s in that time', wanted.duty));
    ELSIF public.accounts_duties_conflict(wanted.duty, other.duty) THEN
      PERFORM public.accounts_duty_refuse('duty_conflict', format('%s excludes %s', other.duty, wanted.duty));
    END IF;
  END LOOP;
END $$;
CREATE FUNCTION accounts_duty_may_end(over accounts_dutyassignment) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  others bigint;
BEGIN
  PERFORM public.accounts_lock_person(over.person);
  -- One at a time: two who end each other's duty at once would leave nobody.
  PERFORM pg_advisory_xact_lock(hashtextextended('accounts_dutyassignment', 0));
  IF NOT public.accounts_is_administrator(over.ended_by, over.ended_at) THEN
    PERFORM public.accounts_duty_refuse('duty_not_administrator', 'only an administrator ends a duty');
  END IF;
  IF over.duty <> 'administrator' OR over.confirmed_at IS NULL OR over.ends_at <= over.ended_at
     OR over.begins_at > over.ended_at THEN
    RETURN;
  END IF;
  SELECT count(DISTINCT person) FROM public.accounts_dutyassignment held
    WHERE held.person <> over.person AND public.accounts_is_administrator(held.person, over.ended_at) INTO others;
  IF others < 2 THEN
    PERFORM public.accounts_duty_refuse('duty_few_administrators', 'fewer than two administrators would be left');
  END IF;
END $$;
CREATE TRIGGER accounts_duty_guard BEFORE INSERT OR UPDATE ON accounts_dutyassignment
  FOR EACH ROW EXECUTE FUNCTION accounts_duty_guard();
ALTER TABLE accounts_dutyassignment ENABLE ALWAYS TRIGGER accounts_duty_guard;
"""

# The same rules from the other tables: members, auditors' terms, and the ceremony.
BESIDE = """
CREATE FUNCTION accounts_member_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  who uuid;
BEGIN
  SELECT pseudonym FROM public.accounts_user WHERE id = NEW.user_id INTO who;
  PERFORM public.accounts_lock_person(who);
  IF EXISTS (
    SELECT FROM public.accounts_dutyassignment held
    WHERE held.person = who AND confirmed_at IS NOT NULL AND least(ends_at, ended_at) > clock_timestamp()
      AND public.accounts_duty_is_kept_apart(duty))
    AND public.accounts_organisation_can_submit(NEW.organisation_id)
  THEN
    PERFORM public.accounts_duty_refuse('duty_holder', 'who holds such a duty joins no organisation that can submit');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_member_guard BEFORE INSERT OR UPDATE OF user_id, organisation_id ON accounts_membership
  FOR EACH ROW EXECUTE FUNCTION accounts_member_guard();
ALTER TABLE accounts_membership ENABLE ALWAYS TRIGGER accounts_member_guard;
CREATE FUNCTION accounts_term_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  who uuid;
BEGIN
  SELECT pseudonym FROM public.accounts_user WHERE id = NEW.person_id INTO who;
  PERFORM public.accounts_lock_person(who);
  IF EXISTS (
    SELECT FROM public.accounts_dutyassignment held
    WHERE held.person = who AND confirmed_at IS NOT NULL
      AND begins_at < NEW.ends_at AND NEW.begins_at < least(ends_at, ended_at)) THEN
    PERFORM public.accounts_duty_refuse('duty_conflict', 'who holds a duty audits nothing');
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_term_guard BEFORE INSERT OR UPDATE OF person_id, begins_at, ends_at ON accounts_auditorterm
  FOR EACH ROW EXECUTE FUNCTION accounts_term_guard();
ALTER TABLE accounts_auditorterm ENABLE ALWAYS TRIGGER accounts_term_guard;
CREATE FUNCTION accounts_ceremony_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- Not the caller's to choose: within this transaction two people confirm each other.
  NEW.transaction := CASE TG_OP WHEN 'INSERT' THEN pg_current_xact_id()::text::bigint ELSE OLD.transaction END;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_ceremony_guard BEFORE INSERT OR UPDATE ON accounts_dutyceremony
  FOR EACH ROW EXECUTE FUNCTION accounts_ceremony_guard();
ALTER TABLE accounts_dutyceremony ENABLE ALWAYS TRIGGER accounts_ceremony_guard;
"""

CLOSED = """
REVOKE ALL ON FUNCTION accounts_is_administrator(uuid, timestamptz), accounts_organisation_can_submit(uuid),
  accounts_can_submit(uuid), accounts_lock_person(uuid), accounts_duty_allowed(accounts_dutyassignment),
  accounts_duty_may_end(accounts_dutyassignment), accounts_duty_guard(), accounts_member_guard(),
  accounts_term_guard() FROM PUBLIC;
"""

UNDONE = """
DROP TRIGGER accounts_duty_guard ON accounts_dutyassignment;
DROP TRIGGER accounts_member_guard ON accounts_membership;
DROP TRIGGER accounts_term_guard ON accounts_auditorterm;
DROP TRIGGER accounts_ceremony_guard ON accounts_dutyceremony;
DROP FUNCTION accounts_duty_guard(), accounts_member_guard(), accounts_term_guard(), accounts_ceremony_guard(),
  accounts_duty_may_end(accounts_dutyassignment), accounts_duty_allowed(accounts_dutyassignment),
  accounts_lock_person(uuid), accounts_can_submit(uuid), accounts_organisation_can_submit(uuid),
  accounts_is_administrator(uuid, timestamptz),
  accounts_duty_refuse(text, text), accounts_duty_is_kept_apart(text), accounts_duties_conflict(text, text);
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0008_duties")]

    operations = [
        migrations.RunSQL(TABLES + LOOKS + CHANGES + BESIDE + CLOSED, UNDONE),
        governed("accounts_dutyassignment", subject="duty"),
        governed("accounts_dutyceremony", subject="duty_ceremony"),
        immutable(
            "accounts_dutyassignment",
            name="accounts_duty_kept",
            message="duties stay on record",
            operations="DELETE",
        ),
        immutable(
            "accounts_dutyceremony",
            name="accounts_ceremony_kept",
            message="the ceremony is held once and stays on record",
            operations="DELETE",
        ),
        grant("SELECT, INSERT", ["accounts_dutyassignment", "accounts_dutyceremony"], ["console"]),
        grant(
            "UPDATE (confirmed_by, confirmed_at, confirm_reason, review_due_at, reviewed_by, reviewed_at, "
            "review_reason, ended_by, ended_at, end_reason)",
            ["accounts_dutyassignment"],
            ["console"],
        ),
        grant(
            "SELECT",
            [
                "accounts_dutyassignment",
                "accounts_dutyceremony",
                "accounts_auditorterm",
                "accounts_auditorganisation",
            ],
            ["sealed"],
        ),
        grant("SELECT", ["accounts_dutyassignment", "accounts_dutyceremony"], ["auditor"]),
    ]
