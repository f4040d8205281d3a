"""The command of the study of transitions: measure takes and jumps, and write the page."""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns
from motion_matching.engine.database import database as databases

from . import transitions
from .quality import GAITS, Measures
from .running import Results, add_output_arguments, end_when_interrupted
from .sets import find_sets
from .transitions import PRESETS, SETS, TABLES, TransitionJob

DOCUMENT = CHECKOUT / "docs" / "transitions.md"
_WIDTH = 118
_COLUMNS = (
    ("slide, cm/s", "slide", 100.0, 1),
    ("pops in 10 min", "pops", 1.0, 1),
    ("price, cm·s", "jump_price_mean", 100.0, 2),
    ("95 %, cm·s", "jump_price_p95", 100.0, 2),
    ("price a second, cm", "jump_price_per_second", 100.0, 2),
    ("jumps a second", "jumps", 1.0, 2),
    ("answer, s", "answer", 1.0, 2),
    ("apart, cm", "apart", 100.0, 1),
)
_LABEL_COLUMNS = (
    ("slide, cm/s", "slide", 100.0, 1),
    ("in plants, cm/s", "slide_plant_and_turn", 100.0, 1),
    ("in starts and stops, cm/s", "slide_start_and_stop", 100.0, 1),
    ("in locomotion, cm/s", "slide_locomotion", 100.0, 1),
    ("apart, cm", "apart", 100.0, 1),
    ("path, cm", "path", 100.0, 1),
    ("answer, s", "answer", 1.0, 2),
    ("pops in 10 min", "pops", 1.0, 1),
)
_TEXTS = {
    "feet free": (
        "Blending, feet free",
        "*Stretch* lets a hard jump take up to so many times as long; *Blend Root* lets the "
        "character's own speed and turn fade too. The articles do neither.",
    ),
    "feet locked": ("Blending, feet locked live", "The same with *Lock Feet*."),
    "leads": (
        "What leads",
        "*Synchronize* with the motion (0) or the steering (1) in the lead, feet free. The "
        "article finds much less sliding where the motion leads; *ratio* is its slide, as a share "
        "of that with the steering in the lead.",
    ),
    "price": (
        "Jump Price",
        "How much the price of a jump counts in the choice of a frame, feet locked live.",
    ),
    "features": (
        "Presets of features",
        "Takes of each preset, feet locked live. Those of `cubic` blend by a *Cubic*, whose "
        "price is of its own curve.",
    ),
    "notebook": (
        "As the notebook plays",
        "The controller preset *Notebook* with the features of the notebook, the same features "
        "with the shipped settings, and what is shipped.",
    ),
    "modes": (
        "Code against data",
        "Who leads, and how character and simulation object stay together, feet free and jumps "
        "blended as published. *apart* is how far the two are from each other on average.",
    ),
    "labels": (
        "Labels of displacement",
        "The [ready labels](controller.md#labels), each alone and all three, with the shipped "
        "settings and feet free. Slides *in* some frames are those while frames of these tags are "
        "played, labelled or not; *path* is how far the character is from where the steering "
        "leads an object that never waits.",
    ),
    "ladder": (
        "What is compared",
        "The features of the Nucl.ai talk, step by step: where the trajectory leads, then the "
        "feet, their velocities and those of the trajectory, and the past; feet free. *By length* "
        "adds up lengths of the same normalized differences; *as published* adds up lengths in "
        "metres and metres a second, as the talk does.",
    ),
}  # fmt: skip
_RANKS = (
    "How the cost of a preset's bones ranks real jumps, beside their exact price: Spearman's "
    "correlation, 1 for the same order. The jumps are those of takes with the default features, "
    "out of motion that nothing else fades in; *feet* is their price by the feet alone, which "
    "most presets compare, and *body* by all bones. Searches have chosen these jumps among "
    "thousands as cheap ones, so what differs between them is small."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", choices=SETS, help="which; all that are here")
    parser.add_argument("--tables", nargs="+", choices=(*TABLES, "ranks"), help="which; all")
    parser.add_argument("--minutes", type=float, default=2.0, help="of each take (%(default)g)")
    parser.add_argument("--seeds", type=int, default=2, help="takes of each kind (%(default)s)")
    add_output_arguments(parser, DOCUMENT, "all is")


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured."""
    sets = [name for name in chosen.sets or SETS if name in find_sets()]
    tables = chosen.tables or [*TABLES, "ranks"]
    with tempfile.TemporaryDirectory() as folder:
        page = _measure(sets, tables, chosen, Path(folder))
    print(f"\n{page}")
    whole = sets == list(SETS) and tables == [*TABLES, "ranks"]
    if output := chosen.output or (DOCUMENT if whole else None):
        output.write_text(page, encoding="utf-8")
        print(f"Written to {output}.")
    return 0


def _measure(
    sets: Sequence[str], tables: Sequence[str], chosen: argparse.Namespace, folder: Path
) -> str:
    """Measure everything, print each take as it is done, and return the page."""
    seconds = 60.0 * chosen.minutes
    for name in sets:
        motion_set, source = find_sets()[name]
        databases.save(transitions.tag(motion_set.build(source)), folder / f"{name}.npz")
    jobs = transitions.list_jobs(sets, [table for table in tables if table in TABLES], chosen.seeds)
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(chosen.workers, context, end_when_interrupted)
    told = Results(len(jobs))
    results: dict[TransitionJob, Measures] = {}
    try:
        ranks = {
            name: pool.submit(transitions.measure_ranks, name, folder, seconds, chosen.seeds)
            for name in sets
            if "ranks" in tables
        }
        futures = [pool.submit(transitions.measure_job, job, folder, seconds) for job in jobs]
        for future in as_completed(futures):
            job, measures = future.result()
            results[job] = measures
            which = " ".join((job.set, job.gait, job.variant.features, str(job.variant.changes)))
            told.say(f"{which} {job.seed}")
        ranked = {name: future.result() for name, future in ranks.items()}
    finally:
        pool.shutdown(cancel_futures=True)
    return format_page(results, ranked, chosen.minutes, chosen.seeds)


def format_page(
    results: Mapping[TransitionJob, Measures],
    ranks: Mapping[str, Measures],
    minutes: float,
    seeds: int,
) -> str:
    """Return the page of what was measured."""
    introduction = (
        f"What jumps cost, and what lets them cost less: takes of {minutes:g} min of the script "
        f"`random`, {seeds} of each kind, as performed. *slide* is the mean speed of toes on "
        "source contacts; a pop is a moment at which a joint accelerates by more than 1.2 times "
        "the most in the frames played; the [price](insight.md#price-of-a-jump) is how far and how "
        "long the body is away from the motion that was entered; *answer* is from a turn to nine "
        "tenths of the new speed."
    )
    parts = [
        "# Transitions",
        f"Written by `python3 build.py study transitions`.\n{describe_machine()}",
        textwrap.fill(introduction, _WIDTH),
    ]
    for name, variants in TABLES.items():
        title, text = _TEXTS[name]
        columns = _LABEL_COLUMNS if name == "labels" else _COLUMNS
        if table := _format_table(results, variants, columns, with_ratio=name == "leads"):
            parts += [f"## {title}", textwrap.fill(text, _WIDTH), table]
    if ranks:
        parts += ["## Costs and prices", textwrap.fill(_RANKS, _WIDTH), _format_ranks(ranks)]
    return "\n\n".join(parts) + "\n"


def _format_table(
    results: Mapping[TransitionJob, Measures],
    variants: Mapping[str, transitions.Variant],
    columns: Sequence[tuple[str, str, float, int]],
    with_ratio: bool,
) -> str:
    """Return the rows of all sets and gaits, or nothing if none was measured."""
    rows: list[tuple[str, ...]] = []
    for set_name in SETS:
        for gait in GAITS:
            of_row = {
                name: [m for job, m in results.items() if job[:3] == (set_name, gait, variant)]
                for name, variant in variants.items()
            }
            combined = {name: transitions.combine(all_) for name, all_ in of_row.items() if all_}
            for name, measures in combined.items():
                cells = [_format_cell(measures[key], *form) for _, key, *form in columns]
                if with_ratio:
                    cells.append(_format_ratio(name, combined))
                rows.append((set_name, gait, name, *cells))
    if not rows:
        return ""
    headings = ["set", "gait", "with", *(column[0] for column in columns)]
    headings += ["ratio"] if with_ratio else []
    return format_columns(list(zip(headings, *rows, strict=True)), ("set", "gait", "with"))


def _format_ratio(name: str, combined: Mapping[str, Measures]) -> str:
    other = combined.get(name.replace("motion", "steering"))
    if other is None or name.startswith("steering"):
        return ""
    return f"{combined[name]['slide'] / other['slide']:.2f}"


def _format_cell(value: Any, factor: float, digits: int) -> str:
    return "" if value is None else f"{factor * value:.{digits}f}"


def _format_ranks(ranks: Mapping[str, Measures]) -> str:
    headings = ["preset"]
    for name, measures in ranks.items():
        jumps = f", {measures['jumps']} jumps"
        headings += [f"{name}{jumps}: feet", "body"]
    rows = [
        (preset, *(f"{rank:.2f}" for measures in ranks.values() for rank in measures[preset]))
        for preset in PRESETS
    ]
    return format_columns(list(zip(headings, *rows, strict=True)), ("preset",))
