"""The processes that write and send notices do so with the rights and keys that each really has."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from accounts.notices.models import Notice
from config.processes import ROOT
from submissions.models import WebhookDelivery
from submissions.webhooks import services
from submissions.webhooks.kinds import Kind
from tests.accounts.duties import opened
from tests.notices.receiver import receiver
from tests.pages import site
from tests.submissions import world
from tests.submissions.outcomes import bring_to

pytestmark = [pytest.mark.serial, pytest.mark.django_db(transaction=True)]

MOVE = """
from submissions.models import Submission
from submissions import services
from submissions.problems import Code
from audit.events import system
from accounts.tasks import remind_of_duties
row = Submission.objects.get()
services.pause(row.pk, by=system("test"))
remind_of_duties()
"""
SEND = """
from accounts.tasks import deliver_mail
from submissions.tasks import deliver_webhooks, look_after_webhooks
deliver_mail(); look_after_webhooks(); deliver_webhooks()
"""


def run(processes: Any, role: str, code: str) -> None:
    command, environment = processes.command("shell", "--no-imports", "-c", code, role=role)
    done = subprocess.run(
        command,
        env={**environment, "LINGEE_OUTGOING_LOOPBACK": "yes"},
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_office_moves_and_tells_and_the_post_worker_sends(processes: Any, settings: Any) -> None:
    settings.OUTGOING_LOOPBACK = True
    vendor, office = world.vendor(), opened()
    version = site.task_set()
    with receiver() as there:
        services.create(
            vendor.organisation, url=there.url, kinds=[Kind.SUBMISSION_STATE.value], by=vendor.actor
        )
        bring_to(vendor.submit(version, vendor.harness()), "running")
        WebhookDelivery.objects.update(due_at=None)
        run(processes, "sealed", MOVE)
        paused = Notice.objects.get(kind="submission.paused")
        assert (paused.person_id, paused.mailed_at) == (vendor.user.pk, None)
        assert not Notice.objects.filter(person=office.first, kind="duty.ending").exists()
        run(processes, "web", SEND)
        assert len(there.taken) == 1
    paused.refresh_from_db()
    assert paused.mailed_at is not None
    assert WebhookDelivery.objects.get(due_at=None, attempts=1).last_status == 200
