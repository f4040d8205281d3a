"""The command line: `python -m motion_matching …`, and `blender --command motion_matching …`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .engine.errors import MotionMatchingError

_DESCRIPTION = "Turn motion capture into a character that can be steered."


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 1 for an error told in one sentence, 2 for a wrong command line."""
    parser = _parser()
    try:
        arguments = parser.parse_args(argv)
    except SystemExit as stop:
        return int(stop.code or 0)
    tell = _Progress(sys.stderr.isatty() and not arguments.quiet)
    try:
        arguments.run(arguments, tell)
    except MotionMatchingError as error:
        tell.clear()
        print(f"motion_matching: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        tell.clear()
        print("motion_matching: cancelled; nothing was written by the step that was running.", file=sys.stderr)
        return 130
    return 0


class _Progress:
    """One line on a terminal that tells the stage and how far it is."""

    def __init__(self, shown: bool) -> None:
        self._shown = shown

    def __call__(self, stage: str, part: float) -> None:
        if self._shown:
            print(f"\r\x1b[K{stage} {part:.0%}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="motion_matching", description=_DESCRIPTION)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def command(name: str, run: Callable[..., None], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(run=run)
        sub.add_argument("--quiet", action="store_true", help="print nothing but errors")
        return sub

    build = command("build", _build, "Build a database from motion capture.")
    build.add_argument("sources", nargs="+", type=Path, metavar="SOURCE", help="BVH files, folders of them, or JSON lists of sources")
    build.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.npz", help="the database to write")
    build.add_argument("--mirror", action="store_true", help="add the mirror image of every source")
    build.add_argument("--fps", type=float, help="frames per second (default: the most common rate of the sources)")
    build.add_argument("--speed", type=float, default=1.0, help="play all sources faster by this factor, such as 1.1")
    build.add_argument("--rig", type=Path, metavar="FILE.json", help="bone names by role, where they are not found by themselves")
    build.add_argument("--features", default="holden", metavar="PRESET", help="feature preset or JSON file (default: holden)")
    build.add_argument("--simulation-bone", choices=("article", "notebook", "root"), default="article",
                       help="how the simulation bone is smoothed, or 'root' to take an existing root bone")
    build.add_argument("--contacts", choices=("article", "notebook"), default="article", help="how foot contacts are found")
    build.add_argument("--up", default="Y", help="up axis of the files (default: Y)")
    build.add_argument("--forward", default="Z", help="forward axis of the files (default: Z)")
    build.add_argument("--scale", type=float, help="metres per unit of the files (default: found from the skeleton)")

    take = command("take", _take, "Perform a take with a database.")
    take.add_argument("database", type=Path, help="a database made by 'build'")
    take.add_argument("--script", default="figure_eight", metavar="NAME|FILE.json",
                      help="figure_eight, square, stop_and_go, flips, strafe_circle, random, or a recorded performance")
    take.add_argument("--gait", choices=("walk", "run"), default="walk", help="gait of a script (default: walk)")
    take.add_argument("--seconds", type=float, default=30.0, help="length of a script (default: 30)")
    take.add_argument("--seed", type=int, default=0, help="seed of the script 'random' (default: 0)")
    take.add_argument("--sync", type=float, metavar="0..1", help="place character and simulation object between data (0) and code (1)")
    take.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", dest="changes",
                      help="any other setting of the performer, such as velocity_halflife=0.2; may be repeated")
    take.add_argument("--bvh", type=Path, help="write the take as motion capture: Y up, centimetres, the source's bones")
    take.add_argument("--report", type=Path, metavar="FILE.json", help="write what the take measures, beside its sources")
    take.add_argument("--save-performance", type=Path, metavar="FILE.json", help="write the performance, to be solved again")
    take.add_argument("-o", "--output", type=Path, metavar="FILE.blend", help="write a Blender file with armature, body and action")

    inspect = command("inspect", _inspect, "Tell what a database holds.")
    inspect.add_argument("database", type=Path, help="a database made by 'build'")

    clips = command("demo-clips", _demo_clips, "Write the built-in locomotion clips as BVH files.")
    clips.add_argument("folder", type=Path, help="the folder to write to; it is made if it does not exist")
    clips.add_argument("--seed", type=int, default=0, help="seed of the variations (default: 0)")
    return parser


def _say(arguments: argparse.Namespace, text: str) -> None:
    if not arguments.quiet:
        print(text)


# ---------------------------------------------------------------- build


def _build(arguments: argparse.Namespace, tell: _Progress) -> None:
    from .engine.errors import SettingsError
    from .engine.matching import database as databases
    from .engine.matching.build import BuildSettings, build
    from .engine.matching.features import load_schema
    from .engine.matching.sources import find_sources
    from .engine.motion import contacts, simulation_bone

    for name in ("fps", "speed"):
        value = getattr(arguments, name)
        if value is not None and not 0 < value < 1000:
            raise SettingsError(f"--{name} is {value}; give a number above zero.")
    _check_target(arguments.output)
    bone = simulation_bone.PRESETS.get(arguments.simulation_bone)
    settings = BuildSettings(
        fps=arguments.fps,
        speed=arguments.speed,
        mirror=arguments.mirror,
        schema=load_schema(arguments.features),
        simulation_bone=bone or simulation_bone.SimulationBoneSettings(source="root"),
        contacts=contacts.PRESETS[arguments.contacts],
        roles=_roles(arguments.rig),
        up=arguments.up,
        forward=arguments.forward,
        scale=arguments.scale,
    )
    database, report = build(find_sources(arguments.sources), settings, tell)
    tell("Saving", 1.0)
    databases.save(database, arguments.output)
    tell.clear()
    for name, reason in report.skipped:
        _say(arguments, f"Left out {name}: {reason}.")
    for warning in report.warnings:
        _say(arguments, f"Warning: {warning}")
    clips = len({r.clip for r in database.ranges})
    mirrored = " and their mirror images" if any(r.mirrored for r in database.ranges) else ""
    _say(
        arguments,
        f"{arguments.output}: {database.frame_count} frames ({database.seconds:.0f} s at {database.fps:g} fps) of {clips} clips"
        f"{mirrored}, {database.skeleton.bone_count} bones, {database.schema.dimensions} feature dimensions.",
    )


def _roles(path: Path | None) -> dict[str, str]:
    from .engine.errors import SettingsError

    if path is None:
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or not all(isinstance(bone, str) for bone in data.values()):
            raise ValueError("it must be an object of bone names by role")
    except (OSError, ValueError) as cause:
        raise SettingsError(f"The rig file {path} cannot be used ({cause}); give bone names by role, such as \"hips\".") from cause
    return data


def _check_target(path: Path | None) -> None:
    """Say what is wrong with a target before the work, not after it."""
    from .engine.errors import SettingsError

    if path is not None and not path.absolute().parent.is_dir():
        raise SettingsError(f"The folder {path.absolute().parent} does not exist; make it first, or write elsewhere.")


# ---------------------------------------------------------------- take


def _take(arguments: argparse.Namespace, tell: _Progress) -> None:
    from .engine import takes
    from .engine.control import performance as performances
    from .engine.matching import database as databases

    for target in (arguments.bvh, arguments.report, arguments.save_performance, arguments.output):
        _check_target(target)
    database = databases.load(arguments.database)
    settings = takes.default_settings(database).changed(_changes(arguments))
    performance = takes.performance_for(
        database, settings, arguments.script, gait=arguments.gait, seconds=arguments.seconds, seed=arguments.seed
    )
    take = takes.perform(database, settings, performance, lambda part: tell("Performing", part))
    if arguments.save_performance:
        kept = replace(take.performance, settings=take.settings)
        performances.save(kept, arguments.save_performance)
    if arguments.bvh:
        takes.write_bvh(take, arguments.bvh)
    report = takes.report(take, database, arguments.bvh)
    if arguments.report:
        takes.write_report(report, arguments.report)
    if arguments.output:
        tell("Writing the Blender file", 1.0)
        _write_blend(take, database, arguments.output)
    tell.clear()
    _say(arguments, takes.summary(report))


def _changes(arguments: argparse.Namespace) -> dict[str, Any]:
    from .engine.errors import SettingsError

    changes: dict[str, Any] = {}
    for text in arguments.changes:
        name, equals, value = text.partition("=")
        try:
            changes[name] = json.loads(value)
        except ValueError:
            equals = ""
        if not equals:
            raise SettingsError(f"--set {text} is not of the form NAME=VALUE with a number or JSON as value.")
    if arguments.sync is not None:
        changes["synchronization"] = arguments.sync
    return changes


def _write_blend(take: Any, database: Any, path: Path) -> None:
    from .engine.errors import SettingsError

    try:
        import bpy  # noqa: F401
    except ImportError:
        raise SettingsError(f"{path} needs Blender's module bpy, which this Python lacks; install bpy or run inside Blender.") from None
    from .scene import blend_file

    blend_file.save_take(take.clip(), path, title=take.name)


# ---------------------------------------------------------------- inspect, demo-clips


def _inspect(arguments: argparse.Namespace, tell: _Progress) -> None:
    from .engine.matching import database as databases
    from .engine.matching import statistics

    print(statistics.describe(databases.load(arguments.database)))


def _demo_clips(arguments: argparse.Namespace, tell: _Progress) -> None:
    from .engine.errors import SettingsError
    from .engine.motion import bvh, locomotion

    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise SettingsError(f"The folder {arguments.folder} cannot be made ({cause.strerror}); choose another.") from cause
    clips = locomotion.generate(arguments.seed)
    for number, clip in enumerate(clips):
        tell("Writing clips", number / len(clips))
        bvh.save(clip, arguments.folder / f"{clip.name}.bvh")
    tell.clear()
    frames = sum(clip.frame_count for clip in clips)
    _say(arguments, f"{arguments.folder}: {len(clips)} clips, {frames} frames.")
