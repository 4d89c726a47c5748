"""Public pages: overview, rules, public tasks, problem codes, time zone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import get_language
from django.views.decorators.http import require_http_methods, require_safe

from benchmark.models import Domain, PublicTask, TaskSetVersion
from evaluation.images.image import LIMITS as IMAGE_LIMITS
from evaluation.sandbox.spec import Limits
from leaderboard import queries, times, words
from leaderboard.forms import TimeZoneForm
from submissions.intake.archive import LIMITS
from submissions.problems import Entry, catalogue, entry
from submissions.problems.catalogue import FAULT_WORDS
from submissions.queries import who_pays

YEAR = 365 * 24 * 3600  # seconds


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    version = queries.current_version()
    counts = queries.domain_counts(version) if version else []
    context = {
        "version": version,
        "counts": counts,
        "public": sum(row.public for row in counts),
        "held_out": sum(row.held_out for row in counts),
        "preflights": queries.preflights_in_force(version),
    }
    return render(request, "leaderboard/overview.html", context)


@require_safe
def rules(request: HttpRequest) -> HttpResponse:
    """Quota, cooldown, who pays and the release policy, from the policy rows of the open version."""
    version = queries.current_version()
    rows = queries.policy_rows(version) if version else []
    release = queries.release_rules(version) if version else []
    context = {
        "version": version,
        "rows": rows,
        "release": release,
        "who_pays": who_pays(),
        "preflights": queries.preflights_in_force(version),
    }
    return render(request, "leaderboard/rules.html", context)


@require_safe
def contract(request: HttpRequest) -> HttpResponse:
    """What a harness is given and what it hands back, with the limits that the sandbox and the intake enforce."""
    context = {
        "episode": Limits(),
        "package": LIMITS,
        "image": IMAGE_LIMITS,
        "preflights": queries.preflights_in_force(),
    }
    return render(request, "leaderboard/contract.html", context)


@require_safe
def public_task_list(request: HttpRequest) -> HttpResponse:
    version = queries.current_version()
    domain = request.GET.get("domain", "")
    if domain not in Domain.values:
        domain = ""
    tasks = queries.public_tasks(version, domain=domain) if version else []
    context = {
        "version": version,
        "tasks": [task_facts(task) for task in tasks],
        "domain": domain,
        "domains": Domain.choices,
    }
    return render(request, "leaderboard/public_tasks.html", context)


@require_safe
def public_task_page(request: HttpRequest, version: str, slug: str) -> HttpResponse:
    found = get_object_or_404(TaskSetVersion, label=version, state=TaskSetVersion.State.FROZEN)
    task = queries.public_task(found, slug)
    if task is None:
        raise Http404
    return render(request, "leaderboard/public_task.html", {"version": found, "task": task_facts(task)})


def task_facts(task: PublicTask) -> Mapping[str, Any]:
    """A public task as pages show it, its title in the viewer's language."""
    chinese = (get_language() or "").startswith("zh")
    return {
        "slug": task.slug,
        "title": task.title_zh if chinese else task.title_en,
        "domain": Domain(task.domain).label,
        "category": words.category(task.category),
        "operation": words.operation(task.operation),
        "difficulty": words.difficulty(task.difficulty),
        "instruction": task.instruction,
    }


@require_safe
def problem_list(request: HttpRequest) -> HttpResponse:
    every = list(catalogue().values())
    context = {
        "refusals": [found for found in every if not found.is_event],
        "events": [found for found in every if found.is_event],
    }
    return render(request, "leaderboard/problems.html", context)


@require_safe
def problem_page(request: HttpRequest, code: str) -> HttpResponse:
    """What one problem code means and what to do about it."""
    try:
        found: Entry = entry(code)
    except KeyError:
        raise Http404 from None
    context = {
        "problem": found,
        "fault": FAULT_WORDS[found.fault],
        "sentence": str(found.sentence) % words.Places(),
    }
    return render(request, "leaderboard/problem.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def time_zone(request: HttpRequest) -> HttpResponse:
    """Which zone times are shown in; kept in a cookie for a year."""
    came_from = request.POST.get("next") or request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(
        came_from, {request.get_host()}, require_https=request.is_secure()
    ):
        came_from = ""
    if request.method == "POST":
        form = TimeZoneForm(request.POST)
        if form.is_valid():
            answer = redirect(came_from or "leaderboard:overview")
            answer.set_cookie(
                times.COOKIE,
                form.cleaned_data["zone"],
                max_age=YEAR,
                samesite="Lax",
                secure=request.is_secure(),
            )
            return answer
    else:
        form = TimeZoneForm(initial={"zone": times.zone_of(request).key})
    return render(request, "leaderboard/time_zone.html", {"form": form, "next": came_from})
