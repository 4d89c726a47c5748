"""Addresses of the public log, below /log/ and without a language."""

from __future__ import annotations

from django.urls import path

from audit import public

urlpatterns = [
    path("checkpoint", public.checkpoint, name="log-checkpoint"),
    path("checkpoint/<int:size>", public.checkpoint_of, name="log-checkpoint-of"),
    path("checkpoints", public.checkpoints, name="log-checkpoints"),
    path("keys", public.keys, name="log-keys"),
    path("witnesses", public.witnesses, name="log-witnesses"),
    path("tile/<path:path>", public.tile, name="log-tile"),
    path("consistency", public.consistency, name="log-consistency"),
    path("cosignatures", public.cosignatures, name="log-cosignatures"),
]
