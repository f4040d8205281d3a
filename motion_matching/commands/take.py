"""`take`: perform a take, and write all that is asked for."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from .. import scene
from ..engine.control import contact_ranges
from ..engine.control import performance as performances
from ..engine.control.contact_ranges import ContactRange
from ..engine.control.labels import find_unknown_tags
from ..engine.control.performance import Performance
from ..engine.control.settings import PerformerSettings
from ..engine.control.take import Take
from ..engine.database.database import Database
from ..engine.database.tags import parse_names
from ..engine.errors import SettingsError
from ..engine.files import describe_no_file
from ..engine.insight.take_sheet import SIZE, save_sheet
from ..engine.matching.cost_terms import describe_missing_terms
from ..engine.matching.method import MotionMatching
from ..engine.takes import baking, comparison, takes
from .beside import Variant, find_variant, name_both
from .blend import check_blend, read_ground, write_blend
from .checks import check_number, check_seed, check_targets, name_paths
from .controllers import adapt_performance, check_controller, load_field
from .loading import check_blender, load_database, protect_blender_import
from .output import Output
from .published import choose_controller, find_set, tell_differences
from .values import load_controller_preset, parse_changes
from .writing import write_together

_TARGETS = {
    "output": (".blend",),
    "bvh": (".bvh",),
    "report": (".json",),
    "save_performance": (".json",),
    "save_contacts": (".json",),
    "preview": (".png",),
}
_FILMS = (".mp4", ".mov", ".mkv", ".avi", ".webm", ".gif")


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Perform a take, bake its feet, and write all that is asked for."""
    _check_arguments(arguments)
    size = _parse_preview_size(arguments)
    database = load_database(arguments.database, out)
    tell_differences(arguments, database, out)
    field = load_field(arguments, database)
    variant = Variant.create(database, field, partial(_read_changes, arguments))
    settings = variant.settings
    performance = _create_performance(arguments, database, settings)
    if arguments.gait == "run" and settings.run == settings.walk:
        out.say("The database has no running, so 'run' uses its walking speed.")
    performance = _replace_obstacles(performance, arguments)
    other = find_variant(variant, arguments) if arguments.beside else None
    contacts = _read_contacts(arguments, database)
    made = _make_take(performance, variant, contacts, arguments, out)
    beside = other and _make_take(performance, other, None, arguments, out)
    with write_together(arguments, *_TARGETS) as written:
        _write(written, made, beside, size, out)
    if names := [str(path) for _, path in name_paths(arguments, *_TARGETS) if path]:
        out.say(f"Written: {', '.join(names)}.")
    else:
        out.say("Nothing was written; choose an output with -o, --bvh, --report or --preview.")


class _Made(NamedTuple):
    """A take, as it was `live` before its feet were planted, and when they are."""

    live: Take
    take: Take
    ranges: Sequence[ContactRange]
    database: Database

    def report(self, file: Path | None = None) -> dict[str, Any]:
        return takes.report(self.take, self.database, file, live=self.live)


def _read_changes(arguments: argparse.Namespace, settings: PerformerSettings) -> dict[str, Any]:
    """Return the settings that the arguments change."""
    published = find_set(arguments)
    preset = published.controller_settings if published else {}
    if arguments.settings:
        preset = load_controller_preset(arguments.settings)
    changes = preset | parse_changes(arguments.changes, settings.with_changes(preset))
    if arguments.sync is not None:
        changes |= {"displacement": "synchronize", "synchronization": arguments.sync}
    return changes


def _make_take(
    performance: Performance,
    variant: Variant,
    contacts: Sequence[ContactRange] | None,
    arguments: argparse.Namespace,
    out: Output,
) -> _Made:
    """Perform a take with a database, a method and settings, and plant its feet."""
    database, field, settings, changes = variant
    trained = field.settings if field else {}
    # settings of the field and of this command override those of a recorded performance
    all_changes = {**performance.settings, **trained, **changes}
    performance, tags = replace(performance, settings=all_changes), parse_names(arguments.tags)
    performance = takes.request_tags(performance, frozenset(tags), database, settings)
    if field:
        performance = adapt_performance(performance, field, arguments)
    if missing := describe_missing_terms(performance):
        out.say(f"Warning: {missing}.")
    report_part, controller = partial(out.show_progress, "Performing"), field or MotionMatching
    live = takes.perform(database, settings, performance, report_part, controller=controller)
    if unknown := find_unknown_tags(live.performer_settings.labels, database.tag_names):
        names = ", ".join(f"'{name}'" for name in unknown)
        out.say(
            f"Warning: labels name {names}, which no frame of the database is tagged; tag frames, "
            "or build with --auto-tags."
        )
    return _Made(live, *baking.place_feet(live, database, arguments.feet, contacts), database)


def _write(
    arguments: argparse.Namespace,
    made: _Made,
    beside: _Made | None,
    size: tuple[int, int],
    out: Output,
) -> None:
    """Write all that is asked for of a take, and of one beside it."""
    _, take, ranges, database = made
    if arguments.save_contacts:
        contact_ranges.save(ranges, database.roles.leg_names, take.fps, arguments.save_contacts)
    if arguments.save_performance:
        # the method is left out: the next command chooses it
        performance = replace(take.performance, settings=take.settings, method="")
        performances.save(performance, arguments.save_performance)
    if arguments.bvh:
        takes.write_bvh(take, arguments.bvh)
    if arguments.report or not arguments.quiet:
        out.show_progress("Measuring")
        report = made.report(arguments.bvh)
        out.say(takes.summarize(report))
        if beside:
            report["beside"] = beside.report()
            both = report["take"], report["beside"]["take"]
            out.say(comparison.write_table(name_both(arguments), both))
        if arguments.report:
            takes.write_report(report, arguments.report)
    if arguments.output:
        out.show_progress("Writing the Blender file")
        write_blend(take, ranges, database, arguments)
    if arguments.preview:
        shown = [take, beside.take] if beside else [take]
        save_sheet(shown, arguments.preview, size)


def _read_contacts(arguments: argparse.Namespace, database: Database) -> list[ContactRange] | None:
    """Read when feet are planted, if a file is given."""
    if arguments.contacts is None:
        return None
    if not _has_markers(arguments.contacts):
        return contact_ranges.load(arguments.contacts, database.roles.leg_names, database.fps)
    with protect_blender_import():
        contact_markers = scene.reading.contact_markers
    return contact_markers.read_file(arguments.contacts, database.roles.leg_names, database.fps)


def _has_markers(contacts: Path) -> bool:
    """Return whether contacts are markers in a Blender file."""
    return contacts.suffix.lower() == ".blend"


def _check_arguments(arguments: argparse.Namespace) -> None:
    """Check the arguments of a take before anything is loaded."""
    if arguments.preview and arguments.preview.suffix.lower() in _FILMS:
        raise SettingsError(
            f"{arguments.preview} would be a film, which Blender makes of the file that -o writes: "
            "see 'A film of a take' in the manual, or give a .png for a sheet of pictures."
        )
    script = arguments.script if arguments.script.endswith(".json") else None
    read = [("the command", arguments.database), ("--script", script)]
    read += name_paths(arguments, "field", "obstacles", "contacts", "onto")
    check_targets(arguments, _TARGETS, read)
    contacts, feet = arguments.contacts, arguments.feet
    if contacts and feet in ("live", "off"):
        text = f"--contacts plants feet, and --feet {feet} does not; leave one of them out."
        raise SettingsError(text)
    if contacts and not contacts.is_file():
        problem = describe_no_file(contacts)
        text = f"{problem}; give a file that --save-contacts or -o wrote."
        raise SettingsError(text)
    choose_controller(arguments)
    check_controller(arguments)
    check_blend(arguments)
    markers = contacts if contacts and _has_markers(contacts) else None
    check_blender(arguments.output or markers, "take")
    check_number("--seconds", arguments.seconds, 0.1, performances.LONGEST_TAKE)
    check_number("--sync", arguments.sync, 0, 1)
    check_seed(arguments.seed)


def _parse_preview_size(arguments: argparse.Namespace) -> tuple[int, int]:
    """Return the size of the preview in pixels."""
    if not arguments.preview_size:
        return SIZE
    if not arguments.preview:
        text = "--preview-size says nothing without --preview; leave it out, or add a file."
        raise SettingsError(text)
    wrong = f"--preview-size is {arguments.preview_size}"
    match = re.fullmatch(r"(\d+)x(\d+)", arguments.preview_size.lower())
    width, height = map(int, match.groups()) if match else (0, 0)
    if not (64 <= width <= 4096 and 64 <= height <= 4096):
        text = "give width and height from 64 to 4096 pixels, such as 1280x720."
        raise SettingsError(f"{wrong}; {text}")
    return width, height


def _create_performance(
    arguments: argparse.Namespace, database: Database, settings: PerformerSettings
) -> Performance:
    """Return the performance that the arguments ask for."""
    script = arguments.script
    if not script.endswith(".json"):
        script = script.replace("-", "_")
    else:
        for name in ("seconds", "gait", "seed"):
            if getattr(arguments, name) is not None:
                text = f"--{name} belongs to the built-in scripts and does nothing for {script}"
                raise SettingsError(f"{text}; leave it out.")
    return takes.prepare_performance(
        database,
        settings,
        script,
        gait=arguments.gait or "walk",
        seconds=arguments.seconds or 0.0,
        seed=arguments.seed or 0,
    )


def _replace_obstacles(performance: Performance, arguments: argparse.Namespace) -> Performance:
    """Replace the obstacles of a performance by those of the arguments."""
    if arguments.obstacles:
        boxes = performances.load_obstacles(arguments.obstacles)
        performance = replace(performance, obstacles=boxes)
    if arguments.ground_collection:
        floor, walls = read_ground(arguments)
        performance = replace(performance, walls=walls, floor=floor)
    return performance
