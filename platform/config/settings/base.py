"""Settings common to every place the platform runs in. What differs is in local, test and production."""

from datetime import timedelta
from pathlib import Path
from typing import Any

from config import connection as servers
from config.settings.environment import ENV, dated, words
from config.settings.logs import configure_logging
from config.settings.oidc import PUBLIC, issuers
from config.settings.queues import *  # noqa: F403
from config.settings.queues import broker_settings

ROOT = Path(__file__).resolve().parents[3]

# --- servers and secrets -------------------------------------------------------------------------
CONNECTION = servers.current()
LINGEE_ROLE = CONNECTION.role
STATE_DIR = CONNECTION.state_dir
SECRET_KEY = servers.secret("SECRET_KEY", CONNECTION)
#: Wraps submission keys and environment packs; processes that serve people never hold it.
VAULT_KEY_WORKER = servers.vault_key("VAULT_KEY_WORKER", CONNECTION)
#: Wraps the packs of gold answers and rules; execute workers never hold it.
VAULT_KEY_SEALED = servers.vault_key("VAULT_KEY_SEALED", CONNECTION)
#: Wraps each person's own key; only processes that serve people hold it.
VAULT_KEY_PEOPLE = servers.vault_key("VAULT_KEY_PEOPLE", CONNECTION)
#: Opens the credentials of model upstreams; only processes that call upstreams hold it.
VAULT_KEY_UPSTREAM = servers.vault_key("VAULT_KEY_UPSTREAM", CONNECTION)
#: Its public half: processes that serve people seal credentials to it, and cannot open them.
VAULT_BOX_UPSTREAM = servers.vault_box("VAULT_BOX_UPSTREAM", CONNECTION)
#: Opens what workers lend the console in a case; they seal it to the public half.
VAULT_KEY_CASE = servers.vault_key("VAULT_KEY_CASE", CONNECTION)
VAULT_BOX_CASE = servers.vault_box("VAULT_BOX_CASE", CONNECTION)
#: Days after its submission's end for which a package is kept; then its keys and bytes are destroyed.
PACKAGE_RETENTION_DAYS = ENV.int("LINGEE_PACKAGE_RETENTION_DAYS", default=180)
#: The same for what attempts left, by class: after the run's end, the submission's end, the attempt's end, its storing.
RETENTION_DAYS = {
    "preflight": ENV.int("LINGEE_RETENTION_PREFLIGHT_DAYS", default=30),
    "held_out": ENV.int("LINGEE_RETENTION_HELD_OUT_DAYS", default=180),
    "failed": ENV.int("LINGEE_RETENTION_FAILED_DAYS", default=14),
    "unclaimed": ENV.int("LINGEE_RETENTION_UNCLAIMED_DAYS", default=14),
}
#: Whether our own outgoing requests may go to this machine itself; for tests and a machine of one's own.
OUTGOING_LOOPBACK = ENV.bool("LINGEE_OUTGOING_LOOPBACK", default=False)
# Long-lived connections save about 4 ms a request; workers that do one thing at a time need no pool.
DATABASES: dict[str, Any] = {"default": servers.django_database(CONNECTION.database_url, max_age=600)}
#: What auditors are shown, and checks of the log, are read through this and nothing else.
if LINGEE_ROLE in servers.AUDITOR_HOLDERS:
    DATABASES["auditor"] = servers.auditor_database(CONNECTION.auditor_url)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = CONNECTION.redis_url
CELERY = broker_settings(REDIS_URL, STATE_DIR)
CACHES: dict[str, Any] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL or "unix:///nonexistent/services-are-not-started",
        "KEY_PREFIX": "cache",
        "OPTIONS": {"socket_timeout": 1},
    }
}

S3_ENDPOINT_URL = CONNECTION.store.endpoint_url
S3_ACCESS_KEY = CONNECTION.store.access_key
S3_SECRET_KEY = CONNECTION.store.secret_key
S3_REGION = CONNECTION.store.region
S3_BUCKET_QUARANTINE = ENV.str("S3_BUCKET_QUARANTINE", default="quarantine")
S3_BUCKET_PACKAGES = ENV.str("S3_BUCKET_PACKAGES", default="packages")
S3_BUCKET_SEALED = ENV.str("S3_BUCKET_SEALED", default="sealed")
S3_BUCKET_EXPORTS = ENV.str("S3_BUCKET_EXPORTS", default="exports")

# --- workers -------------------------------------------------------------------------------------
#: Seconds a claim holds without renewal; a worker renews three times within it.
LEASE_SECONDS = ENV.float("LINGEE_LEASE_SECONDS", default=60.0)
#: Further attempts of an episode after faults of the platform, and further gradings after faults of a grader.
EPISODE_RETRIES = ENV.int("LINGEE_EPISODE_RETRIES", default=2)
#: Seconds that the oldest work of a queue may wait for a worker before the operators are told.
FLEET_ALERT_SECONDS = ENV.float("LINGEE_FLEET_ALERT_SECONDS", default=300.0)
#: Seconds after SIGTERM in which a worker may finish what it holds; then others get it. Shorter than what its host
#: waits before it kills.
DRAIN_SECONDS = ENV.float("LINGEE_DRAIN_SECONDS", default=20.0)
#: Episodes under way at a time of one run, and of all runs of an organisation with those linked to it; 0 is no limit.
RUN_CEILING = ENV.int("LINGEE_RUN_CEILING", default=0)
ORGANISATION_CEILING = ENV.int("LINGEE_ORGANISATION_CEILING", default=0)
#: So many executed episodes of a run may wait for a grader; while more do, none of it is claimed for execution.
GRADING_BACKLOG = ENV.int("LINGEE_GRADING_BACKLOG", default=200)
#: Seconds between two instants at which a vendor can see a held-out run move on; the demo has 5.
PROGRESS_TICK_SECONDS = ENV.int("LINGEE_PROGRESS_TICK_SECONDS", default=900)
#: How fast the official hosts are: rounds of the fixed computation and MiB of flushed writes, each in a second
#: (`manage.py measure_host` prints them). Empty: each host is its own reference, as in the embedded set-up.
SPEED_REFERENCE_PROCESSOR = ENV.float("LINGEE_SPEED_REFERENCE_PROCESSOR", default=0.0)
SPEED_REFERENCE_DISK = ENV.float("LINGEE_SPEED_REFERENCE_DISK", default=0.0)
#: Seconds that a starting worker waits for its host to be idle, to measure it.
SPEED_WAIT_SECONDS = ENV.float("LINGEE_SPEED_WAIT_SECONDS", default=60.0)
#: Hosts of approved providers of models with the day until which the agreement holds: `api.example.com=2027-06-30,…`.
APPROVED_PROVIDERS = dated("LINGEE_APPROVED_PROVIDERS")
#: Whether a harness may call a model that its own organisation operates, and which so reads every held-out prompt.
ADMIT_VENDOR_ENDPOINTS = ENV.bool("LINGEE_ADMIT_VENDOR_ENDPOINTS", default=False)
#: Each worker's private folder lies below; nothing in it outlives the worker.
WORK_DIR = STATE_DIR / "work"
#: Where `make rootfs` keeps the official base root; bundles run on it where there is one.
ROOTFS_DIR = Path(ENV.str("LINGEE_ROOTFS_DIR", default=str(STATE_DIR / "rootfs")))
#: Bytes of unpacked images that the workers of one host keep; the longest unused goes first, one in use never.
IMAGE_CACHE_BYTES = ENV.int("LINGEE_IMAGE_CACHE_BYTES", default=32 * 1024**3)

# --- registration --------------------------------------------------------------------------------
#: How long a verification of an organisation holds; then it registers again.
VERIFICATION_HOLDS = timedelta(days=ENV.int("LINGEE_VERIFICATION_DAYS", default=365))
#: Name servers asked for the TXT record of a domain, as host:port; none: those of the system.
DNS_SERVERS: list[str] = ENV.list("LINGEE_DNS_SERVERS", default=[])

# --- the transparency log --------------------------------------------------------------------------
#: Names this log in every checkpoint, and its key: no blanks, no plus sign; best the site's host and a path.
LOG_ORIGIN = ENV.str("LINGEE_LOG_ORIGIN", default="localhost/lingee-bench")
#: Seconds between two instants at which the public sees the log grow; in between its size would tell a vendor
#: how its held-out run gets on. The demo has 5.
LOG_PUBLIC_TICK_SECONDS = ENV.int("LINGEE_LOG_PUBLIC_TICK_SECONDS", default=6 * 3600)
#: The sequencer's own folder: its key, and what it last signed. No other process needs to read it.
SEQUENCER_DIR = Path(ENV.str("LINGEE_SEQUENCER_DIR", default=str(STATE_DIR / "sequencer")))
#: The system's user that the sequencer becomes when root starts it; empty: whoever starts it.
SEQUENCER_USER = ENV.str("LINGEE_SEQUENCER_USER", default="")

# --- applications --------------------------------------------------------------------------------
#: Ours, from the bottom layer to the top; imports go only towards the front of this list.
LOCAL_APPS = [
    "audit",
    "accounts",
    "benchmark",
    "evaluation",
    "submissions",
    "governance",
    "governance.watch",
    "governance.records",
    "governance.rotation",
    "governance.desk",
    "governance.appeals",
    "leaderboard",
]
INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "rest_framework",
    "knox",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "django_cotton",
    "crispy_forms",
    "crispy_bootstrap5",
    "bootstrap",
    "csp",
    "django_structlog",
    "rules",
    "config",
    *LOCAL_APPS,
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "submissions.api.answers.ApiAnswers",
    "config.middleware.NoNul",
    "config.middleware.StaffOnly",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.security.middleware.SeenSessions",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "accounts.security.middleware.LibraryPages",
    "django_structlog.middlewares.RequestMiddleware",
    "submissions.middleware.RefusedReads",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ROOT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]
COTTON_DIR = "components"
CRISPY_ALLOWED_TEMPLATE_PACKS = "bootstrap5"
CRISPY_TEMPLATE_PACK = "bootstrap5"

# --- languages and time --------------------------------------------------------------------------
USE_I18N = True
LANGUAGE_CODE = "zh-hans"
#: Each language by its own name, which is not translated.
LANGUAGES = [("zh-hans", "简体中文"), ("en", "English")]
LOCALE_PATHS = [ROOT / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

# --- people and tokens ---------------------------------------------------------------------------
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "rules.permissions.ObjectPermissionBackend",
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "CommonPasswordValidator", "NumericPasswordValidator")
] + [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}}
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_CONFIRM_EMAIL_ON_GET = False
ACCOUNT_LOGOUT_ON_PASSWORD_CHANGE = True
ACCOUNT_EMAIL_NOTIFICATIONS = True
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Lingee Bench"
MFA_ADAPTER = "accounts.security.adapters.FactorAdapter"
MFA_TOTP_TOLERANCE = 1  # periods of 30 s by which a phone's clock may be wrong
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_RECOVERY_CODES_SHOW_ONCE = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]
ACCOUNT_REAUTHENTICATION_TIMEOUT = 15 * 60  # seconds; accounts.security.policies.FRESH_FOR
KNOX_TOKEN_MODEL = "accounts.ApiToken"  # noqa: S105 - the name of a model
REST_KNOX = {
    "TOKEN_PREFIX": "lgb_",
    "TOKEN_TTL": timedelta(days=90),
    "AUTH_HEADER_PREFIX": "Bearer",
    "AUTO_REFRESH": False,
}

# --- identities of CI jobs -------------------------------------------------------------------------
#: Issuers that every vendor may name, each with the form of its claims; no other is ever asked for its keys.
OIDC_ISSUERS = issuers(words("LINGEE_OIDC_ISSUERS") or PUBLIC)

# --- the API -------------------------------------------------------------------------------------
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.publishing.authentication.CiAuthentication",
        "accounts.authentication.ApiTokenAuthentication",
        "accounts.authentication.LiveSessionAuthentication",
    ],
    # Closed by default: a view says who may call it, and which credential may, or nobody can.
    "DEFAULT_PERMISSION_CLASSES": ["config.permissions.DenyAll"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_THROTTLE_CLASSES": ["submissions.api.rates.Throttle"],
    "EXCEPTION_HANDLER": "submissions.problems.exception_handler",
}
#: Requests a minute: of a credential, and of an address that shows none. 0 is no limit.
API_RATES = {
    "reads": ENV.int("LINGEE_API_READS", default=600),
    "writes": ENV.int("LINGEE_API_WRITES", default=60),
    "anonymous": ENV.int("LINGEE_API_ANONYMOUS", default=120),
}
#: Proxies in front whose X-Forwarded-For is believed; with 0 an address is that of the connection.
ALLAUTH_TRUSTED_PROXY_COUNT = ENV.int("LINGEE_TRUSTED_PROXIES", default=0)
SPECTACULAR_SETTINGS = {
    "TITLE": "Lingee Bench API",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "ENUM_NAME_OVERRIDES": {
        "RuleEnum": "submissions.api.shapes.RULES",
        "ProfileEnum": "submissions.api.shapes.PROFILES",
        "QueueTimeEnum": "submissions.queueing.queries.TIME_KEYS",
    },
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "submissions.api.openapi.complete",
    ],
    "REDOC_DIST": "SIDECAR",
    "SWAGGER_UI_DIST": "SIDECAR",
}

# --- what browsers are told ----------------------------------------------------------------------
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'none'"],
        "script-src": ["'self'"],
        "style-src": ["'self'"],
        "connect-src": ["'self'"],
        "img-src": ["'self'"],
        "font-src": ["'self'"],
        "form-action": ["'self'"],
        "base-uri": ["'none'"],
        "frame-ancestors": ["'none'"],
    }
}
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 14 * 24 * 3600  # seconds
#: Bytes of a request body that is not a file; bundles are streamed and have a limit of their own.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024

STATIC_URL = "/static/"
STATIC_ROOT = STATE_DIR / "static"
STATICFILES_DIRS = [folder for folder in [ROOT / "static"] if folder.is_dir()]
DEFAULT_FROM_EMAIL = "Lingee Bench <no-reply@lingee.invalid>"
#: Seconds a mail server may take for each step.
EMAIL_TIMEOUT = 10
#: Where people reach the site, as links in mail begin; production has its first host's.
SITE_URL = ENV.str("LINGEE_SITE", default="http://127.0.0.1:8000").rstrip("/")
#: For whom a CI job asks its token: this site alone, so that one made for another place is worth nothing here.
OIDC_AUDIENCE = ENV.str("LINGEE_OIDC_AUDIENCE", default=SITE_URL)
#: What the layers above add to a notice: a function of the notice and of where it is shown, page or mail.
NOTICE_DETAILS = "leaderboard.notices.details"

# --- logs: for operators; the audit log is elsewhere ----------------------------------------------
LOGGING = configure_logging()
DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_IP_LOGGING_ENABLED = False
