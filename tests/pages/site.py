"""A site with something on each page: an open version with public tasks, and submissions in the states pages show."""

from __future__ import annotations

from decimal import Decimal

from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import translation

from accounts.models import User
from accounts.security.services import current_code, ensure_totp
from audit.events import system
from benchmark.models import Domain, PublicTask, TaskRevision, TaskSetVersion
from benchmark.queries import composition, content_digest
from config import clock
from evaluation.models import EvaluationRun, PublicTaskResult
from governance.models import DomainAggregate, Release, ReleasePolicy
from governance.queries import current_policy
from governance.services import set_release_policy
from submissions import services
from submissions.models import Submission
from submissions.problems import Code
from submissions.services.moves import locked, move
from tests.factories import draft_version, recorded, run_of, saved
from tests.submissions import world

BY = system("test")
STATEMENT = "请核对附件中的单据，把差异写入 核对结果.csv。"
VALUES = {"general": (46, 9), "finance": (51, 11), "supply_chain": (38, 10), "manufacturing": (44, 11)}
ENTERPRISE = (44, 6)

AMPLE = 2_000_000
"""More thousandths of a bit than any quota can tell; a set of a few tasks would allow none."""


def task_set(label: str = "2026.9", *, profile: str = "demo", **numbers: int) -> TaskSetVersion:
    """A frozen, open version whose public tasks have statements."""
    version = frozen_set(label)
    version.opened_at = clock.now()
    saved(version)
    services.open_task_set(version, profile=profile, numbers=numbers, by=BY)
    set_release_policy(version, profile=profile, tick_seconds=5, budget_millibits=AMPLE, by=BY)
    return version


def frozen_set(label: str = "2026.9") -> TaskSetVersion:
    """A frozen version that nobody can submit to yet."""
    version = draft_version(label, {domain.value: (2, 3) for domain in Domain})
    for task in TaskRevision.objects.filter(version=version, group="public"):
        PublicTask.objects.create(
            task=task,
            version=version,
            slug=task.slug,
            domain=task.domain,
            category=task.category,
            operation=task.operation,
            difficulty=task.difficulty,
            title_zh=f"单据核对 {task.slug}",
            title_en=f"Matching {task.slug}",
            instruction=STATEMENT,
        )
    version.digest, version.composition = content_digest(version), composition(version)
    version.state = TaskSetVersion.State.FROZEN
    saved(version)
    return version


def address(name: str, *args: object, language: str = "en", **kwargs: object) -> str:
    """The address of a page in a language."""
    with translation.override(language):
        return reverse(name, args=args or None, kwargs=kwargs or None)


def signed_in(user: User) -> Client:
    """A browser in which this person has just signed in, with a second factor; faults come back as answers."""
    client = Client(raise_request_exception=False)
    sign_in(client, user)
    return client


def sign_in(client: Client, user: User) -> None:
    """As after the password and the code of an authenticator app, which the person has from now on."""
    world.enrolled(user)
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    session = client.session
    session.update(proofs(user, "password", "mfa"))
    session.save()


def code_of(user: User) -> str:
    """What the person's authenticator app shows now; taken again although it was used in this half minute."""
    code = current_code(ensure_totp(user))
    cache.delete(f"allauth.mfa.totp.used?user={user.pk}&code={code}")
    return code


def proofs(user: User, *methods: str) -> dict[str, object]:
    """What a session says of how it was signed in."""
    return {
        "account_authentication_methods": [
            {"method": method, "at": clock.now().timestamp()} for method in methods
        ],
        "account_authentication_methods_user": str(user.pk),
    }


def moved(submission: Submission, *states: tuple[str, Code]) -> Submission:
    """The submission after legal moves, without workers."""
    for state, cause in states:
        with transaction.atomic():
            row = locked(submission.pk)
            if state == "preflight":
                row.preflight_run = run_of(row.task_set, EvaluationRun.Kind.PREFLIGHT)
            if state == "running" and row.state == "queued":
                row.held_out_run = run_of(row.task_set)
            row.save()
            move(row, state, cause=cause, by=BY)
    return Submission.objects.get(pk=submission.pk)


TO_RUNNING = (
    ("checking", Code.CHECK_STARTED),
    ("preflight", Code.CHECK_PASSED),
    ("queued", Code.PREFLIGHT_PASSED),
    ("running", Code.CANARY_PASSED),
)
TO_COMPLETE = (*TO_RUNNING, ("grading", Code.ALL_RUNS_EXECUTED), ("complete", Code.RESULTS_RELEASED))


def release(submission: Submission, *, withheld: str = "", bounds: tuple[int, int] | None = None) -> Release:
    """The numbers of `VALUES` as released; `withheld` names a domain without one, `bounds` make it incomplete."""
    policy = current_policy(submission.task_set)
    assert isinstance(policy, ReleasePolicy)
    macro = (None, None) if withheld in ("finance", "supply_chain", "manufacturing") else ENTERPRISE
    with recorded(submission):
        row = Release.objects.create(
            submission=submission,
            policy=policy,
            enterprise_value=macro[0],
            enterprise_h=macro[1],
            coverage="0.97" if bounds else "1.00",
            is_complete=bounds is None,
            versions={"task_set": submission.task_set.label, "protocol": "1", "evaluator": "1"},
            released_at=clock.now(),
        )
        for domain, (value, h) in VALUES.items():
            gone = domain == withheld
            DomainAggregate.objects.create(
                release=row,
                domain=domain,
                status="not_reportable" if gone else "reported",
                reason="near_duplicate" if gone else "",
                earlier=submission if gone else None,
                value=None if gone else value,
                half_width=None if gone else h,
                low=bounds[0] if bounds else None,
                high=bounds[1] if bounds else None,
            )
    return row


def preflight_result(submission: Submission, **changes: object) -> PublicTaskResult:
    """One run of the preflight, with everything its vendor sees."""
    run = submission.preflight_run
    assert run is not None
    task = TaskRevision.objects.filter(version=run.version, group="public").order_by("slug").first()
    assert task is not None
    facts: dict[str, object] = {
        "run": run,
        "task": task,
        "task_label": task.slug,
        "domain": task.domain,
        "run_index": 0,
        "score": Decimal("0.75"),
        "success": False,
        "failure_type": "numeric_or_state_error",
        "ending": "finished",
        "items": [{"id": "R1", "score": "0.75", "reason": "3 of 4"}],
        "seconds": 1.5,
        "grader_version": "1",
        "graded_at": clock.now(),
        "exit_code": 0,
        "has_output": True,
        "stdout": "reading <b>files</b>",
        "stderr": "a warning",
        "reply": "done",
    }
    return PublicTaskResult.objects.create(**(facts | changes))


def submission(vendor: world.Vendor, version: TaskSetVersion, name: str = "probe") -> Submission:
    return vendor.submit(version, vendor.harness(name))
