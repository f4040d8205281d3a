"""The command of the study of directed shots: measure all, print them and write the page."""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from motion_matching.engine.database import database as databases

from . import directing_report as report
from .directing import ShotJob, load_director, measure_shot_job
from .quality import Measures
from .report import format_figures
from .running import Results, add_output_arguments, end_when_interrupted
from .sets import find_sets

SETS = ("generated", "bandai", "lafan1")
_PATHS = 10  # of each set, at most


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sets", nargs="+", choices=SETS, help="which ones; all that are here by default"
    )
    parser.add_argument(
        "--shots", type=int, default=50, help="scenes of marks of each set (%(default)s)"
    )
    parser.add_argument(
        "--first",
        type=int,
        default=0,
        help="number of the first scene; of marks, 0 to 2 are long: 10, 3 and 2 min (%(default)s)",
    )
    add_output_arguments(parser, report.DOCUMENT, "all sets are")


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured, whether it reaches its figures or not."""
    found = find_sets()
    names = chosen.sets or [name for name in SETS if name in found]
    if missing := [name for name in names if name not in found]:
        print(f"The set '{missing[0]}' needs MOTION_MATCHING_MOCAP, which is not set.")
        return 2
    first, paths = chosen.first, min(_PATHS, chosen.shots)
    jobs = [
        ShotJob(name, kind, first + k)
        for kind, count in (("marks", chosen.shots), ("path", paths))
        for name in names
        for k in range(count)
    ]
    with tempfile.TemporaryDirectory() as folder:
        results = _measure(jobs, Path(folder), chosen.workers)
    rows = report.combine_rows(results)
    print(f"\n{format_figures(rows, report.FIGURES)}\n")
    output = chosen.output or (report.DOCUMENT if set(names) == set(SETS) else None)
    if output:
        output.write_text(report.format_page(rows, chosen.shots, paths, first), encoding="utf-8")
        print(f"Written to {output}.")
    else:
        print("Nothing was written: the page needs all sets; --output writes any of them.")
    return 0


def _measure(jobs: Sequence[ShotJob], folder: Path, workers: int) -> dict[ShotJob, Measures]:
    """Measure all jobs, and print each as it is done; databases and tables are made first."""
    started = time.perf_counter()
    for name in dict.fromkeys(job.set for job in jobs):
        motion_set, source = find_sets()[name]
        databases.save(motion_set.build(source), folder / f"{name}.npz")
        load_director(folder / f"{name}.npz")
        load_director.cache_clear()
        print(f"{name}: prepared in {time.perf_counter() - started:.0f} s", flush=True)
    told = Results(len(jobs))
    results: dict[ShotJob, Measures] = {}
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), end_when_interrupted)
    try:
        for future in as_completed(pool.submit(measure_shot_job, job, folder) for job in jobs):
            job, measures = future.result()
            results[job] = measures
            told.say(_summarize(job, measures))
    finally:
        pool.shutdown(cancel_futures=True)
    return results


def _summarize(job: ShotJob, measures: Measures) -> str:
    told, direct, causal = (measures[name] for name in ("report", "direct", "causal"))
    which = f"{job.set} {job.kind} {job.number}"
    most = direct["baked"]["acceleration_max"] / max(direct["played"]["acceleration_max"], 1e-9)
    return (
        f"{which:20} {measures['seconds']:3.0f} s: {told['reached']} of {told['asked']} met, jumps "
        f"{direct['jumps']:.2f} ({causal['jumps']:.2f}), price {100 * direct['price']:.1f} "
        f"({100 * causal['price']:.1f}), acceleration {most:.2f}, led {told['lead_max']:.2f}, "
        f"{measures['cpu'] / measures['seconds']:.3f} s/s"
    )
