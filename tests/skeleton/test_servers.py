"""The test harness itself: real servers, least rights, a fresh database after each committed test."""

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connection
from django.db.utils import DatabaseError

pytestmark = pytest.mark.django_db


def test_in_process_tests_have_no_more_rights_than_the_site():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
        assert cursor.fetchone() == ("lingee_test", False)
        with pytest.raises(DatabaseError, match="permission denied"):
            cursor.execute("CREATE TABLE more_rights_than_the_site (id int)")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("turn", ["writes", "finds nothing"])
def test_committed_rows_do_not_reach_the_next_test(turn):
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM accounts_lineage")
        assert cursor.fetchone() == (0,)
        cursor.execute("INSERT INTO accounts_lineage (id, created_at) VALUES (gen_random_uuid(), now())")


def test_cache_is_the_real_redis():
    cache.set("colour", "green")
    assert cache.get("colour") == "green"
    assert settings.REDIS_URL.startswith("unix://")


def test_each_role_connects_as_itself(connect_as):
    for role in ("owner", "web", "execute", "sealed", "console", "auditor"):
        assert connect_as(role).execute("SELECT current_user").fetchone() == (f"lingee_{role}",)
