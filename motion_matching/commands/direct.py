"""`direct`: solve a scene of marks, paths and pins, and write its take."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..engine import files, json_files
from ..engine.control import performance as performances
from ..engine.control.performance import Performance
from ..engine.direct import director as directors
from ..engine.direct import from_performance, jump_table, shot_file
from ..engine.direct.director import Directed, Director
from ..engine.direct.footage import make_footage
from ..engine.direct.shot import Shot
from ..engine.takes import baking, takes
from .blend import check_blend, write_blend
from .checks import check_seed, check_targets, name_paths
from .loading import check_blender, load_database
from .output import Output
from .values import parse_changes
from .writing import write_together

_TARGETS = {"output": (".blend",), "bvh": (".bvh",), "report": (".json",)}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Solve a scene, plant feet and limbs, and write all that is asked for."""
    _check_arguments(arguments)
    scene = _read_scene(arguments.scene)
    database = load_database(arguments.database)
    settings = takes.make_default_settings(database)
    settings = settings.with_changes(parse_changes(arguments.changes, settings))
    shot = scene if isinstance(scene, Shot) else from_performance.build_shot(scene, settings)
    if arguments.seed is not None:
        shot = shot.with_seed(arguments.seed)
    footage = make_footage(database)
    path = jump_table.get_table_path(arguments.database)
    report_part = partial(out.show_progress, "Finding jumps")
    table = jump_table.load_or_build_table(footage, path, report_part)
    director = Director(footage, table, settings)
    states = directors.PREVIEW_STATES if arguments.preview else directors.TAKE_STATES
    report_part = partial(out.show_progress, "Directing")
    done = director.make(shot, arguments.feet, states, report_part)
    with write_together(arguments, *_TARGETS) as written:
        _write(written, done, director, out)
    if names := [str(path) for _, path in name_paths(arguments, *_TARGETS) if path]:
        out.say(f"Written: {', '.join(names)}.")
    else:
        out.say("Nothing was written; choose an output with -o, --bvh or --report.")


def _read_scene(path: Path) -> Shot | Performance:
    """Read a scene, or a performance that is to be directed."""
    data = json_files.read(path, "scene")
    if isinstance(data, dict) and data.get("format") == performances.FORMAT:
        return performances.load(path)
    return shot_file.load(path)


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Check the arguments before anything is loaded."""
    read: list[files.NamedPath] = [
        ("the command", arguments.database),
        ("the command", arguments.scene),
        *name_paths(arguments, "onto"),
    ]
    check_targets(arguments, _TARGETS, read)
    check_blend(arguments)
    check_blender(arguments.output, "direct")
    check_seed(arguments.seed)


def _write(arguments: argparse.Namespace, done: Directed, director: Director, out: Output) -> None:
    """Write all that is asked for of a take."""
    database, take = director.footage.database, done.take
    live = baking.free_feet(take)
    if arguments.bvh:
        takes.write_bvh(take, arguments.bvh)
    if arguments.report or not arguments.quiet:
        out.show_progress("Measuring")
        report = takes.report(take, database, arguments.bvh, live=live)
        out.say(takes.summarize(report))
        for line in summarize_outcomes(done.report):
            out.say(line)
        if arguments.report:
            takes.write_report(report | done.report, arguments.report)
    if arguments.output:
        out.show_progress("Writing the Blender file")
        ranges = baking.find_contact_ranges(live, database)
        write_blend(take, ranges, database, arguments)


def summarize_outcomes(report: Mapping[str, Any]) -> list[str]:
    """Return lines about how a shot was met: the sum, and each thing that was missed."""
    lines = [f"  {report['reached']} of {report['asked']} marks, paths and pins are met"]
    for kind in ("marks", "paths", "pins"):
        for each in report[kind]:
            if not each["reached"]:
                time = each.get("time", each.get("start"))
                lines.append(f"  {kind[:-1]} at {time:g} s: {each['reason']}")
    return lines
