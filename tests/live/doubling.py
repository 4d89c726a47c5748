"""The Celery application with every ticket sent twice: what workers of the doubled-delivery test run."""

from __future__ import annotations

from typing import Any

from config.celery import app

_once = app.send_task


def _twice(*arguments: Any, **options: Any) -> Any:
    _once(*arguments, **options)
    return _once(*arguments, **options)


app.send_task = _twice  # type: ignore[method-assign]
