"""Audit event kinds of the log itself. A cosignature is none: each would make a new tree to be cosigned."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from audit.events import Event


class WitnessRegistered(Event):
    """From now on cosignatures by this key are accepted and shown."""

    kind: ClassVar[str] = "witness.registered"
    subject_type: ClassVar[str] = "witness"
    sentence = _("{actor} registered the witness {name}.")
    name: str
    vkey: str
