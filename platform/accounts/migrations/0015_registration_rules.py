"""The rules of registrations, held by the database: what is filed stays, two identity reviewers decide, neither in their
own case; who serves vendors writes what is sealed and never reads it."""

from django.db import migrations

from audit.database import grant, immutable
from audit.governed import governed

GUARD = """
CREATE FUNCTION accounts_holds_duty(who uuid, wanted text, at timestamptz) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM public.accounts_dutyassignment held JOIN public.accounts_user person ON pseudonym = held.person
    WHERE held.person = who AND duty = wanted AND confirmed_at <= at AND begins_at <= at
      AND at < least(ends_at, ended_at) AND is_active AND is_staff AND suspended_at IS NULL)
$$;
CREATE FUNCTION accounts_is_in_lineage(who uuid, which uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT EXISTS (
    SELECT FROM public.accounts_membership member JOIN public.accounts_user person ON person.id = member.user_id
    JOIN public.accounts_organisation organisation ON organisation.id = member.organisation_id
    WHERE pseudonym = who AND lineage_id = which)
$$;
CREATE FUNCTION accounts_reviewer_allowed(who uuid, at timestamptz, which uuid) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF NOT public.accounts_holds_duty(who, 'identity_reviewer', at) THEN
    PERFORM public.accounts_duty_refuse('decision_not_entitled', 'only identity reviewers decide on this');
  ELSIF public.accounts_is_in_lineage(who, which) THEN
    PERFORM public.accounts_duty_refuse('decision_own_case', 'nobody decides about an organisation of their own');
  END IF;
END $$;
CREATE FUNCTION accounts_registration_guard() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  lineage uuid;
BEGIN
  IF TG_OP = 'INSERT' THEN
    IF NEW.state <> 'filed' OR NEW.domain_method <> '' THEN
      PERFORM public.accounts_duty_refuse('registration_is_fixed', 'a registration begins as filed');
    END IF;
    RETURN NEW;
  END IF;
  IF ROW(NEW.id, NEW.organisation_id, NEW.filed_by, NEW.filed_at, NEW.due_at, NEW.domain, NEW.name_mark,
         NEW.number_mark, NEW.domain_mark, NEW.evidence_files)
    IS DISTINCT FROM
     ROW(OLD.id, OLD.organisation_id, OLD.filed_by, OLD.filed_at, OLD.due_at, OLD.domain, OLD.name_mark,
         OLD.number_mark, OLD.domain_mark, OLD.evidence_files)
    OR OLD.state NOT IN ('filed', 'proposed')
    OR OLD.domain_confirmed_at IS NOT NULL AND NEW.domain_confirmed_at IS DISTINCT FROM OLD.domain_confirmed_at
  THEN
    PERFORM public.accounts_duty_refuse('registration_is_fixed', 'what was filed or decided does not change');
  ELSIF NEW.state <> OLD.state AND (OLD.state, NEW.state) NOT IN (
    VALUES ('filed', 'proposed'), ('proposed', 'filed'), ('proposed', 'verified'), ('proposed', 'refused'),
           ('proposed', 'more_asked')) THEN
    PERFORM public.accounts_duty_refuse('registration_is_fixed', 'a registration is decided once it was proposed');
  ELSIF OLD.state = 'proposed' AND NEW.state <> 'filed' AND
    ROW(NEW.verdict, NEW.ground, NEW.words, NEW.proposed_by, NEW.proposed_at) IS DISTINCT FROM
    ROW(OLD.verdict, OLD.ground, OLD.words, OLD.proposed_by, OLD.proposed_at) THEN
    PERFORM public.accounts_duty_refuse('registration_is_fixed', 'what was proposed does not change');
  END IF;
  SELECT lineage_id FROM public.accounts_organisation WHERE id = NEW.organisation_id INTO lineage;
  IF NEW.proposed_by IS NOT NULL AND OLD.proposed_by IS NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.proposed_by, NEW.proposed_at, lineage);
  END IF;
  IF NEW.decided_by IS NOT NULL THEN
    PERFORM public.accounts_reviewer_allowed(NEW.decided_by, NEW.decided_at, lineage);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_registration_guard BEFORE INSERT OR UPDATE ON accounts_registration
  FOR EACH ROW EXECUTE FUNCTION accounts_registration_guard();
ALTER TABLE accounts_registration ENABLE ALWAYS TRIGGER accounts_registration_guard;
CREATE FUNCTION accounts_details_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF length(NEW.wrapped_key) > 0 OR ROW(NEW.registration_id, NEW.sealed_organisation, NEW.sealed_contact)
     IS DISTINCT FROM ROW(OLD.registration_id, OLD.sealed_organisation, OLD.sealed_contact) THEN
    RAISE EXCEPTION 'of registered data only the key is taken away' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER accounts_details_guard BEFORE UPDATE ON accounts_registrationdetails
  FOR EACH ROW EXECUTE FUNCTION accounts_details_guard();
ALTER TABLE accounts_registrationdetails ENABLE ALWAYS TRIGGER accounts_details_guard;
REVOKE ALL ON FUNCTION accounts_holds_duty(uuid, text, timestamptz), accounts_is_in_lineage(uuid, uuid),
  accounts_reviewer_allowed(uuid, timestamptz, uuid), accounts_registration_guard() FROM PUBLIC;
CREATE OR REPLACE FUNCTION accounts_no_self_verification() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'lingee_web' AND (TG_OP = 'INSERT' AND
       (NEW.state <> 'under_review' OR NEW.is_operator OR NEW.verified_until IS NOT NULL)
     OR TG_OP = 'UPDATE' AND (NEW.state, NEW.is_operator, NEW.lineage_id, NEW.verified_until) IS DISTINCT FROM
                             (OLD.state, OLD.is_operator, OLD.lineage_id, OLD.verified_until)) THEN
    RAISE EXCEPTION 'only staff change the standing of an organisation' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
"""
UNDONE = """
DROP TRIGGER accounts_registration_guard ON accounts_registration;
DROP TRIGGER accounts_details_guard ON accounts_registrationdetails;
DROP FUNCTION accounts_registration_guard(), accounts_details_guard(),
  accounts_reviewer_allowed(uuid, timestamptz, uuid), accounts_is_in_lineage(uuid, uuid),
  accounts_holds_duty(uuid, text, timestamptz);
"""
SHOWN = (
    "id, organisation_id, filed_by, filed_at, due_at, state, domain_method, domain_confirmed_at, evidence_files, "
    "verdict, ground, proposed_by, proposed_at, decided_by, decided_at"
)
DECIDED = "state, verdict, ground, words, proposed_by, proposed_at, decided_by, decided_at"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0014_registration")]

    operations = [
        migrations.RunSQL(GUARD, UNDONE),
        governed("accounts_ruleacceptance", subject="organisation", id_column="organisation_id"),
        governed("accounts_registration", subject="registration"),
        governed("accounts_registrationdetails", subject="registration", id_column="registration_id"),
        governed("accounts_registrationevidence", subject="registration", id_column="registration_id"),
        immutable(
            "accounts_ruleacceptance", name="accounts_acceptance_kept", message="acceptances stay on record"
        ),
        immutable(
            "accounts_registration",
            name="accounts_registration_kept",
            message="registrations stay on record",
            operations="DELETE",
        ),
        immutable(
            "accounts_registrationdetails",
            name="accounts_details_kept",
            message="registered data stay; their key goes",
            operations="DELETE",
        ),
        immutable(
            "accounts_registrationevidence",
            name="accounts_evidence_kept",
            message="evidence stays as it was filed",
        ),
        grant("SELECT, INSERT", ["accounts_ruleacceptance"], ["web", "console"]),
        grant("SELECT", ["accounts_ruleacceptance"], ["sealed", "auditor"]),
        grant(
            "SELECT, INSERT, UPDATE (domain_method, domain_confirmed_at)", ["accounts_registration"], ["web"]
        ),
        grant(f"SELECT, UPDATE ({DECIDED})", ["accounts_registration"], ["console"]),
        grant("SELECT", ["accounts_registration"], ["sealed"]),
        grant(f"SELECT ({SHOWN})", ["accounts_registration"], ["auditor"]),
        # Written by who serves vendors, read on the console only; the id for the foreign keys' sake.
        grant("INSERT", ["accounts_registrationdetails", "accounts_registrationevidence"], ["web"]),
        grant("SELECT", ["accounts_registrationdetails", "accounts_registrationevidence"], ["console"]),
        grant("UPDATE (wrapped_key)", ["accounts_registrationdetails"], ["console"]),
        grant("SELECT (verified_until)", ["accounts_organisation"], ["auditor"]),
    ]
