"""Whoever makes a run may have the planner look at its episodes: until then it knows nothing of a new run."""

from django.db import migrations

# The privilege exists from PostgreSQL 17 on; before that the planner learns from autovacuum, a minute late.
MAINTAIN = """
DO $do$ BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'GRANT MAINTAIN ON evaluation_episode TO lingee_sealed';
  END IF;
END $do$;
"""
REVOKED = """
DO $do$ BEGIN
  IF current_setting('server_version_num')::int >= 170000 THEN
    EXECUTE 'REVOKE MAINTAIN ON evaluation_episode FROM lingee_sealed';
  END IF;
END $do$;
"""


class Migration(migrations.Migration):
    dependencies = [("evaluation", "0004_no_waiting_time")]

    operations = [migrations.RunSQL(MAINTAIN, REVOKED)]
