"""`manage.py serve`: the same site as the demo's, to look at, until Ctrl-C."""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.site.stage import StageError, stage
from embedded.services import ServiceError


class Command(BaseCommand):
    """Starts services, site, console and workers, seeds people to sign in as, and prints their addresses."""

    help = "Serve the site on this machine."
    requires_system_checks = []  # noqa: RUF012 - Django's own spelling

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--size", choices=["full", "mini"], default="full")
        parser.add_argument("--seed", type=int, default=20261101)
        parser.add_argument("--port", type=int, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        version = "2026.1" if options["size"] == "full" else "2026.1-mini"

        def say(text: str) -> None:
            self.stdout.write(f"· {text}")

        try:
            with stage(settings.STATE_DIR, "make serve", say) as site:
                site.port, site.console_port = options["port"], options["port"] + 1
                os.environ["LINGEE_SITE"] = site.address
                site.prepare(version, size=options["size"], seed=options["seed"])
                people = site.ask("console", "seed", "--task-set", version, "--quickstart")
                site.start(console=True)
                self._welcome(site.address, site.console_address, people)
                site.supervisor.run()
        except (StageError, ServiceError) as error:
            raise CommandError(str(error)) from error
        except (KeyboardInterrupt, SystemExit):
            self.stdout.write("stopped")

    def _welcome(self, address: str, console: str, people: dict[str, Any]) -> None:
        self.stdout.write(f"\nSite      {address}/en/   {address}/zh-hans/")
        self.stdout.write(f"Console   {console}/en/console/   auditors: {console}/en/audit/")
        for person in people["people"]:
            self.stdout.write(f"  {person['as']:<14} {person['email']}   password {person['password']}")
            self.stdout.write(f"  {'':<14} second step: secret {person['totp']}")
        self.stdout.write(
            "  Second step    put a secret into an authenticator app, or ask for the present code:"
        )
        self.stdout.write(f"  {'':<14} .venv/bin/python manage.py totp_code SECRET")
        vendor = people["people"][0]["email"]
        self.stdout.write(f"  API token      {people['token']}   acts for {vendor}")
        self.stdout.write(
            f"  Mail           {settings.STATE_DIR / 'mail'}   (files; nothing is sent from here)"
        )
        self.stdout.write("Ctrl-C stops everything.")
        self.stdout.flush()
