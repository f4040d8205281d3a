"""The command of the study of furnished scenes: direct all, measure and print them."""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from motion_matching.engine.database import database as databases

from .directing import load_director
from .furnished import KINDS, SceneMeasures, make_scene, measure_scene
from .running import Results, end_when_interrupted
from .sets import find_sets

SETS = ("generated", "bandai", "lafan1")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--sets", nargs="+", choices=SETS, default=["generated"], help="which ones (%(default)s)"
    )
    parser.add_argument("--scenes", type=int, default=60, help="of each set (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (%(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes at a time (%(default)s)")


def run(chosen: argparse.Namespace) -> int:
    """Direct and measure scenes among tables, rails, doors and shelves, and print them."""
    numbers = range(chosen.first, chosen.first + chosen.scenes)
    jobs = [(name, number) for name in chosen.sets for number in numbers]
    results: dict[tuple[str, int], SceneMeasures] = {}
    told = Results(len(jobs))
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.sets:
            motion_set, source = find_sets()[name]
            databases.save(motion_set.build(source), Path(folder) / f"{name}.npz")
            load_director(Path(folder) / f"{name}.npz")
            load_director.cache_clear()
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(chosen.workers, context, end_when_interrupted)
        try:
            for future in as_completed(pool.submit(_measure, *job, Path(folder)) for job in jobs):
                job, measures = future.result()
                results[job] = measures
                told.say(_summarize(*job, measures))
        finally:
            pool.shutdown(cancel_futures=True)
    for name in chosen.sets:
        print(_conclude(name, [each for job, each in results.items() if job[0] == name]))
    return 0


def _measure(name: str, number: int, folder: Path) -> tuple[tuple[str, int], SceneMeasures]:
    loaded, director = load_director(folder / f"{name}.npz")
    scene = make_scene(number)
    return (name, number), measure_scene(scene, director.make(scene.shot), loaded.database)


def _summarize(name: str, number: int, told: SceneMeasures) -> str:
    """Return a line about a scene."""
    text = (
        f"{name} {KINDS[number % len(KINDS)]} {number}: {told.reached} of {told.asked} met, hands "
        f"{told.hands_reached} of {told.hands_asked} to {100 * told.hand:.1f} cm, inside "
        f"{told.inside}, wrists {told.hands_inside}, hips {told.hips:.2f} m and feet "
        f"{told.feet:.2f} m away, lowest {told.lowest:.2f}, acceleration {told.hardest:.0f}"
    )
    return "\n      ".join((text, *told.reasons))


def _conclude(name: str, all_told: Sequence[SceneMeasures]) -> str:
    """Return a line about all scenes of a set."""
    asked, reached, of_hands, by_hands, inside, wrists = (
        sum(getattr(told, key) for told in all_told)
        for key in ("asked", "reached", "hands_asked", "hands_reached", "inside", "hands_inside")
    )
    return (
        f"{name}: {reached} of {asked} marks met, {by_hands} of {of_hands} for hands, these to "
        f"{100 * max(told.hand for told in all_told):.2f} cm while held; frames inside obstacles "
        f"{inside}, wrists {wrists}; hips {min(told.hips for told in all_told):.2f} m and feet "
        f"{min(told.feet for told in all_told):.2f} m from them at least; lowest hips "
        f"{min(told.lowest for told in all_told):.2f}"
    )
