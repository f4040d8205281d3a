"""`take`: perform a take, and write all that is asked for."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..engine.errors import SettingsError
from .blend import check_blend, write_blend
from .checks import check_number, check_seed, check_target
from .controllers import ChosenController, check_controller
from .loading import check_blender, load_database, protect_blender_import
from .values import parse_changes

if TYPE_CHECKING:
    from ..engine.control.contact_ranges import ContactRange
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..engine.database.database import Database
    from .output import Output


def run_take(arguments: argparse.Namespace, out: Output) -> None:
    """Perform a take, bake its feet, and write all that is asked for."""
    from ..engine.control import contact_ranges
    from ..engine.control import performance as performances
    from ..engine.database.tags import parse_names
    from ..engine.takes import baking, takes

    _check_arguments(arguments)
    size = _parse_preview_size(arguments)
    if arguments.preview:
        with protect_blender_import():
            from ..scene.staging import preview, render
        render.check_format(arguments.preview)
    database = load_database(arguments.database)
    chosen = ChosenController(arguments, database)
    settings = chosen.apply_trained_settings(takes.make_default_settings(database))
    changes = _read_changes(arguments, settings)
    settings = settings.with_changes(changes)
    performance = _create_performance(arguments, database, settings)
    if arguments.gait == "run" and settings.run == settings.walk:
        out.say("The database has no running, so 'run' uses its walking speed.")
    # settings of the field and of this command override those of a recorded performance
    performance = replace(
        performance, settings={**performance.settings, **chosen.trained_settings, **changes}
    )
    performance = takes.request_tags(
        performance, frozenset(parse_names(arguments.tags)), database, settings
    )
    performance = chosen.adapt(_replace_obstacles(performance, arguments))
    contacts = _read_contacts(arguments, database)
    live = takes.perform(
        database,
        settings,
        performance,
        lambda part: out.show_progress("Performing", part),
        controller=chosen.controller,
    )
    take, ranges = baking.place_feet(live, database, arguments.feet, contacts)
    if arguments.save_contacts:
        contact_ranges.save(ranges, database.roles.leg_names, take.fps, arguments.save_contacts)
    if arguments.save_performance:
        # the method is left out: the next command chooses it
        performances.save(
            replace(take.performance, settings=take.settings, method=""), arguments.save_performance
        )
    if arguments.bvh:
        takes.write_bvh(take, arguments.bvh)
    if arguments.report or not arguments.quiet:
        out.show_progress("Measuring")
        report = takes.report(take, database, arguments.bvh, live=live)
        out.say(takes.summarize(report))
        if arguments.report:
            takes.write_report(report, arguments.report)
    if arguments.output:
        out.show_progress("Writing the Blender file")
        write_blend(take, ranges, database, arguments)
    if arguments.preview:
        preview.save_preview(
            take, arguments.preview, size, lambda part: out.show_progress("Rendering", part)
        )
    written = [str(path) for path, *_ in _list_targets(arguments) if path]
    out.say(
        f"Written: {', '.join(written)}."
        if written
        else "Nothing was written; choose an output with -o, --bvh, --report or --preview."
    )


def _read_changes(arguments: argparse.Namespace, settings: PerformerSettings) -> dict[str, Any]:
    """Return the settings to change as JSON data, by name."""
    changes = parse_changes(arguments.changes, settings)
    if arguments.sync is not None:
        changes |= {"displacement": "synchronize", "synchronization": arguments.sync}
    return changes


def _read_contacts(arguments: argparse.Namespace, database: Database) -> list[ContactRange] | None:
    """Read when feet are planted, if a file is given."""
    if arguments.contacts is None:
        return None
    if arguments.contacts.suffix.lower() == ".blend":
        with protect_blender_import():
            from ..scene.reading import contact_markers
        return contact_markers.read_file(arguments.contacts, database.roles.leg_names, database.fps)
    from ..engine.control import contact_ranges

    return contact_ranges.load(arguments.contacts, database.roles.leg_names, database.fps)


def _list_targets(arguments: argparse.Namespace) -> list[tuple[Path | None, *tuple[str, ...]]]:
    """Return the files to write, each with the endings it may have."""
    return [
        (arguments.output, ".blend"),
        (arguments.bvh, ".bvh"),
        (arguments.report, ".json"),
        (arguments.save_performance, ".json"),
        (arguments.save_contacts, ".json"),
        (arguments.preview, ".png", ".mp4"),
    ]


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Check the arguments of a take before anything is loaded."""
    from ..engine.control.performance import LONGEST_TAKE

    for target in _list_targets(arguments):
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
            f"--save-contacts would replace {arguments.contacts}, which --contacts reads; choose "
            "another name."
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


def _parse_preview_size(arguments: argparse.Namespace) -> tuple[int, int] | None:
    """Return the size of the preview in pixels, if one is given."""
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
            f"--preview-size is {arguments.preview_size}; give width and height from 64 to 4096 "
            "pixels, such as 1280x720."
        )
    if arguments.preview.suffix.lower() == ".mp4" and (int(width) % 2 or int(height) % 2):
        raise SettingsError(
            f"--preview-size is {arguments.preview_size}, but a film needs even numbers; change it."
        )
    return int(width), int(height)


def _create_performance(
    arguments: argparse.Namespace, database: Database, settings: PerformerSettings
) -> Performance:
    """Return the performance that the arguments ask for."""
    from ..engine.takes import takes

    script = arguments.script
    if script.endswith(".json"):
        for name in ("seconds", "gait", "seed"):
            if getattr(arguments, name) is not None:
                raise SettingsError(
                    f"--{name} belongs to the built-in scripts and does nothing for {script}; "
                    "leave it out."
                )
    else:
        script = script.replace("-", "_")
    return takes.prepare_performance(
        database,
        settings,
        script,
        gait=arguments.gait or "walk",
        seconds=30.0 if arguments.seconds is None else arguments.seconds,
        seed=arguments.seed or 0,
    )


def _replace_obstacles(performance: Performance, arguments: argparse.Namespace) -> Performance:
    """Replace the obstacles of a performance by those of the arguments."""
    if arguments.obstacles:
        from ..engine.control.performance import load_obstacles

        performance = replace(performance, obstacles=load_obstacles(arguments.obstacles))
    if arguments.ground_collection:
        with protect_blender_import():
            from ..scene.staging.ground import read_ground
        floor, walls = read_ground(arguments.onto, arguments.ground_collection, arguments.frame)
        performance = replace(performance, walls=walls, floor=floor)
    return performance
