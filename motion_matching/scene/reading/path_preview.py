"""Preview the simulation bone's path through one source, while settings change.

What does not depend on the settings is read once. Roles and the front of the hips are found from
this source alone, so the path may differ a little from that of a build, which looks at all sources.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...engine.body import rig
from ...engine.motion.clip import Clip
from ...engine.motion.simulation_bone import (
    GroundTrack,
    SimulationBoneSettings,
    compute_raw_track,
    smooth_track,
)
from ...engine.retargeting.loose_hips import stiffen_hips
from ...engine.skeleton.skeleton import Skeleton
from ..blender.animation import actions
from ..blender.animation.curve_poses import compute_static_matrix
from ..blender.transforms.transforms import decompose_similarity
from ..rig.root_target import move_clip


@dataclass(frozen=True)
class PathInputs:
    """Inputs of a path: the bones of a clip that it needs, and where the clip lies.

    `hips`, `spine` and `root` are indices; `forward` (3,) is in the hips' frame. `placement` (4, 4)
    is where the armature stood, None if the clip does not go along. `fps` is the clip's in the
    database.
    """

    clip: Clip
    hips: int
    spine: int
    root: int | None
    forward: np.ndarray
    fps: float
    cyclic: bool
    placement: np.ndarray | None


def collect_path_inputs(
    clip: Clip, overrides: dict[str, str], speed: float, cyclic: bool, placement: np.ndarray | None
) -> PathInputs:
    """Collect the inputs of the path through a clip, with given bones by role."""
    roles = rig.find_roles(clip.skeleton, [clip], overrides)
    [clip] = stiffen_hips([clip], roles)
    forward = rig.find_hips_forward([clip], roles)
    named = [bone for bone in (roles.hips, roles.spine, roles.root) if bone is not None]
    above = [bone for lowest in named for bone in clip.skeleton.get_ancestors(lowest)]
    bones = sorted({*named, *above})
    hips = bones.index(roles.hips)
    spine = bones.index(roles.spine)
    root = None if roles.root is None else bones.index(roles.root)
    part = _select_bones(clip, bones)
    return PathInputs(part, hips, spine, root, forward, clip.fps * speed, cyclic, placement)


def read_placement(obj: bpy.types.Object, action: bpy.types.Action) -> np.ndarray | None:
    """Return where an armature object stands (4, 4); None for an action that moves the object."""
    return None if actions.moves_object(action, obj) else compute_static_matrix(obj)


def compute_raw_path(inputs: PathInputs, source: str, now: np.ndarray) -> GroundTrack:
    """Compute the unsmoothed path in the world, with the armature where it is `now` (4, 4).

    Raises RigError if the armature is scaled unevenly, or lacks the root bone that `source` names.
    """
    clip = inputs.clip
    if inputs.placement is not None:
        clip = _transform_clip(clip, now @ np.linalg.inv(inputs.placement))
    bones = inputs.hips, inputs.spine, inputs.forward
    return compute_raw_track(clip, *bones, source=source, root=inputs.root)


def smooth_path(
    inputs: PathInputs, raw: GroundTrack, settings: SimulationBoneSettings
) -> GroundTrack:
    """Smooth that path as these settings say."""
    return smooth_track(raw, inputs.fps, settings, inputs.cyclic)


def _select_bones(clip: Clip, bones: list[int]) -> Clip:
    """Return the clip with these bones alone; each must have its parent among them."""
    old = clip.skeleton
    parents = [bones.index(int(parent)) if parent >= 0 else -1 for parent in old.parents[bones]]
    names = tuple(old.names[bone] for bone in bones)
    rests = old.rest_positions[bones], old.rest_rotations[bones]
    positions = clip.positions[:, bones]
    rotations = clip.rotations[:, bones]
    skeleton = Skeleton(names, np.array(parents), *rests)
    return replace(clip, skeleton=skeleton, positions=positions, rotations=rotations)


def _transform_clip(clip: Clip, by: np.ndarray) -> Clip:
    """Return the clip moved, turned and scaled as a whole by a matrix (4, 4)."""
    if np.allclose(by, np.eye(4), atol=1e-7):
        return clip
    turn, shift, scale = decompose_similarity(by, clip.name)
    return move_clip(replace(clip, positions=clip.positions * np.float32(scale)), (turn, shift))
