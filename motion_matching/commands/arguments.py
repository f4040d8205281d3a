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
from .options import Groups

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

_REQUIRED = " (required)"


def _read_path(text: str) -> Path:
    """Return the path that an argument names; an empty one is the current folder, as for `Path`."""
    if not text:
        raise argparse.ArgumentTypeError("no file or folder is named; is a variable empty?")
    return Path(text)


# by the first word of an option's value; all others are text
_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("FIELD", "FILE", "FOLDER", "SOURCE"), _read_path),
    **dict.fromkeys(("COUNT", "FRAME", "SEED"), int),
    **dict.fromkeys(("0", "FACTOR", "METRES", "RATE", "SECONDS", "SHARE", "VALUE"), float),
}


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows help texts unchanged, without a line COMMAND above the commands."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)
        self._action_max_length = 14  # argparse forgets that commands are indented

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        return text.partition("\n")[2] if action.nargs == argparse.PARSER else text


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole command line; it sets `command` to the chosen command."""
    whole = argparse.ArgumentParser(
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
    build.set_defaults(speed=1.0, up="Y", forward="Z", workers=1)
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
        for words, text in entries.items():
            *names, value = words.removesuffix(_REQUIRED).split()
            if value.startswith("--"):
                group.add_argument(value, action="store_true", help=text)
                continue
            reading = _read_value(value)
            if words.endswith(_REQUIRED):
                reading["required"] = True
            group.add_argument(*names, help=text, **reading)


def _read_value(value: str) -> dict[str, Any]:
    """Return how argparse reads an option's value: its type, choices and default."""
    if value.startswith("{"):
        return {"choices": tuple(value.strip("{}").split(","))}
    if value == "NAME=VALUE":
        return {"metavar": value, "action": "append", "default": [], "dest": "changes"}
    if value.startswith("NAME=VALUE|"):
        return {"metavar": "WHAT", "action": "append", "default": []}
    if value == "A,B":
        return {"metavar": value, "default": ""}
    if value.endswith("..."):
        return {"metavar": value.removesuffix("..."), "nargs": "+", "type": _read_path}
    return {"metavar": value, "type": _TYPES.get(value.partition(".")[0], str)}


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
