"""`lgbench-audit draw`: which runs of a sealed export a seed draws for grading again, as the platform draws them."""

from __future__ import annotations

import argparse
from pathlib import Path

from audit.merkle import commitment
from client.audit import sealed
from client.audit.report import WrongQuestion, shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the subcommand."""
    parser.add_argument("path", type=Path, metavar="SEALED_EXPORT", help="the sealed export's directory")
    parser.add_argument("--seed", required=True, help="the seed that was committed before the release")
    parser.add_argument("--count", type=int, required=True, metavar="N", help="how many runs")


def run(given: argparse.Namespace) -> int:
    """Prints the digest that was committed, then one line per run: episode, task, score. Raises WrongQuestion."""
    leaves = [member.leaf for member in sealed.read(given.path).runs]
    try:
        by_episode = {leaf["episode"]: leaf for leaf in leaves}
        drawn = commitment.drawn(given.seed, commitment.drawable(leaves), given.count)
        lines = [f"{name} {by_episode[name]['task']} {by_episode[name]['score']}" for name in drawn]
    except (KeyError, TypeError) as error:
        raise WrongQuestion("a run of the sealed export lacks a field") from error
    except ValueError as error:
        raise WrongQuestion(f"--count: {error}") from error
    print(f"seed {commitment.seed_digest(given.seed)}", *map(shown, lines), sep="\n")
    return 0
