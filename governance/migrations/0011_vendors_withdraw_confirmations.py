"""Where vendors are served a confirmation run is asked for and withdrawn: the clock alone moves it on."""

from django.db import migrations

GUARDED = """
CREATE FUNCTION governance_vendor_confirmations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'lingee_web' AND (
       TG_OP = 'INSERT' AND (NEW.run_id IS NOT NULL OR NEW.release_date_id IS NOT NULL)
     OR TG_OP = 'UPDATE' AND NEW.state <> 'withdrawn') THEN
    RAISE EXCEPTION 'vendors ask for confirmation runs and withdraw them; they move on by themselves'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER governance_vendor_confirmations BEFORE INSERT OR UPDATE ON governance_confirmationrun
  FOR EACH ROW EXECUTE FUNCTION governance_vendor_confirmations();
ALTER TABLE governance_confirmationrun ENABLE ALWAYS TRIGGER governance_vendor_confirmations;
"""
UNGUARDED = """
DROP TRIGGER governance_vendor_confirmations ON governance_confirmationrun;
DROP FUNCTION governance_vendor_confirmations();
"""


class Migration(migrations.Migration):
    dependencies = [("governance", "0010_rechecks_are_charged")]

    operations = [migrations.RunSQL(GUARDED, UNGUARDED)]
