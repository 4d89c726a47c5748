"""The blind re-check of a score: both sides commit, runs are drawn, two people judge, one number leaves on a tick."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.models import User
from audit import log
from audit.canonical import timestamp
from audit.events import Actor
from benchmark.keys import KeyWithheld
from config import clock, vault, workdays
from evaluation.models import Attempt, TaskResult
from governance import leaks
from governance.appeals import drawing, events, policies, queries, sheets, telling
from governance.appeals.models import (
    Appeal,
    Recheck,
    RecheckItem,
    RecheckPanel,
    RecheckSecret,
    RecheckSheet,
)
from governance.appeals.policies import ENDS, Subject
from governance.appeals.services.moving import locked
from governance.disclosure import bits
from governance.models import LeakCharge
from governance.queries import policy_at
from submissions.problems import Code, refuse
from submissions.services import standing

State = Recheck.State
WORD_DAYS = 5
"""Working days for the vendor's word, once the platform has committed itself."""


def commit(which: UUID, *, by: Actor) -> bool:
    """Fix the platform's nonce of an admitted appeal against a score, once. Sealed work only."""
    with transaction.atomic():
        appeal = locked(which)
        is_due = appeal.subject == Subject.SCORE and appeal.admitted_at is not None and not appeal.is_over
        if not is_due or Recheck.objects.filter(appeal=appeal).exists():
            return False
        nonce, now = secrets.token_bytes(drawing.NONCE_BYTES), clock.now()
        row = Recheck.objects.create(
            appeal=appeal,
            state_since=now,
            platform_commitment=hashlib.sha256(nonce.hex().encode()).hexdigest(),
            committed_at=now,
            word_due_at=workdays.after(now, WORD_DAYS),
        )
        RecheckSecret.objects.create(appeal=appeal, wrapped_nonce=vault.wrap(nonce, under=_key()))
        event = events.RecheckCommitted(
            subject=appeal.id, commitment=row.platform_commitment, word_due=timestamp(row.word_due_at)
        )
        log.append(event, by=by)
        telling.tell_word_due(appeal, row)
    return True


def reveal(which: UUID, *, word: str, by: Actor) -> Recheck:
    """Give the word whose SHA-256 the appeal carries. Again changes nothing.

    Raises Refused: appeal_word, appeal_over, standing.
    """
    with transaction.atomic():
        appeal = locked(which)
        standing.require(appeal.organisation, by)
        row = Recheck.objects.select_for_update().filter(appeal=appeal).first()
        if not drawing.is_storable(word) or hashlib.sha256(word.encode()).hexdigest() != appeal.commitment:
            raise refuse(Code.APPEAL_WORD)
        if row is None or (row.state != State.COMMITTED and row.word != word):
            raise refuse(Code.APPEAL_OVER)
        if row.state == State.COMMITTED:
            row.word = word
            _move(row, State.REVEALED, "word")
            log.append(events.RecheckRevealed(subject=appeal.id), by=by)
    return row


def draw(
    which: UUID,
    *,
    by: Actor,
    preparing: Callable[[], AbstractContextManager[sheets.Prepare]] = sheets.preparing,
) -> bool:
    """Draw the runs once the word is there and two people are named, and make their sheets. Sealed work only.

    What store and vault raise passes: then nothing was drawn, and the next tick tries again.
    """
    with preparing() as prepare, transaction.atomic():
        appeal = locked(which)
        row = Recheck.objects.select_for_update().filter(appeal=appeal, state=State.REVEALED).first()
        panel = RecheckPanel.objects.filter(appeal=appeal).first()
        if row is None or panel is None or appeal.is_over:
            return False
        secret = RecheckSecret.objects.get(appeal=appeal)
        nonce = vault.unwrap(bytes(secret.wrapped_nonce), under=_key()).hex()
        seed = drawing.seed_of(row.word, nonce)
        results = {found.attempt.id.hex: found for found in _results(appeal)}
        chosen = drawing.draw(seed, results, policies.RECHECKED)
        for episode in chosen:
            _make_item(appeal, panel, results[episode], prepare)
        _shuffle(appeal)
        row.nonce, row.runs = nonce, len(chosen)
        _move(row, State.DRAWN, "nonce", "runs")
        event = events.RecheckDrawn(subject=appeal.id, seed=seed, nonce=nonce, runs=len(chosen))
        log.append(event, by=by)
    return True


def _results(appeal: Appeal) -> list[TaskResult]:
    """Every run of the domain that has a result."""
    assert appeal.submission is not None, "a score is one of a submission"
    rows = TaskResult.objects.filter(
        episode__run=appeal.submission.held_out_run_id, episode__task__domain=appeal.domain
    )
    return list(rows.select_related("attempt__episode__task", "attempt__episode__run__package"))


def _make_item(appeal: Appeal, panel: RecheckPanel, result: TaskResult, prepare: sheets.Prepare) -> None:
    attempt: Attempt = result.attempt
    item = RecheckItem.objects.create(appeal=appeal, attempt=attempt, verdict=result.success)
    shown = prepare(attempt)
    for judge in (panel.first_id, panel.second_id):
        sheet = RecheckSheet(item=item, appeal=appeal, judge_id=judge, place=0)
        closed = sheets.seal(sheet.id, shown)
        sheet.sealed, sheet.boxed_key = closed.sealed, closed.boxed_key
        sheet.save()


def _shuffle(appeal: Appeal) -> None:
    """Each of the two goes through the runs in an order of their own, which the draw does not tell."""
    for judge in set(RecheckSheet.objects.filter(appeal=appeal).values_list("judge", flat=True)):
        rows = list(RecheckSheet.objects.filter(appeal=appeal, judge=judge))
        secrets.SystemRandom().shuffle(rows)
        for place, sheet in enumerate(rows, start=1):
            sheet.place = place
        RecheckSheet.objects.bulk_update(rows, ["place"])


def judge(sheet: UUID, *, verdict: str, by: Actor) -> RecheckSheet:
    """Say of one run whether it `delivers` or `fails`; said once.

    Raises Refused: appeal_not_named, appeal_moved_on.
    """
    delivers = {"delivers": True, "fails": False}[verdict]
    with transaction.atomic():
        row = RecheckSheet.objects.select_for_update(of=("self",)).get(pk=sheet)
        if str(row.judge_id) != by.id:
            raise refuse(Code.APPEAL_NOT_NAMED)
        recheck = Recheck.objects.select_for_update().get(appeal=row.appeal_id)
        if recheck.state != State.DRAWN or row.judged_at is not None:
            raise refuse(Code.APPEAL_MOVED_ON)
        row.delivers, row.judged_at = delivers, clock.now()
        row.save(update_fields=["delivers", "judged_at"])
        log.append(events.RecheckJudged(subject=row.appeal_id, sheet=str(row.id)), by=by)
        if not RecheckSheet.objects.filter(appeal=row.appeal_id, judged_at=None).exists():
            _move(recheck, State.JUDGED)
            log.append(events.RecheckComplete(subject=row.appeal_id), by=by)
    return row


def show(which: UUID, *, by: Actor) -> bool:
    """On a release tick: charge the agreement and show it, and say whether the domain is graded again. Sealed only."""
    with transaction.atomic():
        appeal = locked(which)
        row = Recheck.objects.select_for_update().filter(appeal=appeal, state=State.JUDGED).first()
        if row is None or appeal.submission is None or _is_decided(appeal):
            return False
        policy = policy_at(appeal.task_set_id, clock.now())
        if clock.now() < clock.next_tick(row.state_since, policy.tick_seconds):
            return False
        found = drawing.agreement(_confirmed(appeal))
        row.is_below = found.points < policies.THRESHOLD
        charge = bits.millibits([found.runs + 1])
        account = leaks.hold_account(policy, appeal.submission.organisation.lineage_id)
        is_covered = account is None or account.covers(charge)
        if account is not None and is_covered:
            leaks.charge(appeal.submission, account, charge, kind=LeakCharge.Kind.RECHECK, by=by)
        if is_covered:
            row.agreement, row.low, row.high = found.points, found.low, found.high
        _close(row, State.SHOWN, "agreement", "low", "high", "is_below")
        event = events.RecheckShown(
            subject=appeal.id,
            runs=found.runs,
            agreement=row.agreement,
            low=row.low,
            high=row.high,
            below=int(row.is_below),
        )
        log.append(event, by=by)
        telling.tell_recheck(appeal)
    return True


def _confirmed(appeal: Appeal) -> list[bool]:
    """By run: whether both people came to the first verdict. Where they differ it is not confirmed."""
    items = RecheckItem.objects.filter(appeal=appeal).prefetch_related("sheets").order_by("id")
    return [all(sheet.delivers == item.verdict for sheet in item.sheets.all()) for item in items]


def lapse(which: UUID, *, by: Actor) -> bool:
    """Give a re-check up whose word did not come in time, or whose appeal is over. Sealed work only."""
    with transaction.atomic():
        appeal = locked(which)
        row = Recheck.objects.select_for_update().filter(appeal=appeal).first()
        if row is None or row.is_over:
            return False
        is_late = row.state == State.COMMITTED and row.word_due_at <= clock.now()
        if not is_late and not _is_decided(appeal):
            return False
        _close(row, State.LAPSED)
        log.append(events.RecheckLapsed(subject=appeal.id), by=by)
    return True


def _is_decided(appeal: Appeal) -> bool:
    """Whether nothing waits for the re-check any more: the appeal is ruled on, or over. Then nothing is shown of it."""
    return appeal.state in ENDS or appeal.state == policies.State.RULED


def name_panel(appeal: Appeal, first: User, second: User, *, by: Actor) -> RecheckPanel:
    """Fix who judges; the caller has looked at duties and conflicts, and holds the appeal."""
    made = RecheckPanel.objects.create(appeal=appeal, first=first, second=second)
    event = events.RecheckPanelNamed(
        subject=appeal.id, first=str(first.pseudonym), second=str(second.pseudonym)
    )
    log.append(event, by=by)
    return made


def _move(row: Recheck, to: str, *changed: str) -> None:
    row.state, row.state_since = to, clock.now()
    row.save(update_fields=["state", "state_since", *changed])


def _close(row: Recheck, to: str, *changed: str) -> None:
    """An end; what the sheets held is gone."""
    _move(row, to, *changed)
    RecheckSheet.objects.filter(appeal=row.appeal_id).update(sealed=b"", boxed_key=b"")


def _key() -> bytes:
    key: bytes | None = settings.VAULT_KEY_SEALED
    if key is None:
        raise KeyWithheld("this process holds no key for what is sealed")
    return key


def advance(which: UUID, *, by: Actor) -> None:
    """Whatever is due of one re-check."""
    commit(which, by=by)
    if queries.is_revealed(which):
        draw(which, by=by)
    show(which, by=by)
    lapse(which, by=by)
