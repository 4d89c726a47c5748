"""Celery's settings. A message is only a ticket that says "there may be work"; rows are the truth.

So there is no result backend, nothing is acknowledged late, and no message waits for a future time.
"""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any

from kombu import Exchange, Queue

from config.connection import celery_broker

QUEUE_NAMES = ("execute", "grade", "governance", "web")

#: Seconds between two ticks of the scheduler, by task. Rows guard each effect, so two schedulers do no harm.
LINGEE_TICKS: dict[str, dict[str, Any]] = {
    "sweep": {"task": "evaluation.tasks.sweep", "queue": "governance", "seconds": 60.0},
    "submissions": {"task": "submissions.tasks.sweep", "queue": "governance", "seconds": 60.0},
    "reads": {"task": "audit.tasks.close_windows", "queue": "governance", "seconds": 60.0},
    "exports": {"task": "audit.tasks.make_exports", "queue": "governance", "seconds": 60.0},
    "integrity": {"task": "audit.tasks.check_stretch", "queue": "governance", "seconds": 300.0},
    "mail": {"task": "accounts.tasks.deliver_mail", "queue": "web", "seconds": 30.0},
    "duties": {"task": "accounts.tasks.remind_of_duties", "queue": "governance", "seconds": 3600.0},
    "links": {"task": "submissions.tasks.find_links", "queue": "governance", "seconds": 300.0},
    "registrations": {"task": "accounts.tasks.watch_registrations", "queue": "governance", "seconds": 3600.0},
    "leaks": {"task": "accounts.tasks.revoke_leaked", "queue": "web", "seconds": 60.0},
    "token-ends": {"task": "accounts.tasks.announce_token_ends", "queue": "web", "seconds": 600.0},
    "webhooks": {"task": "submissions.tasks.deliver_webhooks", "queue": "web", "seconds": 30.0},
    "webhook-care": {"task": "submissions.tasks.look_after_webhooks", "queue": "web", "seconds": 3600.0},
    "packages": {"task": "governance.tasks.look_after_packages", "queue": "governance", "seconds": 60.0},
    "retention": {"task": "governance.tasks.purge", "queue": "governance", "seconds": 86400.0},
    "owners": {"task": "submissions.tasks.tell_owners", "queue": "web", "seconds": 60.0},
    "tick": {"task": "governance.tasks.tick", "queue": "governance", "seconds": 60.0},
    "budgets": {"task": "governance.tasks.budgets", "queue": "governance", "seconds": 300.0},
    "confirmations": {"task": "governance.tasks.confirm", "queue": "governance", "seconds": 60.0},
    "rotation": {"task": "governance.tasks.rotate", "queue": "governance", "seconds": 3600.0},
    "appeals": {"task": "governance.appeals.tasks.tick", "queue": "governance", "seconds": 60.0},
    "reruns": {"task": "governance.tasks.offer_reruns", "queue": "governance", "seconds": 300.0},
    "records": {"task": "governance.tasks.keep_records", "queue": "governance", "seconds": 300.0},
}

#: Ticks that a run or a person waits for; the others come every `UNHURRIED` seconds where these are hurried.
AWAITED = frozenset({"sweep", "submissions", "exports", "tick", "confirmations"})
UNHURRIED = 30.0

#: Seconds a request may lose to a broker that does not answer, for connecting and for sending each.
BROKER_PATIENCE = 0.8

#: The anonymous exchange: a message goes straight to the list named by its routing key. A named exchange
#: would be looked up in a table that lives in Redis, and publishing would fail once Redis was emptied.
ANONYMOUS = Exchange("", type="direct")


def beat_schedule(ticks: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Celery's schedule for `ticks`; a tick that nobody took before the next one is due is dropped."""
    return {
        name: {
            "task": tick["task"],
            "schedule": timedelta(seconds=tick["seconds"]),
            "options": {"queue": tick["queue"], "expires": max(tick["seconds"], 1.0)},
        }
        for name, tick in ticks.items()
    }


def ticks_from_environment() -> dict[str, dict[str, Any]]:
    """LINGEE_TICKS with LINGEE_TICK_SECONDS, where set, in place of every period that somebody waits for."""
    seconds = os.environ.get("LINGEE_TICK_SECONDS")
    if not seconds:
        return LINGEE_TICKS
    return {
        name: {**tick, "seconds": float(seconds) if name in AWAITED else min(tick["seconds"], UNHURRIED)}
        for name, tick in LINGEE_TICKS.items()
    }


def broker_settings(redis_url: str, state_dir: Path) -> dict[str, Any]:
    """Celery's configuration for this broker."""
    return {
        "broker_url": celery_broker(redis_url) or "memory://",
        "broker_connection_timeout": BROKER_PATIENCE,
        "broker_connection_retry_on_startup": True,
        "broker_connection_retry": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {
            "socket_connect_timeout": BROKER_PATIENCE,
            "socket_timeout": BROKER_PATIENCE,
            "socket_keepalive": True,
            "health_check_interval": 25,
            "retry_on_timeout": False,
            "max_retries": 0,
        },
        "result_backend": None,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "task_serializer": "json",
        "accept_content": ["json"],
        "task_acks_late": False,
        "task_publish_retry": False,
        "task_queues": tuple(Queue(name, ANONYMOUS, routing_key=name) for name in QUEUE_NAMES),
        "task_create_missing_queues": False,
        "task_default_queue": "governance",
        "task_default_routing_key": "governance",
        "worker_pool": "solo",
        "worker_prefetch_multiplier": 1,
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_hijack_root_logger": False,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "event_queue_ttl": 5.0,
        "enable_utc": True,
        "timezone": "UTC",
        "beat_schedule": beat_schedule(ticks_from_environment()),
        "beat_schedule_filename": str(state_dir / "beat-schedule"),
        "beat_max_loop_interval": 5,
        "imports": (),
    }


__all__ = ["BROKER_PATIENCE", "LINGEE_TICKS", "QUEUE_NAMES"]
