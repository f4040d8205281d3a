"""`inspect`: what a database holds, or what the search sees at one of its frames."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..engine.errors import SettingsError
from .checks import check_target
from .loading import load_database
from .values import changes_of, names_of, numbers_of

if TYPE_CHECKING:
    from ..engine.control.settings import PerformerSettings
    from ..engine.matching.database import Database
    from .output import Output


def inspect_command(arguments: argparse.Namespace, out: Output) -> None:
    """Say what a database holds or what the search sees at a frame, and write what is asked for of it."""
    from ..engine import takes

    _check_inspect(arguments)
    database = load_database(arguments.database)
    settings = takes.default_settings(database)
    changes = changes_of(arguments.changes, settings)
    out.progress("Measuring")
    if arguments.frame:
        text, data = _inspect_frame(arguments, database, settings.changed(changes))
    else:
        text, data = _inspect_all(arguments, database, settings, changes, out)
    out.say(text)
    if arguments.report:
        takes.write_report(data, arguments.report)
    written = [str(path) for path in (arguments.report, arguments.plot) if path]
    if written:
        out.say(f"Written: {', '.join(written)}.")


def _check_inspect(arguments: argparse.Namespace) -> None:
    """Say what is wrong with the arguments before anything is loaded."""
    check_target(arguments.report, ".json")
    check_target(arguments.plot, ".svg")
    if arguments.performance and arguments.performance.suffix.lower() != ".json":
        raise SettingsError(
            f"{arguments.performance} is no .json file; give one that --save-performance wrote."
        )
    if arguments.report and arguments.report == arguments.performance:
        raise SettingsError(
            f"--report would replace {arguments.report}, which --performance reads; choose another name."
        )
    for option in ("wish", "tags"):
        if getattr(arguments, option) and not arguments.frame:
            raise SettingsError(
                f"--{option} is about one frame; name it with --frame CLIP:FRAME, or leave this out."
            )
    for option in ("performance", "plot"):
        if getattr(arguments, option) and arguments.frame:
            raise SettingsError(
                f"--{option} says nothing about one frame; leave it out, or --frame."
            )


def _inspect_all(
    arguments: argparse.Namespace,
    database: Database,
    settings: PerformerSettings,
    changes: dict[str, Any],
    out: Output,
) -> tuple[str, dict[str, Any]]:
    """What a database holds, as text and as JSON data, and pictures of it where they are asked for."""
    from ..engine.matching import inspection, plots
    from ..engine.matching.pose_map import map_of

    found = inspection.inspect(database, settings, changes, arguments.performance)
    data = found.data
    if arguments.report or arguments.plot:
        out.progress("Mapping poses")
        poses = map_of(database)
        data |= {"pose_map": poses.to_dict(database)}
    if arguments.plot:
        plots.save(database, found, poses, arguments.plot)
    return found.text, data


def _inspect_frame(
    arguments: argparse.Namespace, database: Database, settings: PerformerSettings
) -> tuple[str, dict[str, Any]]:
    """What the search sees at one frame, as text and as JSON data."""
    from ..engine.matching import frame_inspector

    frame = frame_inspector.find_frame(database, arguments.frame)
    wish = None
    if arguments.wish:
        forward, left, *more = [*numbers_of(arguments.wish, arguments.wish, "--wish"), 0.0]
        if len(more) > 1:
            raise SettingsError(
                f"--wish is {arguments.wish}; give one or two numbers in m/s, such as 0.5,1."
            )
        wish = frame_inspector.wish_at(database, settings, frame, (forward, left))
    found = frame_inspector.inspect_frame(
        database, settings, frame, wish, tags=names_of(arguments.tags)
    )
    return frame_inspector.describe(found, database), frame_inspector.to_dict(found, database)
