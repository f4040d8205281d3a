"""Define the command line: commands, their options, and the help that explains them."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..engine import presets
from ..engine.control.settings import BY_DATA, PerformerSettings
from ..engine.database.thresholds import AutoTagSettings
from ..engine.field.quality import TRAININGS
from ..engine.published import PUBLISHED
from ..engine.retargeting.settings import RetargetSettings
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

# Options by the title of their group: the option with what it takes, and its help. What is taken
# also says how it is read, see `_read_value`. Groups without a title are the general options.
_Groups = Mapping[str, Mapping[str, str]]

_PUBLISHED = f"--as-published {{{','.join(PUBLISHED)}}}"
_BUILD: _Groups = {
    "": {
        "sources SOURCE...": "BVH files, folders of them (with their subfolders), Blender, FBX and "
        "glTF files (.vrma too), or JSON lists of sources",
        "-o --output FILE.npz (required)": "the database to write",
        "--mirror": "add the mirror image of every source",
        "--tempo": "add every source at 0.9 and 1.1 times its speed as well",
        "--add-standing": "add built-in standing, fitted to the character, to sources in which "
        "nobody stands still",
        "--fps RATE": "frames per second of the database (default: the most common rate of the "
        "sources)",
        "--speed FACTOR": "play all sources faster by this factor, such as 1.1 (default: 1)",
        _PUBLISHED: "simulation bone, contacts and features of an article; further options take "
        "precedence",
        "--features PRESET": "feature preset, what frames are compared by: "
        f"{', '.join(presets.list_names('features'))}, or a .json file (default: default)",
        "--rig FILE.json": "bone names by role, for rigs whose legs or hips are not found "
        "automatically",
        "--simulation-bone {article,notebook,adaptive,root}": "how the simulation bone is "
        "smoothed: 'adaptive' smooths more while the character moves, 'root' uses an existing root "
        "bone as it is (default: article)",
        "--contacts {article,notebook}": "how foot contacts are found: by the toe's speed "
        "('article'), or by its movement in one frame ('notebook') (default: article)",
        "--tags FILE.json": "tags by clip, used instead of those of a source list, such as "
        '{"walk_01": [{"name": "limp", "start": 30, "stop": 90}]}',
        "--auto-tags": "tag idle, walk, run, turn_left, turn_right, strafe, back, start and stop "
        "automatically",
        "--set NAME=VALUE": "change a setting of --auto-tags, such as idle_speed=0.3; may be "
        "repeated",
        "--save-tags FILE.json": "write the tags of all clips, to edit them and use them with "
        "--tags",
        "--leave-out {odd}": "never play odd postures, such as a stumble in a run, where their "
        "gait has others (default: they are dear, see posture_weight of 'take')",
        "--keep-frames": "use all frames as they are, and say what would be mended (default: "
        "T-poses at the ends, leaps, and lost or frozen frames are left out or interpolated)",
        "--keep-floor": "leave all clips at their height, and say what would be mended (default: "
        "floors that are not at zero are moved there)",
        "--level-ground": "take all clips to be on level ground, so that none climbs (default: "
        "slopes and stairs are found from where feet stand)",
    },
    "what is read from Blender files": {
        "--armature NAME": "the armature object (default: the only one in the file)",
        "--actions A,B": "its actions (default: all that move its bones)",
        "--bones {all,deform}": "read all bones, or only those that deform (default: deform on "
        "rigs with constraints, else all)",
        "--ground-object NAME": "the object that the clips of the file were captured on, with its "
        "children, as of the first frame (default: found from where feet stand)",
    },
    "how files with several characters are read": {
        "--character NAME": "the root of a BVH file, or the armature of an FBX or glTF file "
        "(default: the one with the most joints, or actions)",
    },
    "how BVH files are read": {
        "--up AXIS": "the axis that points up (default: Y)",
        "--forward AXIS": "the axis that characters face, such as Z or X (default: Z)",
        "--scale METRES": "metres per unit of the files (default: found from the size of the "
        "skeleton)",
    },
}
_TRAIN: _Groups = {
    "": {
        "database FILE.npz": "a database made by 'build'",
        "-o --output FIELD.npz (required)": "the trained field, for 'take --controller field'; if "
        "it exists and its data and actions are unchanged, the longest step is skipped",
        _PUBLISHED: "train the field of an article, motion_fields; further options take precedence",
        "--task A,B": "what the field can be steered by: direction, or direction,speed (default: "
        "direction,speed)",
        "--tags A,B": "tags that can be requested too, such as walk,run; each multiplies the "
        "training time",
        "--metric {default,notebook}": "how states are compared: with the velocity and turn rate "
        "of the root, or, as in the notebook, without them (default: default)",
        "--plot FILE.svg": "draw how much each sweep changed the values, beside what the discount "
        "promises",
    },
    "quality and time": {
        f"--quality {{{','.join(TRAININGS)}}}": "from draft, for a first look, to full, which "
        "trains every frame; or notebook, the notebook's field, for direction and the metric "
        "notebook unless others are given (default: normal)",
        "--states COUNT": "about this many states, evenly chosen; 0 for all (normal: 8000)",
        "--neighbours COUNT": "number of actions of each state (normal: 15)",
        "--directions COUNT": "number of headings all around that values are stored for, odd "
        "(normal: 17)",
        "--sweeps COUNT": "at most this many sweeps (normal: 300)",
        "--residual VALUE": "stop once no value changes by more than this (default: 0)",
        "--discount 0..1": "share of its value that a reward keeps for every 1/30 s that it comes "
        "later (default: 0.99)",
        "--drift 0..1": "how strongly actions are drawn to the nearest state (default: 0.1)",
    },
}
_INSPECT: _Groups = {
    "": {
        "database FILE.npz": "a database made by 'build'",
        "--performance FILE.json": "compare the data with the simulation object of this recorded "
        "performance (default: of all scripts)",
        "--set NAME=VALUE": "change a setting of the controller, such as run=4; may be repeated",
        "--report FILE.json": "write the same and more as JSON, for plots of your own",
        "--plot FILE.svg": "draw pictures: where frames lead within a second, coverage, "
        "histograms, maps of the poses, and the price of jumps",
        "--map {field,umap}": "map the states of a motion field too, in the report and the "
        "pictures: by the graph of their neighbours, or by UMAP, which needs umap-learn",
    },
    "one frame instead of all": {
        "--frame CLIP:FRAME": "show what the search sees at this frame of a clip: features, costs, "
        "and why other frames win, lose or are excluded; CLIP:FRAME:mirrored for the mirror image",
        "--wish FORWARD[,LEFT]": "desired velocity in m/s at that frame, seen from the character, "
        "such as 2 or 0.5,1 (default: the clip's own trajectory)",
        "--tags A,B": "search only frames that carry all of these tags",
    },
}
_PRUNE: _Groups = {
    "": {
        "database FILE.npz": "a database made by 'build'",
        "--keep SHARE": "share of the frames that stays (default: 0.2)",
        "--performance FILE.json...": "recorded performances whose motion should stay, in addition "
        "to that of the scripts",
        "--seconds SECONDS": "length of each script that it is tried with (default: 60)",
        "--seed SEED": "seed of the scripts (default: 0)",
        "--set NAME=VALUE": "change a setting of the controller, such as run=4; may be repeated",
        "-o --output FILE.npz": "the smaller database",
        "--save-tags FILE.json": "the rest as tags 'no_use' by clip, to edit them and build with "
        "--tags",
        "--report FILE.json": "what stays, and the measures of takes with both databases",
    }
}
_TAKE: _Groups = {
    "": {"database FILE.npz": "a database made by 'build'"},
    "what to perform": {
        "--script NAME|FILE": "figure_eight, square, stop_and_go, flips, strafe_circle, random, "
        "turns, pushes, or a .json file that --save-performance wrote (default: figure_eight)",
        "--seconds SECONDS": "length of a script (default: as long as the whole script needs)",
        "--gait {walk,run}": "gait of a script (default: walk)",
        "--seed SEED": "seed of 'random', 'turns' and 'pushes' (default: 0)",
        "--tags A,B": "play only frames that carry all of these tags",
    },
    "how to perform it": {
        "--controller {matching,field}": "motion matching, or a motion field, which blends similar "
        "motion (default: matching)",
        "--field FIELD.npz": "a field written by 'train', which plans ahead (default: an untrained "
        "one, which does not)",
        "--sync 0..1": "place character and simulation object between the data (0) and the code "
        "(1)",
        _PUBLISHED: "method and controller of an article; --set changes them",
        "--settings PRESET|FILE.json": "a preset of the controller: "
        f"{', '.join(presets.list_names('controllers'))}, or one that the panel saved",
        "--set NAME=VALUE": "change a setting, such as velocity_halflife=0.2; may be repeated",
        "--beside NAME=VALUE|PRESET|METHOD|FILE.npz": "perform it again with another setting, "
        "controller preset, method (matching or field) or database, and show both; may be repeated",
    },
    "obstacles": {
        "--obstacles FILE.json": 'a list of boxes, such as [{"center": [0, -4], "size": [3, 1], '
        '"yaw": 0.5, "height": 1}], in metres and radians; yaw and height may be left out',
        "--ground-collection NAME": "the collection in --onto's file whose visible meshes are "
        "floor and obstacles: what is steeper than 50 degrees, from 0.3 m to 1.8 m above the "
        "floor, stands in the way",
    },
    "feet": {
        "--feet {baked,live,off}": "plant them knowing the contacts ahead, lock them as in a live "
        "session, or leave them as in the motion (default: baked, or off with foot_lock=false)",
        "--contacts FILE.json|blend": "when feet are planted: an edited file of --save-contacts, "
        "or a Blender file of -o with edited markers",
    },
    "what to write": {
        "-o --output FILE.blend": "a Blender file with an armature, a body, and the take as an "
        "action",
        "--bvh FILE.bvh": "the take as motion capture: Y up, centimetres, the source's bones",
        "--report FILE.json": "measures of the take and of its sources",
        "--save-performance FILE.json": "the intents and settings, to perform again with --script",
        "--save-contacts FILE.json": "when feet are planted, to edit and bake again with "
        "--contacts",
        "--preview FILE.png|mp4": "a picture of the whole take along its paths, or a film",
        "--preview-size WxH": "size of the preview in pixels (default: 1280x720, for a film "
        "640x360)",
    },
    "the Blender file": {
        "--onto FILE.blend": "put the take onto an armature of this file; -o becomes a copy of it",
        "--armature NAME": "the armature object in that file (default: the only one)",
        "--root {object,bone,hips,in-place}": "what moves the character over the ground (default: "
        "a bone above the hips, else the object)",
        "--root-bone NAME": "the bone of that armature for --root bone",
        "--frame FRAME": "first frame of the take in that file (default: the start of its scene)",
        "--track NAME": "put the action onto a new NLA track in that file",
        "--fewer-keys METRES": "distance that bones may stray in exchange for fewer keys, such as "
        "0.002",
    },
}

_DIRECT: _Groups = {
    "": {
        "database FILE.npz": "a database made by 'build'; a table of its jumps is kept beside it, "
        "as FILE.jumps.npz",
        "scene FILE.json": "what is wanted when: marks, paths and forbidden jumps; or a "
        "performance of 'take --save-performance', whose way is followed",
        "--seed SEED": "another solution that is about as good (default: the scene's)",
        "--variations COUNT": "this many clearly different solutions, by seeds from --seed on; "
        "files get numbers, such as take_1.blend",
        "--set NAME=VALUE": "change a setting, such as inertialization_halflife=0.15; may be "
        "repeated",
        "--preview": "search a quarter as far, which takes a third of the time",
    },
    "obstacles": {
        name: text
        for name, text in _TAKE["obstacles"].items()
        if name.startswith("--ground-collection")
    },
    "feet": {name: text for name, text in _TAKE["feet"].items() if name.startswith("--feet")},
    "what to write": {
        **{
            name: text
            for name, text in _TAKE["what to write"].items()
            if name.startswith(("-o", "--bvh"))
        },
        "--report FILE.json": "how marks and paths are met, with measures of the take",
    },
    "the Blender file": _TAKE["the Blender file"],
}
_RETARGET: _Groups = {
    "": {
        "source SOURCE": "a BVH, FBX, glTF or Blender file, of any skeleton",
        "--onto FILE.blend (required)": "the Blender file with the character; it stays as it is",
        "-o --output FILE.blend (required)": "its copy with the new actions",
        "--armature NAME": "the armature object of the character (default: the only one)",
        "--report FILE.json": "how bones were mapped, and measures of the feet and of all other "
        "parts beside the source's",
        "--keep-frames": "use all frames as they are, and say what would be mended (default: "
        "T-poses at the ends are left out, and lost frames are interpolated)",
        "--force": "write the actions even if they are not what the source does",
    },
    "what is read from the source": {
        "--character NAME": "the armature object to read, or the root in a BVH file (default: the "
        "only one)",
        "--actions A,B": "its actions (default: all)",
        "--up AXIS": "the axis that points up in BVH files (default: Y)",
        "--forward AXIS": "the axis that characters face in BVH files, such as Z or X (default: Z)",
        "--scale METRES": "metres per unit of BVH files (default: found from the size of the "
        "skeleton)",
    },
    "how it is retargeted": {
        "--mapping FILE.json": "bones by role of both characters, as 'Save Mapping' writes them "
        "(default: found by names and shape)",
        "--set NAME=VALUE": "change a setting, such as hand_ik=1; may be repeated",
    },
    "control rigs": {
        "--legs {ik,fk}": "what moves the legs (default: ik)",
        "--arms {ik,fk}": "what moves the arms (default: fk)",
    },
    "the new actions": {
        "--frame FRAME": "their first frame (default: the start of the file's scene)",
        "--fewer-keys METRES": "distance that bones may stray in exchange for fewer keys, such as "
        "0.002",
    },
}
_DEMO_CLIPS: _Groups = {
    "": {
        "folder FOLDER": "folder to write to; it is created if needed",
        "--seed SEED": "random seed of the variations (default: 0)",
        "--climbs": "also walks up and down ramps and stairs",
    },
}
_MORE_SETTINGS = """\
  weights                   as preset   Weight of each feature
  labels                    none        Frames of some tags with their own displacement

walk and run take one speed in m/s, or three: forward, to the side, back.
weights takes a number for each feature that 'inspect' lists, such as weights=1,1,1,1,1,1,1.5.
labels takes 'ready', or JSON: [{"tags": ["start"], "settings": {"clamp_distance": 0.3}}]."""

_REQUIRED = " (required)"


def _read_path(text: str) -> Path:
    """Return the path that an argument names; none is the current folder, as for `Path`."""
    if not text:
        raise argparse.ArgumentTypeError("no file or folder is named; is a variable empty?")
    return Path(text)


# by the first word of what an option takes; all else is text
_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("FIELD", "FILE", "FOLDER", "SOURCE"), _read_path),
    **dict.fromkeys(("COUNT", "FRAME", "SEED"), int),
    **dict.fromkeys(("0", "FACTOR", "METRES", "RATE", "SECONDS", "SHARE", "VALUE"), float),
}


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

    def add(name: str, text: str, options: _Groups, epilog: str = "") -> argparse.ArgumentParser:
        sentence = f"{text[0].upper()}{text[1:]}."
        command = commands.add_parser(
            name, help=text, description=sentence, epilog=epilog, formatter_class=_HelpFormatter
        )
        command.add_argument("--quiet", action="store_true", help="print nothing but errors")
        _add_options(command, options)
        return command

    build = add("build", "build a database from motion capture", _BUILD, _build_thresholds_help())
    build.set_defaults(speed=1.0, up="Y", forward="Z")
    text = "train a motion field, the alternative to motion matching, on a database"
    add("train", text, _TRAIN)
    take = add("take", "perform a take with a database", _TAKE, _build_settings_help())
    take.set_defaults(script="figure_eight")
    add("inspect", "report what a database holds", _INSPECT, _build_settings_help())
    text = "make a database smaller: keep what performances play and what is unlike it"
    add("prune", text, _PRUNE, _build_settings_help()).set_defaults(keep=0.2)
    text = "solve a scene of marks and paths: hit on time, with the fewest jumps"
    add("direct", text, _DIRECT, _build_settings_help())
    text = "put motion of any skeleton onto a character of a Blender file, without a database"
    retarget = add("retarget", text, _RETARGET, _build_retarget_help())
    retarget.set_defaults(up="Y", forward="Z", legs="ik", arms="fk")
    text = "write the built-in locomotion clips as motion capture (BVH)"
    add("demo-clips", text, _DEMO_CLIPS).set_defaults(seed=0)
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


def _add_options(parser: argparse.ArgumentParser, groups: _Groups) -> None:
    """Add the options of a table to a parser, in their groups."""
    for title, options in groups.items():
        group = parser.add_argument_group(title) if title else parser
        for words, text in options.items():
            *names, value = words.removesuffix(_REQUIRED).split()
            if value.startswith("--"):
                group.add_argument(value, action="store_true", help=text)
                continue
            reading = _read_value(value)
            if words.endswith(_REQUIRED):
                reading["required"] = True
            group.add_argument(*names, help=text, **reading)


def _read_value(value: str) -> dict[str, Any]:
    """Return how argparse reads what an option takes: its type, choices and default."""
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


def _list_settings(settings: type, by_data: Mapping[str, str]) -> list[str]:
    """Return lines with name, default and help of each setting; `by_data` has defaults in words."""
    defaults = {f.name: f.default for f in fields(settings)}
    lines = []
    for name, description in get_descriptions(settings).items():
        default = by_data.get(name) or _format_default(defaults[name], description.unit)
        text = f"{name:25} {default:11} {description.help}"
        lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent=" " * 40)
    return lines


def _build_thresholds_help() -> str:
    """Return the settings of automatic tags for the end of a help text."""
    lines = _list_settings(AutoTagSettings, {})
    return "\n".join(["settings of --auto-tags for --set, with defaults:", *lines])


def _build_retarget_help() -> str:
    """Return the settings of retargeting for the end of a help text."""
    lines = _list_settings(RetargetSettings, {})
    return "\n".join(["settings for --set, with defaults:", *lines])


def _build_settings_help() -> str:
    """Return the performer's settings for the end of a help text."""
    by_data = dict.fromkeys(BY_DATA, "as in data")
    lines = _list_settings(PerformerSettings, by_data)
    return "\n".join(["settings for --set, with defaults:", *lines, _MORE_SETTINGS])
