"""The Celery application of every worker and of the scheduler, and the one way to send a ticket."""

from __future__ import annotations

import logging
import os
from typing import Any

import django.db
import kombu.transport.redis  # noqa: F401 - loaded now and not within somebody's request
from celery import Celery
from celery.signals import task_prerun

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.local")

from django.conf import settings

logger = logging.getLogger(__name__)

app = Celery("lingee")
app.config_from_object(settings.CELERY)
# Left to itself, Celery closes every connection before and after each task: a new one costs about 10 ms of processor
# time, more than most ticks. Those that broke or grew old are closed below, as Django does between requests.
app.conf["CELERY_DB_REUSE_MAX"] = 1_000_000
app.autodiscover_tasks()


@task_prerun.connect
def close_old_connections(**kwargs: object) -> None:
    """A task after a restart of the database must not find the connection that broke in the one before."""
    django.db.close_old_connections()


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
