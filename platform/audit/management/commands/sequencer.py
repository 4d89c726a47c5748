"""`manage.py sequencer [run|rotate-key|key] [--adopt]`, under the role `sequencer`: the process that grows the log."""

from __future__ import annotations

import os
import pwd
import signal
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from audit.keys import Keyring, LogRefused
from audit.sequencer import Sequencer
from config.connection import libpq_address

REFUSED = 3
"""Exit code where the log in the database does not extend what was signed."""


class Command(BaseCommand):
    """Runs until SIGTERM; several may be started, one works and the others wait for it to end."""

    help = "Give audit events their places in the log and sign checkpoints."
    requires_system_checks = []  # noqa: RUF012 - Django's own spelling

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", nargs="?", choices=["run", "rotate-key", "key"], default="run")
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="go on from a log that the sequencer's folder does not know; whoever holds its last "
            "checkpoints will see that it does not continue them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.LINGEE_ROLE != "sequencer":
            raise CommandError("the sequencer runs under LINGEE_ROLE=sequencer")
        become(settings.SEQUENCER_USER)
        try:
            keyring = Keyring(settings.SEQUENCER_DIR, settings.LOG_ORIGIN)
            if options["action"] == "rotate-key":
                self.stdout.write(
                    f"the next checkpoint will be signed by both keys; the new one is\n"
                    f"{keyring.request_rotation()}"
                )
            elif options["action"] == "key":
                self.stdout.write(keyring.signer.vkey)
            else:
                run(keyring, adopt=options["adopt"])
        except LogRefused as error:
            raise CommandError(str(error), returncode=REFUSED) from error


def run(keyring: Keyring, *, adopt: bool) -> None:
    """Work until SIGTERM or SIGINT. Raises LogRefused."""
    sequencer = Sequencer(libpq_address(settings.DATABASES["default"]), keyring, adopt=adopt)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sequencer.stop())
    sequencer.run()


def become(user: str) -> None:
    """Go on as the named user, started by root or by that user; nothing where none is named. Raises CommandError."""
    if not user:
        return
    try:
        wanted = pwd.getpwnam(user)
    except KeyError as error:
        raise CommandError(f"LINGEE_SEQUENCER_USER: there is no user {user}") from error
    if os.geteuid() == wanted.pw_uid:
        return
    if os.geteuid() != 0:
        raise CommandError(f"the sequencer runs as {user}: start it as that user or as root")
    os.setgroups([])
    os.setgid(wanted.pw_gid)
    os.setuid(wanted.pw_uid)
