"""Define the options of each command, with their help.

Options are listed by the title of their group: each with its value, which also determines how it is
read (see `Option.kind`), and its help. A group without a title holds the general options.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from ..engine.field.training.quality import TRAININGS
from ..engine.files import presets
from ..engine.performance.published import PUBLISHED

Groups = Mapping[str, Mapping[str, str]]

_REQUIRED = " (required)"
_KINDS = {  # of values, by the first word that the tables name them with; all others are texts
    **dict.fromkeys(("FIELD", "FILE", "FOLDER", "SOURCE"), "path"),
    **dict.fromkeys(("COUNT", "FRAME", "SEED"), "whole"),
    **dict.fromkeys(("0", "FACTOR", "METRES", "RATE", "SECONDS", "SHARE", "VALUE"), "number"),
    **dict.fromkeys(("GIGABYTES", "MINUTES"), "number"),
}
_PUBLISHED = f"--as-published {{{','.join(PUBLISHED)}}}"
_DATABASE = {"database FILE.npz": "a database made by 'build'"}
_SET = {"--set NAME=VALUE": "change a setting of the controller, such as run=4; may be repeated"}
_SEED = {"--seed SEED": "random seed (default: 0)"}
_AXES = {
    "--up AXIS": "axis of BVH files that points up (default: Y)",
    "--forward AXIS": "axis of BVH files that characters face, such as X or -Z (default: Z)",
    "--scale METRES": "metres per unit of BVH files (default: found from the skeleton's size)",
}
_GROUND = {
    "--ground-collection NAME": "collection of --onto's file whose visible meshes are ground and "
    "obstacles: faces steeper than 50 degrees, 0.3 m to 1.8 m above the floor, block the way"
}
_FEET = {
    "--feet {baked,live,off}": "plant feet with the coming contacts known, lock them as live, or "
    "leave them as in the motion (default: baked, or off with foot_lock=false)"
}
_MOTION = {
    "-o --output FILE.blend": "Blender file with an armature, a body, and the take as an action",
    "--bvh FILE.bvh": "the take as motion capture: Y up, centimetres, the bones of the source",
    "--npz FILE.npz": "the take as arrays: poses, joints, velocities, contacts, wishes and sources",
}
_FEWER_KEYS = {
    "--fewer-keys METRES": "largest error allowed when removing keys, such as 0.002 (default: key "
    "every frame)"
}
_BLENDER_FILE = {
    "--onto FILE.blend": "put the take onto an armature of this file; -o becomes a copy of it",
    "--armature NAME": "armature object in that file (default: the only one)",
    "--root {object,bone,hips,in-place}": "what moves the character over the ground (default: a "
    "bone above the hips, else the object)",
    "--root-bone NAME": "bone of that armature for --root bone",
    "--frame FRAME": "first frame of the take in that file (default: the start of its scene)",
    "--track NAME": "put the action onto a new NLA track in that file",
    **_FEWER_KEYS,
}

BUILD: Groups = {
    "": {
        "sources SOURCE...": "BVH files, folders (with their subfolders), Blender, FBX and glTF "
        "files (.vrma too), or JSON lists of sources",
        "-o --output FILE.npz (required)": "the database to write",
        "--mirror": "add the mirror image of every source",
        "--tempo": "add every source at 0.9 and 1.1 times its speed as well",
        "--compact": "store motion in 16 bits: 0.61 times the size, joints within 0.5 mm",
        "--add-standing": "add built-in standing, fitted to the character",
        "--fps RATE": "frames per second (default: the most common rate of the sources)",
        "--workers COUNT": "read the files in this many processes (default: 1)",
        "--cache FOLDER": "keep the motion of BVH files in a folder, up to 4 GiB, so that a later "
        "build only reads changed ones",
        "--speed FACTOR": "play all sources faster by this factor, such as 1.1 (default: 1)",
        _PUBLISHED: "simulation bone, contacts and features of an article, unless set below",
        "--features PRESET": "features that frames are compared by: "
        f"{', '.join(presets.list_names('features'))}, or a .json file (default: default)",
        "--rig FILE.json": "bone names by role, if legs or hips are not found automatically",
        "--simulation-bone {article,notebook,adaptive,root}": "smoothing of the simulation bone: "
        "'adaptive' smooths more in motion, 'root' uses an existing root bone (default: article)",
        "--contacts {article,notebook}": "find foot contacts by the toe's speed ('article'), or by "
        "its movement in one frame ('notebook') (default: article)",
        "--tags FILE.json": "tags by clip, which replace those of a source list, such as "
        '{"walk_01": [{"name": "limp", "start": 30, "stop": 90}]}',
        "--auto-tags": "tag idle, walk, run, turn_left, turn_right, strafe, back, start and stop "
        "automatically",
        "--set NAME=VALUE": "change a setting of --auto-tags, such as idle_speed=0.3; may be "
        "repeated",
        "--save-tags FILE.json": "write the tags of all clips, to edit them and use with --tags",
        "--jumps": "also find the jumps between all frames, which 'direct' otherwise does first; "
        "they are kept beside the database, as FILE.jumps.npz",
        "--leave-out {odd}": "never play odd postures, such as a stumble in a run, where their "
        "gait has others (default: make them costly, see posture_weight of 'take')",
        "--keep-frames": "keep all frames, and only report bad ones (default: T-poses at the ends, "
        "leaps, and lost or frozen frames are removed or interpolated)",
        "--keep-floor": "keep the height of all clips, and only report floors that are not at zero "
        "(default: move them there)",
        "--level-ground": "treat the ground of all clips as level, so that none climbs (default: "
        "slopes and stairs are found from where feet stand)",
    },
    "Blender files": {
        "--armature NAME": "armature object to read (default: the only one in the file)",
        "--actions A,B": "actions to read (default: all that move its bones)",
        "--bones {all,deform}": "read all bones, or only those that deform (default: deform on "
        "rigs with constraints, else all)",
        "--ground-object NAME": "object that the clips were captured on, with its children, as of "
        "the first frame (default: found from where feet stand)",
    },
    "files with several characters": {
        "--character NAME": "root of a BVH file, or armature of an FBX or glTF file (default: the "
        "one with the most joints, or actions)"
    },
    "BVH files": _AXES,
}
TRAIN: Groups = {
    "": {
        **_DATABASE,
        "-o --output FIELD.npz (required)": "the trained field, for 'take --controller field'; an "
        "existing one of the same data and actions saves the longest step",
        _PUBLISHED: "train the field of an article, motion_fields, unless set below",
        "--task A,B": "what can be requested: direction, or direction,speed (default: both)",
        "--tags A,B": "tags that can be requested too, such as walk,run; each adds as much time",
        "--metric {default,notebook}": "compare states with the velocity and turn rate of the "
        "root, or without, as the notebook does (default: default)",
    },
    "quality and time": {
        f"--quality {{{','.join(TRAININGS)}}}": "from draft, for a first look, to full, which "
        "trains every frame; or notebook, the notebook's field with its task and metric (default: "
        "normal)",
        "--states COUNT": "number of states, evenly chosen; 0 for all (normal: 8000)",
        "--neighbours COUNT": "number of actions of each state (normal: 15)",
        "--directions COUNT": "number of headings all around with a value, odd (normal: 17)",
        "--sweeps COUNT": "largest number of sweeps (normal: 300)",
        "--residual VALUE": "largest change of a value at which training stops (default: 0)",
        "--discount 0..1": "share of its value that a reward keeps for each 1/30 s it comes later "
        "(default: 0.99)",
        "--drift 0..1": "strength that draws actions to the nearest state (default: 0.1)",
    },
}
INSPECT: Groups = {
    "": {
        **_DATABASE,
        "--performance FILE.json": "compare the data with the simulation object of a recorded "
        "performance (default: of all scripts)",
        **_SET,
        "--report FILE.json": "the same and more as JSON, for plots of your own",
        "--plot FILE.svg": "pictures: where frames lead within a second, coverage, histograms, "
        "and maps of the poses",
        "--map {field,umap}": "add a map of a motion field's states to report and pictures, by the "
        "graph of their neighbours, or by UMAP, which needs umap-learn",
    },
    "one frame instead of all": {
        "--frame CLIP:FRAME": "show what the search sees at this frame of a clip: features, costs, "
        "and why other frames win, lose or are excluded; CLIP:FRAME:mirrored for the mirror image",
        "--wish FORWARD[,LEFT]": "desired velocity in m/s at that frame, seen from the character, "
        "such as 2 or 0.5,1 (default: the clip's own trajectory)",
        "--tags A,B": "search only frames that carry all of these tags",
    },
}
PRUNE: Groups = {
    "": {
        **_DATABASE,
        "--keep SHARE": "share of the frames to keep (default: 0.2)",
        "--performance FILE.json...": "recorded performances to keep the motion of, as of scripts",
        "--seconds SECONDS": "length of each script (default: 60)",
        **_SEED,
        **_SET,
        "-o --output FILE.npz": "the smaller database",
        "--save-tags FILE.json": "the rest as tags 'no_use' by clip, for 'build --tags'",
        "--report FILE.json": "what is kept, and the measures of takes with both databases",
    }
}
TAKE: Groups = {
    "": _DATABASE,
    "what to perform": {
        "--script NAME|FILE": "figure_eight, square, stop_and_go, flips, strafe_circle, random, "
        "turns, pushes, or a .json file of --save-performance (default: figure_eight)",
        "--seconds SECONDS": "length of a script (default: as long as all of it takes)",
        "--gait {walk,run}": "gait of a script (default: walk)",
        "--seed SEED": "random seed of 'random', 'turns' and 'pushes' (default: 0)",
        "--tags A,B": "play only frames that carry all of these tags",
    },
    "how to perform it": {
        "--controller {matching,field}": "motion matching, or a motion field, which blends similar "
        "motion (default: matching)",
        "--field FIELD.npz": "field made by 'train', which plans ahead (default: an untrained one)",
        "--sync 0..1": "place character and simulation object between data (0) and code (1)",
        _PUBLISHED: "method and controller of an article, unless set by --controller or --set",
        "--settings PRESET|FILE.json": "preset of the controller: "
        f"{', '.join(presets.list_names('controllers'))}, or a file saved by the panel",
        **_SET,
        "--beside NAME=VALUE|PRESET|METHOD|FILE.npz": "perform it again with another setting, "
        "controller preset, method (matching or field) or database, and show both; may be repeated",
    },
    "obstacles": {
        "--obstacles FILE.json": 'list of boxes, such as [{"center": [0, -4], "size": [3, 1], '
        '"yaw": 0.5, "height": 1}], in metres and radians; yaw and height are optional',
        **_GROUND,
    },
    "feet": {
        **_FEET,
        "--contacts FILE.json|blend": "when feet are planted: an edited file of --save-contacts, "
        "or a Blender file of -o with edited markers",
    },
    "what to write": {
        **_MOTION,
        "--report FILE.json": "measures of the take and of its sources",
        "--save-performance FILE.json": "intents and settings, to perform again with --script",
        "--save-contacts FILE.json": "when feet are planted, to edit and use with --contacts",
        "--preview FILE.png": "a sheet of pictures: the way from above, and the body on it",
        "--preview-size WxH": "size of the sheet in pixels (default: 1280x720)",
    },
    "the Blender file": _BLENDER_FILE,
}
DIRECT: Groups = {
    "": {
        "database FILE.npz": "a database made by 'build'; a table of its jumps is kept beside it, "
        "as FILE.jumps.npz",
        "scene FILE.json": "marks, paths and forbidden jumps; or a performance of "
        "'take --save-performance', whose way is followed",
        "--seed SEED": "find another solution that is about as good (default: the scene's)",
        "--variations COUNT": "find this many clearly different takes, by seeds from --seed on; "
        "files get numbers, such as take_1.blend",
        **_SET,
        "--preview": "search a quarter as far, in a third of the time",
    },
    "obstacles": _GROUND,
    "feet": _FEET,
    "what to write": {
        **_MOTION,
        "--report FILE.json": "how marks and paths are met, with measures of the take",
    },
    "the Blender file": _BLENDER_FILE,
}
GENERATE: Groups = {
    "": {
        **_DATABASE,
        "-o --output FOLDER (required)": "folder for files and card, made if needed; files that "
        "are there, made with the same options, stay",
        "--takes COUNT": "takes along random performances (default: 100)",
        "--scenes COUNT": "takes of directed scenes of marks, in files of their own (default: 0)",
        "--seconds SECONDS": "length of each (default: 20)",
        **_SEED,
        **_SET,
        **_FEET,
    },
    "what takes hold": {
        "--want NAME=VALUE|": "share of all frames in per cent, such as running=30; may be "
        "repeated. It is of standing, walking, running, turning, speed:2-3 in m/s, turn:90-180 in "
        "degrees a second, or a tag of the database (default: as much as the clips have)",
    },
    "files": {
        "--shard COUNT": "largest number of takes in a file (default: 50)",
        "--only NUMBERS": "make only some files, such as 3 or 1-4,9; those of scenes come last",
    },
}
RETARGET: Groups = {
    "": {
        "source SOURCE": "a BVH, FBX, glTF or Blender file, of any skeleton",
        "--onto FILE.blend (required)": "Blender file with the character; it does not change",
        "-o --output FILE.blend (required)": "its copy with the new actions",
        "--armature NAME": "armature object of the character (default: the only one)",
        "--report FILE.json": "mapped bones, and measures of the result beside the source",
        "--keep-frames": "keep all frames, and only report bad ones (default: T-poses at the ends "
        "are removed, lost frames interpolated)",
        "--force": "write the actions even if they are not what the source does",
    },
    "the source": {
        "--character NAME": "armature object, or root of a BVH file (default: the only one)",
        "--actions A,B": "actions to read (default: all)",
        **_AXES,
    },
    "how to retarget": {
        "--mapping FILE.json": "bones by role of both characters, as 'Save Mapping' writes them "
        "(default: found by names and shape)",
        "--set NAME=VALUE": "change a setting, such as hand_ik=1; may be repeated",
    },
    "control rigs": {
        "--legs {ik,fk}": "what moves the legs (default: ik)",
        "--arms {ik,fk}": "what moves the arms (default: fk)",
    },
    "the new actions": {
        "--frame FRAME": "first frame (default: the start of the file's scene)",
        **_FEWER_KEYS,
    },
}
DIGEST: Groups = {
    "": {
        "files FILE...": "files of any kind: Blender, FBX and USD files count by their keys, PNG "
        "files by their pixels, all others by their bytes",
        "--compare": "say whether two files are equal, or where they differ first",
    }
}
DEMO_CLIPS: Groups = {
    "": {
        "folder FOLDER": "folder to write to; it is created if needed",
        "--seed SEED": "seed of the clips: 0, the one that is shipped",
        "--climbs": "add walks up and down ramps and stairs",
    }
}

BATCH: Groups = {
    "": {
        "jobs FILE.json": "rows, each of which is a command: its keys are the long options, as in "
        '{"command": "take", "database": "walk.npz", "seed": 3, "bvh": "3.bvh"}',
        "--only NUMBERS": "rows to do, such as 6-10 or 1-5,9 (default: all)",
        "--check": "check all rows, and do none",
        "--list": "say which rows are done, stale or failed, and why, and do none",
        "--collect FILE.json": "join how rows stand and their reports in one file, and do none",
        "--force": "do rows again that are done",
    },
    "how to do them": {
        "--workers COUNT": "number of processes that do rows (default: this one alone)",
        "--retries COUNT": "how often a row is done again whose process died, or that met an error "
        "of the program or the disk (default: 1)",
        "--time-limit SECONDS": "time after which a row is stopped, and has failed (default: none)",
        "--stop-at-failure": "begin no more rows after one has failed",
        "--allow-scripts": "run scripts and Python drivers of Blender files, if you trust all of "
        "them",
    },
    "what to print": {
        "--progress {auto,openjd,none}": "show progress on a terminal, or print it for a farm that "
        "speaks OpenJD (default: auto)",
        "--json": "print a JSON object for each row",
    },
    "a farm": {
        "--template FOLDER": "write a job bundle for OpenJD and Deadline Cloud, and do no row",
        "--slurm FOLDER": "write scripts for Slurm, and do no row",
        "--flamenco FOLDER": "write a job and its type for Flamenco, and do no row",
        "--chunk COUNT": "rows of a task, which share a process (default: 10)",
        "--program PROGRAM": "what does tasks: a Python with the package, or a Blender with the "
        "extension (default: the one that runs this)",
        "--minutes MINUTES": "time after which the farm ends a task (default: the farm's)",
        "--gigabytes GIGABYTES": "memory of a task; it has a processor for each of --workers "
        "(default: the farm's)",
        "--partition NAME": "partition of Slurm (default: the cluster's)",
    },
    "workers": {"--worker FILE": ""},  # how a process of --workers is started
}

# the kinds of rows of a batch
COMMANDS: Mapping[str, Groups] = {
    "build": BUILD,
    "train": TRAIN,
    "take": TAKE,
    "inspect": INSPECT,
    "prune": PRUNE,
    "direct": DIRECT,
    "generate": GENERATE,
    "retarget": RETARGET,
    "demo-clips": DEMO_CLIPS,
}
# options that name what a command writes, by their keys; all other files are read
OUTPUTS = (
    *("output", "folder", "bvh", "npz", "preview", "plot", "report"),
    *("save_performance", "save_contacts", "save_tags"),
)


class Option(NamedTuple):
    """An entry of a table: its names, what its value is, empty for a switch, and its help."""

    names: tuple[str, ...]
    value: str
    is_required: bool
    help: str

    @property
    def key(self) -> str:
        """The name in files and among parsed arguments, such as `save_tags`."""
        return self.names[-1].lstrip("-").replace("-", "_")

    @property
    def is_positional(self) -> bool:
        """Whether the value stands without a name on the command line."""
        return not self.names[-1].startswith("-")

    @property
    def kind(self) -> str:
        """What its value is, from how the table writes it."""
        if not self.value or self.value.startswith("{"):
            return "choice" if self.value else "switch"
        if self.value in ("NAME=VALUE", "A,B"):
            return "names" if self.value == "A,B" else "changes"
        if self.value.endswith("...") or self.value.startswith("NAME=VALUE|"):
            return "paths" if self.value.endswith("...") else "texts"
        return _KINDS.get(self.value.partition(".")[0], "text")

    @property
    def choices(self) -> tuple[str, ...]:
        """The values to choose from, if its kind is that."""
        return tuple(self.value.strip("{}").split(",")) if self.kind == "choice" else ()


def read_entries(entries: Mapping[str, str]) -> Iterator[Option]:
    """Yield the options of one group of a table."""
    for words, text in entries.items():
        *names, value = words.removesuffix(_REQUIRED).split()
        if value.startswith("--"):
            yield Option((value,), "", False, text)
        else:
            is_required = words.endswith(_REQUIRED) or not names[-1].startswith("-")
            yield Option(tuple(names), value, is_required, text)


def list_options(command: str) -> list[Option]:
    """Return the options of a command, in the order of its help."""
    return [option for group in COMMANDS[command].values() for option in read_entries(group)]
