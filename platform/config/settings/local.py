"""A machine of one's own: embedded services, plain HTTP on the loopback address, mail into files."""

from config.settings.base import *  # noqa: F403
from config.settings.base import STATE_DIR
from config.settings.environment import words

DEBUG = False
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *words("LINGEE_ALLOWED_HOSTS")]
EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
EMAIL_FILE_PATH = STATE_DIR / "mail"
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = False
#: Passkeys are bound to https elsewhere; a machine of one's own has http://localhost.
MFA_WEBAUTHN_ALLOW_INSECURE_ORIGIN = True
