"""`manage.py services start|stop|status [--json]`: the embedded servers of this machine."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from embedded.keeper import act, add_arguments


class Command(BaseCommand):
    """Starts them in the foreground, stops them, or says what runs."""

    help = "Embedded PostgreSQL, Redis and S3: start (in the foreground), stop, status."
    requires_system_checks = []  # noqa: RUF012 - Django's own spelling

    def add_arguments(self, parser: CommandParser) -> None:
        add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        code = act(
            options["action"], options["state_dir"], as_json=options["as_json"], watched=options["watch_pid"]
        )
        if code:
            sys.exit(code)
