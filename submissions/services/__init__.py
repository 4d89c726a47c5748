"""Every change of state in submissions: one function per use case, one transaction, its audit events inside it."""

from submissions.queries.admission import Order
from submissions.services.admission import Receipt, submit
from submissions.services.checking import begin_check, check, finish_check, start_run
from submissions.services.choices import cancel, choose, refund, set_publication_consent
from submissions.services.following import follow_upstreams
from submissions.services.idempotency import Answer, once
from submissions.services.moves import move
from submissions.services.policy import (
    OFFICIAL,
    close_task_set,
    lift_stop,
    open_task_set,
    policy_people,
    set_policy,
    stop_admission,
)
from submissions.services.preflighting import start_preflight
from submissions.services.progress import advance, advance_run, conclude, pause, resume, running_time
from submissions.services.registry import add_version, register_harness
from submissions.services.sweeping import remove_upload, sweep
from submissions.services.uploads import (
    LIFETIME,
    Part,
    abort_upload,
    complete_upload,
    open_upload,
    receive_stream,
    require_use,
    sign_parts,
)

__all__ = [
    "LIFETIME",
    "OFFICIAL",
    "Answer",
    "Order",
    "Part",
    "Receipt",
    "abort_upload",
    "add_version",
    "advance",
    "advance_run",
    "begin_check",
    "cancel",
    "check",
    "choose",
    "close_task_set",
    "complete_upload",
    "conclude",
    "finish_check",
    "follow_upstreams",
    "lift_stop",
    "move",
    "once",
    "open_task_set",
    "open_upload",
    "pause",
    "policy_people",
    "receive_stream",
    "refund",
    "register_harness",
    "remove_upload",
    "require_use",
    "resume",
    "running_time",
    "set_policy",
    "set_publication_consent",
    "sign_parts",
    "start_preflight",
    "start_run",
    "stop_admission",
    "submit",
    "sweep",
]
