"""Run a study of motion: print its figures, and write its page of the manual."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

from building.benchmarks.report import describe_machine
from motion_matching.engine.errors import MotionMatchingError

from . import (
    batch,
    choices_command,
    dense,
    directing_command,
    furnished_command,
    ground_command,
    planning_command,
    price_plot,
    pushing_command,
    quality,
    report,
    retargeting_command,
    running,
    search_times,
    stages_command,
    transitions_report,
    two_stages,
)
from .quality import Job
from .sets import SETS, find_sets


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 once everything is measured, whether it reaches its figures or not."""
    parser = _make_parser()
    chosen = parser.parse_args(arguments)
    if getattr(chosen, "workers", 1) < 1:
        parser.error("workers have to be above zero")
    print(describe_machine(), flush=True)
    others = {
        "batch": batch.run,
        "retargeting": retargeting_command.run,
        "transitions": transitions_report.run,
        "director": directing_command.run,
        "furniture": furnished_command.run,
        "dense": dense.run,
        "pushes": pushing_command.run,
        "values": planning_command.run,
        "search": two_stages.run,
        "choices": choices_command.run,
        "stages": stages_command.run,
        "ground": ground_command.run,
        "prices": price_plot.run,
        "features": search_times.run,
    }
    try:
        if chosen.study in others:
            return others[chosen.study](chosen)
        return _run_quality(parser, chosen)
    except KeyboardInterrupt:
        print("Stopped; nothing was written.", file=sys.stderr)
        return 130
    except MotionMatchingError as error:
        print(error, file=sys.stderr)
        return 1


def _run_quality(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    found = find_sets()
    names = chosen.sets or list(found)
    if missing := [name for name in names if name not in found]:
        parser.error(f"the set '{missing[0]}' needs MOTION_MATCHING_MOCAP, which is not set")
    if not (chosen.minutes > 0 and chosen.seeds > 0):
        parser.error("minutes and seeds have to be above zero")
    minutes, seeds = (1.0, 1) if chosen.quick else (chosen.minutes, chosen.seeds)
    kinds = (names, quality.GAITS, chosen.scripts, chosen.methods, range(seeds))
    jobs = [Job(*parts) for parts in product(*kinds)]
    with tempfile.TemporaryDirectory() as folder:
        results = running.measure(
            jobs,
            quality.measure_job,
            running.summarize_quality,
            Path(folder),
            60.0 * minutes,
            chosen.workers,
            fields="field" in chosen.methods,
        )
    rows = quality.combine_rows(results)
    print(f"\n{report.format_figures(rows)}\n")
    whole = set(jobs) == {
        Job(*parts)
        for parts in product(
            SETS, quality.GAITS, quality.SCRIPTS, quality.METHODS, range(seeds)
        )
    }  # fmt: skip
    output = chosen.output or (report.DOCUMENT if whole and not chosen.quick else None)
    if output:
        output.write_text(report.format_page(rows, minutes, seeds), encoding="utf-8")
        print(f"Written to {output}.")
    else:
        print("Nothing was written: docs/quality.md needs all sets; --output writes any of them.")
    return 0


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="build.py study", description="Measure motion, and write a page of the manual."
    )
    studies = parser.add_subparsers(dest="study", required=True)
    text = "measure the motion of long takes, on several sets"
    _add_quality_arguments(studies.add_parser("quality", help=text, description=text))
    text = "measure motion of several skeletons that is brought onto several characters"
    retargeting_command.add_arguments(
        studies.add_parser("retargeting", help=text, description=text)
    )
    text = "measure directed scenes beside the causal controller"
    directing_command.add_arguments(studies.add_parser("director", help=text, description=text))
    text = "direct scenes among tables, rails, doors and shelves, and measure what is entered"
    furnished_command.add_arguments(studies.add_parser("furniture", help=text, description=text))
    text = "count the jumps of walks in more and more frames of the same motion"
    dense.add_arguments(studies.add_parser("dense", help=text, description=text))
    text = "bake takes without each task and limit of feet in turn, and measure what gets worse"
    stages_command.add_arguments(studies.add_parser("stages", help=text, description=text))
    text = "walk over ramps, stairs and hills, and measure feet and bodies on them"
    ground_command.add_arguments(studies.add_parser("ground", help=text, description=text))
    text = "measure recoveries from pushes, and how the training of motion fields goes"
    pushing_command.add_arguments(studies.add_parser("pushes", help=text, description=text))
    text = "measure what motion fields gain by values, and by greed"
    planning_command.add_arguments(studies.add_parser("values", help=text, description=text))
    text = "search among the nearest trajectories first, beside the exact search"
    two_stages.add_arguments(studies.add_parser("search", help=text, description=text))
    text = "measure settings and fields that are chosen otherwise than as shipped"
    choices_command.add_arguments(studies.add_parser("choices", help=text, description=text))
    text = "measure what jumps cost with several ways to blend, price and compare them"
    transitions_report.add_arguments(studies.add_parser("transitions", help=text, description=text))
    text = "draw the price of a jump over the differences that it has to hide"
    price_plot.add_arguments(studies.add_parser("prices", help=text, description=text))
    text = "run a batch whole, in chunks, by killed workers and by farms, and compare its bytes"
    batch.add_arguments(studies.add_parser("batch", help=text, description=text))
    text = "measure what each feature of a database adds to the time of a search"
    search_times.add_arguments(studies.add_parser("features", help=text, description=text))
    return parser


def _add_quality_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sets", nargs="+", choices=SETS, help="which ones; all that are here by default"
    )
    for name in ("methods", "scripts"):
        choices = getattr(quality, name.upper())
        parser.add_argument(f"--{name}", nargs="+", choices=choices, default=choices)
    parser.add_argument("--minutes", type=float, default=10.0, help="of each take (%(default)g)")
    parser.add_argument("--seeds", type=int, default=3, help="takes of each kind (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="one take of a minute of each kind")
    running.add_output_arguments(parser, report.DOCUMENT, "all sets are")


if __name__ == "__main__":
    sys.exit(main())
