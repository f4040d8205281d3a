"""`take`: perform a take, and write the requested files."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace

from ..api.performing import PerformedTake, Setup, find_performance, replace_obstacles
from ..engine.errors import SettingsError
from ..engine.feet import contact_ranges
from ..engine.files.file_paths import describe_no_file
from ..engine.insight.take_sheet import SIZE, save_sheet
from ..engine.matching.cost_terms import describe_missing_terms
from ..engine.performance import performance as performances
from ..engine.performance.performance import Performance
from ..engine.sources.sources import BLEND, get_ending
from ..engine.takes import comparison, takes
from .beside import find_setup_beside, name_both
from .blend import check_blend, read_ground, write_blend
from .checks import check_number, check_seed, check_targets, name_paths
from .controllers import choose_controller, make_setup, prepare
from .loading import check_blender, load_blender, load_database
from .output import Output, say_written
from .published import tell_differences
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
    """Perform a take, bake its feet, and write the requested files."""
    _check_arguments(arguments)
    size = _parse_preview_size(arguments)
    database = load_database(arguments.database, out)
    tell_differences(arguments, database, out)
    setup = make_setup(arguments, database)
    performance = _find_performance(setup, arguments)
    if arguments.gait == "run" and not setup.settings.steering.can_run:
        out.say("The database has no running, so 'run' uses its walking speed.")
    performance = replace_obstacles(performance, arguments.obstacles, read_ground(arguments))
    other = find_setup_beside(setup, arguments) if arguments.beside else None
    made = _perform(setup, performance, arguments, out)
    beside = _perform(other, performance, arguments, out, is_beside=True) if other else None
    with write_together(arguments, *_TARGETS) as written:
        _write(written, made, beside, size, out)
    files = name_paths(arguments, *_TARGETS)
    say_written(out, files, "-o, --bvh, --report or --preview")


def _perform(
    setup: Setup,
    performance: Performance,
    arguments: argparse.Namespace,
    out: Output,
    *,
    is_beside: bool = False,
) -> PerformedTake:
    """Perform a take, plant its feet, and print warnings."""
    prepared = prepare(setup, performance, arguments)
    if missing := describe_missing_terms(prepared):
        out.say(f"Warning: {missing}.")
    contacts = None if is_beside else arguments.contacts
    if get_ending(contacts) == BLEND:
        load_blender()
    made = setup.perform(prepared, arguments.feet, contacts, out.show_progress)
    if unknown := made.describe_unknown_labels("--auto-tags"):
        out.say(f"Warning: {unknown}.")
    return made


def _write(
    arguments: argparse.Namespace,
    made: PerformedTake,
    beside: PerformedTake | None,
    size: tuple[int, int],
    out: Output,
) -> None:
    """Write the requested files of a take, and of one beside it."""
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
    contacts = arguments.contacts
    if contacts and arguments.feet in ("live", "off"):
        text = f"--contacts plants feet, and --feet {arguments.feet} does not"
        raise SettingsError(f"{text}; leave one of them out.")
    if contacts and not contacts.is_file():
        problem = describe_no_file(contacts)
        text = f"{problem}; give a file that --save-contacts or -o wrote."
        raise SettingsError(text)
    choose_controller(arguments)
    check_blend(arguments)
    markers = contacts if get_ending(contacts) == BLEND else None
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


def _find_performance(setup: Setup, arguments: argparse.Namespace) -> Performance:
    """Return the requested performance."""
    script = arguments.script
    if not script.endswith(".json"):
        script = script.replace("-", "_")
    else:
        for name in ("seconds", "gait", "seed"):
            if getattr(arguments, name) is not None:
                text = f"--{name} belongs to the built-in scripts and does nothing for {script}"
                raise SettingsError(f"{text}; leave it out.")
    return find_performance(
        setup.database,
        setup.settings,
        script,
        arguments.gait or "walk",
        arguments.seconds or 0.0,
        arguments.seed or 0,
    )
