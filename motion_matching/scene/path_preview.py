"""The simulation bone's path through one source, as settings move: what does not depend on them is read once.

Roles and the front of the hips are found from this source alone, so where names do not tell the roles the path may differ
a little from that of a build, which looks at all sources.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import bpy
import numpy as np

from ..engine.maths import quat
from ..engine.motion import rig
from ..engine.motion.clip import Clip
from ..engine.motion.simulation_bone import (
    GroundTrack,
    SimulationBoneSettings,
    raw_track,
    root_track,
    smoothed_track,
)
from ..engine.motion.skeleton import Skeleton
from . import actions
from .hand_path import standing
from .matrices import similarity


@dataclass(frozen=True)
class Ingredients:
    """What a path is computed from: the bones of a clip that it needs, by index, and how the clip lies in the world.

    `forward` (3,) is the hips' own; `placed` (4, 4) where the armature stood, or None for a clip that does not go along
    with it. `fps` counts frames of the clip in a second of the database.
    """

    clip: Clip
    hips: int
    spine: int
    root: int | None
    forward: np.ndarray
    fps: float
    cyclic: bool
    placed: np.ndarray | None


def ingredients(
    clip: Clip, overrides: dict[str, str], speed: float, cyclic: bool, placed: np.ndarray | None
) -> Ingredients:
    """What the path through a clip is computed from, with bones by role where they were given. RigError as in building."""
    roles = rig.find_roles(clip.skeleton, [clip], overrides)
    forward = rig.hips_forward([clip], roles)
    wanted = [bone for bone in (roles.hips, roles.spine, roles.root) if bone is not None]
    kept = sorted({bone for one in wanted for bone in (one, *clip.skeleton.ancestors(one))})
    return Ingredients(
        _with_bones(clip, kept),
        kept.index(roles.hips),
        kept.index(roles.spine),
        None if roles.root is None else kept.index(roles.root),
        forward,
        clip.fps * speed,
        cyclic,
        placed,
    )


def placed_by(obj: bpy.types.Object, action: bpy.types.Action) -> np.ndarray | None:
    """Where an armature object stands (4, 4), for an action that goes along with it; None for one that moves it itself."""
    return None if actions.moves_object(action, obj) else standing(obj)


def raw_path(found: Ingredients, source: str, now: np.ndarray) -> GroundTrack:
    """The path before it is smoothed, in the world with the armature standing where it does `now` (4, 4).

    `source` is that of `SimulationBoneSettings`. RigError where the armature is scaled unevenly, or a root bone is asked
    for and there is none.
    """
    clip = (
        found.clip
        if found.placed is None
        else _moved(found.clip, now @ np.linalg.inv(found.placed))
    )
    if source == "root":
        return root_track(clip, found.hips, found.forward, found.root)
    return raw_track(clip, found.hips, found.spine, found.forward)


def smoothed_path(
    found: Ingredients, raw: GroundTrack, settings: SimulationBoneSettings
) -> GroundTrack:
    """That path as these settings smooth it; one of a root bone stays as it is."""
    return (
        raw if settings.source == "root" else smoothed_track(raw, found.fps, settings, found.cyclic)
    )


def _with_bones(clip: Clip, kept: list[int]) -> Clip:
    """The clip with these bones alone, none of which may lack its parent."""
    old = clip.skeleton
    parents = np.array(
        [kept.index(int(parent)) if parent >= 0 else -1 for parent in old.parents[kept]]
    )
    skeleton = Skeleton(
        tuple(old.names[bone] for bone in kept),
        parents,
        old.rest_positions[kept],
        old.rest_rotations[kept],
    )
    return replace(
        clip,
        skeleton=skeleton,
        positions=clip.positions[:, kept],
        rotations=clip.rotations[:, kept],
    )


def _moved(clip: Clip, by: np.ndarray) -> Clip:
    """The clip as it is where all of it is moved, turned and scaled by a matrix (4, 4)."""
    if np.allclose(by, np.eye(4), atol=1e-7):
        return clip
    turn, place, scale = similarity(by, clip.name)
    roots = clip.skeleton.parents < 0
    positions, rotations = clip.positions * np.float32(scale), clip.rotations.copy()
    positions[:, roots] = quat.mul_vec(turn, positions[:, roots].astype(np.float64)) + place
    rotations[:, roots] = quat.mul(turn, rotations[:, roots].astype(np.float64))
    return replace(clip, positions=positions, rotations=rotations)
