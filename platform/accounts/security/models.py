"""Where somebody is signed in: what they see of their sessions."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from config import clock
from config.ids import new_id


class SignIn(models.Model):
    """One session by the form or a passkey, from sign-in until it ends. Neither address nor place is kept."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_ins")
    session_key = models.CharField(max_length=40, unique=True)
    device = models.CharField(max_length=80)
    """Browser and system, as the browser names itself."""
    began_at = models.DateTimeField(default=clock.now)
    seen_at = models.DateTimeField(default=clock.now)


class ErasureRequest(models.Model):
    """Somebody wants to be erased; kept afterwards as the reason for it."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        primary_key=True,
        on_delete=models.PROTECT,
        related_name="erasure_request",
    )
    asked_at = models.DateTimeField()
