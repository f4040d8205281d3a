"""`take`: a performance into a take, and all that is written of it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine.errors import SettingsError
from .blend import check_blend, write_blend
from .checks import check_number, check_seed, check_target
from .controllers import ChosenController, check_controller
from .loading import blender_loading, check_blender, load_database
from .values import changes_of, names_of

if TYPE_CHECKING:
    from ..engine.control.contact_ranges import ContactRange
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..engine.control.take import Take
    from ..engine.matching.database import Database
    from .output import Output


def take_command(arguments: argparse.Namespace, out: Output) -> None:
    """Perform, bake the feet, and write all that is asked for."""
    from ..engine import takes
    from ..engine.control import performance as performances

    _check_take(arguments)
    size = _preview_size(arguments)
    if arguments.preview:
        with blender_loading():
            from ..scene import preview
        preview.check(arguments.preview)
    database = load_database(arguments.database)
    chosen = ChosenController(arguments, database)
    settings = chosen.defaults(takes.default_settings(database))
    changes = _changes(arguments, settings)
    settings = settings.changed(changes)
    performance = _performance(arguments, database, settings)
    if arguments.gait == "run" and settings.run == settings.walk:
        out.say("The database has no running: 'run' goes at its walking speed.")
    # what a recorded performance was made with gives way to what the field was trained for and to what is asked for now
    performance = replace(
        performance, settings={**performance.settings, **chosen.trained, **changes}
    )
    performance = takes.asking_for(performance, names_of(arguments.tags), database, settings)
    performance = chosen.asked(_obstructed(performance, arguments))
    contacts = _contacts(arguments, database)
    live = takes.perform(
        database,
        settings,
        performance,
        lambda part: out.progress("Performing", part),
        controller=chosen.controller,
    )
    take, ranges = _with_feet(live, contacts, database, arguments)
    if arguments.save_performance:
        # by whatever it was made, the next command says what performs it
        performances.save(
            replace(take.performance, settings=take.settings, method=""), arguments.save_performance
        )
    if arguments.bvh:
        takes.write_bvh(take, arguments.bvh)
    if arguments.report or not arguments.quiet:
        out.progress("Measuring")
        report = takes.report(take, database, arguments.bvh, live=live)
        out.say(takes.summary(report))
        if arguments.report:
            takes.write_report(report, arguments.report)
    if arguments.output:
        out.progress("Writing the Blender file")
        write_blend(take, ranges, database, arguments)
    if arguments.preview:
        preview.save_preview(
            take, arguments.preview, size, lambda part: out.progress("Rendering", part)
        )
    written = [str(path) for path, *_ in _targets(arguments) if path]
    out.say(
        f"Written: {', '.join(written)}."
        if written
        else "Nothing was written: ask for it with -o, --bvh, --report or --preview."
    )


def _changes(arguments: argparse.Namespace, settings: PerformerSettings) -> dict[str, Any]:
    """The settings to change, by name, as JSON data."""
    changes = changes_of(arguments.changes, settings)
    if arguments.sync is not None:
        changes |= {"displacement": "synchronize", "synchronization": arguments.sync}
    return changes


def _contacts(arguments: argparse.Namespace, database: Database) -> list[ContactRange] | None:
    """When the feet stand as a file says, where one is given."""
    if arguments.contacts is None:
        return None
    if arguments.contacts.suffix.lower() == ".blend":
        with blender_loading():
            from ..scene import contact_markers
        return contact_markers.read_file(arguments.contacts, database.roles.leg_names, database.fps)
    from ..engine.control import contact_ranges

    return contact_ranges.load(arguments.contacts, database.roles.leg_names, database.fps)


def _with_feet(
    take: Take, ranges: list[ContactRange] | None, database: Database, arguments: argparse.Namespace
) -> tuple[Take, list[ContactRange]]:
    """The take with its feet as they are asked for, and when they stand, which is found where it is not given."""
    from ..engine import baking
    from ..engine.control import contact_ranges

    feet = arguments.feet or (
        "off" if ranges is None and not take.settings["foot_lock"] else "baked"
    )
    ranges = baking.ranges_of(take, database) if ranges is None else ranges
    if arguments.save_contacts:
        contact_ranges.save(ranges, database.roles.leg_names, take.fps, arguments.save_contacts)
    if feet == "baked":
        return baking.bake_feet(take, database, ranges), ranges
    return (take if feet == "live" else baking.without_lock(take)), ranges


def _targets(arguments: argparse.Namespace) -> list[tuple[Path | None, *tuple[str, ...]]]:
    """What is to be written, each with the endings that it may have."""
    return [
        (arguments.output, ".blend"),
        (arguments.bvh, ".bvh"),
        (arguments.report, ".json"),
        (arguments.save_performance, ".json"),
        (arguments.save_contacts, ".json"),
        (arguments.preview, ".png", ".mp4"),
    ]


def _check_take(arguments: argparse.Namespace) -> None:
    """Say what is wrong with the arguments of a take before anything is loaded."""
    from ..engine.control.performance import LONGEST_TAKE

    for target in _targets(arguments):
        check_target(*target)
    if arguments.report and arguments.report in (
        arguments.save_performance,
        Path(arguments.script),
    ):
        raise SettingsError(
            f"--report names {arguments.report}, which is also a performance; choose another name."
        )
    if arguments.contacts and arguments.feet in ("live", "off"):
        raise SettingsError(
            f"--contacts plants feet, and --feet {arguments.feet} does not; leave one of them out."
        )
    if arguments.contacts and not arguments.contacts.is_file():
        raise SettingsError(
            f"{arguments.contacts} does not exist; give a file that --save-contacts or -o wrote."
        )
    if arguments.contacts and arguments.contacts == arguments.save_contacts:
        raise SettingsError(
            f"--save-contacts would replace {arguments.contacts}, which --contacts reads; choose another "
            "name."
        )
    check_controller(arguments)
    check_blend(arguments)
    marked = (
        arguments.contacts
        if arguments.contacts and arguments.contacts.suffix.lower() == ".blend"
        else None
    )
    check_blender(arguments.output or arguments.preview or marked, "take")
    check_number("--seconds", arguments.seconds, 0.1, LONGEST_TAKE)
    check_number("--sync", arguments.sync, 0, 1)
    check_seed(arguments.seed)


def _preview_size(arguments: argparse.Namespace) -> tuple[int, int] | None:
    """The size of the preview in pixels, where one is asked for."""
    if not arguments.preview_size:
        return None
    if not arguments.preview:
        raise SettingsError(
            "--preview-size says nothing without --preview; leave it out, or add a file."
        )
    width, _, height = arguments.preview_size.lower().partition("x")
    if not (
        width.isdecimal()
        and height.isdecimal()
        and all(64 <= int(side) <= 4096 for side in (width, height))
    ):
        raise SettingsError(
            f"--preview-size is {arguments.preview_size}; give width and height from 64 to 4096 pixels, "
            "such as 1280x720."
        )
    if arguments.preview.suffix.lower() == ".mp4" and (int(width) % 2 or int(height) % 2):
        raise SettingsError(
            f"--preview-size is {arguments.preview_size}, but a film needs even numbers; change it."
        )
    return int(width), int(height)


def _performance(
    arguments: argparse.Namespace, database: Database, settings: PerformerSettings
) -> Performance:
    """The performance that is asked for."""
    from ..engine import takes

    script = arguments.script
    if script.endswith(".json"):
        for name in ("seconds", "gait", "seed"):
            if getattr(arguments, name) is not None:
                raise SettingsError(
                    f"--{name} belongs to the built-in scripts and does nothing for {script}; leave it out."
                )
    else:
        script = script.replace("-", "_")
    return takes.performance_for(
        database,
        settings,
        script,
        gait=arguments.gait or "walk",
        seconds=30.0 if arguments.seconds is None else arguments.seconds,
        seed=arguments.seed or 0,
    )


def _obstructed(performance: Performance, arguments: argparse.Namespace) -> Performance:
    """A performance with the obstacles that are asked for in place of its own."""
    if arguments.obstacles:
        from ..engine.control.performance import load_obstacles

        performance = replace(performance, obstacles=load_obstacles(arguments.obstacles))
    if arguments.ground_collection:
        with blender_loading():
            from ..scene.ground import ground_in
        floor, walls = ground_in(arguments.onto, arguments.ground_collection, arguments.frame)
        performance = replace(performance, walls=walls, floor=floor)
    return performance
