"""Why an appeal is not taken, and why somebody of the staff has no say in one."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _

from submissions.problems.catalogue import Fault
from submissions.problems.codes import Code
from submissions.problems.requests import Row

_TO_SOMEBODY_ELSE = _("Leave it to somebody else who may rule on appeals.")

FILING: list[Row] = [
    (
        Code.APPEAL_NOTHING,
        422,
        Fault.REQUEST,
        _("Nothing of that kind to appeal against"),
        _("The submission has no such decision: no shown value of that domain, no hold, or no use."),
        _("Choose another subject, or name the submission that it is about."),
    ),
    (
        Code.APPEAL_WINDOW,
        403,
        Fault.POLICY,
        _("Too late to appeal"),
        _("Appeals are filed within %(days)s days; for this one that was until %(until)s."),
        _("If staff should know of a fault all the same, write to support."),
    ),
    (
        Code.APPEAL_EXISTS,
        409,
        Fault.REQUEST,
        _("Appealed against already"),
        _("An appeal against exactly this is open."),
        _("Wait for its ruling, or withdraw it first."),
    ),
    (
        Code.APPEAL_LIMIT,
        403,
        Fault.POLICY,
        _("No free appeal left"),
        _(
            "Your organisation has used its %(limit)s free appeals on %(task_set)s. Appeals that were upheld, in part "
            "too, or withdrawn before they were admitted do not count."
        ),
        _("Wait for the ruling on an open one: if it is upheld, it no longer counts."),
    ),
    (
        Code.APPEAL_COMMITMENT,
        422,
        Fault.REQUEST,
        _("The commitment is missing"),
        _(
            "An appeal against a score carries the SHA-256 of a word of your own, 64 lower-case hexadecimal digits; "
            "later the word has part in drawing which runs are judged again."
        ),
        _("Choose a word of at least 16 characters, keep it, and send its SHA-256."),
    ),
    (
        Code.APPEAL_WORD,
        422,
        Fault.REQUEST,
        _("Not the word of the commitment"),
        _("The SHA-256 of this word is not the one that the appeal carries."),
        _("Send the word exactly as it was when you computed its SHA-256, without a line break."),
    ),
    (
        Code.APPEAL_OVER,
        409,
        Fault.REQUEST,
        _("Not possible any more"),
        _("The appeal is ruled on, or has ended, or has passed this step."),
        _("Look at the appeal: it says what comes next."),
    ),
]

STAFF: list[Row] = [
    (
        Code.APPEAL_TOOK_PART,
        403,
        Fault.POLICY,
        _("You had part in it"),
        _("Nobody has a say in an appeal against a decision that they had part in."),
        _TO_SOMEBODY_ELSE,
    ),
    (
        Code.APPEAL_OF_THE_VENDOR,
        403,
        Fault.POLICY,
        _("Bound to the vendor"),
        _("Nobody has a say in the appeal of an organisation that they belong or belonged to."),
        _TO_SOMEBODY_ELSE,
    ),
    (
        Code.APPEAL_OF_A_COMPETITOR,
        403,
        Fault.POLICY,
        _("Bound to a competitor"),
        _("Nobody who belongs or belonged to an organisation that can submit has a say in another's appeal."),
        _TO_SOMEBODY_ELSE,
    ),
    (
        Code.APPEAL_OUTSIDE_NEEDED,
        403,
        Fault.POLICY,
        _("An arbiter from outside is needed"),
        _("The appeal is the operator's own, or its answer is late: an arbiter from outside decides."),
        _("Ask one; two administrators name them: `manage.py outside_arbiter`."),
    ),
    (
        Code.APPEAL_NOT_NAMED,
        403,
        Fault.POLICY,
        _("Not named for this step"),
        _("Only who was named for this step of the appeal, and holds the duty for it, takes it."),
        _("Ask whoever names the people of an appeal."),
    ),
    (
        Code.APPEAL_MOVED_ON,
        409,
        Fault.REQUEST,
        _("The appeal has moved on"),
        _("In its present state this step is not possible."),
        _("Look at the page again."),
    ),
    (
        Code.APPEAL_TEXT_LEAKS,
        422,
        Fault.REQUEST,
        _("The text tells too much"),
        _("The text names or quotes what must not leave, so it was not kept."),
        _("Say it without naming tasks, quoting them, or giving finer numbers than a result has."),
    ),
    (
        Code.APPEAL_EFFECT_NOT_POSSIBLE,
        422,
        Fault.REQUEST,
        _("This ruling cannot order that"),
        _("One of the effects does not fit the subject or the outcome of the appeal."),
        _("Choose effects that go with this subject and outcome."),
    ),
    (
        Code.APPEAL_RECHECK_RUNS,
        409,
        Fault.REQUEST,
        _("The blind re-check is under way"),
        _("A ruling on a score is drafted once the blind re-check is over."),
        _("Wait until both people have judged every run, or its time is over."),
    ),
    (
        Code.APPEAL_RECHECK_PANEL,
        422,
        Fault.REQUEST,
        _("Two people judge again"),
        _(
            "For an appeal against a score a second person judges runs again beside the business expert; both hold a "
            "duty that sees held-out tasks. For other appeals there is none."
        ),
        _("Name somebody who is not the business expert, or leave it empty where no score is concerned."),
    ),
]
ROWS: list[Row] = [*FILING, *STAFF]
