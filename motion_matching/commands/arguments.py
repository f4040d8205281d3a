"""Define the command line: commands, their options, and the help that explains them."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..engine.database.tags.thresholds import AutoTagSettings
from ..engine.performance.settings import BY_DATA, PerformerSettings
from ..engine.retargeting.settings import RetargetSettings
from ..engine.settings import get_defaults, get_descriptions
from . import options
from .options import Groups, Option

PROGRAM = "motion_matching"
_NEGATIVE_AXIS = re.compile("-[XYZxyz]$")
_NEGATIVE_NUMBER = re.compile(r"-[\d.]")

_DESCRIPTION = (
    "Steer a character with motion capture, and save the performance as a Blender action or a BVH "
    "file."
)
_EPILOG = f"""\
first steps:
  {PROGRAM} build path/to/clips -o walk.npz --mirror
  {PROGRAM} take walk.npz --script figure_eight --seconds 30 -o take.blend
If you have no clips, '{PROGRAM} demo-clips path/to/clips' makes some.
'{PROGRAM} COMMAND --help' explains a command.

exit codes: 0 done; 1 failed, with one sentence that says why; 2 wrong command line; 130 cancelled
"""

_MORE_SETTINGS = """
  weights                   as preset   Weight of each feature
  labels                    none        Frames of some tags with their own displacement

walk and run take one speed in m/s, or three: forward, to the side, back.
weights takes a number for each feature that 'inspect' lists, such as weights=1,1,1,1,1,1,1.5.
labels takes 'ready', or JSON: [{"tags": ["start"], "settings": {"clamp_distance": 0.3}}]."""


def _read_path(text: str) -> Path:
    """Return the path that an argument names; an empty one is the current folder, as for `Path`."""
    if not text:
        raise argparse.ArgumentTypeError("no file or folder is named; is a variable empty?")
    return Path(text)


_TYPES: dict[str, Callable[[str], Any]] = {"path": _read_path, "whole": int, "number": float}


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows help texts unchanged, without a line COMMAND above the commands."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)
        self._action_max_length = 14  # argparse forgets that commands are indented

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        return text.partition("\n")[2] if action.nargs == argparse.PARSER else text


def build_parser(
    kind: type[argparse.ArgumentParser] = argparse.ArgumentParser,
) -> argparse.ArgumentParser:
    """Return the parser of the whole command line; it sets `command` to the chosen command.

    The `kind` of parser says what happens to a wrong command line.
    """
    whole = kind(
        prog=PROGRAM, description=_DESCRIPTION, epilog=_EPILOG, formatter_class=_HelpFormatter
    )
    commands = whole.add_subparsers(
        title="commands", dest="command", required=True, metavar="COMMAND"
    )

    def add(name: str, text: str, groups: Groups, settings: str = "") -> argparse.ArgumentParser:
        sentence = f"{text[0].upper()}{text[1:]}."
        command = commands.add_parser(
            name, help=text, description=sentence, epilog=settings, formatter_class=_HelpFormatter
        )
        command.add_argument("--quiet", action="store_true", help="print nothing but errors")
        _add_options(command, groups)
        return command

    thresholds = _list_settings("settings of --auto-tags for --set", AutoTagSettings)
    by_data = dict.fromkeys(BY_DATA, "as in data")
    controller = _list_settings("settings for --set", PerformerSettings, by_data) + _MORE_SETTINGS
    build = add("build", "build a database from motion capture", options.BUILD, thresholds)
    build.set_defaults(speed=1.0, up="Y", forward="Z")
    text = "train a motion field, the alternative to motion matching, on a database"
    add("train", text, options.TRAIN)
    take = add("take", "perform a take with a database", options.TAKE, controller)
    take.set_defaults(script="figure_eight")
    add("inspect", "report what a database holds", options.INSPECT, controller)
    text = "make a database smaller: keep what performances play and what is unlike it"
    add("prune", text, options.PRUNE, controller).set_defaults(keep=0.2)
    text = "solve a scene of marks and paths: hit on time, with the fewest jumps"
    add("direct", text, options.DIRECT, controller)
    text = "put motion of any skeleton onto a character of a Blender file, without a database"
    settings = _list_settings("settings for --set", RetargetSettings)
    retarget = add("retarget", text, options.RETARGET, settings)
    retarget.set_defaults(up="Y", forward="Z", legs="ik", arms="fk")
    text = "write the built-in locomotion clips as motion capture (BVH)"
    add("demo-clips", text, options.DEMO_CLIPS).set_defaults(seed=0)
    text = "do many commands that a file lists, and only those that are not done yet"
    add("batch", text, options.BATCH).set_defaults(retries=1, progress="auto", chunk=10)
    return whole


def join_negative_values(words: Sequence[str]) -> list[str]:
    """Join negative values to their options, as in '--forward=-Z', as argparse requires."""
    negative = {"--up": _NEGATIVE_AXIS, "--forward": _NEGATIVE_AXIS, "--wish": _NEGATIVE_NUMBER}
    result: list[str] = []
    for word in words:
        if result and result[-1] in negative and negative[result[-1]].match(word):
            result[-1] += f"={word}"
        else:
            result.append(word)
    return result


def _add_options(parser: argparse.ArgumentParser, groups: Groups) -> None:
    """Add the options of a table to a parser, in their groups."""
    for title, entries in groups.items():
        group = parser.add_argument_group(title) if title else parser
        for option in options.read_entries(entries):
            reading = _read_option(option)
            if option.is_required and not option.is_positional:
                reading["required"] = True
            hidden = option.help or argparse.SUPPRESS
            group.add_argument(*option.names, help=hidden, **reading)


def _read_option(option: Option) -> dict[str, Any]:
    """Return how argparse reads an option's value: its type, choices and default."""
    several = {"action": "append", "default": []}
    match option.kind:
        case "switch":
            return {"action": "store_true"}
        case "choice":
            return {"choices": option.choices}
        case "changes":
            return {"metavar": option.value, "dest": "changes", **several}
        case "texts":
            return {"metavar": "WHAT", **several}
        case "names":
            return {"metavar": option.value, "default": ""}
        case "paths":
            metavar = option.value.removesuffix("...")
            return {"metavar": metavar, "nargs": "+", "type": _read_path}
    return {"metavar": option.value, "type": _TYPES.get(option.kind, str)}


def _format_default(value: Any, unit: str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:.3g}{'' if unit in ('', 'share') else f' {unit}'}"
    return str(value).lower()


def _list_settings(title: str, settings: type, by_data: Mapping[str, str] | None = None) -> str:
    """Return the settings for the end of a help: name, default and help."""
    defaults = get_defaults(settings)
    lines = [f"{title}, with defaults:"]
    for name, description in get_descriptions(settings).items():
        default = (by_data or {}).get(name) or _format_default(defaults[name], description.unit)
        text = f"{name:25} {default:11} {description.help}"
        lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent=" " * 40)
    return "\n".join(lines)
