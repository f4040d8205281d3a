"""The form of the command line: commands, their arguments, and the help that explains them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path

from .engine import presets
from .engine.control.settings import PerformerSettings
from .engine.field.quality import QUALITIES
from .engine.matching.thresholds import AutoTagSettings

PROGRAM = "motion_matching"
_NEGATIVE_AXIS, _NEGATIVE_NUMBER = re.compile("-[XYZxyz]$"), re.compile(r"-[\d.]")

_DESCRIPTION = (
    "Turn motion capture into a performance that is steered: a Blender action, a BVH file, or both."
)
_EPILOG = f"""\
first steps:
  {PROGRAM} build path/to/clips -o walk.npz --mirror
  {PROGRAM} take walk.npz --script figure_eight --seconds 30 -o take.blend
Without clips at hand, '{PROGRAM} demo-clips path/to/clips' makes some.
'{PROGRAM} COMMAND --help' explains a command.

exit codes: 0 done; 1 it cannot be done, one sentence says why; 2 wrong command line; 130 cancelled
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as it is written, and without a line that says COMMAND above the commands."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32)
        self._action_max_length = 14  # argparse forgets that commands are indented

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        return text.partition("\n")[2] if action.nargs == argparse.PARSER else text


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; it sets `command` to the name of the one that is asked for."""
    whole = argparse.ArgumentParser(
        prog=PROGRAM, description=_DESCRIPTION, epilog=_EPILOG, formatter_class=_Help
    )
    commands = whole.add_subparsers(
        title="commands", dest="command", required=True, metavar="COMMAND"
    )

    def command(name: str, text: str, epilog: str = "") -> argparse.ArgumentParser:
        sentence = f"{text[0].upper()}{text[1:]}."
        sub = commands.add_parser(
            name, help=text, description=sentence, epilog=epilog, formatter_class=_Help
        )
        sub.add_argument("--quiet", action="store_true", help="print nothing but errors")
        return sub

    _add_build(command("build", "make a database from motion capture", _thresholds_help()))
    _add_train(
        command("train", "train a motion field, the other controller of takes, with a database")
    )
    _add_take(command("take", "perform a take with a database", _settings_help()))
    _add_inspect(command("inspect", "tell what a database holds", _settings_help()))
    clips = command("demo-clips", "write the built-in locomotion clips as motion capture (BVH)")
    clips.add_argument(
        "folder",
        type=Path,
        metavar="FOLDER",
        help="where to write; it is made if it does not exist",
    )
    clips.add_argument("--seed", type=int, default=0, help="seed of the variations (default: 0)")
    return whole


def joined(words: Sequence[str]) -> list[str]:
    """A command line whose negative values, as in '--forward -Z', are tied to their options, as argparse needs it."""
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
        help="BVH files, folders of them (with their subfolders), Blender files, or JSON lists of sources",
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
        help=f"what frames are compared by: {', '.join(presets.names('features'))}, "
        "or a .json file (default: default)",
    )
    build.add_argument(
        "--rig",
        type=Path,
        metavar="FILE.json",
        help="bone names by role, for rigs whose legs or hips are not found by themselves",
    )
    build.add_argument(
        "--simulation-bone",
        choices=("article", "notebook", "adaptive", "root"),
        default="article",
        help="how the simulation bone is smoothed, 'adaptive' for longer while moving along, or 'root' to "
        "take an existing root bone (default: article)",
    )
    build.add_argument(
        "--contacts",
        choices=("article", "notebook"),
        default="article",
        help="how foot contacts are found: by speed, or by the way of one frame (default: article)",
    )
    build.add_argument(
        "--tags",
        type=Path,
        metavar="FILE.json",
        help="tags by clip in place of those of a source list, such as "
        '{"walk_01": [{"name": "limp", "start": 30, "stop": 90}]}',
    )
    build.add_argument(
        "--auto-tags",
        action="store_true",
        help="tag idle, walk, run, turn_left, turn_right, strafe, back, start and stop by the motion",
    )
    build.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="thresholds",
        help="change a threshold of --auto-tags, such as idle_speed=0.3; may be repeated",
    )
    build.add_argument(
        "--save-tags",
        type=Path,
        metavar="FILE.json",
        help="the tags of all clips, to be edited and used with --tags",
    )
    blend = build.add_argument_group("what of Blender files is taken")
    blend.add_argument(
        "--armature", metavar="NAME", help="the armature object (default: the file's only one)"
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
        help="all bones, or those that deform (default: on a rig with constraints those that deform)",
    )
    files = build.add_argument_group("how BVH files are meant")
    files.add_argument("--up", default="Y", metavar="AXIS", help="axis that points up (default: Y)")
    files.add_argument(
        "--forward",
        default="Z",
        metavar="AXIS",
        help="axis that characters face, such as Z or X (default: Z)",
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
        help="what is learnt, for 'take --controller field'; where it exists and is of the same data and "
        "actions, the longest part need not be done again",
    )
    train.add_argument(
        "--task",
        default="direction,speed",
        metavar="A,B",
        help="what can be asked for: direction, or direction,speed (default: direction,speed)",
    )
    train.add_argument(
        "--tags",
        default="",
        metavar="A,B",
        help="tags that can be asked for too, such as walk,run; as many times the sweeps take as long",
    )
    train.add_argument(
        "--metric",
        choices=("default", "notebook"),
        default="default",
        help="how states are compared: with the root's velocity and turn, or as the notebook does without "
        "(default: default)",
    )
    train.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.svg",
        help="a picture of how much each sweep changed the values, beside what the discount promises",
    )
    quality = train.add_argument_group("quality and time")
    quality.add_argument(
        "--quality",
        choices=tuple(QUALITIES),
        default="normal",
        help="from draft, for a first look, to full, with every frame as a state (default: normal)",
    )
    quality.add_argument(
        "--states", type=int, metavar="COUNT", help="about so many states, evenly chosen; 0 for all"
    )
    quality.add_argument(
        "--neighbours", type=int, metavar="COUNT", help="actions of each state (normal: 15)"
    )
    quality.add_argument(
        "--directions",
        type=int,
        metavar="COUNT",
        help="headings all around that values are kept for, an odd number (normal: 17)",
    )
    quality.add_argument(
        "--sweeps", type=int, metavar="COUNT", help="at most so many sweeps (normal: 300)"
    )
    quality.add_argument(
        "--residual",
        type=float,
        metavar="VALUE",
        help="no more sweeps once the largest change of a value is this (default: 0)",
    )
    quality.add_argument(
        "--discount", type=float, metavar="0..1", help="what counts 1/30 s later (default: 0.99)"
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
        help="a recorded performance whose simulation object the data is laid beside "
        "(default: all scripts)",
    )
    inspect.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="changes",
        help="change a setting of the controller that leads it, such as run=4; may be repeated",
    )
    inspect.add_argument(
        "--report", type=Path, metavar="FILE.json", help="the same and more as JSON, to be plotted"
    )
    inspect.add_argument(
        "--plot",
        type=Path,
        metavar="FILE.svg",
        help="pictures: where the frames lead within a second, coverage, histograms, and maps of the poses",
    )
    frame = inspect.add_argument_group("one frame instead of all")
    frame.add_argument(
        "--frame",
        metavar="CLIP:FRAME",
        help="what the search sees at this frame of a clip: features, costs, the best others and why they "
        "win, lose or are barred; CLIP:FRAME:mirrored for the mirror image",
    )
    frame.add_argument(
        "--wish",
        metavar="FORWARD[,LEFT]",
        help="the velocity in m/s that is wished there, seen from the character, such as 2 or 0.5,1 "
        "(default: as the clip goes on)",
    )
    frame.add_argument(
        "--tags", default="", metavar="A,B", help="search only frames that carry all of these tags"
    )


def _add_take(take: argparse.ArgumentParser) -> None:
    take.add_argument("database", type=Path, metavar="FILE.npz", help="a database made by 'build'")
    wanted = take.add_argument_group("what is performed")
    wanted.add_argument(
        "--script",
        default="figure_eight",
        metavar="NAME|FILE",
        help="figure_eight, square, stop_and_go, flips, strafe_circle, random, or a .json file that "
        "--save-performance wrote (default: figure_eight)",
    )
    wanted.add_argument("--seconds", type=float, help="length of a script (default: 30)")
    wanted.add_argument("--gait", choices=("walk", "run"), help="gait of a script (default: walk)")
    wanted.add_argument("--seed", type=int, help="seed of the script 'random' (default: 0)")
    wanted.add_argument(
        "--tags", default="", metavar="A,B", help="play only frames that carry all of these tags"
    )
    how = take.add_argument_group("how it is performed")
    how.add_argument(
        "--controller",
        choices=("matching", "field"),
        default="matching",
        help="motion matching, or a motion field, which blends what is alike (default: matching)",
    )
    how.add_argument(
        "--field",
        type=Path,
        metavar="FIELD.npz",
        help="what 'train' wrote, so that the field plans ahead (default: it takes what serves best at once)",
    )
    how.add_argument(
        "--sync",
        type=float,
        metavar="0..1",
        help="put character and simulation object where the data leads (0) or where the code leads (1)",
    )
    how.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        dest="changes",
        help="change a setting, such as velocity_halflife=0.2; may be repeated",
    )
    ground = take.add_argument_group("what stands in the way")
    ground.add_argument(
        "--obstacles",
        type=Path,
        metavar="FILE.json",
        help='a list of boxes, such as [{"center": [0, -4], "size": [3, 1], "yaw": 0.5, "height": 1}], in '
        "metres and radians; yaw and height may be left out",
    )
    ground.add_argument(
        "--ground-collection",
        metavar="NAME",
        help="the collection of --onto's file whose meshes stand in the way, as its scene shows them: all "
        "that is steeper than 50 degrees, from 0.3 m to 1.8 m above the floor",
    )
    feet = take.add_argument_group("where the feet stand")
    feet.add_argument(
        "--feet",
        choices=("baked", "live", "off"),
        help="plant them knowing the contacts ahead, keep them as they were locked live, or leave them "
        "where the motion leads them (default: baked, and off with foot_lock=false)",
    )
    feet.add_argument(
        "--contacts",
        type=Path,
        metavar="FILE.json|blend",
        help="when they stand: an edited file that --save-contacts wrote, or a Blender file that -o wrote, "
        "with its markers moved",
    )
    written = take.add_argument_group("what is written")
    written.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE.blend",
        help="a Blender file with armature, body and the take as its action",
    )
    written.add_argument(
        "--bvh",
        type=Path,
        metavar="FILE.bvh",
        help="the take as motion capture: Y up, centimetres, the source's bones",
    )
    written.add_argument(
        "--report",
        type=Path,
        metavar="FILE.json",
        help="what the take measures, beside its sources",
    )
    written.add_argument(
        "--save-performance",
        type=Path,
        metavar="FILE.json",
        help="what was wanted and with which settings, to be performed again with --script",
    )
    written.add_argument(
        "--save-contacts",
        type=Path,
        metavar="FILE.json",
        help="when the feet stand, to be edited and baked again with --contacts",
    )
    written.add_argument(
        "--preview",
        type=Path,
        metavar="FILE.png|mp4",
        help="a picture of the whole take along its paths, or a film of it",
    )
    written.add_argument(
        "--preview-size",
        metavar="WxH",
        help="size of the preview in pixels (default: 1280x720, a film 640x360)",
    )

    blend = take.add_argument_group("how the Blender file is made")
    blend.add_argument(
        "--onto",
        type=Path,
        metavar="FILE.blend",
        help="put the take onto an armature of this file; -o becomes a copy of it",
    )
    blend.add_argument(
        "--armature",
        metavar="NAME",
        help="the armature object in that file (default: its only one)",
    )
    blend.add_argument(
        "--root",
        choices=("object", "bone", "hips", "in-place"),
        help="what carries the character over the ground (default: a bone above the hips, else the object)",
    )
    blend.add_argument(
        "--root-bone", metavar="NAME", help="the bone of that armature for --root bone"
    )
    blend.add_argument(
        "--frame",
        type=int,
        help="the take's first frame in that file (default: where its scene starts)",
    )
    blend.add_argument(
        "--track", metavar="NAME", help="put the action onto a new NLA track in that file"
    )
    blend.add_argument(
        "--fewer-keys",
        type=float,
        metavar="METRES",
        help="how far bones may be from their places, in exchange for fewer keys, such as 0.002",
    )


def _default(value: object) -> str:
    return format(value, ".3g") if isinstance(value, float) else str(value).lower()


def _thresholds_help() -> str:
    """The thresholds of proposed tags and their defaults, for the end of a help text."""
    lines = [f"  {f.name:26}{_default(f.default)}" for f in fields(AutoTagSettings)]
    return "\n".join(
        [
            "thresholds of --auto-tags for --set (m/s, radians, seconds, parts) and their defaults:",
            *lines,
        ]
    )


def _settings_help() -> str:
    """The performer's settings and their defaults, for the end of a help text."""
    by_data = {
        "walk": "the data's speeds",
        "run": "the data's speeds",
        "turn_limit": "the data's turns",
        "weights": "the feature preset's",
    }
    lines = [
        f"  {f.name:26}{by_data.get(f.name) or _default(f.default)}"
        for f in fields(PerformerSettings)
    ]
    return "\n".join(
        [
            "settings for --set (seconds, metres, radians) and their defaults:",
            *lines,
            "",
            "walk and run take one speed in m/s, or three: forward, to the side, back.",
            "weights takes one for each feature that 'inspect' lists, such as weights=1,1,1,1,1,1,1.5.",
        ]
    )
