"""The command of the study of slopes and stairs: perform on all grounds, and write the page."""

from __future__ import annotations

import argparse
import tempfile
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns
from motion_matching.engine.takes import baking, takes

from . import climbing, running
from .climbing import GroundJob, Traces, select_leans
from .ground_pictures import View, draw_views
from .grounds import GROUNDS, STEPS, make_performance
from .quality import load_set
from .sheets import write_png

SETS = ("climbing", "generated")
DOCUMENT = CHECKOUT / "docs" / "ground-quality.md"
PICTURES = {  # by file: grounds that are shown baked, with clips that climb above those without
    "ground_stairs.png": "stairs_up_17",
    "ground_stairs_down.png": "stairs_down_17",
    "ground_ramp.png": "ramp_up_22",
}
DEEP, HIGH = 0.005, 0.01  # metres that toes in contact are to be into the ground, or above, at most
CALM = 1.3  # times their acceleration on the flat that hips are to have at most
_WIDTH = 118
_TITLES = {"climbing": "with climbs", "generated": "level"}
_LEFT = ("clips", "ground", "gait", "take")
Row = tuple[str, str, str, str]  # set, ground, gait and take


class Column(NamedTuple):
    """A column: what a row says, and whether it misses what it is to reach."""

    title: str
    tell: Callable[[Traces, float], str]
    misses: Callable[[Traces, float], bool] = lambda traces, flat: False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, help="which; both")
    parser.add_argument("--grounds", nargs="+", choices=GROUNDS, default=list(GROUNDS))
    parser.add_argument("--seconds", type=float, default=30.0, help="of each take (%(default)g)")
    parser.add_argument("--seeds", type=int, default=4, help="of random takes (%(default)s)")
    running.add_output_arguments(parser, DOCUMENT, "all grounds are")


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured, whether it reaches its figures or not."""
    jobs = list_jobs(chosen.sets, chosen.grounds, chosen.seeds)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = running.measure(
            jobs, climbing.measure_job, _summarize, folder, chosen.seconds, chosen.workers
        )
        page = format_page(combine_rows(results), chosen.seconds, chosen.seeds)
        whole = set(chosen.sets) == set(SETS) and set(chosen.grounds) == set(GROUNDS)
        output = chosen.output or (DOCUMENT if whole else None)
        if output is None:
            print(f"{page}\nNothing was written: the manual needs all sets and grounds.")
            return 0
        output.write_text(page, encoding="utf-8")
        if whole:
            draw_pictures(folder, output.parent / "images")
    print(f"Written to {output}.")
    return 0


def list_jobs(sets: Sequence[str], grounds: Sequence[str], seeds: int) -> list[GroundJob]:
    """Return all takes: one straight over each ground, and some seeds where they go about."""
    return [
        GroundJob(each, name, gait, seed)
        for each in sets
        for name in grounds
        for gait in GROUNDS[name].gaits
        for seed in range(1 if GROUNDS[name].straight else seeds)
    ]


def combine_rows(results: Mapping[GroundJob, Mapping[str, Traces]]) -> dict[Row, Traces]:
    """Return what all seeds measured by set, ground, gait and take, in this order."""
    rows: dict[Row, list[Traces]] = {}
    for job in sorted(results, key=_get_order):
        for take, traces in results[job].items():
            rows.setdefault((job.set, job.ground, job.gait, take), []).append(traces)
    return {row: climbing.combine(parts) for row, parts in rows.items()}


def _get_order(job: GroundJob) -> tuple[int, int, str, int]:
    return list(GROUNDS).index(job.ground), int(job.gait == "run"), job.set, job.seed


def _summarize(job: GroundJob, told: Mapping[str, Traces]) -> str:
    """Return a line about the takes of a job."""
    parts = [
        f"{take} toes {_tell_range(traces.heights, 5, 95)} mm, {traces.edges.sum()} of "
        f"{len(traces.edges)} on edges, lowest {_tell_height(traces.lowest)} mm, {traces.pops} pops, "
        f"hardest {traces.hardest:.0f}"
        for take, traces in told.items()
    ]
    return f"{' '.join(job[:3])} {job.seed}: {'; '.join(parts)}"


# ---------------------------------------------------------------- figures


def find_hips(traces: Traces) -> float:
    """Return the acceleration of hips in m/s² that they exceed in a twentieth of the time."""
    return float(np.percentile(traces.hips, 95)) if len(traces.hips) else 0.0


def find_flat(row: Row, rows: Mapping[Row, Traces]) -> float:
    """Return the same of hips in the same performance on the flat; nan if that was not done."""
    name, ground, gait, take = row
    flat = rows.get((name, "flat" if GROUNDS[ground].straight else "open", gait, take))
    return find_hips(flat) if flat is not None else float("nan")


def _tell_range(heights: np.ndarray, low: float, high: float) -> str:
    if not len(heights):
        return ""
    return " to ".join(_tell_height(float(np.percentile(heights, at))) for at in (low, high))


def _tell_height(height: float) -> str:
    return f"{round(1000 * height)}"


def _tell_mean(values: np.ndarray, factor: float, digits: int, unit: str = "") -> str:
    return f"{factor * float(values.mean()):.{digits}f}{unit}" if len(values) else ""


def _misses_height(traces: Traces, flat: float) -> bool:
    low, high = np.percentile(traces.heights, (5, 95)) if len(traces.heights) else (0.0, 0.0)
    return bool(low < -DEEP or high > HIGH)


def _tell_lean(traces: Traces, flat: float) -> str:
    parts = [select_leans(traces, sign) for sign in (1.0, -1.0)]
    if not any(map(len, parts)):
        parts = [traces.leans]
    return " / ".join(f"{round(np.degrees(part.mean()))}" if len(part) else "-" for part in parts)


FEET = (
    Column("median, mm", lambda traces, _: _tell_range(traces.heights, 50, 50).split(" ")[0]),
    Column("90 %, mm", lambda traces, _: _tell_range(traces.heights, 5, 95), _misses_height),
    Column("worst, mm", lambda traces, _: _tell_range(traces.heights, 0, 100)),
    Column(
        "on edges",
        lambda traces, _: f"{traces.edges.sum()} of {len(traces.edges)}",
        lambda traces, _: bool(traces.edges.any()),
    ),
    Column("slide, cm/s", lambda traces, _: _tell_mean(traces.slides, 100.0, 1)),
    Column("lowest, mm", lambda traces, _: _tell_height(traces.lowest)),
)
BODY = (
    Column(
        "hips, of the flat's",
        lambda traces, flat: f"{find_hips(traces) / flat:.2f}",
        lambda traces, flat: find_hips(traces) > CALM * flat,
    ),
    Column("lean, °", _tell_lean),
    Column("pops", lambda traces, _: f"{traces.pops}", lambda traces, _: traces.pops > 0),
    Column("hardest, m/s²", lambda traces, _: f"{traces.hardest:.0f}"),
    Column("climbs on slopes", lambda traces, _: _tell_mean(traces.on_slopes, 100.0, 0, " %")),
    Column("climbs elsewhere", lambda traces, _: _tell_mean(traces.on_level, 100.0, 0, " %")),
)


def format_table(columns: Sequence[Column], rows: Mapping[Row, Traces], straight: bool) -> str:
    """Return rows straight ahead, or those that go about, as a table; misses are bold."""
    chosen = [row for row in rows if GROUNDS[row[1]].straight == straight]
    cells = [(_TITLES[name], GROUNDS[ground].title, *rest) for name, ground, *rest in chosen]
    table = [
        (heading, *values) for heading, values in zip(_LEFT, zip(*cells, strict=True), strict=True)
    ]
    for column in columns:
        told = []
        for row in chosen:
            text = column.tell(rows[row], find_flat(row, rows))
            told.append(f"**{text}**" if column.misses(rows[row], find_flat(row, rows)) else text)
        table.append((column.title, *told))
    return format_columns(table, _LEFT)


def format_targets(rows: Mapping[Row, Traces]) -> str:
    """Return how many rows reach each target, and the worst of those that do not."""
    kinds = [(name, take) for name in SETS for take in climbing.TAKES]
    kinds = [kind for kind in kinds if any((row[0], row[3]) == kind for row in rows)]
    table = [("target", *(f"{_TITLES[name]}, {take}" for name, take in kinds))]
    for column, text in (
        (FEET[1], "90 % of toes 5 mm into the ground to 10 mm above"),
        (FEET[3], "no edge under the middle of a foot"),
        (BODY[0], f"hips' acceleration {CALM:g} times the flat's"),
        (BODY[2], "no pops"),
    ):
        cells = []
        for name, take in kinds:
            own = [row for row in rows if (row[0], row[3]) == (name, take) and _rises(row)]
            kept = sum(not column.misses(rows[row], find_flat(row, rows)) for row in own)
            cells.append(f"{kept} of {len(own)}")
        table.append((text, *cells))
    return format_columns(list(zip(*table, strict=True)), ("target",))


def _rises(row: Row) -> bool:
    return row[1] not in ("flat", "open")


# ---------------------------------------------------------------- the page and its pictures


def format_page(rows: Mapping[Row, Traces], seconds: float, seeds: int) -> str:
    """Return the page about all rows."""
    paragraphs = [
        f"# Slopes and stairs\n\nWritten by `python3 build.py study ground`.\n{describe_machine()}",
        _fill(
            "The built-in clips [with ramps and stairs](database-and-tags.md#slopes-and-stairs) beside "
            "those on level ground alone, both with their mirror images. On ramps 3 m long and stairs "
            f"of {STEPS} steps, a character walks straight ahead and stops; over hills and "
            f"terraces of 15 cm it follows {seeds} random scripts of {seconds:g} s, walking and "
            "running. *live* is the take as it is steered, *baked* the same with its feet planted again, "
            "and *directed* a shot that leads to a mark beyond the stairs."
        ),
        _fill(
            "The clips walk on ramps of 10, 20 and 30° and on stairs of 15, 17.5 and 20 cm, straight "
            "ahead. None of them turns there, and none runs, so hills and terraces ask for what is "
            "missing: a run slows down to the walks that climb. What misses a target is **bold**; the "
            "targets are aims, and no test asks for them."
        ),
        "## How many rows reach each target",
        format_targets(rows),
        _show("ground_stairs.png", "up stairs of 17 cm"),
        _show("ground_stairs_down.png", "down stairs of 17 cm"),
        _show("ground_ramp.png", "up a ramp of 22°"),
        "## Feet",
        _fill(
            "How high toes in contact are above where they would stand, in mm, below 0 into the ground, "
            "where the ground rises or falls within 40 cm of the body: the median, 90 % of them, and "
            "the worst. *on edges* counts the times a foot stands with the edge of a tread between its "
            "toe joint and its middle. *slide* is the mean speed of toes in contact. *lowest* is the "
            "least height of any toe of the take, in contact or not; in the ground, by the shortest way out: "
            "beside a riser that is level."
        ),
        format_table(FEET, rows, straight=True),
        format_table(FEET, rows, straight=False),
        "## Body",
        _fill(
            "*hips* is the acceleration that the hips exceed in a twentieth of the time in which they "
            "move there, over that of the same performance on the flat. *lean* is the mean angle by which "
            "the trunk leans ahead where the ground leads up / down. *pops* are moments at which a "
            "bone accelerates more than 1.2 times as hard as in the frames played, and *hardest* is the "
            "most of any bone. *climbs on slopes* is the share of frames there that come from where a "
            "clip climbs, and *climbs elsewhere* that on level ground, which is to be near 0."
        ),
        format_table(BODY, rows, straight=True),
        format_table(BODY, rows, straight=False),
    ]
    return "\n\n".join(paragraphs) + "\n"


def _fill(text: str) -> str:
    return textwrap.fill(text, _WIDTH)


def _show(picture: str, what: str) -> str:
    text = f"Baked walks {what}, with clips that climb (above) and without; black where one plays"
    return f"![{text}](images/{picture})"


def draw_pictures(folder: Path, images: Path) -> None:
    """Draw the baked walks of both sets, whose databases are in `folder`."""
    for file, name in PICTURES.items():
        views = []
        for each in SETS:
            loaded = load_set(folder / f"{each}.npz")
            performance = make_performance(GROUNDS[name], loaded, "walk", 16.0, 0)
            take = takes.perform(loaded.database, loaded.settings, performance)
            views.append(View(baking.bake_feet(take, loaded.database), loaded.database))
        write_png(images / file, draw_views(views))
        print(f"Written to {images / file}.")
