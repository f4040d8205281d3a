"""The command line: `python -m motion_matching …`, and `blender --command motion_matching …`."""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arguments import PROGRAM, joined, parser
from .engine.errors import DatabaseError, MotionMatchingError, SettingsError

if TYPE_CHECKING:  # numpy and what needs it are loaded by the commands, not before --help
    from .engine.control.performance import Performance
    from .engine.control.settings import PerformerSettings
    from .engine.control.take import Take
    from .engine.matching.database import Database
    from .engine.matching.sources import Source

_MOST_WARNINGS = 8


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code: 0, 1 for an error told in one sentence, 2 for a wrong command line."""
    try:
        arguments = parser().parse_args(joined(sys.argv[1:] if argv is None else argv))
    except SystemExit as stop:
        return int(stop.code or 0)
    out = _Output(arguments.quiet)
    try:
        _COMMANDS[arguments.command](arguments, out)
        sys.stdout.flush()
        return 0
    except MotionMatchingError as error:
        return out.fail(str(error), 1)
    except KeyboardInterrupt:
        return out.fail("cancelled: what was finished before stays, and nothing is half-written", 130)
    except BrokenPipeError:  # what read the output, such as `head`, has had enough of it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return out.fail(f"{error.filename or 'the output'} cannot be used ({error.strerror}); check its disk and rights", 1)


class _Output:
    """What a command says: results on the output; errors, and progress on a terminal, on the error output."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self._live = sys.stderr.isatty() and not quiet

    def say(self, text: str) -> None:
        """Print a line or more, unless quiet."""
        self._clear()
        if not self.quiet:
            print(text)

    def progress(self, stage: str, part: float | None = None) -> None:
        """Show on one line of the terminal what is going on, and how much of it is done (0..1)."""
        if self._live:
            done = "" if part is None else f" {part:.0%}"
            print(f"\r\x1b[K{stage} …{done}", end="", file=sys.stderr, flush=True)

    def fail(self, text: str, code: int) -> int:
        """Print an error as one sentence on one line; returns the exit code."""
        self._clear()
        sentence = " ".join(text.split())
        print(f"{PROGRAM}: {sentence}{'' if sentence.endswith(('.', '?', '!')) else '.'}", file=sys.stderr)
        return code

    def _clear(self) -> None:
        if self._live:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- what arguments must be


class _CheckedError(Exception):
    """Ends a trial of a target."""


def _check_target(path: Path | None, *endings: str) -> None:
    """Say what is wrong with a target before the work, not after it; the target is not touched."""
    if path is None:
        return
    folder, ending = path.absolute().parent, " or ".join(endings)
    if path.is_dir():
        raise SettingsError(f"{path} is a folder; give the name of a {ending} file.")
    if path.suffix.lower() not in endings:
        raise SettingsError(f"{path} does not end in {ending}, as the file that is written here must; rename it.")
    if not folder.is_dir():
        raise SettingsError(f"The folder {folder} does not exist; make it first, or write elsewhere.")
    from .engine import files

    with suppress(_CheckedError), files.replacing(path, SettingsError):
        raise _CheckedError


def _check_number(option: str, value: float | None, low: float, high: float) -> None:
    if value is not None and not low <= value <= high:
        raise SettingsError(f"{option} is {value:g}; give a number from {low:g} to {high:g}.")


def _check_seed(seed: int | None) -> None:
    if seed is not None and seed < 0:
        raise SettingsError(f"--seed is {seed}; give a whole number of zero or more.")


def _load(path: Path) -> Database:
    from .engine.matching import database

    if path.is_dir() or path.suffix.lower() == ".bvh":
        raise DatabaseError(f"{path} is not a database; make one from it with '{PROGRAM} build {path} -o walk.npz'.")
    return database.load(path)


# ---------------------------------------------------------------- build


def _build(arguments: argparse.Namespace, out: _Output) -> None:
    from .engine.matching import database as databases
    from .engine.matching.build import BuildSettings, build
    from .engine.matching.features import load_schema
    from .engine.matching.sources import find_sources
    from .engine.motion import contacts, simulation_bone

    _check_number("--fps", arguments.fps, 1, 1000)
    _check_number("--speed", arguments.speed, 0.1, 10)
    _check_target(arguments.output, ".npz")
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
    sources, notes = _read_in_blender(find_sources(arguments.sources), arguments, out)
    database, report = build(sources, settings, out.progress)
    out.progress("Saving")
    databases.save(database, arguments.output)
    for note in notes:
        out.say(note)
    for name, reason in report.skipped:
        out.say(f"Left out {name}: {reason}.")
    for warning in report.warnings[:_MOST_WARNINGS]:
        out.say(f"Warning: {warning}{'' if warning.endswith('.') else '.'}")
    if len(report.warnings) > _MOST_WARNINGS:
        out.say(f"Warning: there are {len(report.warnings) - _MOST_WARNINGS} more warnings like these.")
    clips = sum(not r.mirrored for r in database.ranges)
    mirrored = ", mirrored too" if len(database.ranges) > clips else ""
    out.say(
        f"{arguments.output}: {database.frame_count} frames ({database.seconds:.0f} s at {database.fps:g} fps) of "
        f"{clips} clip{'' if clips == 1 else 's'}{mirrored}, {database.skeleton.bone_count} bones, "
        f"{database.schema.dimensions} feature dimensions."
    )


def _read_in_blender(sources: list[Source], arguments: argparse.Namespace, out: _Output) -> tuple[list[Source], list[str]]:
    """The sources with those in Blender files read, and what there is to say about these."""
    files = [source.file for source in sources if source.in_blender]
    if not files:
        for option in ("armature", "actions", "bones"):
            if getattr(arguments, option):
                raise SettingsError(f"--{option} belongs to .blend files, and none is given; leave it out.")
        return sources, []
    _check_blender(files[0], "build")
    with _interrupts_held():
        from .scene import blend_sources
    return blend_sources.read_blend_sources(
        sources, armature=arguments.armature, chosen=[name for name in arguments.actions.split(",") if name],
        bones=arguments.bones, progress=out.progress,
    )


def _check_blender(path: Path | None, command: str) -> None:
    """Say that a file needs Blender where there is none."""
    if path and "bpy" not in sys.modules and importlib.util.find_spec("bpy") is None:
        raise SettingsError(f"{path} needs Blender's module bpy, which this Python lacks; install bpy, or "
                            f"run 'blender --command {PROGRAM} {command} …'.")


def _roles(path: Path | None) -> dict[str, str]:
    """Bone names by role from a JSON file."""
    if path is None:
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as cause:
        raise SettingsError(f"The rig file {path} cannot be read ({cause.strerror}); check its name.") from cause
    except ValueError as cause:
        raise SettingsError(f"The rig file {path} is not JSON ({cause}); correct it.") from cause
    if not isinstance(data, dict) or not all(isinstance(bone, str) for bone in data.values()):
        raise SettingsError(f'The rig file {path} must hold bone names by role, such as {{"hips": "Pelvis"}}.')
    return data


# ---------------------------------------------------------------- take


def _take(arguments: argparse.Namespace, out: _Output) -> None:
    from .engine import takes
    from .engine.control import performance as performances

    _check_take(arguments)
    size = _preview_size(arguments)
    if arguments.preview:
        with _interrupts_held():
            from .scene import preview
        preview.check(arguments.preview)
    database = _load(arguments.database)
    settings = takes.default_settings(database)
    changes = _changes(arguments, settings)
    settings = settings.changed(changes)
    performance = _performance(arguments, database, settings)
    if arguments.gait == "run" and settings.run == settings.walk:
        out.say("The database has no running: 'run' goes at its walking speed.")
    # what a recorded performance was made with gives way to what is asked for now
    performance = replace(performance, settings={**performance.settings, **changes})
    take = takes.perform(database, settings, performance, lambda part: out.progress("Performing", part))
    if arguments.save_performance:
        performances.save(replace(take.performance, settings=take.settings), arguments.save_performance)
    if arguments.bvh:
        takes.write_bvh(take, arguments.bvh)
    if arguments.report or not arguments.quiet:
        out.progress("Measuring")
        report = takes.report(take, database, arguments.bvh)
        out.say(takes.summary(report))
        if arguments.report:
            takes.write_report(report, arguments.report)
    if arguments.output:
        out.progress("Writing the Blender file")
        _write_blend(take, database, arguments)
    if arguments.preview:
        preview.save_preview(take, arguments.preview, size, lambda part: out.progress("Rendering", part))
    written = [str(path) for path, *_ in _targets(arguments) if path]
    out.say(f"Written: {', '.join(written)}." if written else
            "Nothing was written: ask for it with -o, --bvh, --report or --preview.")


def _targets(arguments: argparse.Namespace) -> list[tuple[Path | None, *tuple[str, ...]]]:
    """What is to be written, each with the endings that it may have."""
    return [(arguments.output, ".blend"), (arguments.bvh, ".bvh"), (arguments.report, ".json"),
            (arguments.save_performance, ".json"), (arguments.preview, ".png", ".mp4")]


def _check_take(arguments: argparse.Namespace) -> None:
    """Say what is wrong with the arguments of a take before anything is loaded."""
    from .engine.control.performance import LONGEST_TAKE

    for target in _targets(arguments):
        _check_target(*target)
    if arguments.report and arguments.report in (arguments.save_performance, Path(arguments.script)):
        raise SettingsError(f"--report names {arguments.report}, which is also a performance; choose another name.")
    _check_blend(arguments)
    _check_blender(arguments.output or arguments.preview, "take")
    _check_number("--seconds", arguments.seconds, 0.1, LONGEST_TAKE)
    _check_number("--sync", arguments.sync, 0, 1)
    _check_seed(arguments.seed)


def _preview_size(arguments: argparse.Namespace) -> tuple[int, int] | None:
    """The size of the preview in pixels, where one is asked for."""
    if not arguments.preview_size:
        return None
    if not arguments.preview:
        raise SettingsError("--preview-size says nothing without --preview; leave it out, or add a file.")
    width, _, height = arguments.preview_size.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal() and all(64 <= int(side) <= 4096 for side in (width, height))):
        raise SettingsError(f"--preview-size is {arguments.preview_size}; give width and height from 64 to 4096 pixels, "
                            "such as 1280x720.")
    if arguments.preview.suffix.lower() == ".mp4" and (int(width) % 2 or int(height) % 2):
        raise SettingsError(f"--preview-size is {arguments.preview_size}, but a film needs even numbers; change it.")
    return int(width), int(height)


def _performance(arguments: argparse.Namespace, database: Database, settings: PerformerSettings) -> Performance:
    """The performance that is asked for."""
    from .engine import takes

    script = arguments.script
    if script.endswith(".json"):
        for name in ("seconds", "gait", "seed"):
            if getattr(arguments, name) is not None:
                raise SettingsError(f"--{name} belongs to the built-in scripts and does nothing for {script}; leave it out.")
    else:
        script = script.replace("-", "_")
    return takes.performance_for(
        database, settings, script, gait=arguments.gait or "walk",
        seconds=30.0 if arguments.seconds is None else arguments.seconds, seed=arguments.seed or 0,
    )


def _changes(arguments: argparse.Namespace, settings: PerformerSettings) -> dict[str, Any]:
    """The settings to change, by name, as JSON data."""
    changes: dict[str, Any] = {}
    for text in arguments.changes:
        name, _, value = text.partition("=")
        default = getattr(settings, name, None)
        if isinstance(default, bool):
            changes[name] = _truth(text, value)
        elif isinstance(default, str):
            changes[name] = value.strip()
        else:
            changes[name] = _value(name, _numbers(text, value), settings)
    if arguments.sync is not None:
        changes |= {"displacement": "synchronize", "synchronization": arguments.sync}
    return changes


def _truth(text: str, value: str) -> bool:
    if value.strip().lower() not in ("true", "false"):
        raise SettingsError(f"--set {text} does not say true or false; write it as in --set foot_lock=false.")
    return value.strip().lower() == "true"


def _numbers(text: str, value: str) -> list[float]:
    """The finite numbers of 'a,b,c' or '[a, b, c]'."""
    try:
        numbers = [float(word) for word in value.strip().removeprefix("[").removesuffix("]").split(",")]
    except ValueError:
        numbers = []
    if not numbers or not all(map(math.isfinite, numbers)):
        raise SettingsError(f"--set {text} does not give a number; write it as in --set velocity_halflife=0.2.")
    return numbers


def _value(name: str, numbers: list[float], settings: PerformerSettings) -> Any:
    """What a setting becomes: a number; weights; or speeds, of which one stands for all in proportion."""
    if name == "weights":
        if min(numbers) < 0 or max(numbers) == 0:
            raise SettingsError("--set weights must be numbers of zero or more, and one of them above zero; change them.")
        return numbers
    if name in ("walk", "run"):
        data = getattr(settings, name)
        if len(numbers) == 1:
            numbers = [numbers[0] * speed / data.forward for speed in (data.forward, data.side, data.back)]
        if len(numbers) != 3 or not min(numbers) > 0:
            raise SettingsError(f"--set {name} needs one speed above zero in m/s, or three as in {name}=1.4,1.2,1.1.")
        return dict(zip(("forward", "side", "back"), numbers, strict=True))
    if len(numbers) != 1:
        raise SettingsError(f"--set {name} takes one number, not {len(numbers)}; give one.")
    return numbers[0]


def _write_blend(take: Take, database: Database, arguments: argparse.Namespace) -> None:
    with _interrupts_held():
        from .scene import blend_file, onto
        from .scene.root_target import RootTarget
    root = RootTarget(arguments.root) if arguments.root else None
    hips, fewer_keys = database.role_names["hips"], arguments.fewer_keys or 0.0
    if arguments.onto is None:
        blend_file.save_take(take.clip(), arguments.output, title=take.name, root=root, hips=hips, fewer_keys=fewer_keys)
        return
    onto.save_onto(
        take.clip(), arguments.onto, arguments.armature, arguments.output, title=take.name, frame_start=arguments.frame,
        root=root, root_bone=arguments.root_bone or "", hips=hips, fewer_keys=fewer_keys, track=arguments.track,
    )


def _check_blend(arguments: argparse.Namespace) -> None:
    """Say which options on the Blender file do not go together."""
    for option in ("onto", "root", "fewer_keys"):
        if getattr(arguments, option) is not None and not arguments.output:
            raise SettingsError(f"--{option.replace('_', '-')} is about the Blender file; ask for it with -o FILE.blend.")
    for option in ("armature", "root_bone", "frame", "track"):
        if getattr(arguments, option) is not None and not arguments.onto:
            raise SettingsError(f"--{option.replace('_', '-')} needs --onto FILE.blend; add it, or leave the option out.")
    if arguments.root_bone is not None and arguments.root != "bone":
        raise SettingsError("--root-bone names the bone for --root bone; add that, or leave it out.")
    if arguments.onto and not arguments.onto.is_file():
        raise SettingsError(f"{arguments.onto} does not exist; give the Blender file to put the take onto.")
    if arguments.onto and arguments.output.exists() and arguments.output.samefile(arguments.onto):
        raise SettingsError(f"-o would replace {arguments.onto}, which --onto only copies; choose another name.")
    _check_number("--fewer-keys", arguments.fewer_keys, 1e-5, 1.0)
    _check_number("--frame", arguments.frame, -1_000_000, 1_000_000)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Make Ctrl-C wait for the end of the block: interrupted in its import, Blender's module crashes."""
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


# ---------------------------------------------------------------- inspect, demo-clips


def _inspect(arguments: argparse.Namespace, out: _Output) -> None:
    from .engine.matching import statistics

    out.say(statistics.describe(_load(arguments.database)))


def _demo_clips(arguments: argparse.Namespace, out: _Output) -> None:
    from .engine.motion import bvh, locomotion

    _check_seed(arguments.seed)
    try:
        arguments.folder.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise SettingsError(f"The folder {arguments.folder} cannot be made ({cause.strerror}); choose another.") from cause
    out.progress("Generating clips")
    clips = locomotion.generate(arguments.seed)
    for number, clip in enumerate(clips):
        out.progress("Writing clips", number / len(clips))
        bvh.save(clip, arguments.folder / f"{clip.name}.bvh")
    frames = sum(clip.frame_count for clip in clips)
    out.say(f"{arguments.folder}: {len(clips)} clips, {frames} frames.")


_COMMANDS = {"build": _build, "take": _take, "inspect": _inspect, "demo-clips": _demo_clips}
