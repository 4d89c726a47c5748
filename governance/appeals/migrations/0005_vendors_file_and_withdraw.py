"""Where vendors are served an appeal is filed and withdrawn, and the word of a re-check given: no other move is made."""

from django.db import migrations

GUARDED = """
CREATE FUNCTION appeals_vendor_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'lingee_web' AND (
       TG_OP = 'INSERT' AND (NEW.admitted_at IS NOT NULL OR NEW.escalations <> 0)
     OR TG_OP = 'UPDATE' AND NEW.state <> 'withdrawn') THEN
    RAISE EXCEPTION 'vendors file and withdraw appeals; staff and the clock move them on'
      USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_vendor_moves BEFORE INSERT OR UPDATE ON appeals_appeal
  FOR EACH ROW EXECUTE FUNCTION appeals_vendor_moves();
ALTER TABLE appeals_appeal ENABLE ALWAYS TRIGGER appeals_vendor_moves;
CREATE FUNCTION appeals_vendor_word() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_user = 'lingee_web' AND (OLD.state, NEW.state) <> ('committed', 'revealed') THEN
    RAISE EXCEPTION 'of a re-check a vendor gives the word, once' USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER appeals_vendor_word BEFORE UPDATE ON appeals_recheck
  FOR EACH ROW EXECUTE FUNCTION appeals_vendor_word();
ALTER TABLE appeals_recheck ENABLE ALWAYS TRIGGER appeals_vendor_word;
"""
UNGUARDED = """
DROP TRIGGER appeals_vendor_word ON appeals_recheck; DROP FUNCTION appeals_vendor_word();
DROP TRIGGER appeals_vendor_moves ON appeals_appeal; DROP FUNCTION appeals_vendor_moves();
"""


class Migration(migrations.Migration):
    dependencies = [("appeals", "0004_rechecks_guarded")]

    operations = [migrations.RunSQL(GUARDED, UNGUARDED)]
