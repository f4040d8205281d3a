"""`direct`: solve a scene of marks and paths, and write its take."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from .. import api
from ..api.directing import find_takes, read_scene, read_shot
from ..engine.database.database import Database
from ..engine.direct.conduct import describe_inside
from ..engine.direct.footage import jump_table
from ..engine.direct.shot.shot import MOST_VARIATIONS, Shot
from ..engine.files import own_files
from ..engine.takes import baking, takes
from .blend import check_blend, read_ground, write_blend
from .checks import check_number, check_seed, check_targets, name_paths, write_together
from .loading import check_blender, load_database
from .output import Output, say_written
from .values import check_changes, parse_changes

_TARGETS = {"output": ".blend", "bvh": ".bvh", "npz": ".npz", "report": ".json"}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Solve a scene, plant feet and limbs, and write the requested files.

    Ctrl-C writes the best take so far, and is raised after that; without one, at once.
    """
    check(arguments)
    scene = read_scene(arguments.scene)
    database = load_database(arguments.database, out)
    changes = parse_changes(arguments.changes, takes.make_default_settings(database))
    ground = read_ground(arguments)
    path = jump_table.get_table_path(arguments.database)
    table = path if jump_table.can_keep_table(path) else None
    director = api.open_director(database, table, settings=changes, progress=out.show_progress)
    if table is None:
        out.say(f"The jumps are not kept, as {path} is another file; rename it to save time.")
    shot = read_shot(director, scene, arguments.seed, ground)
    solved, is_early = _find_best(director, shot, arguments, out)
    if is_early:
        out.say("Ended early, with the best result so far.")
    elif arguments.variations and len(solved) < arguments.variations:
        count = arguments.variations
        out.say(f"{len(solved)} of {count} variations differ, and the others were left out.")
    outputs = _list_outputs(arguments)[: len(solved)]
    with ExitStack() as stack:
        for each, done in zip(outputs, solved, strict=True):
            _write(stack.enter_context(write_together(each, *_TARGETS)), done, database, out)
    written = [file for each in outputs for file in name_paths(each, *_TARGETS)]
    say_written(out, written, "-o, --bvh, --npz or --report")
    if is_early:
        raise KeyboardInterrupt


def _find_best(
    director: api.Director, shot: Shot, arguments: argparse.Namespace, out: Output
) -> tuple[list[api.DirectedTake], bool]:
    """Return the best solution until the end, or until Ctrl-C, and whether that came.

    Raises KeyboardInterrupt before the first take. Passes run only if progress is shown.
    """
    count = arguments.variations
    found: list[api.DirectedTake] = []

    def report(stage: str, part: float) -> None:
        out.show_progress(f"{stage}{_describe_best(found, count or 1)}", part)

    is_early = False
    try:
        for made in find_takes(
            director,
            shot,
            count,
            feet=arguments.feet,
            preview=arguments.preview,
            in_passes=out.is_live,
            progress=report,
        ):
            found.append(made)
    except KeyboardInterrupt:
        if not found:
            raise
        is_early = True
    return found if count else found[-1:], is_early


def _describe_best(found: list[api.DirectedTake], count: int) -> str:
    """Describe in a few words the take that Ctrl-C would keep now."""
    if not found:
        return ""
    report = found[-1].report
    done = f"{len(found)} of {count} found" if count > 1 else ""
    return f" ({done or '{reached} of {asked} met so far'.format(**report)}, Ctrl-C keeps that)"


def _list_outputs(arguments: argparse.Namespace) -> list[argparse.Namespace]:
    """Return the arguments for each take that is written: variations have a number in their names.

    So `walk.bvh` becomes `walk_1.bvh`, `walk_2.bvh` and so on.
    """
    if arguments.variations is None:
        return [arguments]
    given = {name: path for name in _TARGETS if (path := getattr(arguments, name))}
    return [
        argparse.Namespace(
            **vars(arguments)
            | {name: path.with_stem(f"{path.stem}_{number}") for name, path in given.items()}
        )
        for number in range(1, arguments.variations + 1)
    ]


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    read = name_paths(arguments, "database", "scene", "onto")
    if arguments.variations is not None:
        check_number("--variations", arguments.variations, 1, MOST_VARIATIONS)
    for each in _list_outputs(arguments):
        check_targets(each, _TARGETS, read)
        if arguments.variations is not None:
            numbered = [path for _, path in name_paths(each, *_TARGETS) if path]
            own_files.check_unnamed(numbered, "--variations")
    check_blend(arguments)
    check_blender(arguments.output, "direct")
    check_seed(arguments.seed)
    check_changes(arguments.changes)


def _write(
    arguments: argparse.Namespace, done: api.DirectedTake, database: Database, out: Output
) -> None:
    take = done.take
    live = baking.free_feet(take)
    if arguments.bvh:
        api.write_bvh(take, arguments.bvh)
    if arguments.npz:
        api.write_npz(take, database, arguments.npz)
    if arguments.report or not arguments.quiet:
        out.show_progress("Measuring")
        report = takes.report(take, database, arguments.bvh, live=live)
        out.say(takes.summarize(report))
        for line in (*summarize_variation(done.report), *summarize_outcomes(done.report)):
            out.say(line)
        if arguments.report:
            takes.write_report(report | done.report, arguments.report)
    if arguments.output:
        out.show_progress("Writing the Blender file")
        contacts = baking.find_contact_ranges(live, database)
        write_blend(take, contacts, database, arguments)


def summarize_outcomes(report: Mapping[str, Any]) -> list[str]:
    """Return lines about how a shot was met: a summary, and each miss."""
    lines = [f"  {report['reached']} of {report['asked']} marks and paths are met"]
    inside = describe_inside(report)
    if inside:
        lines.append(f"  {inside[0].upper()}{inside[1:]}")
    kinds = {"marks": "mark", "paths": "path", "kept": "kept jump", "tempos": "tempo"}
    for kind, name in kinds.items():
        for each in report[kind]:
            if not each["reached"]:
                time = each.get("time", each.get("start"))
                lines.append(f"  {name} at {time:g} s: {each['reason']}")
    return lines


def summarize_variation(report: Mapping[str, Any]) -> list[str]:
    """Return a line about how a variation differs from those before it, if it is one of several."""
    if "variation" not in report:
        return []
    variation = report["variation"]
    text = f"  seed {variation['seed']}"
    if variation["frames"]:
        text += (
            f": other frames in {variation['frames']:.0%} of the time, {variation['apart']:.2f} m "
            "apart on average, from the most alike of those before"
        )
    return [text]
