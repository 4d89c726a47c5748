"""The Celery application of every worker and of the scheduler, and the one way to send a ticket."""

from __future__ import annotations

import logging
import os
from typing import Any

import kombu.transport.redis  # noqa: F401 - loaded now and not within somebody's request
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

from django.conf import settings

logger = logging.getLogger(__name__)

app = Celery("lingee")
app.config_from_object(settings.CELERY)
app.autodiscover_tasks()


def send_ticket(task: str, *arguments: Any, queue: str) -> bool:
    """Tell a queue that there may be work; False, logged, within two seconds, if the broker is out of reach.

    Call it from `transaction.on_commit`. A lost ticket costs time only: the sweep finds the row.
    """
    try:
        app.send_task(task, args=arguments, queue=queue, ignore_result=True)
    except Exception as error:  # noqa: BLE001 - whatever the client raises, the caller's row is committed
        logger.warning("ticket for %s not sent: %s", task, type(error).__name__)
        return False
    return True
