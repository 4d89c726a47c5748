"""`manage.py totp_code SECRET`: what an authenticator app with that secret shows now. Touches no database."""

from __future__ import annotations

import binascii
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.security.services import current_code


class Command(BaseCommand):
    help = "Print the present code of an authenticator app with that secret."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("secret")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(current_code(options["secret"]))
        except (binascii.Error, ValueError) as error:
            raise CommandError("that is no secret of an authenticator app") from error
