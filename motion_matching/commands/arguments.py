"""Define the command line: commands, their arguments, and the help that explains them."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..engine import presets
from ..engine.control.settings import PerformerSettings
from ..engine.database.thresholds import AutoTagSettings
from ..engine.field.quality import QUALITIES
from ..engine.settings import get_descriptions

PROGRAM = "motion_matching"
_NEGATIVE_AXIS, _NEGATIVE_NUMBER = re.compile("-[XYZxyz]$"), re.compile(r"-[\d.]")

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


class _HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Shows help texts as they are written, without a line that says COMMAND above the commands."""

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

    def command(name: str, text: str, epilog: str = "") -> argparse.ArgumentParser:
        sentence = f"{text[0].upper()}{text[1:]}."
        sub = commands.add_parser(
            name, help=text, description=sentence, epilog=epilog, formatter_class=_HelpFormatter
        )
        sub.add_argument("--quiet", action="store_true", help="print nothing but errors")
        return sub

    _add_build(command("build", "build a database from motion capture", _build_thresholds_help()))
    _add_train(
        command("train", "train a motion field, the alternative to motion matching, on a database")
    )
    _add_take(command("take", "perform a take with a database", _build_settings_help()))
    _add_inspect(command("inspect", "report what a database holds", _build_settings_help()))
    clips = command("demo-clips", "write the built-in locomotion clips as motion capture (BVH)")
    clips.add_argument(
        "folder", type=Path, metavar="FOLDER", help="folder to write to; it is created if needed"
    )
    clips.add_argument(
        "--seed", type=int, default=0, help="random seed of the variations (default: 0)"
    )
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


def _add_build(build: argparse.ArgumentParser) -> None:
    build.add_argument(
        "sources",
        nargs="+",
        type=Path,
        metavar="SOURCE",
        help="BVH files, folders of them (with their subfolders), Blender files, or JSON lists of "
        "sources",
    )
    build.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE.npz", help="the database to write"
    )
    build.add_argument("--mirror", action="store_true", help="add the mirror image of every source")
    build.add_argument(
        "--fps",
        type=float,
        metavar="RATE",
        help="frames per second of the database (default: the most common rate of the sources)",
    )
    build.add_argument(
        "--speed",
        type=float,
        default=1.0,
        metavar="FACTOR",
        help="play all sources faster by this factor, such as 1.1 (default: 1)",
    )
    build.add_argument(
        "--features",
        default="default",
        metavar="PRESET",
        help="feature preset, what frames are compared by: "
        f"{', '.join(presets.list_names('features'))}, or a .json file (default: default)",
    )
    build.add_argument(
        "--rig",
        type=Path,
        metavar="FILE.json",
        help="bone names by role, for rigs whose legs or hips are not found automatically",
    )
    build.add_argument(
        "--simulation-bone",
        choices=("article", "notebook", "adaptive", "root"),
        default="article",
        help="how the simulation bone is smoothed: 'adaptive' smooths more while the character "
        "moves, 'root' uses an existing root bone as it is (default: article)",
    )
    build.add_argument(
        "--contacts",
        choices=("article", "notebook"),
        default="article",
        help="how foot contacts are found: by the toe's speed ('article'), or by its movement in "
        "one frame ('notebook') (default: article)",
    )
    build.add_argument(
        "--tags",
        type=Path,
        metavar="FILE.json",
        help="tags by clip, used instead of those of a source list, such as "
        '{"walk_01": [{"name": "limp", "start": 30, "stop": 90}]}',
    )
    build.add_argument(
        "--auto-tags",
        action="store_true",
        help="tag idle, walk, run, turn_left, turn_right, strafe, back, start and stop "
        "automatically",
    )
    build.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="thresholds",
        help="change a setting of --auto-tags, such as idle_speed=0.3; may be repeated",
    )
    build.add_argument(
        "--save-tags",
        type=Path,
        metavar="FILE.json",
        help="write the tags of all clips, to edit them and use them with --tags",
    )
    blend = build.add_argument_group("what is read from Blender files")
    blend.add_argument(
        "--armature", metavar="NAME", help="the armature object (default: the only one in the file)"
    )
    blend.add_argument(
        "--actions",
        default="",
        metavar="A,B",
        help="its actions (default: all that move its bones)",
    )
    blend.add_argument(
        "--bones",
        choices=("all", "deform"),
        help="read all bones, or only those that deform (default: deform on rigs with "
        "constraints, else all)",
    )
    files = build.add_argument_group("how BVH files are read")
    files.add_argument(
        "--up", default="Y", metavar="AXIS", help="the axis that points up (default: Y)"
    )
    files.add_argument(
        "--forward",
        default="Z",
        metavar="AXIS",
        help="the axis that characters face, such as Z or X (default: Z)",
    )
    files.add_argument(
        "--scale",
        type=float,
        metavar="METRES",
        help="metres per unit of the files (default: found from the size of the skeleton)",
    )


def _add_train(train: argparse.ArgumentParser) -> None:
    train.add_argument("database", type=Path, metavar="FILE.npz", help="a database made by 'build'")
    train.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FIELD.npz",
        help="the trained field, for 'take --controller field'; if it exists and its data and "
        "actions are unchanged, the longest step is skipped",
    )
    train.add_argument(
        "--task",
        default="direction,speed",
        metavar="A,B",
        help="what the field can be steered by: direction, or direction,speed (default: "
        "direction,speed)",
    )
    train.add_argument(
        "--tags",
        default="",
        metavar="A,B",
        help="tags that can be requested too, such as walk,run; each multiplies the training time",
    )
    train.add_argument(
        "--metric",
        choices=("default", "notebook"),
        default="default",
        help="how states are compared: with the velocity and turn rate of the root, or, as in the "
        "notebook, without them (default: default)",
    )
    train.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.svg",
        help="draw how much each sweep changed the values, beside what the discount promises",
    )
    quality = train.add_argument_group("quality and time")
    quality.add_argument(
        "--quality",
        choices=tuple(QUALITIES),
        default="normal",
        help="from draft, for a first look, to full, which trains every frame (default: normal)",
    )
    quality.add_argument(
        "--states",
        type=int,
        metavar="COUNT",
        help="about this many states, evenly chosen; 0 for all (normal: 8000)",
    )
    quality.add_argument(
        "--neighbours",
        type=int,
        metavar="COUNT",
        help="number of actions of each state (normal: 15)",
    )
    quality.add_argument(
        "--directions",
        type=int,
        metavar="COUNT",
        help="number of headings all around that values are stored for, odd (normal: 17)",
    )
    quality.add_argument(
        "--sweeps", type=int, metavar="COUNT", help="at most this many sweeps (normal: 300)"
    )
    quality.add_argument(
        "--residual",
        type=float,
        metavar="VALUE",
        help="stop once no value changes by more than this (default: 0)",
    )
    quality.add_argument(
        "--discount",
        type=float,
        metavar="0..1",
        help="share of its value that a reward keeps for every 1/30 s that it comes later "
        "(default: 0.99)",
    )
    quality.add_argument(
        "--drift",
        type=float,
        metavar="0..1",
        help="how strongly actions are drawn to the nearest state (default: 0.1)",
    )


def _add_inspect(inspect: argparse.ArgumentParser) -> None:
    inspect.add_argument(
        "database", type=Path, metavar="FILE.npz", help="a database made by 'build'"
    )
    inspect.add_argument(
        "--performance",
        type=Path,
        metavar="FILE.json",
        help="compare the data with the simulation object of this recorded performance "
        "(default: of all scripts)",
    )
    inspect.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="changes",
        help="change a setting of the controller, such as run=4; may be repeated",
    )
    inspect.add_argument(
        "--report",
        type=Path,
        metavar="FILE.json",
        help="write the same and more as JSON, for plots of your own",
    )
    inspect.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.svg",
        help="draw pictures: where frames lead within a second, coverage, histograms, maps of the "
        "poses",
    )
    frame = inspect.add_argument_group("one frame instead of all")
    frame.add_argument(
        "--frame",
        metavar="CLIP:FRAME",
        help="show what the search sees at this frame of a clip: features, costs, and why other "
        "frames win, lose or are excluded; CLIP:FRAME:mirrored for the mirror image",
    )
    frame.add_argument(
        "--wish",
        metavar="FORWARD[,LEFT]",
        help="desired velocity in m/s at that frame, seen from the character, such as 2 or 0.5,1 "
        "(default: the clip's own trajectory)",
    )
    frame.add_argument(
        "--tags", default="", metavar="A,B", help="search only frames that carry all of these tags"
    )


def _add_take(take: argparse.ArgumentParser) -> None:
    take.add_argument("database", type=Path, metavar="FILE.npz", help="a database made by 'build'")
    performed = take.add_argument_group("what to perform")
    performed.add_argument(
        "--script",
        default="figure_eight",
        metavar="NAME|FILE",
        help="figure_eight, square, stop_and_go, flips, strafe_circle, random, or a .json file "
        "that --save-performance wrote (default: figure_eight)",
    )
    performed.add_argument("--seconds", type=float, help="length of a script (default: 30)")
    performed.add_argument(
        "--gait", choices=("walk", "run"), help="gait of a script (default: walk)"
    )
    performed.add_argument("--seed", type=int, help="seed of the script 'random' (default: 0)")
    performed.add_argument(
        "--tags", default="", metavar="A,B", help="play only frames that carry all of these tags"
    )
    how = take.add_argument_group("how to perform it")
    how.add_argument(
        "--controller",
        choices=("matching", "field"),
        default="matching",
        help="motion matching, or a motion field, which blends similar motion (default: matching)",
    )
    how.add_argument(
        "--field",
        type=Path,
        metavar="FIELD.npz",
        help="a field written by 'train', which plans ahead (default: an untrained one, which "
        "does not)",
    )
    how.add_argument(
        "--sync",
        type=float,
        metavar="0..1",
        help="place character and simulation object between the data (0) and the code (1)",
    )
    how.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="changes",
        help="change a setting, such as velocity_halflife=0.2; may be repeated",
    )
    ground = take.add_argument_group("obstacles")
    ground.add_argument(
        "--obstacles",
        type=Path,
        metavar="FILE.json",
        help='a list of boxes, such as [{"center": [0, -4], "size": [3, 1], "yaw": 0.5, "height": '
        "1}], in "
        "metres and radians; yaw and height may be left out",
    )
    ground.add_argument(
        "--ground-collection",
        metavar="NAME",
        help="the collection in --onto's file whose visible meshes are floor and obstacles: what "
        "is steeper than 50 degrees, from 0.3 m to 1.8 m above the floor, stands in the way",
    )
    feet = take.add_argument_group("feet")
    feet.add_argument(
        "--feet",
        choices=("baked", "live", "off"),
        help="plant them knowing the contacts ahead, lock them as in a live session, or leave them "
        "as in the motion (default: baked, or off with foot_lock=false)",
    )
    feet.add_argument(
        "--contacts",
        type=Path,
        metavar="FILE.json|blend",
        help="when feet are planted: an edited file of --save-contacts, or a Blender file of -o "
        "with edited markers",
    )
    written = take.add_argument_group("what to write")
    written.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.blend",
        help="a Blender file with an armature, a body, and the take as an action",
    )
    written.add_argument(
        "--bvh",
        type=Path,
        metavar="FILE.bvh",
        help="the take as motion capture: Y up, centimetres, the source's bones",
    )
    written.add_argument(
        "--report", type=Path, metavar="FILE.json", help="measures of the take and of its sources"
    )
    written.add_argument(
        "--save-performance",
        type=Path,
        metavar="FILE.json",
        help="the goals and settings, to perform again with --script",
    )
    written.add_argument(
        "--save-contacts",
        type=Path,
        metavar="FILE.json",
        help="when feet are planted, to edit and bake again with --contacts",
    )
    written.add_argument(
        "--preview",
        type=Path,
        metavar="FILE.png|mp4",
        help="a picture of the whole take along its paths, or a film",
    )
    written.add_argument(
        "--preview-size",
        metavar="WxH",
        help="size of the preview in pixels (default: 1280x720, for a film 640x360)",
    )
    blend = take.add_argument_group("the Blender file")
    blend.add_argument(
        "--onto",
        type=Path,
        metavar="FILE.blend",
        help="put the take onto an armature of this file; -o becomes a copy of it",
    )
    blend.add_argument(
        "--armature",
        metavar="NAME",
        help="the armature object in that file (default: the only one)",
    )
    blend.add_argument(
        "--root",
        choices=("object", "bone", "hips", "in-place"),
        help="what moves the character over the ground (default: a bone above the hips, else the "
        "object)",
    )
    blend.add_argument(
        "--root-bone", metavar="NAME", help="the bone of that armature for --root bone"
    )
    blend.add_argument(
        "--frame",
        type=int,
        help="first frame of the take in that file (default: the start of its scene)",
    )
    blend.add_argument(
        "--track", metavar="NAME", help="put the action onto a new NLA track in that file"
    )
    blend.add_argument(
        "--fewer-keys",
        type=float,
        metavar="METRES",
        help="distance that bones may stray in exchange for fewer keys, such as 0.002",
    )


def _format_default(value: Any, unit: str) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return f"{value:.3g}{'' if unit in ('', 'share') else f' {unit}'}"
    return str(value).lower()


def _list_settings(settings: type, by_data: dict[str, str]) -> list[str]:
    """Return lines with the name, default and help of each described setting; `by_data` gives
    defaults in words.
    """
    defaults = {f.name: f.default for f in fields(settings)}
    lines = []
    for name, description in get_descriptions(settings).items():
        default = by_data.get(name) or _format_default(defaults[name], description.unit)
        lines += textwrap.wrap(
            f"{name:25} {default:11} {description.help}",
            100,
            initial_indent="  ",
            subsequent_indent=" " * 40,
            drop_whitespace=True,
        )
    return lines


def _build_thresholds_help() -> str:
    """Return the settings of automatic tags for the end of a help text."""
    return "\n".join(
        ["settings of --auto-tags for --set, with defaults:", *_list_settings(AutoTagSettings, {})]
    )


def _build_settings_help() -> str:
    """Return the performer's settings for the end of a help text."""
    by_data = dict.fromkeys(("walk", "run", "turn_limit"), "as in data")
    return "\n".join(
        [
            "settings for --set, with defaults:",
            *_list_settings(PerformerSettings, by_data),
            "  weights                   as preset   Weight of each feature",
            "",
            "walk and run take one speed in m/s, or three: forward, to the side, back.",
            "weights takes a number for each feature that 'inspect' lists, such as "
            "weights=1,1,1,1,1,1,1.5.",
        ]
    )
