"""Actions on an armature object into clips, at the scene's frame rate.

Curves are read in bulk where they alone move the bones; else Blender evaluates the rig frame by frame. Both give the
same poses, and the result names the way that was taken. Bones that an action does not key rest in its clip.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..engine.errors import ChangedError, MotionDataError
from ..engine.maths import quat
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from . import actions, curve_poses, evaluation
from .armature import skeleton_of
from .bake import scene_fps
from .handle import Handle
from .matrices import similarity

_FEW = 8  # frames that Blender evaluates first, to see how long they take, and at least
_PIECE = 0.02  # seconds that it evaluates between two pauses, if getting ready for that takes little
_READY = 0.25  # part of the evaluation that getting ready for it may take besides
_MOST_KEYS = 500  # a curve, up to which Blender copies them quicker than curves of a piece alone are made


@dataclass(frozen=True)
class Sampled:
    """A clip, why it was evaluated (empty where its curves were read), whether the action is a cycle, its first frame."""

    clip: Clip
    evaluated_because: str
    cyclic: bool
    first: int

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
) -> list[Sampled]:
    """A clip of each action, played on the armature object by itself: without NLA, other bones at rest.

    `bones` as for `armature.skeleton_of`; `frames` are the first and the last one, else each action's own, and
    `evaluate` asks for Blender's evaluation where curves would do. The file is left as it was found. RigError where the
    object cannot be sampled, MotionDataError where an action does not move its bones.
    """
    target = _Target.of(obj, bones)
    jobs = [_job(obj, target, action, frames, evaluate) for action in chosen]
    clips = {job: target.read(job) for job in jobs if not job.obstacle}
    if len(clips) < len(jobs):
        with _alone(obj) as scene:
            for job in jobs:
                if job.obstacle:
                    with actions.assigned(obj, job.action, job.slot):
                        clips[job] = target.evaluate(scene, obj, job.frames, job.name)
    return [job.sampled(clips[job]) for job in jobs]


def reading(
    obj: bpy.types.Object, action: bpy.types.Action, *, bones: str | None = None, frames: tuple[int, int] | None = None
) -> Generator[None, None, Callable[[], Sampled]]:
    """Work that samples one action as `sample` does, in small pieces: between two of them Blender may go on.

    It returns the rest, arithmetic that knows nothing of Blender and may run in a thread. Errors as in sampling,
    MotionDataError where the action or its curves change meanwhile, and ChangedError where the armature does.
    """
    owner, source, target = Handle.of(obj, "objects"), Handle.of(action, "actions"), _Target.of(obj, bones)
    job = _job(obj, target, action, frames, False)
    before = _standing(obj, job.channels.paths)
    short = job.obstacle and job.mean_keys <= _MOST_KEYS
    for curve in () if short else actions.in_turn(action, obj, len(job.frames)):
        if curve is None:
            yield
        else:
            job.channels.hold(curve)
    if not job.obstacle:
        return lambda: job.sampled(target.read(job))
    pieces: list[Clip] = []
    done, count = 0, _FEW
    while done < len(job.frames):
        yield
        began, obj, there = time.perf_counter(), owner.find(), slice(done, done + count)
        if obj is None:
            raise ChangedError(f"armature '{target.name}' was deleted while its motion was read; start again.")
        _not_edited(obj)
        if _standing(obj, job.channels.paths) != before:
            raise ChangedError(f"armature '{obj.name}' was changed while its motion was read; start again.")
        action = source.find()
        if short and action is None:
            raise MotionDataError(f"action '{job.name}' was deleted while it was read; try again.")
        # Blender copies all keys of what it is to evaluate anew: of a long action the piece alone is played
        plays = (actions.assigned(obj, action, actions.slot_for(action, obj)) if short else
                 actions.playing(obj, job.channels.held(there), job.channels.frames[there]))
        with _alone(obj) as scene, plays:
            scene.frame_set(job.frames[done])  # the first frame takes the longest
            ready = time.perf_counter()
            pieces.append(target.evaluate(scene, obj, job.frames[there], job.name))
            each = (time.perf_counter() - ready) / len(job.frames[there])
        done += len(job.frames[there])
        around = time.perf_counter() - began - each * len(job.frames[there])
        count = max(_FEW, round(max(_PIECE - around, around / _READY) / each))
    return lambda: job.sampled(_joined(pieces))


@contextmanager
def _alone(obj: bpy.types.Object) -> Iterator[bpy.types.Scene]:
    """A scene in which an object plays nothing but what it is given, from rest; after the block all is as before."""
    with (evaluation.keeping_pose(obj), evaluation.stage(obj) as scene, actions.undisturbed(obj),
          evaluation.at_rest(obj)):
        yield scene


def _standing(obj: bpy.types.Object, moved: Container[str]) -> tuple[Any, ...]:
    """What each piece of a motion has to find as the first one did: bones, how they rest, and where the object is by what
    is not `moved`."""
    rests = np.empty(16 * len(obj.data.bones), dtype=np.float32)
    obj.data.bones.foreach_get("matrix_local", rests)
    own = {name: values for name, values in curve_poses.own_values(obj).items() if name not in moved}
    return [bone.name for bone in obj.data.bones], rests.tobytes(), own


def _not_edited(obj: bpy.types.Object) -> None:
    if obj.mode == "EDIT":
        raise ChangedError(f"armature '{obj.name}' is being edited; leave Edit Mode first.")


def _joined(pieces: Sequence[Clip]) -> Clip:
    """Clips that follow each other, as one."""
    rotations = quat.unroll(np.concatenate([clip.rotations for clip in pieces]))
    return replace(pieces[0], positions=np.concatenate([clip.positions for clip in pieces]), rotations=rotations)


def sample_played(obj: bpy.types.Object, first: int, last: int, *, bones: str | None = None) -> Clip:
    """A clip of what the armature object plays in these frames: its NLA with the assigned action, posed as it is.

    The file is left as it was found. RigError where the object cannot be sampled.
    """
    target = _Target.of(obj, bones)
    with evaluation.stage(obj) as scene:
        return target.evaluate(scene, obj, range(first, last + 1), obj.name)


@dataclass(frozen=True, eq=False)
class _Job:
    """An action to sample, and why its curves are not enough; `body` is there where they are."""

    action: bpy.types.Action
    slot: Any
    name: str
    cyclic: bool
    frames: range
    channels: curve_poses.Channels
    obstacle: str
    body: curve_poses.Body | None
    mean_keys: float  # of a curve

    def sampled(self, clip: Clip) -> Sampled:
        return Sampled(clip, self.obstacle, self.cyclic, self.frames[0])


def _job(
    obj: bpy.types.Object, target: _Target, action: bpy.types.Action, frames: tuple[int, int] | None, evaluate: bool
) -> _Job:
    slot, names = actions.slot_for(action, obj), target.skeleton.names
    curves = actions.curves_of(action, slot)
    if not any(bone in obj.data.bones for bone in actions.moved_bones(curves)):
        raise MotionDataError(f"action '{action.name}' moves no bone of armature '{obj.name}'; choose another action.")
    first, last = frames or actions.frame_range(action, curves)
    taken = range(first, last + 1)
    channels = curve_poses.Channels(curves, taken)
    obstacle = "that was asked for" if evaluate else curve_poses.obstacle(obj, channels, names)
    body = None if obstacle else curve_poses.Body.of(obj, names)
    mean_keys = sum(len(curve.keyframe_points) for curve in curves) / len(curves)
    return _Job(action, slot, action.name, actions.is_cyclic(action), taken, channels, obstacle, body, mean_keys)


@dataclass(frozen=True)
class _Target:
    """What an armature object is sampled as."""

    name: str
    skeleton: Skeleton
    fps: float

    @classmethod
    def of(cls, obj: bpy.types.Object, bones: str | None) -> _Target:
        _not_edited(obj)
        scenes = obj.users_scene
        current = bpy.context.scene
        # an armature of another scene goes at the rate of that one
        fps = scene_fps(current if current in scenes or not scenes else scenes[0])
        return cls(obj.name, skeleton_of(obj, bones), fps)

    def read(self, job: _Job) -> Clip:
        names, parents = self.skeleton.names, self.skeleton.parents
        return self._clip(job.name, *curve_poses.poses(job.body, job.channels, names, parents))

    def evaluate(self, scene: bpy.types.Scene, obj: bpy.types.Object, frames: range, name: str) -> Clip:
        names, parents = self.skeleton.names, self.skeleton.parents
        return self._clip(name, *evaluation.evaluate(scene, obj, frames, names, parents))

    def _clip(self, name: str, rotations: np.ndarray, positions: np.ndarray, worlds: np.ndarray) -> Clip:
        """The clip of local poses in units of the armature, and the object's matrices (F, 4, 4) or one for all frames."""
        turns, places, scales = (part[:, None] for part in similarity(worlds, self.name))
        roots = self.skeleton.parents < 0
        positions *= scales[..., None].astype(np.float32)
        positions[:, roots] = quat.mul_vec(turns, positions[:, roots].astype(np.float64)) + places
        rotations[:, roots] = quat.mul(turns, rotations[:, roots].astype(np.float64))
        return Clip(name, self.skeleton, positions, quat.unroll(quat.normalize(rotations)), self.fps)
