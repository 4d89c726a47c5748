"""Staff pages of one submission's runs: what is not through or failed, why, and what can be done about it."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_http_methods, require_safe

from accounts.duties.queries import standing_of
from accounts.views import signed_in
from evaluation.fleet import reports
from evaluation.fleet import services as fleet
from evaluation.fleet.models import EpisodeQuarantine
from evaluation.models import Attempt, Episode, EvaluationRun
from submissions.delivery import delivers, hand_out
from submissions.models import Submission
from submissions.policies.states import RERUN_WINDOW
from submissions.services.staffing import rerun_failed, rerunnable
from submissions.views.fleet import Act, asked, by_of, engineers_page

RELATED = (
    "organisation",
    "harness_version__harness",
    "task_set",
    "slot",
    "preflight_run",
    "canary_run",
    "held_out_run",
)


@dataclass(frozen=True)
class Section:
    """What the page says of one run."""

    run: EvaluationRun
    rows: list[reports.EpisodeLine]
    causes: list[tuple[str, str, int]]
    attempts: list[Attempt]

    def face(self) -> list[object]:
        rows = [[row.attempt and row.attempt.id, row.episode.state, row.cause] for row in self.rows]
        return [self.run.id, rows, self.causes, [row.id for row in self.attempts]]


@require_safe
@engineers_page
@delivers("held_out")
def submission(request: HttpRequest, submission: UUID) -> HttpResponse:
    """Each run that is not finished or failed, with step, attempt, age and cause; by opaque ids, without tasks."""
    found = _found(request, submission)
    sections = [
        Section(run, reports.unfinished(run), reports.causes_of(run), reports.attempts_of(run))
        for run in _runs(found)
    ]
    face = [section.face() for section in sections]
    hand_out(request, "held_out", found.id, face, by=by_of(request))
    context = {
        "submission": found,
        "sections": sections,
        "rerunnable": rerunnable(found) is not None,
        "ends_at": found.rerun_since + RERUN_WINDOW if found.rerun_since else None,
    }
    return render(request, "console/submission.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@engineers_page
def rerun(request: HttpRequest, submission: UUID) -> HttpResponse:
    """Run again now what the platform lost, and nothing else."""
    found = _found(request, submission)
    run = rerunnable(found)
    page = Act(
        title=_("Run again what was lost?"),
        button=_("Run again"),
        says=[
            _("Exactly the runs without a valid result start again, on the same versions; valid ones stay."),
            _(
                "Nothing is charged to the vendor. The event submission.rerun_ordered names the failed attempts."
            ),
        ],
        facts=[
            (_("Submission"), str(found.harness_version)),
            (_("Runs without a result"), str(run.missing) if run else "0"),
        ],
        back="console:submission",
        argument=found.pk,
    )
    return asked(request, page, lambda reason: rerun_failed(found.pk, reason=reason, by=by_of(request)))


@require_http_methods(["GET", "HEAD", "POST"])
@engineers_page
def quarantine(request: HttpRequest, number: int) -> HttpResponse:
    """Set one episode apart, so that it is tried no more until it is released."""
    episode = Episode.objects.filter(pk=number).select_related("run").first()
    if episode is None:
        raise Http404
    owner = _owner(request, episode.run)
    page = Act(
        title=_("Put this episode into quarantine?"),
        button=_("Quarantine"),
        says=[
            _("It is tried no more until it is released; an attempt under way is stopped."),
            _(
                "Its run cannot be complete meanwhile. The event episode.quarantined is written to the audit log."
            ),
        ],
        facts=[(_("Step"), episode.get_state_display()), (_("Attempts"), str(episode.tries.count()))],
        danger=True,
        back="console:submission" if owner else "console:workers",
        argument=owner,
    )
    return asked(
        request, page, lambda reason: fleet.quarantine_episode(episode.pk, reason=reason, by=by_of(request))
    )


@require_http_methods(["GET", "HEAD", "POST"])
@engineers_page
def release(request: HttpRequest, which: UUID) -> HttpResponse:
    """Let an episode be tried again."""
    row = EpisodeQuarantine.objects.filter(pk=which).select_related("episode__run").first()
    if row is None:
        raise Http404
    owner = _owner(request, row.episode.run)
    page = Act(
        title=_("Release this episode?"),
        button=pgettext("quarantine", "Release"),
        says=[
            _("It is tried again with all its attempts, at once or with the next repeat of its run."),
            _("The event episode.released is written to the audit log."),
        ],
        facts=[(_("Cause"), row.get_cause_display()), (_("Reason"), row.reason)],
        back="console:submission" if owner else "console:workers",
        argument=owner,
    )
    return asked(
        request, page, lambda reason: fleet.release_episode(row.id, reason=reason, by=by_of(request))
    )


def _found(request: HttpRequest, submission: UUID) -> Submission:
    """Of anybody but an organisation that the person belongs to."""
    found = Submission.of_any_scope.select_related(*RELATED).filter(pk=submission).first()
    if found is None or found.organisation.lineage_id in standing_of(signed_in(request)).lineages:
        raise Http404
    return found


def _runs(found: Submission) -> list[EvaluationRun]:
    rows = (found.held_out_run, found.canary_run, found.preflight_run)
    return [run for run in rows if run is not None]


def _owner(request: HttpRequest, run: EvaluationRun) -> UUID | None:
    """The submission whose run it is; None of other runs. Raises Http404 where the person is not to see it."""
    for name in ("held_out_run", "canary_run", "preflight_run"):
        row = Submission.of_any_scope.filter(**{name: run}).first()
        if row is not None:
            return _found(request, row.pk).pk
    return None
