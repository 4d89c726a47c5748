"""Settings: closed where they should be, and production refuses to start half configured."""

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import RequestFactory
from rest_framework.settings import api_settings
from rest_framework.views import APIView

from config.connection import celery_broker, current, django_database
from tests.servers import ROOT

PRODUCTION = {
    "LINGEE_ROLE": "sealed",
    "DATABASE_URL": "postgresql://u:p@db.example/lingee?sslmode=verify-full",
    "AUDITOR_DATABASE_URL": "postgresql://a:p@db.example/lingee?sslmode=verify-full",
    "REDIS_URL": "rediss://redis.example/0",
    "S3_ENDPOINT_URL": "https://s3.example",
    "SECRET_KEY": "x" * 60,
    "VAULT_KEY_WORKER": "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=",
    "VAULT_KEY_SEALED": "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=",
    "VAULT_KEY_UPSTREAM": "Q0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0M=",
    "VAULT_BOX_CASE": "REREREREREREREREREREREREREREREREREREREREREQ=",
    "EMAIL_URL": "smtp://mail.invalid:25",
    "LINGEE_ALLOWED_HOSTS": "bench.example",
}


def load(tmp_path, **changes):
    given = {**PRODUCTION, **changes}
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}",
        "DJANGO_SETTINGS_MODULE": "config.settings.production",
        "LINGEE_STATE_DIR": str(tmp_path / "state"),
        **{name: value for name, value in given.items() if value is not None},
    }
    code = (
        "from django.conf import settings as s; print(s.VAULT_KEY_SEALED, s.SESSION_COOKIE_SECURE, s.DEBUG)"
    )
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_production_takes_everything_from_the_environment_and_writes_no_state(tmp_path):
    done = load(tmp_path)
    assert done.stdout.split()[-2:] == ["True", "False"], done.stderr
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("name", [name for name in PRODUCTION if name != "LINGEE_ALLOWED_HOSTS"])
def test_production_refuses_to_start_without(tmp_path, name):
    done = load(tmp_path, **{name: None})
    assert done.returncode != 0
    assert name in done.stderr


def test_a_web_process_has_no_vault_key_even_if_one_is_in_its_environment(tmp_path):
    people = PRODUCTION["VAULT_KEY_WORKER"]  # what it does hold opens no package and no task
    done = load(tmp_path, LINGEE_ROLE="web", VAULT_KEY_PEOPLE=people, VAULT_BOX_UPSTREAM=people)
    assert done.stdout.startswith("None ")


def test_an_unknown_role_is_refused():
    with pytest.raises(ValueError, match="one of owner, web, execute"):
        current({"LINGEE_ROLE": "root"})


def test_the_api_is_closed_by_default():
    response = APIView.as_view()(RequestFactory().get("/"))
    assert response.status_code in {401, 403}
    assert [found.__name__ for found in api_settings.DEFAULT_PERMISSION_CLASSES] == ["DenyAll"]


def test_the_content_policy_allows_nothing_but_our_own_origin():
    directives = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    assert directives["default-src"] == ["'none'"]
    assert {value for values in directives.values() for value in values} == {"'none'", "'self'"}


def test_socket_addresses_are_spelled_for_each_library():
    assert celery_broker("unix://:p@/run/r.sock?db=3") == "redis+socket://:p@/run/r.sock?virtual_host=3"
    assert celery_broker("redis://r/0") == "redis://r/0"
    entry = django_database("postgresql://lingee_web:p%2Fw@/lingee?host=%2Frun%2Fx", max_age=5)
    assert (entry["HOST"], entry["USER"], entry["PASSWORD"], entry["NAME"]) == (
        "/run/x",
        "lingee_web",
        "p/w",
        "lingee",
    )
