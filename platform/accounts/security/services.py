"""Changes of how people sign in that are not made in the library's own pages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from allauth.mfa import app_settings
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import TOTP, format_hotp_value, generate_totp_secret, hotp_value
from allauth.mfa.utils import decrypt
from django.db import transaction

from accounts import events
from accounts.models import User
from accounts.security.factors import FACTORS
from audit import log
from audit.events import Actor

CODES = Authenticator.Type.RECOVERY_CODES


@contextmanager
def recording(user: User, *, by: Actor) -> Iterator[None]:
    """Around a change that the library makes: one transaction, with an event for each factor that came or went."""
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)
        before = _factors(user)
        yield
        after = _factors(user)
        for key in sorted(after.keys() - before.keys()):
            if after[key] in FACTORS:
                log.append(events.FactorEnrolled(subject=user.pseudonym, factor=after[key]), by=by)
            elif after[key] == CODES:
                log.append(events.RecoveryCodesMade(subject=user.pseudonym), by=by)
        for key in sorted(before.keys() - after.keys()):
            if before[key] in FACTORS:
                log.append(events.FactorRemoved(subject=user.pseudonym, factor=before[key]), by=by)


def _factors(user: User) -> dict[int, str]:
    return dict(Authenticator.objects.filter(user=user).values_list("pk", "type"))


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
