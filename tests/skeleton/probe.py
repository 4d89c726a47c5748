"""Loaded by Celery and gunicorn in a test: says which module `import platform` gives there."""

import platform
import sys

from config.celery import app
from config.wsgi import application

print(f"platform is {platform.__file__} on {platform.python_version()}", file=sys.stderr, flush=True)

__all__ = ["app", "application"]
