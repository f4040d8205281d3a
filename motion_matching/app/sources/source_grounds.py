"""Read the grounds that sources were captured on: found, level, or objects of the scene."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from ... import scene  # whose modules load on use: panels need this one
from ...engine.body import rig, toe_ends
from ...engine.errors import RigError, SettingsError
from ...engine.ground.ground import FLAT, Ground
from ...engine.maths.along_time import apply_savitzky_golay, compute_window, find_runs
from ...engine.maths.planar import wrap
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ...engine.motion.contacts import ContactSettings
from ...engine.motion.settings import SimulationBoneSettings
from ...engine.sources.climbs import describe_climb
from ...engine.sources.own_grounds import find_own_ground
from ..property_access import settings_of

FOUND = "FOUND"
LEVEL = "LEVEL"
OBJECT = "OBJECT"
_DECIMALS = 5  # of places that count


def has_object(source: Any) -> bool:
    """Return whether the ground of a source is an object of a scene, not just left in the file."""
    ground = source.ground_object  # in a damaged file, any block
    return isinstance(ground, bpy.types.Object) and bool(ground.users_scene)


def read_floor(source: Any) -> Ground | None:
    """Return the ground that is given for a source, as it is now; None if it is to be found.

    Raises SettingsError for an object that shows no mesh.
    """
    if source.ground == OBJECT:
        return scene.staging.ground.build_ground(_read_triangles(source))[0]
    return FLAT if source.ground == LEVEL else None


def get_content(source: Any, obj: bpy.types.Object) -> dict[str, str]:
    """Return what a database of an armature depends on of the ground; nothing if it is found.

    That is where an object lies from the motion. Raises SettingsError as `read_floor` does.
    """
    if source.ground != OBJECT:
        return {} if source.ground == FOUND else {"ground": "level"}
    owner = source.performer or obj
    blender = scene.blender
    places = [_read_triangles(source).reshape(-1, 3)]
    if source.kind == "ACTION" and not blender.animation.actions.moves_object(source.action, owner):
        places.append(blender.animation.curve_poses.compute_static_matrix(owner))
    digest = hashlib.blake2b(digest_size=16)
    for part in places:
        digest.update((part.round(_DECIMALS) + 0.0).astype("float32").tobytes())
    return {"ground": digest.hexdigest()}


def _read_triangles(source: Any) -> np.ndarray:
    ground: bpy.types.Object = source.ground_object
    triangles = scene.staging.ground.collect_object_triangles(ground)
    if not len(triangles):
        raise SettingsError(
            f"The ground of the source '{source.name}', '{ground.name}', shows no mesh in this "
            "scene; unhide it, or choose another object."
        )
    return triangles


def list_watched(obj: bpy.types.Object) -> Iterator[int]:
    """Yield the session_uids of what the grounds of an armature's sources depend on."""
    for source in settings_of(obj).sources:
        if source.ground == OBJECT and has_object(source):
            yield (source.performer or obj).session_uid
            for part in (source.ground_object, *source.ground_object.children_recursive):
                yield part.session_uid
                if part.data:
                    yield part.data.session_uid


@dataclass(frozen=True)
class ShownPlace:
    """The transform of a clip to its shown place.

    It is reflected in X = 0 if it is `mirrored`, moved by a `first` shift (3,), turned by a `yaw`
    in radians, and moved by a `last` shift (3,).
    """

    mirrored: bool = False
    first: tuple[float, float, float] = (0.0, 0.0, 0.0)
    yaw: float = 0.0
    last: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def carry(self, points: np.ndarray) -> np.ndarray:
        """Return where points (..., 3) of the clip are shown, float32."""
        return self.carry_mirrored(points * [-1.0 if self.mirrored else 1.0, 1.0, 1.0])

    def carry_mirrored(self, points: np.ndarray) -> np.ndarray:
        """Return where points (..., 3) are shown of the clip that was mirrored, if it is."""
        turned = quat.mul_vec(quat.from_yaw(np.array(self.yaw)), points + np.array(self.first))
        return np.asarray(turned + np.array(self.last), np.float32)

    def carry_yaw(self, yaws: np.ndarray) -> np.ndarray:
        """Return where facings (N,) of the clip point."""
        return np.asarray(wrap(self.yaw + (-yaws if self.mirrored else yaws)))


@dataclass(frozen=True)
class ShownGround:
    """The ground below a source, where it is shown; `told` describes the climb, "" if there is
    none.

    The `path` (F, 3) of the simulation bone lies on it. `feet` (S, 5) are the places where feet
    stand, x, y and z, the yaw of each, and the frame in the middle of that time.
    """

    path: np.ndarray
    feet: np.ndarray
    told: str = ""


def find_shown_ground(
    clip: Clip,
    names: Mapping[str, str],
    settings: tuple[ContactSettings, SimulationBoneSettings],
    floor: Ground | None,
    move: ShownPlace,
) -> ShownGround | None:
    """Return the ground of a clip, on a `floor` if that is known; None where it is level.

    Bones are given as `names` by role, or else found; a clip of something else has no ground.
    """
    contacts, bone = settings
    try:
        roles = rig.find_roles(clip.skeleton, [clip], dict(names))
    except RigError:
        return None
    clip = toe_ends.add_toe_ends(clip, toe_ends.find_toe_ends(clip.skeleton, [clip], roles))
    roles = toe_ends.use_toe_ends(roles, clip.skeleton)
    found = find_own_ground(clip, roles, contacts, floor)
    if found is None:
        return None
    ground, stands = found
    world = clip.compute_world()[1].astype(np.float64)
    way = world[:, roles.spine if bone.source == "spine" else roles.hips, :2]
    window = compute_window(bone.position_window, clip.fps, len(way))
    way = apply_savitzky_golay(way, window, bone.position_order)
    path = np.column_stack([way, ground.heights])
    told = describe_climb(ground, world[:, roles.hips]) if ground.is_uneven else ""
    feet = []
    for number, leg in enumerate(roles.legs):
        for start, stop in find_runs(stands[:, number]).tolist():
            middle = (start + stop) // 2
            toe = world[middle, leg.toe]
            ankle = world[middle, leg.foot]
            yaw = np.arctan2(toe[0] - ankle[0], ankle[1] - toe[1])
            feet.append((*toe[:2], ground.feet[middle, number], yaw, middle))
    rows = np.array(feet).reshape(-1, 5)
    placed = np.column_stack([move.carry(rows[:, :3]), move.carry_yaw(rows[:, 3]), rows[:, 4]])
    return ShownGround(move.carry(path), placed, told)
