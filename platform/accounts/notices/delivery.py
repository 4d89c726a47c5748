"""Sending the mail of notices: each once, by whichever worker takes its row first, and again later where it failed.

The row is locked while its mail is handed over, so a worker that dies leaves it due. Only a death between the mail
server's yes and the commit sends it twice; both have one Message-ID, by which mail programs show one.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from email.utils import parseaddr

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from accounts.notices.models import Notice
from accounts.notices.queries import may_know
from accounts.notices.texts import shown
from config import clock

logger = logging.getLogger(__name__)
BATCH = 100
"""Most mails one tick sends."""
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 480, 1440))
"""After so many failures the mail is given up; the notice in the site stays."""


def deliver_due(limit: int = BATCH) -> int:
    """Send what is due; returns how many mails were handed over."""
    sent = 0
    for _ in range(limit):
        done = _deliver_next()
        if done is None:
            break
        sent += done
    return sent


def _deliver_next() -> bool | None:
    """Whether the next due mail was handed over; None where none is due."""
    with transaction.atomic():
        due = Notice.objects.filter(mail_due_at__lte=clock.now()).order_by("mail_due_at")
        notice = due.select_for_update(skip_locked=True, of=("self",)).select_related("person").first()
        if notice is None:
            return None
        sent = False
        if not may_know(notice):
            notice.mail_due_at = None
        elif sent := _hand_over(notice):
            notice.mail_due_at, notice.mailed_at = None, clock.now()
        else:
            pauses = PAUSES[notice.mail_attempts : notice.mail_attempts + 1]
            notice.mail_attempts += 1
            notice.mail_due_at = clock.now() + pauses[0] if pauses else None
        notice.save(update_fields=["mail_due_at", "mailed_at", "mail_attempts"])
    return sent


def _hand_over(notice: Notice) -> bool:
    """False, logged without the address, where it cannot be written or the mail server does not take it."""
    try:
        with transaction.atomic():
            _message(notice).send()
    except Exception as error:  # noqa: BLE001 - whatever fails, the other mails go on and this one is tried again
        logger.warning("notice %s not mailed: %s", notice.pk, type(error).__name__)
        return False
    return True


def _message(notice: Notice) -> EmailMessage:
    with translation.override(notice.person.language):
        found = shown(notice, in_mail=True)
        context = {
            "notice": found,
            "link": settings.SITE_URL + found.path if found.path else "",
            "preferences": settings.SITE_URL + reverse("accounts:notice_settings"),
        }
        body = render_to_string("account/email/notices/notice.txt", context)
    domain = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].partition("@")[2]
    return EmailMessage(
        subject=" ".join(f"[Lingee Bench] {found.title}".split()),  # names in it may hold line breaks
        body=body,
        to=[notice.person.email],
        headers={"Message-ID": f"<notice-{notice.pk}@{domain}>", "Auto-Submitted": "auto-generated"},
    )
