"""`generate`: make a data set of takes and scenes, in files of arrays with a card."""

from __future__ import annotations

import argparse
import re
import time

from ..api.data_sets import write_data_set
from ..engine.datasets.card import summarize
from ..engine.datasets.data_set import DataSet, Order
from ..engine.datasets.wants import parse_wants
from ..engine.direct.footage import jump_table
from ..engine.direct.shot.shot import LONGEST_SHOT
from ..engine.errors import SettingsError
from ..engine.takes import takes
from .checks import check_number, check_seed
from .loading import load_database
from .output import Output
from .values import parse_changes

_MOST = 1_000_000  # takes; more are a mistake
_SHORTEST = 5.0  # seconds, within which a scene has a mark
_NUMBERS = re.compile(r"(\d{1,7})(?:-(\d{1,7}))?")


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Make the files that are not there yet, write the card, and print what it says.

    After Ctrl-C, the card is that of the finished files.
    """
    check(arguments)
    database = load_database(arguments.database, out)
    changes = parse_changes(arguments.changes, takes.make_default_settings(database))
    order = Order(
        arguments.takes,
        arguments.scenes,
        arguments.seconds,
        arguments.seed,
        arguments.shard,
        arguments.feet,
    )
    wants = parse_wants(arguments.want, database)
    data_set = DataSet(database, arguments.database.name, changes, wants, order)
    path = jump_table.get_table_path(arguments.database)
    table = path if jump_table.can_keep_table(path) else None
    started = time.monotonic()
    only = _parse_numbers(arguments.only)
    card = write_data_set(data_set, arguments.output, only, table, out.show_progress)
    for line in summarize(card):
        out.say(line)
    out.say(f"Written: {arguments.output}, in {time.monotonic() - started:.0f} s.")


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    check_number("--takes", arguments.takes, 0, _MOST)
    check_number("--scenes", arguments.scenes, 0, _MOST)
    check_number("--seconds", arguments.seconds, _SHORTEST, LONGEST_SHOT)
    check_number("--shard", arguments.shard, 1, _MOST)
    check_seed(arguments.seed)
    if not arguments.takes + arguments.scenes:
        raise SettingsError("--takes and --scenes are both 0; ask for some.")
    if arguments.output.exists() and not arguments.output.is_dir():
        raise SettingsError(f"{arguments.output} is a file; give the name of a folder.")
    _parse_numbers(arguments.only)


def _parse_numbers(text: str | None) -> list[int]:
    """Return the numbers in a text such as '1-4,9'; none without a text."""
    numbers: list[int] = []
    for part in text.split(",") if text is not None else ():
        match = _NUMBERS.fullmatch(part.strip())
        if match is None:
            raise SettingsError(f"--only {text} gives no numbers; write them as in --only 1-4,9.")
        first = int(match[1])
        numbers += range(first, int(match[2] or first) + 1)
    return numbers
