"""How fast a host was when it had nothing else to do: measured once, compared with a reference ever after."""

from __future__ import annotations

from django.db import models


class HostSpeed(models.Model):
    """`host` is its name, as workers report it. Both figures are of one core and one file, when idle."""

    host = models.CharField(primary_key=True, max_length=64)
    machine = models.CharField(max_length=64)
    """Digest of processor model and kernel architecture: another machine under an old name is measured again."""
    processor = models.FloatField()
    """Rounds of the fixed computation in a second."""
    disk = models.FloatField()
    """MiB in a second, written and flushed to the disk."""
    measured_at = models.DateTimeField()
