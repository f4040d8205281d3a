"""Actions on an armature object into clips, at the scene's frame rate.

Curves are read in bulk where they alone move the bones; else Blender evaluates the rig frame by frame. Both give the
same poses, and the result names the way that was taken. Bones that an action does not key rest in its clip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..engine.errors import MotionDataError, RigError
from ..engine.maths import quat
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from . import actions, curve_poses, evaluation
from .armature import skeleton_of
from .bake import scene_fps
from .matrices import similarity


@dataclass(frozen=True)
class Sampled:
    """A clip, why it was evaluated (empty where its curves were read), whether the action is a cycle, its first frame.

    `last` is the last frame that was asked for, which the clip may not reach.
    """

    clip: Clip
    evaluated_because: str
    cyclic: bool
    first: int
    last: int

    @property
    def way(self) -> str:
        """How the clip was made, in words."""
        return f"evaluated because {self.evaluated_because}" if self.evaluated_because else "read from its curves"


def sample(
    obj: bpy.types.Object,
    chosen: Sequence[bpy.types.Action],
    *,
    bones: str | None = None,
    frames: tuple[int, int] | None = None,
    evaluate: bool = False,
    at_most: int | None = None,
) -> list[Sampled]:
    """A clip of each action, played on the armature object by itself: without NLA, other bones at rest.

    `bones` as for `armature.skeleton_of`; `frames` are the first and the last one, else each action's own. `evaluate`
    asks for Blender's evaluation where curves would do, and `at_most` has it end after that many frames. The file is
    left as it was found. RigError where the object cannot be sampled, MotionDataError where an action does not move its
    bones.
    """
    target = _Target.of(obj, bones)
    jobs = [_job(target, action, frames, evaluate) for action in chosen]
    clips = {job: target.read(job) for job in jobs if not job.obstacle}
    if len(clips) < len(jobs):
        with evaluation.stage(obj) as scene, actions.undisturbed(obj), evaluation.at_rest(obj):
            for job in jobs:
                if job.obstacle:
                    with actions.assigned(obj, job.action, job.slot):
                        clips[job] = target.evaluate(scene, job.frames[:at_most], job.action.name)
    return [Sampled(clips[job], job.obstacle, actions.is_cyclic(job.action), job.frames[0], job.frames[-1]) for job in jobs]


def joined(pieces: Sequence[Sampled]) -> Sampled:
    """Samples of one action that follow each other, as one."""
    clips = [piece.clip for piece in pieces]
    rotations = quat.unroll(np.concatenate([clip.rotations for clip in clips]))
    clip = replace(clips[0], positions=np.concatenate([clip.positions for clip in clips]), rotations=rotations)
    return replace(pieces[0], clip=clip)


def sample_played(obj: bpy.types.Object, first: int, last: int, *, bones: str | None = None) -> Clip:
    """A clip of what the armature object plays in these frames: its NLA with the assigned action, posed as it is.

    The file is left as it was found. RigError where the object cannot be sampled.
    """
    target = _Target.of(obj, bones)
    with evaluation.stage(obj) as scene:
        return target.evaluate(scene, range(first, last + 1), obj.name)


@dataclass(frozen=True, eq=False)
class _Job:
    """An action to sample, and why its curves are not enough."""

    action: bpy.types.Action
    slot: Any
    frames: range
    channels: curve_poses.Channels
    obstacle: str


def _job(target: _Target, action: bpy.types.Action, frames: tuple[int, int] | None, evaluate: bool) -> _Job:
    obj = target.obj
    slot = actions.slot_for(action, obj)
    curves = actions.curves_of(action, slot)
    if not any(bone in obj.data.bones for bone in actions.moved_bones(curves)):
        raise MotionDataError(f"action '{action.name}' moves no bone of armature '{obj.name}'; choose another action.")
    first, last = frames or actions.frame_range(action, curves)
    channels = curve_poses.Channels(curves, range(first, last + 1))
    obstacle = "that was asked for" if evaluate else curve_poses.obstacle(obj, channels, target.skeleton.names)
    return _Job(action, slot, range(first, last + 1), channels, obstacle)


@dataclass(frozen=True)
class _Target:
    """An armature object while it is sampled."""

    obj: bpy.types.Object
    skeleton: Skeleton
    fps: float

    @classmethod
    def of(cls, obj: bpy.types.Object, bones: str | None) -> _Target:
        if obj.mode == "EDIT":
            raise RigError(f"armature '{obj.name}' is being edited; leave Edit Mode first.")
        scenes = obj.users_scene
        current = bpy.context.scene
        # an armature of another scene goes at the rate of that one
        return cls(obj, skeleton_of(obj, bones), scene_fps(current if current in scenes or not scenes else scenes[0]))

    def read(self, job: _Job) -> Clip:
        names, parents = self.skeleton.names, self.skeleton.parents
        return self._clip(job.action.name, *curve_poses.poses(self.obj, job.channels, names, parents))

    def evaluate(self, scene: bpy.types.Scene, frames: range, name: str) -> Clip:
        names, parents = self.skeleton.names, self.skeleton.parents
        return self._clip(name, *evaluation.evaluate(scene, self.obj, frames, names, parents))

    def _clip(self, name: str, rotations: np.ndarray, positions: np.ndarray, worlds: np.ndarray) -> Clip:
        """The clip of local poses in units of the armature, and the object's matrices (F, 4, 4) or one for all frames."""
        turns, places, scales = (part[:, None] for part in similarity(worlds, self.obj.name))
        roots = self.skeleton.parents < 0
        positions *= scales[..., None].astype(np.float32)
        positions[:, roots] = quat.mul_vec(turns, positions[:, roots].astype(np.float64)) + places
        rotations[:, roots] = quat.mul(turns, rotations[:, roots].astype(np.float64))
        return Clip(name, self.skeleton, positions, quat.unroll(quat.normalize(rotations)), self.fps)
