"""What leaves a version, drawn by a committed seed: the queue by score, a stratified share, and cover. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Final

from benchmark.profiling.profile import Profile
from governance.rotation.policies import PUBLIC_SHARE, SATURATED, Origin, Shares, shares

FATES: Final = ("burnt", "public", "regression")


def leaving(
    held_out: Sequence[Profile], waiting: Sequence[str], unexposed: Collection[str], *, seed: str
) -> dict[str, Origin]:
    """By task, why it leaves. `waiting`: keys decided for rotation, most urgent first; `unexposed`: keys.

    The same facts and the same seed draw the same tasks, in whatever order the profiles come.
    """
    found: dict[str, Origin] = {}
    for domain in sorted({profile.domain for profile in held_out}):
        own = sorted((p for p in held_out if p.domain == domain), key=lambda profile: profile.key)
        keys = {profile.key for profile in own}
        queue = [key for key in waiting if key in keys]
        free = [profile for profile in own if profile.key not in set(queue)]
        parts = shares(len(own), len(queue), sum(profile.key in unexposed for profile in free))
        found |= _of_domain(free, queue, unexposed, parts, Random(f"{seed}|{domain}"))  # noqa: S311
    return found


def _of_domain(
    free: Sequence[Profile], queue: Sequence[str], unexposed: Collection[str], parts: Shares, rng: Random
) -> dict[str, Origin]:
    found = dict.fromkeys(queue[: parts.queued], Origin.QUEUE)
    found |= dict.fromkeys(stratified(free, parts.planned, rng), Origin.PLANNED)
    cover = [profile for profile in free if profile.key in unexposed and profile.key not in found]
    return found | dict.fromkeys(stratified(cover, min(parts.cover, len(cover)), rng), Origin.COVER)


def stratified(profiles: Sequence[Profile], wanted: int, rng: Random) -> list[str]:
    """So many keys, each stratum in its proportion by largest remainder; ties by chance. Raises ValueError for more."""
    if wanted > len(profiles):
        raise ValueError(f"{wanted} tasks wanted of {len(profiles)}")
    strata: dict[tuple[str, str, str, int], list[str]] = defaultdict(list)
    for profile in profiles:
        strata[profile.stratum].append(profile.key)
    order = sorted(strata)
    rng.shuffle(order)
    quota = {stratum: wanted * len(strata[stratum]) // len(profiles) for stratum in order}
    rest = sorted(order, key=lambda stratum: -(wanted * len(strata[stratum]) % len(profiles)))
    for stratum in rest[: wanted - sum(quota.values())]:
        quota[stratum] += 1
    return [key for stratum in order for key in rng.sample(sorted(strata[stratum]), quota[stratum])]


def fates(
    leaving: Sequence[Profile], public: Sequence[Profile], never_public: Collection[str]
) -> dict[str, str]:
    """What becomes of each task that leaves: a fifth of a domain at most joins the public group, those nearest to it.

    `never_public` are retired for a defect. What every fixed harness solves is kept as a regression case; the rest
    is burnt.
    """
    from benchmark.profiling.matching import distances_between  # arrays; who reads the stock loads none

    found = {
        profile.key: "regression" if max(profile.scores.values(), default=0.0) >= SATURATED else "burnt"
        for profile in leaving
    }
    for domain in sorted({profile.domain for profile in leaving}):
        own = sorted(
            (p for p in leaving if p.domain == domain and p.key not in never_public), key=lambda p: p.key
        )
        shown = [profile for profile in public if profile.domain == domain]
        if own and shown:
            nearest = distances_between(own, shown).min(axis=1)
            ranked = sorted(zip(nearest.tolist(), (p.key for p in own), strict=True))
            found |= dict.fromkeys((key for _, key in ranked[: int(PUBLIC_SHARE * len(own))]), "public")
    return found


def expected_need(
    held_out: Sequence[Profile], queued: Mapping[str, int]
) -> dict[tuple[str, str, str, int], float]:
    """By stratum, the tasks that a version is expected to take from the reserve: its share of its domain's rotation.

    `queued`: by domain, how many wait in the queue.
    """
    sizes: dict[str, int] = defaultdict(int)
    strata: dict[tuple[str, str, str, int], int] = defaultdict(int)
    for profile in held_out:
        sizes[profile.domain] += 1
        strata[profile.stratum] += 1
    totals = {domain: shares(size, queued.get(domain, 0), size).total for domain, size in sizes.items()}
    return {
        stratum: totals[stratum[0]] * count / sizes[stratum[0]] for stratum, count in sorted(strata.items())
    }
