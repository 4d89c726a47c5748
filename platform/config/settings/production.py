"""A real deployment: external servers, secrets from the environment, HTTPS only."""

import os

from config.connection import AUDITOR_HOLDERS, BOXES, KEY_HOLDERS
from config.settings.environment import ENV, required, words

# Base falls back to the embedded services' files; here every one of them has to be given.
for name in ("DATABASE_URL", "SECRET_KEY", "LINGEE_ROLE"):
    required(name)
# The sequencer has to do with the database only, and names the log it signs.
SEQUENCER = os.environ["LINGEE_ROLE"] == "sequencer"
for name in ("LINGEE_LOG_ORIGIN",) if SEQUENCER else ("REDIS_URL", "S3_ENDPOINT_URL"):
    required(name)
if os.environ["LINGEE_ROLE"] in AUDITOR_HOLDERS:
    required("AUDITOR_DATABASE_URL")
for key, holders in KEY_HOLDERS.items():
    if os.environ["LINGEE_ROLE"] in holders:
        required(key)
for box, (_key, box_holders) in BOXES.items():
    if os.environ["LINGEE_ROLE"] in box_holders:
        required(box)
os.environ.setdefault("LINGEE_LOG_FORMAT", "json")

from config.settings.base import *  # noqa: E402, F403
from config.settings.base import OIDC_ISSUERS as CHOSEN_ISSUERS  # noqa: E402
from config.settings.base import STATE_DIR  # noqa: E402
from config.settings.oidc import https_only  # noqa: E402

DEBUG = False
ALLOWED_HOSTS = words("LINGEE_ALLOWED_HOSTS")
SITE_URL = ENV.str("LINGEE_SITE", default=f"https://{ALLOWED_HOSTS[0]}" if ALLOWED_HOSTS else "").rstrip("/")
OIDC_ISSUERS = https_only(CHOSEN_ISSUERS)
OIDC_AUDIENCE = ENV.str("LINGEE_OIDC_AUDIENCE", default=SITE_URL)  # two sites must not share it
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS]
SECURE_SSL_REDIRECT = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SESSION_COOKIE_SECURE = True
CSRF_COOKIE_SECURE = True
SESSION_COOKIE_NAME = "__Host-session"
CSRF_COOKIE_NAME = "__Host-csrf"
STATIC_ROOT = STATE_DIR / "static"
# Sign-up demands a confirmed address: smtp://user:password@host:587, with ?ssl or ?tls as environ reads it.
if not SEQUENCER:
    vars().update(ENV.email_url("EMAIL_URL"))
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
#: How many proxies in front add an address to X-Forwarded-For; limits of sign-in count by the one before them.
ALLAUTH_TRUSTED_PROXY_COUNT = ENV.int("LINGEE_TRUSTED_PROXIES", default=0)
