"""The process that serves vendors can neither make staff nor verify an organisation, whatever it is made to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.submissions import world

pytestmark = pytest.mark.django_db(transaction=True)
Connect = Callable[[str], psycopg.Connection[Any]]

FORBIDDEN = [
    "UPDATE accounts_user SET is_staff = true",
    "UPDATE accounts_user SET is_superuser = true",
    "UPDATE accounts_user SET pseudonym = gen_random_uuid()",
    "UPDATE accounts_organisation SET state = 'suspended'",
    "UPDATE accounts_organisation SET is_operator = true",
    "INSERT INTO accounts_user_groups (user_id, group_id) SELECT id, 1 FROM accounts_user",
]


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_web_role_cannot_raise_anybody(connect_as: Connect, statement: str) -> None:
    world.vendor()
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        connect_as("web").execute(statement)


def test_the_web_role_can_still_change_a_password(connect_as: Connect) -> None:
    world.vendor()
    web = connect_as("web")
    with web.transaction(force_rollback=True):  # without its event it could not be committed
        changed = web.execute("UPDATE accounts_user SET password = 'x'")
    assert changed.rowcount == 1
    assert web.execute("UPDATE accounts_user SET last_login = now()").rowcount == 1
