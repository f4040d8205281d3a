"""`prune`: make a smaller database: what performances play, and anything unlike that."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from functools import partial

from ..engine.database.tags import tags
from ..engine.errors import SettingsError
from ..engine.performance import performance as performances
from ..engine.takes import comparison, pruning, takes
from .checks import check_number, check_seed, check_targets, name_paths, write_together
from .loading import load_database
from .output import Output, say_written
from .values import check_changes, parse_changes

_TARGETS = {"output": ".npz", "save_tags": ".json", "report": ".json"}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Find the frames that a database can spare, print their cost, and write the rest."""
    check(arguments)
    database = load_database(arguments.database, out)
    default = takes.make_default_settings(database)
    settings = default.with_changes(parse_changes(arguments.changes, default))
    seconds = arguments.seconds or pruning.SECONDS
    tried = pruning.prepare_performances(database, settings, seconds, arguments.seed or 0)
    tried += [performances.load(path) for path in arguments.performance or ()]
    report = partial(out.show_progress, "Performing")
    played = pruning.count_played(database, settings, tried, report)
    result = pruning.find_spare_frames(database, played, arguments.keep)
    smaller = pruning.leave_out(database, result.spare)
    # other performances than for choosing the frames, which would flatter
    unseen = pruning.prepare_performances(database, settings, seconds, (arguments.seed or 0) + 1)
    measured = pruning.measure_loss(
        database, smaller, settings, unseen, partial(out.show_progress, "Comparing")
    )
    with write_together(arguments, *_TARGETS) as written:
        if written.output:
            takes.save_database(smaller, written.output)
        if written.save_tags:
            tags.save_tags(pruning.list_tags(database, result.spare), written.save_tags)
        if written.report:
            data = {name: value for name, value in asdict(result).items() if name != "spare"}
            both = dict(zip(("whole", "pruned"), measured, strict=True))
            takes.write_report({**data, **both}, written.report)
    out.say(
        f"{smaller.frame_count} of {database.frame_count} frames stay: {result.kept:.0%} of those "
        f"that may be played. {len(tried)} performances played {result.used:.0%}, and spend "
        f"{result.covered:.0%} of their time in what stays."
    )
    out.say(comparison.write_table(("whole", "pruned"), measured))
    say_written(out, name_paths(arguments, *_TARGETS))


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    read = [("--performance", path) for path in arguments.performance or ()]
    check_targets(arguments, _TARGETS, [*name_paths(arguments, "database"), *read])
    check_number("--seconds", arguments.seconds, 1.0, performances.LONGEST_TAKE)
    check_seed(arguments.seed)
    check_changes(arguments.changes)
    if not 0.0 < arguments.keep < 1.0:
        text = f"--keep is {arguments.keep:g}; give a share above 0 and below 1, such as 0.2."
        raise SettingsError(text)
