"""Celery entry points of governance.

Every worker loads this module; the detectors, with their numerical libraries, load where a tick needs them.
"""

from __future__ import annotations

from celery import shared_task

from audit.events import Actor, system
from benchmark.queries import open_versions
from config.stepwise import Steps
from evaluation.fleet import queries as fleet
from evaluation.fleet.models import Switch
from governance import leaks, queries, retention, services
from governance.confirmation import dating
from governance.confirmation import queries as confirmations
from governance.confirmation import services as confirming
from governance.desk import cases
from governance.desk import queries as holds
from governance.desk import services as desk
from governance.records import services as records
from submissions.confidentiality import services as confidentiality
from submissions.reruns import services as offers


@shared_task(name="governance.tasks.tick")
def tick() -> None:
    """Analyse what is due at this tick, then hold it or release it; end holds whose time is over, and release those.

    What each answer could tell about which tasks is noted last. Where a step fails the others are made all the same.
    While releases are paused nothing is analysed, held or released, and no hold ends; the cases go on.
    """
    from governance.watch import exposing

    by, steps = system("release"), Steps()
    if not fleet.is_paused(Switch.RELEASE):
        _release(steps, by)
    with steps.each("cases"):
        cases.sweep(by=by)
    with steps.each("exposure"):
        exposing.expose()
    steps.end()


def _release(steps: Steps, by: Actor) -> None:
    from governance.watch import services as watching

    for submission in queries.due_for_release():
        with steps.each("release", submission.pk):
            if not watching.examined(submission, by=system("detection")):
                continue
            if desk.hold_if_due(submission, by=by) is None:
                services.release_result(submission, by=by)
    for hold in holds.not_released():
        with steps.each("end of a hold", hold.submission_id):
            desk.let_go(hold.submission, by=by)


@shared_task(name="governance.tasks.budgets")
def budgets() -> None:
    """Stop lineages whose account is spent since they were joined."""
    leaks.stop_spent(by=system("leaks"))


@shared_task(name="governance.tasks.confirm")
def confirm() -> None:
    """Move confirmation runs on, and let planned dates of the calendar take place unless releases are paused."""
    steps = Steps()
    for which in confirmations.open_confirmations():
        with steps.each("confirmation run", which):
            confirming.advance(which, by=system("confirmation"))
    if not fleet.is_paused(Switch.RELEASE):
        with steps.each("calendar"):
            dating.date_due(by=system("calendar"), errata=records.errata_document)
    steps.end()


@shared_task(name="governance.tasks.keep_records")
def keep_records() -> None:
    """Make the fingerprints of versions that have none yet; escalate problems that stayed too long."""
    records.make_indexes(by=system("records"))
    records.escalate_due(by=system("records"))


@shared_task(name="governance.tasks.offer_reruns")
def offer_reruns() -> None:
    """Offer re-runs on versions that have opened; end offers whose time is over."""
    from governance.rotation import reruns

    reruns.offer_due(by=system("reruns"))
    offers.tend(by=system("reruns"))


@shared_task(name="governance.tasks.look_after_packages")
def look_after_packages() -> None:
    """Close openings whose hours are over, delete packages whose date is over and that nobody needs."""
    by = system("packages")
    confidentiality.end_overdue(by=by)
    confidentiality.delete_due(spared=retention.needed(), by=by)


@shared_task(name="governance.tasks.purge")
def purge() -> None:
    """Delete stored artefacts whose time is over and that nobody needs."""
    retention.purge(by=system("retention"))


@shared_task(name="governance.tasks.rotate")
def rotate() -> None:
    """Put into the queue what the rules say, move on what is past its deadline, name what is retired and gone."""
    from governance.rotation import intake, planning
    from governance.rotation import services as rotation

    by = system("rotation")
    for task_set in open_versions():
        intake.take_in(task_set, by=by)
    rotation.tend(by=by)
    planning.tend(by=by)
    intake.say_retirements(by=by)
