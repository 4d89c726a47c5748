"""A plan: its seed committed, what leaves drawn by it, replacements matched and checked, two people's word.

One transaction a step, with its event. Raises Refused and DutyRefused.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from django.db import transaction

from accounts.duties import queries as duties
from accounts.duties.policies import takes_part
from accounts.duties.refusals import DutyRefused, refusing
from accounts.duties.refusals import Reason as DutyReason
from accounts.duties.table import DECISIONS, Decision
from accounts.models import User
from audit import log
from audit.events import Actor
from audit.texts import concealed
from benchmark.models import Group, TaskRevision, TaskSetVersion
from benchmark.profiling import checks, matching
from benchmark.profiling.matching import Pair
from benchmark.profiling.profile import Profile
from config import clock
from governance.rotation import drawing, events, queries
from governance.rotation.models import RotationEntry, RotationLine, RotationPlan
from governance.rotation.policies import ESCALATED_TO, OWNER, PLAN_ENDS, PLAN_STAYS, Origin
from submissions.problems import Code, refuse

SHORTEST_SEED = 16
"""Characters; whoever could try all seeds against the digest would know the draw beforehand."""
MOST = 99.0
"""Standard deviations as they are stored; groups that are each constant and differ are infinitely far apart."""
State = RotationPlan.State
RULE = DECISIONS[Decision.ROTATION]
MOVED = ("state", "state_since", "due_at", "owner", "reason", "proposed_by", "approved_by")
"""What the console may write of a plan."""


def open_plan(former: TaskSetVersion, *, label: str, seed_digest: str, by: Actor) -> RotationPlan:
    """Commit the seed of the next version's rotation. Raises Refused: rotation_planned_already, rotation_seed."""
    if len(seed_digest) != 64 or set(seed_digest) - set("0123456789abcdef"):
        raise refuse(Code.ROTATION_SEED)
    with transaction.atomic():
        TaskSetVersion.objects.select_for_update().get(pk=former.pk)
        if RotationPlan.objects.filter(former=former).exclude(state=State.DISCARDED).exists():
            raise refuse(Code.ROTATION_PLANNED_ALREADY)
        now = clock.now()
        row = RotationPlan.objects.create(
            former=former,
            label=label,
            seed_digest=seed_digest,
            opened_at=now,
            state_since=now,
            due_at=now + PLAN_STAYS[State.SEEDED],
        )
        event = events.PlanOpened(subject=row.id, former=former.label, label=label, seed_digest=seed_digest)
        log.append(event, by=by)
    return row


def draw(which: UUID, *, seed: str, unexposed: Collection[str], by: Actor) -> RotationPlan:
    """Draw what leaves, match what comes, check it. `unexposed`: ids of tasks that no answer has told of.

    Raises Refused: rotation_moved_on, rotation_seed, rotation_no_profile, rotation_reserve_short.
    """
    with transaction.atomic():
        row = locked(which, State.SEEDED)
        if len(seed) < SHORTEST_SEED or hashlib.sha256(seed.encode()).hexdigest() != row.seed_digest:
            raise refuse(Code.ROTATION_SEED)
        row.profiling = queries.latest_profiling(row.former)
        if row.profiling is None:
            raise refuse(Code.ROTATION_NO_PROFILE)
        tasks = {str(task.pk): task for task in queries.profiled_tasks(row.former)}
        profiles = queries.profiles(row.profiling, tasks.values())
        if len(profiles) < sum(task.group != Group.RESERVE for task in tasks.values()):
            raise refuse(Code.ROTATION_NO_PROFILE)
        entries = _waiting(row.former)
        origins, pairs = _matched(tasks, profiles, list(entries), unexposed, seed)
        verdict = checks.judge(pairs, _moves(pairs, tasks))
        lines = _lines(tasks, profiles, entries, origins, pairs)
        for line in lines:
            line.plan = row
        row.seed, row.checks = seed, _as_json(verdict)
        row.lines_digest = digest_of(lines)
        RotationLine.objects.bulk_create(lines)
        _step(row, State.DRAWN, "seed", "checks", "lines_digest", "profiling")
        event = events.PlanDrawn(
            subject=row.id,
            seed=seed,
            profiling=str(row.profiling_id),
            leaving={domain: sum(line.domain == domain for line in lines) for domain in _domains(lines)},
            lines=row.lines_digest,
            failed=verdict.failed,
        )
        log.append(event, by=by)
    return row


def _domains(lines: Sequence[RotationLine]) -> list[str]:
    return sorted({str(line.domain) for line in lines})


def _waiting(former: TaskSetVersion) -> dict[str, RotationEntry]:
    """Decided entries by task, most urgent first: retirements, then by score."""
    rows = RotationEntry.objects.filter(task_set=former, state__in=("rotating", "retiring"))
    ranked = sorted(rows, key=lambda row: (row.state != "retiring", -row.score, row.opened_at))
    return {str(row.task_id): row for row in ranked}


def _matched(
    tasks: Mapping[str, TaskRevision],
    profiles: Sequence[Profile],
    waiting: Sequence[str],
    unexposed: Collection[str],
    seed: str,
) -> tuple[dict[str, Origin], list[Pair]]:
    def of(group: str) -> list[Profile]:
        return [profile for profile in profiles if tasks[profile.key].group == group]

    origins = drawing.leaving(of(Group.HELD_OUT), waiting, unexposed, seed=seed)
    going = [profile for profile in profiles if profile.key in origins]
    try:
        return origins, matching.match(going, of(Group.RESERVE))
    except matching.TooFew as short:
        raise refuse(Code.ROTATION_RESERVE_SHORT) from short


def _moves(pairs: Sequence[Pair], tasks: Mapping[str, TaskRevision]) -> dict[str, float]:
    """By domain, the largest move of any baseline, by the profile; the anchors' own runs say it again later."""
    sizes: dict[str, int] = {}
    for task in tasks.values():
        if task.group == Group.HELD_OUT:
            sizes[task.domain] = sizes.get(task.domain, 0) + 1
    found = dict.fromkeys(sizes, 0.0)
    for name in sorted({name for pair in pairs for name in pair.leaving.scores}):
        scores = {p.key: p.scores[name] for pair in pairs for p in (pair.leaving, pair.coming)}
        for domain, points in checks.shift(pairs, scores, sizes).items():
            found[domain] = max(found[domain], points, key=abs)
    return found


def _lines(
    tasks: Mapping[str, TaskRevision],
    profiles: Sequence[Profile],
    entries: Mapping[str, RotationEntry],
    origins: Mapping[str, Origin],
    pairs: Sequence[Pair],
) -> list[RotationLine]:
    public = [profile for profile in profiles if tasks[profile.key].group == Group.PUBLIC]
    retired = {key for key, entry in entries.items() if entry.state == "retiring"}
    fates = drawing.fates([pair.leaving for pair in pairs], public, retired)
    return [
        RotationLine(
            task=tasks[pair.leaving.key],
            domain=pair.leaving.domain,
            origin=origins[pair.leaving.key].value,
            entry=entries[pair.leaving.key] if origins[pair.leaving.key] is Origin.QUEUE else None,
            replacement=tasks[pair.coming.key],
            distance=pair.distance,
            fate=fates[pair.leaving.key],
        )
        for pair in pairs
    ]


def digest_of(lines: Sequence[RotationLine]) -> str:
    """SHA-256 over what leaves, what comes and what becomes of it, by task."""
    rows = sorted([str(line.task_id), str(line.replacement_id), str(line.fate)] for line in lines)
    return queries.digest_of(rows)


def _as_json(verdict: checks.Verdict) -> dict[str, object]:
    telling = verdict.telling
    return {
        "differences": {
            name: round(max(-MOST, min(MOST, value)), 4) for name, value in verdict.differences.items()
        },
        "area": [round(telling.area, 4), round(telling.low, 4), round(telling.high, 4)],
        "shifts": {domain: round(points, 3) for domain, points in verdict.shifts.items()},
        "failed": verdict.failed,
    }


def submit(which: UUID, *, reason: str, by: Actor) -> RotationPlan:
    """The first of two people puts it forward. Raises Refused: rotation_moved_on, rotation_checks_failed."""
    if not duties.standing(by).duties & RULE.proposers:
        raise DutyRefused(DutyReason.NOT_ENTITLED)
    if not reason.strip():
        raise DutyRefused(DutyReason.NO_REASON)
    with transaction.atomic():
        row = locked(which, State.DRAWN)
        if row.checks["failed"]:
            raise refuse(Code.ROTATION_CHECKS_FAILED)
        row.reason, row.proposed_by = reason.strip(), User.objects.get(pseudonym=by.id)
        move(row, State.PROPOSED, by=by, reason=concealed(row.reason), proposed_by=by.id)
    return row


def approve(which: UUID, *, by: Actor) -> RotationPlan:
    """The second person approves exactly the lines that were drawn. Raises Refused: rotation_moved_on."""
    with refusing(), transaction.atomic():
        row = locked(which, State.PROPOSED)
        assert row.proposed_by is not None
        duties.require(Decision.ROTATION, proposed=row.proposed_by.actor("web"), approved=by)
        row.approved_by = User.objects.get(pseudonym=by.id)
        move(row, State.APPROVED, by=by, approved_by=by.id)
    return row


def send_back(which: UUID, *, by: Actor) -> RotationPlan:
    """Withdraw or decline it; it stays drawn. Raises Refused: rotation_moved_on."""
    with transaction.atomic():
        row = locked(which, State.PROPOSED)
        _require_part(by)
        row.reason, row.proposed_by = "", None
        move(row, State.DRAWN, by=by)
    return row


def discard(which: UUID, *, by: Actor) -> RotationPlan:
    """Nothing of it comes about; what was decided about single tasks stays. Raises Refused: rotation_moved_on."""
    with transaction.atomic():
        row = RotationPlan.objects.select_for_update(of=("self",)).get(pk=which)
        if row.state in PLAN_ENDS or row.state == State.COMPOSED:
            raise refuse(Code.ROTATION_MOVED_ON)
        _require_part(by)
        move(row, State.DISCARDED, by=by)
    return row


def _require_part(by: Actor) -> None:
    if not takes_part(duties.standing(by).duties, Decision.ROTATION):
        raise DutyRefused(DutyReason.NOT_ENTITLED)


def tend(*, by: Actor) -> int:
    """Proposals past their deadline lapse; other overdue plans go to administrators. How many."""
    late = RotationPlan.objects.filter(due_at__lte=clock.now()).values_list("pk", flat=True)
    return sum(_overdue(which, by=by) for which in list(late))


def _overdue(which: UUID, *, by: Actor) -> bool:
    with transaction.atomic():
        row = RotationPlan.objects.select_for_update(of=("self",)).get(pk=which)
        if row.due_at is None or row.due_at > clock.now():
            return False
        if row.state == State.PROPOSED:
            row.reason, row.proposed_by = "", None
            move(row, State.DRAWN, by=by)
            return True
        row.owner, row.due_at = ESCALATED_TO, clock.now() + PLAN_STAYS[row.state]
        row.save(update_fields=["owner", "due_at"])
        log.append(events.PlanEscalated(subject=row.id, owner=row.owner), by=by)
    return True


def locked(which: UUID, state: str) -> RotationPlan:
    """The plan, held until the transaction ends. Raises Refused (rotation_moved_on) where it is not in that state."""
    rows = RotationPlan.objects.select_for_update(of=("self",)).select_related(
        "former", "next", "proposed_by"
    )
    row = rows.get(pk=which)
    if row.state != state:
        raise refuse(Code.ROTATION_MOVED_ON)
    return row


def move(
    row: RotationPlan,
    to: str,
    *,
    by: Actor,
    reason: str | None = None,
    proposed_by: str | None = None,
    approved_by: str | None = None,
    task_set: str | None = None,
    besides: Sequence[str] = (),
) -> None:
    """One step with its event; `besides` are columns that only sealed work writes."""
    before = row.state
    _step(row, to, *besides)
    event = events.PlanMoved(
        subject=row.id,
        before=before,
        after=to,
        lines=row.lines_digest or None,
        reason=reason,
        proposed_by=proposed_by,
        approved_by=approved_by,
        task_set=task_set,
    )
    log.append(event, by=by)


def _step(row: RotationPlan, to: str, *besides: str) -> None:
    """`besides` are columns that only sealed work writes; pages move a plan without them."""
    now = clock.now()
    row.state, row.state_since = to, now
    is_over = to in PLAN_ENDS
    row.due_at = None if is_over else now + PLAN_STAYS[to]
    row.owner = "" if is_over else OWNER
    row.save(update_fields=[*MOVED, *besides])
