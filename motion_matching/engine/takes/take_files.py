"""Write takes as arrays in an `.npz`, for programs that learn from motion or draw it.

A file holds one take, or many one after the other. What it holds is said once, in `ARRAYS`: the
file describes itself by that table, the reader checks by it, and the manual shows it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..control.rollout import Take
from ..database.database import Database
from ..errors import MotionDataError, MotionMatchingError
from ..files import array_files, json_files
from ..files.json_files import EntryError
from ..ground.ground import FLAT
from ..maths.rotations import quat
from ..performance.intent import Intent
from .baking import compute_toe_positions

FORMAT = "motion-matching takes"
VERSION = 1
_CONVENTIONS = (
    "Z is up, the ground is XY, and a heading of 0 faces -Y; metres, seconds, radians; quaternions "
    "are w, x, y, z"
)


class ArrayKind(NamedTuple):
    """One array of a file: its type, its shape, the unit of its values, and what they are.

    Letters in the shape stand for K takes, F frames, B bones and L feet.
    """

    dtype: type
    shape: tuple[str | int, ...]
    unit: str
    meaning: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return {**self._asdict(), "dtype": np.dtype(self.dtype).name}


ARRAYS: Mapping[str, ArrayKind] = MappingProxyType(
    {
        "take_starts": ArrayKind(np.int64, ("K",), "", "First frame of each take"),
        "take_stops": ArrayKind(np.int64, ("K",), "", "Frame after the last one of each take"),
        "parents": ArrayKind(
            np.int32, ("B",), "", "Parent of each bone; -1 for bone 0, the character on the ground"
        ),
        "rest_positions": ArrayKind(
            np.float32, ("B", 3), "m", "Positions at rest, in the parent's axes"
        ),
        "rest_rotations": ArrayKind(
            np.float32, ("B", 4), "", "Rotations at rest, in the parent's axes"
        ),
        "foot_bones": ArrayKind(np.int32, ("L",), "", "Bone of each foot that stands: its toe"),
        "local_positions": ArrayKind(
            np.float32, ("F", "B", 3), "m", "Positions in the parent's axes; bone 0 in the world"
        ),
        "local_rotations": ArrayKind(
            np.float32, ("F", "B", 4), "", "Rotations in the parent's axes; bone 0 in the world"
        ),
        "joint_positions": ArrayKind(np.float32, ("F", "B", 3), "m", "Positions in the world"),
        "joint_velocities": ArrayKind(
            np.float32, ("F", "B", 3), "m/s", "Velocities in the world, by central differences"
        ),
        "character": ArrayKind(
            np.float32, ("F", 3), "m, m, rad", "Place x, y and heading of the character"
        ),
        "simulation": ArrayKind(
            np.float32, ("F", 3), "m, m, rad", "The same of the simulation object it follows"
        ),
        "contacts": ArrayKind(
            np.bool_, ("F", "L"), "", "Whether a foot stands in the frame played"
        ),
        "planted": ArrayKind(np.bool_, ("F", "L"), "", "Whether a foot is held in place"),
        "wished_velocity": ArrayKind(np.float32, ("F", 2), "m/s", "Desired velocity in the world"),
        "wished_heading": ArrayKind(np.float32, ("F",), "rad", "Desired heading"),
        "wished_gait": ArrayKind(np.float32, ("F",), "", "Desired gait, from 0, walk, to 1, run"),
        "wished_tags": ArrayKind(
            np.uint32, ("F",), "", "Tags that are asked for, a bit each in the order of `tags`"
        ),
        "pushes": ArrayKind(np.float32, ("F", 2), "m/s", "Velocity that a push adds at once"),
        "blocked": ArrayKind(np.bool_, ("F",), "", "Whether an obstacle prevents what is wished"),
        "frames": ArrayKind(np.int32, ("F",), "", "Frame of the database that is played"),
        "clips": ArrayKind(
            np.int32, ("F",), "", "Clip that this frame is of, by its place in the header"
        ),
        "clip_frames": ArrayKind(np.int32, ("F",), "", "Frame of that clip's file"),
        "mirrored": ArrayKind(np.bool_, ("F",), "", "Whether the clip is played mirrored"),
        "tags": ArrayKind(
            np.uint32, ("F",), "", "Tags of the frame played, a bit each in the order of `tags`"
        ),
        "rates": ArrayKind(np.float32, ("F",), "", "Tempo at which the clip is played"),
        "jumped": ArrayKind(np.bool_, ("F",), "", "Whether another part of the data begins here"),
        "costs": ArrayKind(np.float32, ("F",), "", "Cost of the frame in its search"),
    }
)
# of files in which a character goes over ground that is not level
GROUND_ARRAYS: Mapping[str, ArrayKind] = MappingProxyType(
    {
        "ground": ArrayKind(np.float32, ("F",), "m", "Height of the ground below the character"),
        "foot_ground": ArrayKind(np.float32, ("F", "L"), "m", "The same below each foot"),
    }
)
_OF_A_FRAME = frozenset(
    name for name, kind in {**ARRAYS, **GROUND_ARRAYS}.items() if kind.shape[0] == "F"
)


@dataclass(frozen=True)
class StoredTakes:
    """Takes of one character as arrays by name, see `ARRAYS`, and what a `header` says of them.

    The header has `fps`, the names of `bones`, `feet`, `clips` and `tags`, and a list of `takes`.
    """

    header: Mapping[str, Any]
    arrays: Mapping[str, np.ndarray]

    @property
    def count(self) -> int:
        """Number of takes."""
        return len(self.arrays["take_starts"])

    def get_take(self, number: int) -> dict[str, np.ndarray]:
        """Return the arrays of one take, counted from 0: only its frames of those with frames."""
        frames = slice(*(int(self.arrays[name][number]) for name in ("take_starts", "take_stops")))
        return {
            name: array[frames] if name in _OF_A_FRAME else array
            for name, array in self.arrays.items()
        }


def store_takes(
    takes: Sequence[Take],
    database: Database,
    told: Sequence[Mapping[str, Any]] = (),
    about: Mapping[str, Any] = MappingProxyType({}),
) -> StoredTakes:
    """Return takes of a database as arrays.

    `told` adds entries to each take's part of the header, and `about` adds some to the header.
    """
    clips = sorted({origin.label for origin in database.ranges})
    store = partial(_store_ground if _have_ground(takes) else _store_frames, database, clips)
    columns = [store(take) for take in takes]
    stops = np.cumsum([take.frame_count for take in takes])
    skeleton = database.skeleton
    arrays = {
        "take_starts": np.append(0, stops[:-1]),
        "take_stops": stops,
        **{n: getattr(skeleton, n) for n in ("parents", "rest_positions", "rest_rotations")},
        "foot_bones": np.array([leg.toe for leg in database.roles.legs], np.int32),
        **{name: np.concatenate([column[name] for column in columns]) for name in columns[0]},
    }
    kinds = _list_kinds(arrays)
    entries = told or [{} for _ in takes]
    header = {
        "format": FORMAT,
        "version": VERSION,
        "fps": database.fps,
        "conventions": _CONVENTIONS,
        "bones": skeleton.names,
        "feet": database.roles.leg_names,
        "clips": clips,
        "tags": database.tag_names,
        "takes": [_describe(*pair) for pair in zip(takes, entries, strict=True)],
        "arrays": {name: kind.to_dict() for name, kind in kinds.items()},
        **about,
    }
    return StoredTakes(
        json.loads(json.dumps(header)),
        {name: np.asarray(arrays[name], kind.dtype) for name, kind in kinds.items()},
    )


def save(stored: StoredTakes, path: Path | str) -> None:
    """Write takes as one uncompressed `.npz`. If that fails, MotionDataError and no file."""
    text = json.dumps(stored.header, separators=(",", ":")).encode()
    arrays = {"header": np.frombuffer(text, np.uint8), **stored.arrays}
    array_files.save_arrays(path, arrays, MotionDataError)


def load(path: Path | str) -> StoredTakes:
    """Map takes that `save` wrote. Raises MotionDataError, which says what is wrong."""
    arrays = array_files.map_arrays(path, MotionDataError)
    header = _read_header(arrays, path)
    try:
        sizes = {
            letter: len(json_files.expect_list(header.get(name), f"'{name}'"))
            for letter, name in (("K", "takes"), ("B", "bones"), ("L", "feet"))
        }
        sizes["F"] = len(arrays.get("frames", ()))
        kinds = {name: (kind.dtype, kind.shape) for name, kind in _list_kinds(arrays).items()}
        data = array_files.expect_arrays(arrays, kinds, sizes, path, MotionDataError)
        starts = data["take_starts"]
        edges = np.append(starts, sizes["F"])
        if starts[:1].any() or not np.array_equal(edges[1:], data["take_stops"]):
            raise MotionDataError(
                f"{path} has takes that do not follow one another; make it again."
            )
    except EntryError as cause:
        raise MotionDataError(f"{path} has a damaged header ({cause}); make it again.") from cause
    return StoredTakes(header, data)


def _read_header(arrays: Mapping[str, np.ndarray], path: Path | str) -> dict[str, Any]:
    raw = array_files.expect_array(arrays, "header", np.uint8, (None,), path, MotionDataError)
    try:
        header = json_files.parse(raw.tobytes(), "header")
    except MotionMatchingError as cause:
        raise MotionDataError(f"{path} has a damaged header; make it again.") from cause
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise MotionDataError(
            f"{path} holds no takes; give a file that 'take --npz', 'direct --npz' or 'generate' "
            "wrote."
        )
    if (version := header.get("version")) != VERSION:
        raise MotionDataError(
            f"{path} has format version {version}, and this program reads {VERSION}; make it again."
        )
    return header


def _list_kinds(arrays: Mapping[str, Any]) -> dict[str, ArrayKind]:
    return {**ARRAYS, **(GROUND_ARRAYS if "ground" in arrays else {})}


def _have_ground(takes: Sequence[Take]) -> bool:
    return any(take.performance.ground is not FLAT for take in takes)


def _describe(take: Take, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return a take's entry in the header."""
    performance = take.performance
    return {
        "name": take.name,
        "seed": performance.seed,
        "settings": take.settings,
        "obstacles": [box._asdict() for box in performance.obstacles],
        "walls": performance.walls,
        **told,
    }


def _store_frames(database: Database, clips: Sequence[str], take: Take) -> dict[str, np.ndarray]:
    """Return the arrays of a take that have a row for each of its F frames."""
    _, positions = quat.compute_world(take.poses, database.skeleton.parents)
    local = take.poses.transpose(0, 2, 1)
    wishes = _store_wishes(take, database)
    return {
        "local_positions": local[..., :3],
        "local_rotations": local[..., 3:],
        "joint_positions": positions,
        "joint_velocities": np.gradient(positions, 1.0 / take.fps, axis=0),
        "character": take.character,
        "simulation": take.simulation,
        "contacts": take.contacts,
        "planted": take.locked,
        "wished_velocity": take.desired_velocity,
        "wished_heading": take.desired_yaw,
        **wishes,
        "blocked": take.blocked,
        "frames": take.frames,
        **_find_sources(take, database, clips),
        "tags": np.asarray(database.tags)[take.frames],
        "rates": take.rates,
        "jumped": take.jumped,
        "costs": take.cost,
    }


def _store_ground(database: Database, clips: Sequence[str], take: Take) -> dict[str, np.ndarray]:
    """Return these and the heights of the ground."""
    height = take.performance.ground.height
    toes = compute_toe_positions(take.poses, database)[..., :2]
    return _store_frames(database, clips, take) | {
        "ground": np.array([height(x, y) for x, y in take.character[:, :2].tolist()]),
        "foot_ground": np.array([[height(x, y) for x, y in row] for row in toes.tolist()]),
    }


def _store_wishes(take: Take, database: Database) -> dict[str, np.ndarray]:
    """Return gaits (F,), tags (F,) and pushes (F, 2) that the ticks of a take ask for."""
    bits = {name: 1 << bit for bit, name in enumerate(database.tag_names)}
    # a cropped or joined take has other ticks than its performance, and asks for nothing beyond
    intents = [*take.performance.intents, *[Intent()] * take.frame_count][: take.frame_count]
    return {
        "wished_gait": np.array([intent.gait for intent in intents]),
        "wished_tags": np.array([sum(bits.get(t, 0) for t in i.tags) for i in intents]),
        "pushes": np.array([intent.push or (0.0, 0.0) for intent in intents]),
    }


def _find_sources(take: Take, database: Database, clips: Sequence[str]) -> dict[str, np.ndarray]:
    """Return the clips (F,), by place among `clips`, their frames (F,), and mirroring (F,)."""
    place = {clip: number for number, clip in enumerate(clips)}
    ranges = database.range_of_frame[take.frames]
    firsts = np.array([origin.first_source_frame for origin in database.ranges])
    steps = np.array([origin.source_frames_per_frame for origin in database.ranges])
    offsets = take.frames - np.asarray(database.starts)[ranges]
    return {
        "clips": np.array([place[origin.label] for origin in database.ranges])[ranges],
        "clip_frames": np.rint(firsts[ranges] + offsets * steps[ranges]),
        "mirrored": np.array([origin.mirrored for origin in database.ranges])[ranges],
    }
