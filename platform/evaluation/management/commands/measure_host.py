"""`manage.py measure_host`: how fast this machine is, in the words of the reference settings. Changes nothing."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from evaluation.sandbox import speed


class Command(BaseCommand):
    """Prints the two settings that make this machine the reference."""

    help = "Measure single-core and disk speed of this host once it is idle, and print them as settings."

    def handle(self, *args: Any, **options: Any) -> None:
        if not speed.rests(settings.SPEED_WAIT_SECONDS):
            raise CommandError(
                "the host was never idle: stop what runs here, or raise LINGEE_SPEED_WAIT_SECONDS"
            )
        settings.WORK_DIR.mkdir(parents=True, exist_ok=True)
        self.stdout.write(f"LINGEE_SPEED_REFERENCE_PROCESSOR={speed.processor():.0f}")
        self.stdout.write(f"LINGEE_SPEED_REFERENCE_DISK={speed.disk(settings.WORK_DIR):.0f}")
