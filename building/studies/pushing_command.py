"""The command of the study of pushes: a part of the manual's page of motion fields, and its picture."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping

import numpy as np

from building.benchmarks.report import CHECKOUT, describe_machine, format_columns
from motion_matching.engine.field.field_controller import FieldController
from motion_matching.engine.insight import pictures

from . import pushing, quality, residual_plot
from .manual_parts import publish
from .pushing import SEEN, Measures, PushJob
from .running import add_part_arguments, open_set
from .sets import find_sets

SETS = ("generated", "bandai", "lafan1", "dog")
DOCUMENT = CHECKOUT / "docs" / "motion-fields.md"
PICTURE = CHECKOUT / "docs" / "images" / "field_pushes.svg"
DRAWN = "bandai"
_WIDTH = 118
_LEFT = ("set", "gait", "method")
_HEADINGS = (
    *_LEFT,
    "asked, m/s",
    "push, m/s",
    "recovered",
    "within, s",
    "95 %, s",
    "pushed by, m",
    "hardest",
)
_LEFT_X, _TOP, _ACROSS, _UP = 60.0, 50.0, 450.0, 360.0
_COLOURS = ("#3b6ea8", "#e08a1e", "#2a7a3b", "#b03060")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_part_arguments(parser, SETS)


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured; write the manual if all sets are."""
    sets = [name for name in chosen.sets or SETS if name in find_sets()]
    rows: list[tuple[str, ...]] = []
    picture = ()
    for name in sets:
        results, field = _measure(name, 60.0 * chosen.minutes, chosen.seed)
        rows += pushing.list_cells(name, results)
        if name == DRAWN and field.function is not None:
            values = field.function
            picture = (
                residual_plot.draw(values.residuals, values.discount),
                draw_recoveries(pushing.select_traces(results)),
            )
    part = format_part(rows, chosen.minutes)
    complete = sets == list(SETS) and bool(picture)
    publish(DOCUMENT, "pushes", part, complete=complete)
    if complete:
        pictures.write_pictures(picture, PICTURE)
        print(f"Written to {PICTURE}.")
    return 0


def _measure(
    name: str, seconds: float, seed: int
) -> tuple[dict[PushJob, Measures], FieldController]:
    """Build a set, train its field, and measure all jobs; print each as it is done."""
    results = {}
    with open_set(name) as (database, field):
        for job in pushing.list_jobs(database):
            results[job] = pushing.measure_job(job, database, field, seconds, seed)
            print(*pushing.list_cells(name, {job: results[job]})[0], sep="  ", flush=True)
    return results, field


def format_part(rows: list[tuple[str, ...]], minutes: float) -> str:
    """Return what the manual says of the rows."""
    text = (
        f"Takes of {minutes:g} min of the script `pushes`, with pushes of half, once and twice the "
        "full speed ahead, to any side, by motion matching and by fields of the quality "
        f"`{quality.TRAINING}`. *within* is the median of the seconds from a push until the "
        "velocity is within a tenth of the one asked for, or as near as in the second before; "
        "*pushed by* is how far the character is by then from where it would be. A push that the "
        "next one interrupts before is not recovered from. *hardest* is the largest acceleration of "
        "any joint as a share of that in the frames played: above 1.2, the take pops."
    )
    table = format_columns(list(zip(_HEADINGS, *rows, strict=True)), _LEFT)
    return (
        "\n\n".join(
            (
                f"Written by `python3 build.py study pushes`.\n{describe_machine()}",
                textwrap.fill(text, _WIDTH),
                table,
            )
        )
        + "\n"
    )


def draw_recoveries(traces: Mapping[str, np.ndarray]) -> str:
    """Return a picture of how far velocities are from those asked for, after pushes."""
    top = max(1.0, *(float(values.max()) for values in traces.values()))
    right, bottom, parts = _LEFT_X + _ACROSS, _TOP + _UP, []
    for share in (0.0, 0.1, 0.5, 1.0):
        y = bottom - _UP * share / top
        ends = f'x1="{_LEFT_X:g}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"'
        parts.append(f'<line {ends} stroke="#ddd"/>')
        parts.append(pictures.make_label(_LEFT_X - 8, y + 3, f"{share:g}", ' text-anchor="end"'))
    for number, (name, values) in enumerate(traces.items()):
        colour = _COLOURS[number % len(_COLOURS)]
        x = _LEFT_X + _ACROSS * np.arange(len(values)) / max(len(values) - 1, 1)
        y = bottom - _UP * values / top
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
        style = f'stroke="{colour}" style="stroke-width:2;opacity:1"'
        parts.append(f'<polyline id="trace_{number}" {style} points="{points}"/>')
        place = f'x="{_LEFT_X + 225 * (number % 2):g}" y="{bottom + 40 + 18 * (number // 2):g}"'
        parts.append(f'<text {place} style="fill:{colour}">{name}</text>')
    parts.append(pictures.make_label(_LEFT_X, bottom + 18, "pushed"))
    parts.append(pictures.make_label(right, bottom + 18, f"{SEEN:g} s", ' text-anchor="end"'))
    title = "Off the velocity asked for, as a share of it"
    return pictures.make_picture("recoveries", title, parts)
