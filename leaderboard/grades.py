"""What is said of the hosts that ran something: isolation, root, speed, and why one takes no held-out work."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

#: Grades of isolation that a worker may claim.
ISOLATION: dict[str, Any] = {
    "embedded, not the official root": _("embedded, not the official root"),
    "gVisor, not the official root": _("gVisor, not the official root"),
}

#: Roots that a run may have stood on, named by the beginning of a digest.
ROOTS: dict[str, Any] = {
    "official root": _("official root %(digest)s"),
    "image root": _("root of the vendor's image, %(digest)s"),
}

#: Classes of speed that a host may have.
SPEEDS: dict[str, Any] = {
    "own reference": _("the host is its own reference"),
    "reference": _("at least 0.9 of the reference"),
    "below reference": _("below 0.9 of the reference"),
    "not measured": _("not measured"),
}

#: Why a worker takes no held-out work.
HELD_OUT_REFUSALS: dict[str, Any] = {
    "self_test_failed": _(
        "Its self-test failed: see the probes that did not pass. Mend the host and start it again."
    ),
    "host_below_reference": _(
        "Its host has less than 0.9 of the reference's speed: only preflights and canaries run there."
    ),
    "host_not_measured": _(
        "Its host was never idle long enough to be measured: it is tried again with each sign of life."
    ),
}
