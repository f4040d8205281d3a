"""Marks for poses: what an armature shows, keyed or posed by hand, is kept as JSON on an empty."""

from __future__ import annotations

import json
import math

import bpy
import numpy as np

from ...engine.control.performer import Placement
from ...engine.database.database import Database
from ...engine.direct.shot import shot_file
from ...engine.direct.shot.mark import Pose
from ...engine.errors import SettingsError
from ...engine.files import json_files
from ...scene.reading.moving_pose import PoseReader, ShownPose, read_shown
from ...scene.rig.root_target import RootTarget
from ..character import controls
from ..character.characters import get_armature, get_placement, get_root_target
from ..database.build import load_or_build_steps
from ..steps import Steps
from . import marks

_DIGITS = 6


def keep_pose_steps(obj: bpy.types.Object) -> Steps[str]:
    """Keep the pose that an armature shows now, on the mark of this frame or on a new one there.

    A new one within a stand asks for the pose alone: the stand says where to be. The database,
    which is built if need be, says which bones count. Returns what to report.
    """
    uid = obj.session_uid
    frame = bpy.context.scene.frame_current
    shown = read_shown(obj)
    place = get_placement(obj)
    database = yield from load_or_build_steps(obj)
    obj = get_armature(uid)
    pose, place = _read(obj, shown, database, place)
    at = [empty for empty in marks.list_leading(obj) if marks.get_frame(empty) == frame]
    empty = at[0] if at else marks.add_mark(obj, frame, place)
    if empty.library:
        raise SettingsError(f"'{empty.name}' comes from a linked file, and can be changed there.")
    mark = marks.mark_of(empty)
    if not at and marks.is_stand(obj, frame):
        mark.use_place = mark.use_facing = False
    mark.pose = json.dumps(shot_file.pose_to_dict(pose))
    mark.use_pose = True
    marks.choose(obj, empty)
    return f"The mark '{empty.name}' at frame {frame} asks for this pose"


def _read(
    obj: bpy.types.Object, shown: ShownPose, database: Database, place: Placement
) -> tuple[Pose, Placement]:
    """Return the pose of a database's bones that was shown, and where the character was."""
    root, root_bone = get_root_target(obj)
    if controls.find_rig(obj):
        root = RootTarget.HIPS
        root_bone = ""
    reader = PoseReader(obj, database, root=root, root_bone=root_bone)
    known, poses = reader.place_root(reader.read_shown(shown))
    if known != "placed":
        x, y, w, z = poses[0, [0, 1, 3, 6], 0].tolist()
        place = Placement(x, y, 2.0 * math.atan2(z, w))
    hips = database.roles.hips
    [[at]] = database.skeleton.compute_bone_positions([hips], poses)
    turns = np.round(poses[0, 3:, 1:].T.astype(float), _DIGITS).tolist()
    named = zip(database.skeleton.names[1:], turns, strict=True)
    rotations = tuple((name, (w, x, y, z)) for name, (w, x, y, z) in named)
    return Pose(rotations, round(float(at[2]), _DIGITS)), place


def read_pose(empty: bpy.types.Object) -> Pose | str | None:
    """Return the pose that a mark asks for, or None. SettingsError if its text was edited."""
    mark = marks.mark_of(empty)
    if not mark.use_pose:
        return None
    try:
        return shot_file.read_pose(json_files.parse(mark.pose or "0", "pose"), "its pose")
    except (SettingsError, json_files.EntryError):
        what = "was edited" if mark.pose else "was not kept yet"
        raise SettingsError(
            f"The mark '{empty.name}' asks for a pose that {what}; go to its frame, pose the "
            "character, and click Keep Pose at This Frame."
        ) from None
