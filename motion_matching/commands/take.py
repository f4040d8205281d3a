"""`take`: perform a take, and write the requested files."""

from __future__ import annotations

import argparse
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..api.performing import PerformedTake, Setup, find_performance, load_preset, replace_obstacles
from ..engine import field, insight  # loaded for the options that ask for them
from ..engine.database.database import Database
from ..engine.database.tags.tags import parse_names
from ..engine.errors import DatabaseError, SettingsError
from ..engine.feet import contact_ranges
from ..engine.files.file_paths import describe_no_file
from ..engine.matching.cost_terms import describe_missing_terms
from ..engine.performance import performance as performances
from ..engine.performance.performance import Performance
from ..engine.performance.published import FIELD, MATCHING
from ..engine.sources.sources import BLEND, get_ending
from ..engine.takes import comparison, take_files, takes
from .blend import check_blend, read_ground, write_blend
from .checks import check_number, check_seed, check_targets, name_paths, write_together
from .loading import check_blender, find_set, load_blender, load_database, tell_differences
from .output import Output, say_written
from .values import check_changes, parse_changes

if TYPE_CHECKING:
    from ..engine.field.field_controller import FieldController

_TARGETS = {
    "output": ".blend",
    "bvh": ".bvh",
    "npz": ".npz",
    "report": ".json",
    "save_performance": ".json",
    "save_contacts": ".json",
    "preview": ".png",
}
_FILMS = (".mp4", ".mov", ".mkv", ".avi", ".webm", ".gif")
_LONGEST = 24  # letters of the name of a take beside another


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Perform a take, bake its feet, and write the requested files."""
    check(arguments)
    size = _parse_preview_size(arguments)
    database = load_database(arguments.database, out)
    tell_differences(arguments, database, out)
    setup = _make_setup(arguments, database)
    performance = _find_performance(setup, arguments)
    if arguments.gait == "run" and not setup.settings.steering.can_run:
        out.say("The database has no running, so 'run' uses its walking speed.")
    performance = replace_obstacles(performance, arguments.obstacles, read_ground(arguments))
    other = _find_setup_beside(setup, arguments) if arguments.beside else None
    made = _perform(setup, performance, arguments, out)
    beside = _perform(other, performance, arguments, out, is_beside=True) if other else None
    with write_together(arguments, *_TARGETS) as written:
        _write(written, made, beside, size, out)
    files = name_paths(arguments, *_TARGETS)
    say_written(out, files, "-o, --bvh, --npz, --report or --preview")


def _perform(
    setup: Setup,
    performance: Performance,
    arguments: argparse.Namespace,
    out: Output,
    *,
    is_beside: bool = False,
) -> PerformedTake:
    """Perform a take, plant its feet, and print warnings."""
    prepared = _prepare(setup, performance, arguments)
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
    size: tuple[int, int] | None,
    out: Output,
) -> None:
    _, take, ranges, database = made
    if arguments.save_contacts:
        contact_ranges.save(ranges, database.roles.leg_names, take.fps, arguments.save_contacts)
    if arguments.save_performance:
        # the method is left out: the next command chooses it
        performance = replace(take.performance, settings=take.settings, method="")
        performances.save(performance, arguments.save_performance)
    if arguments.bvh:
        takes.write_bvh(take, arguments.bvh)
    if arguments.npz:
        take_files.save(take_files.store_takes([take], database), arguments.npz)
    if arguments.report or not arguments.quiet:
        out.show_progress("Measuring")
        report = made.report(arguments.bvh)
        out.say(takes.summarize(report))
        if beside:
            report["beside"] = beside.report()
            both = report["take"], report["beside"]["take"]
            out.say(comparison.write_table(_name_both(arguments), both))
        if arguments.report:
            takes.write_report(report, arguments.report)
    if arguments.output:
        out.show_progress("Writing the Blender file")
        write_blend(take, ranges, database, arguments)
    if arguments.preview:
        shown = [take, beside.take] if beside else [take]
        sheets = insight.take_sheet
        sheets.save_sheet(shown, arguments.preview, size or sheets.SIZE)


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    if arguments.preview and arguments.preview.suffix.lower() in _FILMS:
        raise SettingsError(
            f"{arguments.preview} would be a film, which Blender makes of the file that -o writes: "
            "see 'A film of a take' in the manual, or give a .png for a sheet of pictures."
        )
    script = arguments.script if arguments.script.endswith(".json") else None
    read = [*name_paths(arguments, "database"), ("--script", script)]
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
    _choose_controller(arguments)
    check_blend(arguments)
    markers = contacts if get_ending(contacts) == BLEND else None
    check_blender(arguments.output or markers, "take")
    check_number("--seconds", arguments.seconds, 0.1, performances.LONGEST_TAKE)
    check_number("--sync", arguments.sync, 0, 1)
    check_seed(arguments.seed)
    check_changes(arguments.changes)
    _parse_preview_size(arguments)


def _parse_preview_size(arguments: argparse.Namespace) -> tuple[int, int] | None:
    if not arguments.preview_size:
        return None
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


def _choose_controller(arguments: argparse.Namespace) -> None:
    """Choose the method of a take: as given, as published, or motion matching.

    Raises SettingsError if arguments about controllers contradict each other.
    """
    published = find_set(arguments)
    if published and arguments.settings:
        text = f"--as-published {published.name} chooses the preset of the controller"
        raise SettingsError(f"{text}; leave out --settings {arguments.settings}, or use --set.")
    if arguments.controller is None:
        arguments.controller = published.method if published else MATCHING
    if arguments.field and arguments.controller != FIELD:
        text = f"--field {arguments.field} belongs to --controller field"
        raise SettingsError(f"{text}; add that, or leave this out.")


def _make_setup(arguments: argparse.Namespace, database: Database) -> Setup:
    setup = Setup.create(
        database,
        _load_controller(arguments, database),
        as_published=arguments.as_published,
        preset=arguments.settings,
    )
    setup = setup.with_changes(parse_changes(arguments.changes, setup.settings))
    if arguments.sync is None:
        return setup
    return setup.with_changes({"displacement": "synchronize", "synchronization": arguments.sync})


def _load_controller(arguments: argparse.Namespace, database: Database) -> str | FieldController:
    """Return the controller that the arguments choose. DatabaseError for a field of other data."""
    if arguments.controller != FIELD or not arguments.field:
        return str(arguments.controller)
    try:
        return field.field_controller.FieldController.load(arguments.field, database)
    except DatabaseError as cause:
        text = f"{arguments.field} does not suit {arguments.database}"
        raise DatabaseError(f"{text}: {_as_clause(str(cause))}") from cause


def _prepare(setup: Setup, performance: Performance, arguments: argparse.Namespace) -> Performance:
    """Return a performance with settings and tags. SettingsError if a field cannot perform it."""
    try:
        return setup.prepare(performance, parse_names(arguments.tags))
    except SettingsError as cause:
        if setup.field is None:
            raise
        text = f"{arguments.field} cannot perform this: {_as_clause(str(cause))}"
        raise SettingsError(text) from cause


def _as_clause(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _find_setup_beside(setup: Setup, arguments: argparse.Namespace) -> Setup:
    """Return a setup changed by the value of `--beside`.

    A preset replaces all changes. Raises SettingsError for any other value.
    """
    asked = arguments.beside
    files = [text for text in asked if text.endswith(".npz")]
    methods = [text for text in asked if text in (MATCHING, FIELD)]
    settings = [text for text in asked if "=" in text]
    presets = [text for text in asked if text not in (*files, *methods, *settings)]
    for kind, texts in (("database", files), ("method", methods), ("preset", presets)):
        if len(texts) > 1:
            text = f"--beside names more than one {kind}, {' and '.join(texts)}; give one."
            raise SettingsError(text)
    changes = load_preset(presets[0]) if presets else setup.changes
    given = argparse.Namespace(**vars(arguments))
    database = setup.database
    if files:
        given.database = Path(files[0])
        given.field = None
        database = load_database(given.database)
    if methods:
        given.controller = methods[0]
    if files or methods:
        setup = Setup.create(database, _load_controller(given, database))
    setup = replace(setup, changes=changes)
    return setup.with_changes(parse_changes(settings, setup.settings))


def _name_both(arguments: argparse.Namespace) -> tuple[str, str]:
    names = [Path(text).stem if text.endswith(".npz") else text for text in arguments.beside]
    name = ", ".join(names)
    return "this take", name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
