"""Why a submission is in its state, and moves that are not possible. Statuses matter for the last ones only."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

_WAIT = _("Nothing to do; the page shows the next step.")
_FREE = _("Nothing is counted and no cooldown runs. Try again when you like.")
_RETURNED = _("Your use was returned and the cooldown lifted. Submit again when you like.")


def _says(code: Code, fault: Fault, title: Promise, sentence: Promise, remedy: Promise = _WAIT) -> Row:
    return (code, 409, fault, title, sentence, remedy)


def _progress(code: Code, title: Promise) -> Row:
    return _says(code, Fault.PLATFORM if code is Code.RUNS_LOST else Fault.POLICY, title, title)


PASSED: list[Row] = [
    _progress(Code.ADMITTED, _("Admitted; one use is reserved")),
    _progress(Code.IDENTICAL_EARLIER, _("Identical to an earlier submission; its result is returned")),
    _progress(Code.PREFLIGHT_ADMITTED, _("Accepted as a preflight on its own; no submission is used")),
    _progress(Code.CHECK_STARTED, _("The package is being checked")),
    _progress(Code.CHECK_PASSED, _("Package accepted; preflight on the public tasks has started")),
    _progress(Code.PREFLIGHT_PASSED, _("Preflight passed")),
    _progress(Code.CANARY_PASSED, _("Held-out tasks have started; one use is counted")),
    _progress(Code.ALL_RUNS_EXECUTED, _("All runs are executed")),
    _progress(Code.RESULTS_RELEASED, _("Results released")),
    _progress(Code.RELEASED_AFTER_REVIEW, _("Released after review")),
    _progress(Code.UPSTREAM_BACK, _("The model upstream answers again")),
]

ENDS: list[Row] = [
    _says(
        Code.HELD_FOR_REVIEW,
        Fault.POLICY,
        _("Held for review before release"),
        _(
            "The result is held under the rule %(rule)s of the probing policy. At %(until)s it is released, unless "
            "two people extended the hold once or voided it before, each with a reason."
        ),
        _(
            "Nothing is asked of you. You can appeal against the hold; that neither speeds it up nor slows it."
        ),
    ),
    _says(
        Code.VOIDED_AFTER_REVIEW,
        Fault.POLICY,
        _("Voided after review"),
        _(
            "Two people voided this submission after a review. No number of it is ever shown, and its use stays "
            "counted."
        ),
        _("Read the ground on the submission's page. You can appeal against it."),
    ),
    _says(
        Code.HOLD_LIFTED,
        Fault.PLATFORM,
        _("The hold was a false alarm"),
        _(
            "The review found nothing against this submission. Its use is returned and its cooldown has ended."
        ),
        _("Submit again when you like. The result is released with the next tick."),
    ),
    _says(
        Code.SAME_AS_EARLIER,
        Fault.POLICY,
        _("The same as an earlier submission"),
        _(
            "But for its version line, version %(version)s is the package of your submission %(submission)s, whose "
            "result stands. Nothing runs a second time, and no use is charged."
        ),
        _("Read the result of that submission, or submit a harness that has changed."),
    ),
    _says(
        Code.NOTHING_REPORTED,
        Fault.POLICY,
        _("Complete, without a value of its own"),
        _(
            "In no domain does this version differ enough from one that your organisation submitted before, so no "
            "new value is shown. The result names the earlier submission."
        ),
        _("Your use was returned; the cooldown stays. Submit again when your harness has changed more."),
    ),
    _says(
        Code.RESULT_NOT_RELEASED,
        Fault.POLICY,
        _("No result yet"),
        _("This submission is in state %(state)s; there is no released result."),
        _("Read the submission until its state is complete or incomplete, then ask again."),
    ),
    _says(
        Code.RECEIPT_NOT_READY,
        Fault.PLATFORM,
        _("The receipt is not ready yet"),
        _("The admission is on record but not yet in a signed state of the log. That takes a few seconds."),
        _("Ask again in a few seconds."),
    ),
    _says(
        Code.PREFLIGHT_CRASHED,
        Fault.HARNESS,
        _("Preflight failed"),
        _(
            "Your harness stopped on public tasks: %(crashed)s of %(total)s runs ended without artefact or reply. "
            "See the log. No charge."
        ),
        _("Read the logs of the public tasks, correct the package, register a new version."),
    ),
    _says(
        Code.CANARY_FAILED,
        Fault.HARNESS,
        _("Canary failed"),
        _("Your harness ended without artefact or reply on a public task in the held-out set-up. No charge."),
        _("Make sure that the package needs no network and nothing that is left over from an earlier task."),
    ),
    _says(
        Code.RUNS_LOST,
        Fault.PLATFORM,
        _("Some runs were lost"),
        _(
            "Our infrastructure lost some runs and could not repeat them in time. "
            "You decide before any number is shown."
        ),
        _("Choose to keep the incomplete result, or to void it and get your use back."),
    ),
    _says(
        Code.UPSTREAM_DOWN,
        Fault.PLATFORM,
        _("A model upstream does not answer"),
        _("A model that your harness needs is down, as our own probe confirms. Clocks are stopped."),
    ),
    _says(
        Code.UPSTREAM_CEILING,
        Fault.POLICY,
        _("A spending ceiling is reached"),
        _("Calls to a model upstream have cost what its spending ceiling allows. Clocks are stopped."),
        _("Raise the spending ceiling, and the submission goes on by itself. After 14 days it is cancelled."),
    ),
    _says(
        Code.DEADLINE_CEILING,
        Fault.VENDOR_DECISION,
        _("The ceiling was not raised"),
        _("A spending ceiling was reached and not raised within 14 days. The submission was cancelled."),
        _("If held-out tasks had started, the use stays counted. Set a higher ceiling before the next one."),
    ),
    _says(
        Code.PREFLIGHT_UNDECLARED_MODEL,
        Fault.HARNESS,
        _("A model was asked for that is not declared"),
        _("On public tasks the harness asked for a model that harness.toml does not name."),
        _("Name each model in harness.toml and in the HarnessCard, or ask for MODEL_<ROLE>_NAME only."),
    ),
    _says(
        Code.CANCELLED_BY_VENDOR,
        Fault.VENDOR_DECISION,
        _("Cancelled"),
        _("Cancelled before held-out tasks started. Nothing was charged."),
        _RETURNED,
    ),
    _says(
        Code.PREFLIGHT_CANCELLED,
        Fault.VENDOR_DECISION,
        _("Preflight cancelled"),
        _("The preflight was cancelled. No submission was used; it counts as a preflight."),
        _("Start another preflight, or submit the package, when you like."),
    ),
    _says(
        Code.CANCELLED_AFTER_START,
        Fault.VENDOR_DECISION,
        _("Cancelled after the start"),
        _("Held-out tasks have started. Cancelling keeps this submission counted."),
        _("The use stays counted and the cooldown runs."),
    ),
    _says(
        Code.CHOICE_KEEP,
        Fault.VENDOR_DECISION,
        _("Kept as incomplete"),
        _("Kept as incomplete by your choice, made before any number was shown."),
    ),
    _says(
        Code.CHOICE_VOID,
        Fault.VENDOR_DECISION,
        _("Voided"),
        _("Voided by your choice; no number is ever shown."),
        _RETURNED,
    ),
    _says(
        Code.DEADLINE_CREATED,
        Fault.PLATFORM,
        _("Never started"),
        _("The platform did not take up this submission within a day. Nothing was charged."),
        _FREE,
    ),
    _says(
        Code.DEADLINE_CHECKING,
        Fault.PLATFORM,
        _("Check not finished"),
        _("The platform could not finish checking the package in time. Nothing was charged."),
        _FREE,
    ),
    _says(
        Code.DEADLINE_PREFLIGHT,
        Fault.PLATFORM,
        _("Preflight not finished"),
        _("The platform could not finish the preflight in time. Nothing was charged."),
        _FREE,
    ),
    _says(
        Code.DEADLINE_RUNNING,
        Fault.PLATFORM,
        _("Runs missing"),
        _("Our infrastructure failed for too long. You decide before any number is shown."),
        _("Choose to keep the incomplete result, or to void it and get your use back."),
    ),
    _says(
        Code.DEADLINE_PAUSED,
        Fault.PLATFORM,
        _("Paused for too long"),
        _("The model upstream did not come back in time. You decide before any number is shown."),
        _("Choose to keep the incomplete result, or to void it and get your use back."),
    ),
    _says(
        Code.DEADLINE_GRADING,
        Fault.PLATFORM,
        _("Grading not finished"),
        _("The platform could not finish grading in time. You decide before any number is shown."),
        _("Choose to keep the incomplete result, or to void it and get your use back."),
    ),
    _says(
        Code.DEADLINE_CHOICE,
        Fault.PLATFORM,
        _("Voided"),
        _("No choice was made in time, so the submission was voided; no number is ever shown."),
        _RETURNED,
    ),
    _says(
        Code.REFUND_BY_STAFF,
        Fault.PLATFORM,
        _("Returned by staff"),
        _("Staff returned this use: %(reason)s"),
    ),
    _says(
        Code.REFUND_BY_RULING,
        Fault.PLATFORM,
        _("Returned by a ruling"),
        _("A ruling on an appeal returned this use: %(reason)s"),
    ),
]

REFUSED: list[Row] = [
    _says(
        Code.MOVE_NOT_POSSIBLE,
        Fault.REQUEST,
        _("Not possible in this state"),
        _("The submission is %(state)s; that cannot be changed this way."),
    ),
    _says(
        Code.CHOICE_NOT_POSSIBLE,
        Fault.REQUEST,
        _("No such choice"),
        _("There is nothing to keep: no held-out task was run."),
        _("Choose void; your use is returned."),
    ),
    _says(
        Code.REFUND_NOT_POSSIBLE,
        Fault.REQUEST,
        _("Nothing to return"),
        _("This use is not counted: it was returned already, or is only reserved."),
    ),
    _says(
        Code.NOTHING_TO_RERUN,
        Fault.REQUEST,
        _("Nothing to run again"),
        _("The submission is %(state)s, and no ended run of it lacks results that the platform lost."),
        _("Look at the submission again: what is missing may be under way already."),
    ),
    _says(
        Code.HOLD_NOT_POSSIBLE,
        Fault.REQUEST,
        _("Cannot be held"),
        _(
            "The submission is %(state)s. Only one that is under way, and was not ordered to be held yet, can be."
        ),
        _("Look at the submission again."),
    ),
    _says(
        Code.HOLD_OVER,
        Fault.REQUEST,
        _("No hold that this can be done to"),
        _("The hold is over or its deadline has passed, or it was extended before; a hold is extended once."),
        _("Look at the hold again. After its deadline the result is released."),
    ),
    _says(
        Code.HOLD_DECISION_OPEN,
        Fault.REQUEST,
        _("There is such a proposal already"),
        _("Somebody proposed the same about this hold, and nobody has decided on it yet."),
        _("Approve that one, or withdraw it first."),
    ),
    _says(
        Code.CASE_OVER,
        Fault.REQUEST,
        _("Not possible in this case"),
        _("The case is closed, or waits for an answer to what was asked before."),
        _("Look at the case again."),
    ),
    _says(
        Code.CASE_NOT_THEIRS,
        Fault.REQUEST,
        _("Not of this case"),
        _("What was named does not fit the lineage and the version that this case is about."),
        _("Choose one of those that the case shows."),
    ),
    _says(
        Code.QUESTION_OVER,
        Fault.REQUEST,
        _("No answer is awaited"),
        _("The question was answered already, or its time is over."),
        _("Nothing to do. What you still want to say you can say in an appeal."),
    ),
    _says(
        Code.QUESTION_NO_WORDS,
        Fault.REQUEST,
        _("The answer is empty"),
        _("An answer is given once, in words."),
        _("Write your answer, then send it."),
    ),
    _says(
        Code.RETURN_EXISTS,
        Fault.REQUEST,
        _("There is a proposal already"),
        _("Somebody has proposed to return this use, and nobody has decided on it yet."),
        _("Approve that one, or withdraw it first."),
    ),
]

ROWS: list[Row] = [*PASSED, *ENDS, *REFUSED]

EVENTS = frozenset(row[0] for row in (*PASSED, *ENDS)) - {Code.RESULT_NOT_RELEASED, Code.RECEIPT_NOT_READY}
"""Codes that say what happened to a submission; they refuse no request, so their status means nothing."""
