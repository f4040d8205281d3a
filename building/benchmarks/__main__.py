"""Run benchmarks, print what they measure, and exit with 1 if a ratio was missed.

A full run of all of them writes docs/bench.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import numpy as np

from motion_matching.engine.errors import MotionMatchingError

from . import (
    bench_build,
    bench_field,
    bench_search,
    bench_start,
    bench_tick,
    bench_training,
    report,
)
from .data import RECIPES, Recordings
from .report import Section

SIZES = {"10k": 10_000, "50k": 50_000, "200k": 200_000, "400k": 400_000, "1M": 1_000_000}
QUERIES = 1000
QUICK_SIZES, QUICK_QUERIES = ("10k",), 200


def build(recordings: Recordings, quick: bool) -> Section:
    """Measure building, saving and loading."""
    text = (
        f"Clips are {recordings.title}. Building reads BVH files and ends with a database in "
        "memory, features included; times are for 1,000 frames of the database. Loading maps a "
        "file that the system has in memory."
    )
    return Section("Build", text, bench_build.run(recordings, quick))


def start(recordings: Recordings, quick: bool) -> Section:
    """Measure what commands load, and reports."""
    text = (
        f"Processes of their own on {recordings.title}: the CPU of each from its start, with "
        "modules that Python has compiled before. *more* is what comes on top: of the imports of a "
        "take beside numpy's own, and of a report beside the take, whose sources were measured as "
        "the database was built."
    )
    return Section("Start", text, bench_start.run(recordings, quick))


def search(recordings: Recordings, quick: bool) -> Section:
    """Measure the exact search beside others."""
    rng = np.random.default_rng(0)
    count = QUICK_QUERIES if quick else QUERIES
    rows, made_of = [], []
    for name in QUICK_SIZES if quick else SIZES:
        data = recordings.make_search_data(SIZES[name], rng)
        rows += bench_search.run({name: (data.features, data.candidates)}, count, rng)
        made_of.append(f"- {name}: {data.made_of}")
    text = (
        f"{count:,} hard queries for each database: the pose of one frame with the trajectory of "
        f"another. The ends of ranges and {bench_search.SURROUNDINGS} frames around the current "
        "one are no answer, and the cost of playing on is the bound. Every answer has the distance "
        f"that brute force finds in float64. *masked* searches the {bench_search.MASK_SHARE:.0%} "
        "of frames with a tag under a mask, *subset* on an index of their own; *cKDTree* is "
        "scipy's, with leaves of 32, bounded by the cost of playing on; *full scan* is "
        "`((X-q)**2).sum(1)`. *build* makes the index, *reweight* takes it over to other weights. "
        "On large databases cKDTree and full scan answer only the first of the queries.\n"
        "\n"
        f"Features are Holden's 27 floats of {recordings.title}, ranges drawn at random from:\n"
        "\n" + "\n".join(made_of)
    )
    return Section("Search", text, rows)


def tick(recordings: Recordings, quick: bool) -> Section:
    """Measure the performer's tick."""
    recipe = recordings.find_recipe(bench_tick.FRAMES)
    text = (
        f"`Performer.step` on {recordings.title} ({recipe.text}) with Holden's features, a search "
        f"at every tick, through the scripts {' and '.join(bench_tick.SCRIPTS)} at a run, with "
        f"foot lock and leg IK and without. For {bench_tick.MANY_BONES} bones chains of three that "
        "swing a little are added to the skeleton's ends. *loops over bones* is the tick without "
        "feet in ordinary numpy with quaternion functions and a Python loop over the bones, and "
        "the whole tick stands beside it as well; it searches the same index, so the search counts "
        f"in all. Over the first {bench_tick.VERIFIED_TICKS} ticks of each script its poses agree "
        f"with ours to {bench_tick.TOLERANCE:g}. *weights changed* is a weight slider moved, up to "
        "the end of the next tick, which searches with it.\n"
        "\n"
        "How much longer than usual single ticks take is measured with the settings as they are by "
        f"default, through seeded random performances of {' and '.join(bench_tick.GAITS)}: the "
        f"least of {bench_tick.REPEATS} times for each tick, of its thread alone, each time from "
        "a database of which nothing was played. Their *mean* and shares stand where medians do. "
        "*preview of a jump* is what it takes to see whether joints would pop."
    )
    return Section("Tick", text, bench_tick.run(recordings, quick))


def field(recordings: Recordings, quick: bool) -> Section:
    """Measure motion fields."""
    text = (
        f"Motion fields on {recordings.title}, all states but the last two of each range, with the "
        "default metric. Neighbours are looked for where a character comes that is steered through "
        f"the scripts {' and '.join(bench_tick.SCRIPTS)}, tick by tick: of its pose, and of all "
        f"{bench_field.K} results of its actions together. *unrelated* are those of its poses in "
        "any order, each after a *full scan* in ordinary numpy, which finds the same distances. "
        "*greedy tick* is `MotionField.advance`, without the springs and feet that any method has."
    )
    return Section("Motion fields", text, bench_field.run(recordings, quick))


def training(recordings: Recordings, quick: bool) -> Section:
    """Measure the training of motion fields."""
    text = (
        f"Motion fields on {recordings.title}, with {bench_field.K} actions a state. *tables* say "
        f"where all actions lead; *{bench_training.SWEEPS} sweeps* are fitted value iteration over "
        "17 directions, beside as many as the notebook computes them, in ordinary numpy (measured "
        f"over {bench_training.PLAIN_SWEEPS}), whose values are the same. *planning tick* is "
        "`Performer.step` with the values, springs and feet included."
    )
    size = bench_training.QUICK_SIZE if quick else bench_training.SIZE
    return Section(
        "Training of motion fields",
        text,
        bench_training.run(
            bench_field.build_database(recordings, size),
            recordings.build_database(RECIPES[1]),
            quick,
        ),
    )


def scene(recordings: Recordings, quick: bool) -> Section:
    """Measure the way from Blender's data into the engine and back."""
    from . import bench_scene  # loads Blender

    text = (
        f"Motion of {recordings.title} as an action on a bare armature with {bench_scene.BONES} "
        "bones; times are for 1,000 frames. Clips read from curves agree with those that Blender "
        f"evaluates to {bench_scene.TOLERANCE:g}. Of the path of the simulation bone, times are "
        "for all of its frames."
    )
    return Section("Blender's data", text, bench_scene.run(recordings, quick))


def live(recordings: Recordings, quick: bool) -> Section:
    """Measure a session that steers an armature and records."""
    from . import bench_hud, bench_live  # load Blender

    text = (
        f"A session on {recordings.title} with a bare armature of {bench_live.BONES} bones, all "
        "its ticks made and nothing drawn: input, controller, pose and update, one tick to a "
        "picture, a new direction each second. *pose* is the part that writes the pose and "
        "updates; *HUD* notes what is drawn, all layers on. While "
        f"{'a minute is' if quick else 'ten minutes are'} recorded at {bench_live.RATE} ticks a "
        "second, *flush* writes keys of a quarter of the curves; its cost in the last minute "
        "stands beside that in the first."
    )
    rows = bench_live.run(recordings, quick) + bench_hud.run(
        bench_live.build_database(recordings), quick
    )
    return Section("Live", text, rows)


def panels(recordings: Recordings, quick: bool) -> Section:
    """Measure a redraw of the sidebar."""
    from . import bench_panels

    text = (
        "All panels of the sidebar's tab, drawn with Blender's own layout for a character with "
        f"{bench_panels.SOURCES} sources and {bench_panels.TAGGED:,} tagged frames in "
        f"{bench_panels.SOURCES * bench_panels.RANGES:,} ranges: time of the thread that draws, "
        "Blender's part of it included. *as they open* leaves out those that are closed at first."
    )
    return Section("Panels", text, bench_panels.run(quick))


BENCHES: dict[str, Callable[[Recordings, bool], Section]] = {
    "build": build, "start": start, "search": search, "tick": tick, "field": field, "training": training, "scene": scene, "live": live,
    "panels": panels,
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0 if all answers are right and all ratios reached, else 1."""
    text = (
        "Measure building, searching, the tick, the way to and from Blender's data, and live "
        "sessions."
    )
    parser = argparse.ArgumentParser(prog="build.py bench", description=text)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help=f"which ones, of {', '.join(BENCHES)}; all by default",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="little data and few repeats, to see that everything runs",
    )
    chosen = parser.parse_args(arguments)
    unknown = sorted(set(chosen.names) - set(BENCHES))
    if unknown:
        parser.error(f"there is no benchmark '{unknown[0]}'; use {', '.join(BENCHES)}")
    print(report.describe_machine())
    try:
        recordings = Recordings.from_environment()
        sections = []
        for name, bench in BENCHES.items():
            if not chosen.names or name in chosen.names:
                sections.append(bench(recordings, chosen.quick))
                print(f"\n{sections[-1].to_markdown()}", flush=True)
    except (AssertionError, MotionMatchingError) as error:
        print(error, file=sys.stderr)
        return 1
    if chosen.names or chosen.quick:
        print("docs/bench.md is left as it is: only a full run of all benchmarks writes it.")
    else:
        report.write(sections)
        print("Written to docs/bench.md.")
    for sentence in report.list_missed(sections):
        print(sentence, file=sys.stderr)
    return 1 if report.list_missed(sections) else 0


if __name__ == "__main__":
    sys.exit(main())
