"""Tests: real servers, but none is known before a test asks for one (tests/conftest.py fills them in)."""

import os
import secrets
import tempfile
from base64 import b64encode

# Read by base: generated anew, so that importing settings writes no state folder.
os.environ.setdefault("LINGEE_ROLE", "test")
os.environ.setdefault("LINGEE_STATE_DIR", f"{tempfile.gettempdir()}/lingee-tests-have-no-state")
os.environ.setdefault("SECRET_KEY", secrets.token_urlsafe(32))
os.environ.setdefault("VAULT_KEY_WORKER", b64encode(secrets.token_bytes(32)).decode())
os.environ.setdefault("VAULT_KEY_SEALED", b64encode(secrets.token_bytes(32)).decode())
os.environ.setdefault("VAULT_KEY_PEOPLE", b64encode(secrets.token_bytes(32)).decode())
os.environ.setdefault("VAULT_KEY_UPSTREAM", b64encode(secrets.token_bytes(32)).decode())
os.environ.setdefault("VAULT_KEY_CASE", b64encode(secrets.token_bytes(32)).decode())

from config.settings.base import *  # noqa: F403
from config.settings.environment import ENV

PROGRESS_TICK_SECONDS = ENV.int("LINGEE_PROGRESS_TICK_SECONDS", default=0)  # tests of it set their own
LOG_PUBLIC_TICK_SECONDS = ENV.int("LINGEE_LOG_PUBLIC_TICK_SECONDS", default=0)
DEBUG = False
API_RATES = dict.fromkeys(API_RATES, 0)
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.MD5PasswordHasher"
]  # speed; no password of a test guards anything
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
#: Passkeys are bound to https elsewhere; a machine of one's own has http://localhost.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
