"""Actions on an armature object into clips, at the scene's frame rate.

Curves are read in bulk where they alone move the bones; else Blender evaluates the rig frame by frame. Both give the
same poses, and the result names the way that was taken. Bones that an action does not key rest in its clip.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ..engine.errors import ChangedError, MotionDataError
from ..engine.maths import quat
from ..engine.motion.clip import Clip
from ..engine.motion.skeleton import Skeleton
from . import actions, curve_poses
from .armature import skeleton_of
from .bake import scene_fps
from .evaluation import Double, Gone
from .handle import Handle
from .matrices import similarity

_PIECE = 0.02  # seconds that Blender evaluates between two pauses
_GROWTH = 8  # times as many frames, at most, as in the piece before
_WINDOW = 128  # frames of a long action that are played at a time
_MOST_KEYS = (
    200_000  # of an action, up to which it is played itself: Blender copies all that it evaluates
)


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
        return (
            f"evaluated because {self.evaluated_because}"
            if self.evaluated_because
            else "read from its curves"
        )


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
        with Double(obj) as double:
            double.rest()
            for job in jobs:
                if job.obstacle:
                    double.play(job.action, job.slot)
                    clips[job] = target.evaluate(double, job.frames, job.name)
    return [job.sampled(clips[job]) for job in jobs]


def reading(
    obj: bpy.types.Object,
    action: bpy.types.Action,
    *,
    bones: str | None = None,
    frames: tuple[int, int] | None = None,
) -> Generator[None, None, Callable[[], Sampled]]:
    """Work that samples one action as `sample` does, in small pieces: between two of them Blender may go on.

    It returns the rest, arithmetic that knows nothing of Blender and may run in a thread. Errors as in sampling,
    MotionDataError where the action or its curves change meanwhile, and ChangedError where the armature does.
    """
    target = _Target.of(obj, bones)
    job = _job(obj, target, action, frames, False)
    standing = _Standing.of(obj, job.channels.paths)
    source = Handle.of(action, "actions") if job.obstacle and job.key_count <= _MOST_KEYS else None
    for curve in () if source else actions.in_turn(action, obj, len(job.frames)):
        if curve is None:
            yield
        else:
            job.channels.hold(curve)
    if not job.obstacle:
        return lambda: job.sampled(target.read(job))
    pieces = None
    while pieces is None:
        yield
        with suppress(Gone):  # then all is read again, as what else undo has changed is not known
            pieces = yield from _evaluated(standing, target, job, source)
    return lambda: job.sampled(_joined(pieces))


def _evaluated(
    standing: _Standing, target: _Target, job: _Job, source: Handle | None
) -> Generator[None, None, list[Clip]]:
    """Work that evaluates a job in pieces, of the action itself or without one of the curves that its channels hold."""
    pieces: list[Clip] = []
    total, count = len(job.frames), 1
    window = total if source else min(_WINDOW, total)
    with Double(standing.found()) as double:
        double.rest()
        double.scene.frame_set(job.frames[0])  # which takes the longest, even without an action
        yield
        for start in range(0, total, window):
            stop = min(start + window, total)
            if source:
                obj, action = standing.found(), _found(source)
                double.play(action, actions.slot_for(action, obj))
            else:
                keys = slice(stop - window, stop)  # as many as before
                yield from actions.fill(
                    double.own_action(), list(job.channels.held(keys)), job.channels.frames[keys]
                )
            done = start
            while done < stop:
                began, there = time.perf_counter(), slice(done, min(done + count, stop))
                pieces.append(target.evaluate(double, job.frames[there], job.name))
                done, each = there.stop, (time.perf_counter() - began) / (there.stop - there.start)
                count = max(1, min(round(_PIECE / each), _GROWTH * count))
                yield
                standing.found()
                if source:
                    _found(source)
    return pieces


def _found(source: Handle) -> bpy.types.Action:
    action = source.find()
    if action is None:
        raise MotionDataError(f"action '{source.name}' was deleted while it was read; try again.")
    return action


@dataclass(frozen=True)
class _Standing:
    """What each piece of a motion has to find as the first one did: bones, how they rest, and where the object is by what
    is not `moved`."""

    owner: Handle
    moved: Container[str]
    found_first: tuple[Any, ...]

    @classmethod
    def of(cls, obj: bpy.types.Object, moved: Container[str]) -> _Standing:
        return cls(Handle.of(obj, "objects"), moved, cls._of(obj, moved))

    def found(self) -> bpy.types.Object:
        """The object. ChangedError where it is not what it was."""
        obj = self.owner.find()
        if obj is None:
            raise ChangedError(
                f"armature '{self.owner.name}' was deleted while its motion was read; start again."
            )
        _not_edited(obj)
        if self._of(obj, self.moved) != self.found_first:
            raise ChangedError(
                f"armature '{obj.name}' was changed while its motion was read; start again."
            )
        return obj

    @staticmethod
    def _of(obj: bpy.types.Object, moved: Container[str]) -> tuple[Any, ...]:
        rests = np.empty(16 * len(obj.data.bones), dtype=np.float32)
        obj.data.bones.foreach_get("matrix_local", rests)
        own = {
            name: values
            for name, values in curve_poses.own_values(obj).items()
            if name not in moved
        }
        return [bone.name for bone in obj.data.bones], rests.tobytes(), own


def _not_edited(obj: bpy.types.Object) -> None:
    if obj.mode == "EDIT":
        raise ChangedError(f"armature '{obj.name}' is being edited; leave Edit Mode first.")


def _joined(pieces: Sequence[Clip]) -> Clip:
    """Clips that follow each other, as one."""
    rotations = quat.unroll(np.concatenate([clip.rotations for clip in pieces]))
    return replace(
        pieces[0],
        positions=np.concatenate([clip.positions for clip in pieces]),
        rotations=rotations,
    )


def sample_played(
    obj: bpy.types.Object, first: int, last: int, *, bones: str | None = None
) -> Clip:
    """A clip of what the armature object plays in these frames: its NLA with the assigned action, posed as it is.

    The file is left as it was found. RigError where the object cannot be sampled.
    """
    target = _Target.of(obj, bones)
    with Double(obj) as double:
        return target.evaluate(double, range(first, last + 1), obj.name)


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
    key_count: int

    def sampled(self, clip: Clip) -> Sampled:
        return Sampled(clip, self.obstacle, self.cyclic, self.frames[0])


def _job(
    obj: bpy.types.Object,
    target: _Target,
    action: bpy.types.Action,
    frames: tuple[int, int] | None,
    evaluate: bool,
) -> _Job:
    slot, names = actions.slot_for(action, obj), target.skeleton.names
    curves = actions.curves_of(action, slot)
    if not any(bone in obj.data.bones for bone in actions.moved_bones(curves)):
        raise MotionDataError(
            f"action '{action.name}' moves no bone of armature '{obj.name}'; choose another action."
        )
    first, last = frames or actions.frame_range(action, curves)
    taken = range(first, last + 1)
    channels = curve_poses.Channels(curves, taken)
    obstacle = "that was asked for" if evaluate else curve_poses.obstacle(obj, channels, names)
    body = None if obstacle else curve_poses.Body.of(obj, names)
    key_count = sum(len(curve.keyframe_points) for curve in curves)
    return _Job(
        action,
        slot,
        action.name,
        actions.is_cyclic(action),
        taken,
        channels,
        obstacle,
        body,
        key_count,
    )


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

    def evaluate(self, double: Double, frames: range, name: str) -> Clip:
        return self._clip(
            name, *double.evaluate(frames, self.skeleton.names, self.skeleton.parents)
        )

    def _clip(
        self, name: str, rotations: np.ndarray, positions: np.ndarray, worlds: np.ndarray
    ) -> Clip:
        """The clip of local poses in units of the armature, and the object's matrices (F, 4, 4) or one for all frames."""
        turns, places, scales = (part[:, None] for part in similarity(worlds, self.name))
        roots = self.skeleton.parents < 0
        positions *= scales[..., None].astype(np.float32)
        positions[:, roots] = quat.mul_vec(turns, positions[:, roots].astype(np.float64)) + places
        rotations[:, roots] = quat.mul(turns, rotations[:, roots].astype(np.float64))
        return Clip(
            name, self.skeleton, positions, quat.unroll(quat.normalize(rotations)), self.fps
        )
