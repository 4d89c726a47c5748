"""Measures a host once, when it is idle, whichever of its workers comes first."""

from __future__ import annotations

from pathlib import Path

import structlog
from django.db import connection, transaction

from config import clock
from evaluation.hosts.models import HostSpeed
from evaluation.hosts.policies import Speed
from evaluation.sandbox import speed

logger = structlog.get_logger(__name__)

LOCK_SPACE = 2
"""First half of the advisory lock under which one worker of a host measures; `claims` has 1."""


def know_host(host: str, folder: Path, patience: float) -> Speed | None:
    """The stored speed of this host; measured first where there is none, or it was another machine's.

    `folder` lies on the disk that workers write to. None where the host did not come to rest within `patience`
    seconds: the worker tries again later.
    """
    machine = speed.machine()
    stored = HostSpeed.objects.filter(host=host, machine=machine).first()
    if stored is None:
        with transaction.atomic(), connection.cursor() as cursor:
            # Who has no patience is a heartbeat: it must not wait for another worker that measures.
            lock = "pg_advisory_xact_lock" if patience else "pg_try_advisory_xact_lock"
            cursor.execute(f"SELECT {lock}(%s, hashtext(%s))", [LOCK_SPACE, host])
            if cursor.fetchone() == (False,):
                return None
            stored = HostSpeed.objects.filter(host=host, machine=machine).first() or _measure(
                host, machine, folder, patience
            )
    return Speed(stored.processor, stored.disk) if stored else None


def _measure(host: str, machine: str, folder: Path, patience: float) -> HostSpeed | None:
    if not speed.rests(patience):
        logger.info("host_busy", host=host)
        return None
    figures = {"processor": speed.processor(), "disk": speed.disk(folder)}
    defaults = {"machine": machine, **figures, "measured_at": clock.now()}
    return HostSpeed.objects.update_or_create(host=host, defaults=defaults)[0]
