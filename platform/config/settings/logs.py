"""Logging: structured lines on standard error. For operators; never a place for held-out content."""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from typing import Any

import structlog

#: Libraries that write a line for each call or message; only their warnings are kept.
QUIET = (
    "botocore",
    "boto3",
    "httpx",
    "httpcore",
    "urllib3",
    "kombu",
    "celery.app.trace",
    "django_structlog.celery",
)


#: What of a request's line may be a secret that was mailed: the query, and what follows these parts of a path.
SECRET = re.compile(r"\?.*|(?<=/reset/key/)[^/?]+|(?<=/confirm-email/)[^/?]+")


def without_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Requests are logged by method and path alone."""
    if isinstance(request := event.get("request"), str):
        event["request"] = SECRET.sub("…", request)
    return event


def configure_logging() -> dict[str, Any]:
    """Set up structlog and return Django's LOGGING; LINGEE_LOG_FORMAT is `json` or `plain` (default)."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            without_secrets,
            structlog.processors.format_exc_info,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    renderer = (
        structlog.processors.JSONRenderer()
        if os.environ.get("LINGEE_LOG_FORMAT") == "json"
        else structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    )
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        "foreign_pre_chain": shared,
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": os.environ.get("LINGEE_LOG_LEVEL", "INFO")},
        "loggers": {name: {"level": "WARNING"} for name in QUIET},
    }
