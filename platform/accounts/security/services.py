"""Changes of how people sign in that are not made in the library's own pages."""

from __future__ import annotations

import time

from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from allauth.mfa.utils import decrypt
from django.db import transaction

from accounts.models import User


def ensure_totp(user: User) -> str:
    """The secret of the person's authenticator app; one is set up where there is none."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        found = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()
        if found is not None:
            return str(decrypt(found.data["secret"]))
        secret = str(generate_totp_secret())
        TOTP.activate(user, secret)
    return secret


def current_code(secret: str) -> str:
    """What an authenticator app with that secret shows now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // app_settings.TOTP_PERIOD)))
