"""Count the jumps of walks in more and more frames of the same motion.

Copies of the clips differ a little in tempo, and in how the body is held, as takes of one actor do.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from building.benchmarks.data import Recordings
from building.benchmarks.report import CHECKOUT, describe_machine, format_columns
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.database.database import Database
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import metrics, takes

from .manual_parts import replace_part

SIZES = (50_000, 1_000_000)
SCRIPTS = ("random", "turns", "figure_eight", "stop_and_go")
DOCUMENT = CHECKOUT / "docs" / "controller.md"
MOST_RATIO = 1.5  # of jumps a second, of the densest data to the sparsest
_RATE = 30.0
_SLOWEST, _FASTEST = 0.87, 1.15
_HELD = np.radians(1.0)  # standard deviation of how each joint is held


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--sizes", nargs="+", type=int, help="frames (50000 and 1000000)")
    parser.add_argument("--minutes", type=float, default=1.0, help="of each take (%(default)g)")
    parser.set_defaults(workers=1)


def run(chosen: argparse.Namespace) -> int:
    """Return 0 once everything is measured; write the manual if all sizes are."""
    recordings, rows = Recordings.from_environment(), []
    for frames in chosen.sizes or SIZES:
        database = build_dense(recordings.clips, frames)
        rows += measure(database, 60.0 * chosen.minutes)
        print(*rows[-len(SCRIPTS) :], sep="\n", flush=True)
    part = format_part(rows, recordings.title, chosen.minutes)
    print(f"\n{part}")
    if not chosen.sizes:
        replace_part(DOCUMENT, "dense", part)
        print(f"Written to {DOCUMENT}.")
    return 0


def build_dense(clips: Sequence[Clip], frames: int) -> Database:
    """Build about so many frames from clips, their mirror images and varied copies."""
    once = 2 * _RATE * sum(clip.duration for clip in clips)
    copies = range(max(round(frames / once), 1))
    sources = [vary(clip, copy) for copy in copies for clip in clips]
    return build(sources, BuildSettings(mirror=True, fps=_RATE))[0]


def vary(clip: Clip, copy: int) -> Source:
    """Return a copy of a clip with its own tempo and its own way to hold each joint; 0: as it is."""
    if not copy:
        return Source(clip=clip)
    rng = np.random.default_rng([copy, clip.frame_count])
    held = quat.from_scaled_angle_axis(rng.normal(0.0, _HELD, (1, clip.skeleton.bone_count, 3)))
    held[:, :1] = quat.IDENTITY
    rotations = quat.normalize(quat.mul(clip.rotations, held)).astype(np.float32)
    varied = replace(clip, name=f"{clip.name}_{copy}", rotations=rotations)
    return Source(clip=varied, speed=float(rng.uniform(_SLOWEST, _FASTEST)))


def measure(
    database: Database, seconds: float, settings: PerformerSettings | None = None
) -> list[tuple[int, str, float, float, float]]:
    """Walk all scripts; return frames, script, jumps a second, and prices in cm·s, each and a second."""
    settings = settings or takes.make_default_settings(database)
    rows = []
    for script in SCRIPTS:
        performance = takes.prepare_performance(
            database, settings, script, gait="walk", seconds=seconds, seed=0
        )
        take = takes.perform(database, settings, performance)
        prices = metrics.measure_jump_prices(take)
        each, all_ = prices["jump_price_mean"] or 0.0, prices["jump_price_per_second"] or 0.0
        jumps = float(take.jumped.sum()) * take.fps / take.frame_count
        rows.append((database.frame_count, script, jumps, 100.0 * each, 100.0 * all_))
    return rows


def format_part(
    rows: Sequence[tuple[int, str, float, float, float]], made_of: str, minutes: float
) -> str:
    """Return what the manual says of the rows."""
    first = {script: jumps for frames, script, jumps, *_ in rows if frames == rows[0][0]}
    cells = [
        (
            f"{frames:,}",
            script,
            f"{jumps:.2f}",
            "" if frames == rows[0][0] else f"{jumps / max(first[script], 1e-9):.2f}",
            f"{each:.2f}",
            f"{a_second:.2f}",
        )
        for frames, script, jumps, each, a_second in rows
    ]
    headings = ("frames", "script", "jumps a second", "ratio", "price, cm·s", "price a second, cm")
    text = (
        f"Walks of {minutes:g} min in {made_of} at 30 frames a second with mirror images, and in "
        f"copies at a tempo of {_SLOWEST:g} to {_FASTEST:g}, each joint of each held otherwise "
        "by about 1°."
    )
    table = format_columns(list(zip(headings, *cells, strict=True)), ("script",))
    source = f"Written by `python3 build.py study dense`.\n{describe_machine()}"
    return "\n\n".join((source, textwrap.fill(text, 118), table)) + "\n"
