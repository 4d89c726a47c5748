"""Who was ended is no administrator any more, whatever the time of the one who counts.

Two sessions take their time before they get the lock. The second may have the earlier one, at which the first's
administrator was still there: both ended, and one was left.
"""

from django.db import migrations

BODY = """
CREATE OR REPLACE FUNCTION accounts_duty_may_end(over accounts_dutyassignment) RETURNS void
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
    WHERE held.person <> over.person {and_not_ended}
      AND public.accounts_is_administrator(held.person, over.ended_at) INTO others;
  IF others < 2 THEN
    PERFORM public.accounts_duty_refuse('duty_few_administrators', 'fewer than two administrators would be left');
  END IF;
END $$;
"""
NOT_ENDED = "AND duty = 'administrator' AND ended_at IS NULL AND begins_at <= over.ended_at AND ends_at > over.ended_at"


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_duty_rules")]

    operations = [
        migrations.RunSQL(BODY.format(and_not_ended=NOT_ENDED), BODY.format(and_not_ended="")),
    ]
