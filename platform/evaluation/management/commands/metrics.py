"""Serve the fleet's metrics on a port of their own, for an autoscaler and a monitor."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from prometheus_client import CollectorRegistry, start_http_server

from evaluation.alerts.metrics import FleetCollector

ROLES = ("console", "sealed", "test")


class Command(BaseCommand):
    help = "Serve the fleet's metrics in Prometheus' text form, by the console's role, until it is stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--address", default="127.0.0.1", help="Where to listen; never where vendors reach."
        )
        parser.add_argument("--port", type=int, default=9464)

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.LINGEE_ROLE not in ROLES:
            raise CommandError(f"the role {settings.LINGEE_ROLE!r} may not count episodes; use console")
        registry = CollectorRegistry(auto_describe=False)
        registry.register(FleetCollector())
        server, thread = start_http_server(options["port"], options["address"], registry)
        self.stdout.write(f"metrics on http://{options['address']}:{server.server_port}/metrics")
        thread.join()
