"""Actions on an armature object as clips, at the scene's frame rate.

Curves are read in bulk if they alone move the bones; else Blender evaluates the rig frame by frame.
Both give the same poses. Bones that an action does not key rest in its clip.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import bpy
import numpy as np

from ...engine.errors import MotionDataError, RigChangedError
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip, join_clips
from ...engine.skeleton.skeleton import Skeleton
from ..blender.animation import actions, curve_poses
from ..blender.evaluation.evaluation import EvaluationCopy, EvaluationCopyGone
from ..blender.handle import Handle, find_read_action, find_read_armature
from ..blender.transforms.transforms import decompose_similarity
from ..rig.armature import read_rest_bytes, read_skeleton
from ..rig.fitting import read_stored_rest

_PIECE = 0.02  # seconds that Blender evaluates between two pauses
_GROWTH = 8  # how many times as many frames a piece may have as the one before
_WINDOW = 128  # frames of a long action that are played at a time
# an action with more is not played itself, because Blender copies what it evaluates
_MAX_KEYS = 200_000


@dataclass(frozen=True)
class SampledClip:
    """A clip, why it was evaluated ("" if curves were read), whether it loops, its first frame."""

    clip: Clip
    evaluated_because: str
    cyclic: bool
    first: int


def sample(
    obj: bpy.types.Object,
    chosen: Sequence[bpy.types.Action],
    *,
    bones: str | None = None,
    frames: tuple[int, int] | None = None,
    evaluate: bool = False,
) -> list[SampledClip]:
    """Sample each action as a clip, played on the armature object without NLA, other bones at rest.

    `bones` is as for `read_skeleton`; `frames` are the first and the last one, by default the
    action's; `evaluate` asks for Blender's evaluation where curves would do. The file stays as it
    was. Raises RigError if the object cannot be sampled, MotionDataError if an action does not move
    its bones.
    """
    target = SampledArmature.from_object(obj, bones)
    jobs = [_make_job(obj, target, action, frames, evaluate) for action in chosen]
    clips = {job: target.read(job) for job in jobs if not job.obstacle}
    if len(clips) < len(jobs):
        with EvaluationCopy(obj) as copy:
            copy.clear_pose()
            for job in jobs:
                if job.obstacle:
                    copy.play(job.action, job.slot)
                    clips[job] = target.evaluate(copy, job.frames, job.name)
    return [job.to_sampled(clips[job]) for job in jobs]


def read_sampled_skeleton(obj: bpy.types.Object, bones: str | None = None) -> Skeleton:
    """Read the skeleton that an armature object's actions are sampled on. RigError as there."""
    skeleton = read_skeleton(obj, bones)
    return replace(skeleton, in_files=read_stored_rest(obj, skeleton))


def sample_steps(
    obj: bpy.types.Object,
    action: bpy.types.Action,
    *,
    bones: str | None = None,
    frames: tuple[int, int] | None = None,
) -> Generator[None, None, Callable[[], SampledClip]]:
    """Sample one action as `sample` does, in small pieces between which Blender may go on.

    Returns the rest, which needs no Blender and may run in a thread. Raises what `sample` does, and
    MotionDataError or RigChangedError if the action or the armature changes meanwhile.
    """
    target = SampledArmature.from_object(obj, bones)
    job = _make_job(obj, target, action, frames, False)
    guard = _ArmatureGuard(obj, job.channels.paths)
    plays = job.obstacle and job.key_count <= _MAX_KEYS
    source = Handle.from_block(action, "actions") if plays else None
    for curve in () if source else actions.iterate_curves(action, obj, len(job.frames)):
        if curve is None:
            yield
        else:
            job.channels.load(curve)
    if not job.obstacle:
        return lambda: job.to_sampled(target.read(job))
    pieces = None
    while pieces is None:
        yield
        with suppress(EvaluationCopyGone):  # read all again: undo may have changed anything
            pieces = yield from _evaluate_steps(guard, target, job, source)

    def join() -> SampledClip:
        clip = join_clips(pieces)
        return job.to_sampled(replace(clip, rotations=quat.unroll(clip.rotations)))

    return join


def _evaluate_steps(
    guard: _ArmatureGuard, target: SampledArmature, job: _Job, source: Handle | None
) -> Generator[None, None, list[Clip]]:
    """Evaluate a job in pieces: the action itself, or one made of the curves that were loaded."""
    pieces: list[Clip] = []
    total = len(job.frames)
    count = 1
    window = total if source else min(_WINDOW, total)
    with EvaluationCopy(guard.find_unchanged()) as copy:
        copy.clear_pose()
        copy.scene.frame_set(job.frames[0])  # the slowest step, even without an action
        yield
        for start in range(0, total, window):
            stop = min(start + window, total)
            if source:
                obj = guard.find_unchanged()
                action = find_read_action(source)
                copy.play(action, actions.find_slot(action, obj))
            else:
                keys = slice(stop - window, stop)  # as many as before
                curves = list(job.channels.iterate_loaded(keys))
                scratch = copy.get_scratch_action()
                yield from actions.fill_steps(scratch, curves, job.channels.frames[keys])
            done = start
            while done < stop:
                began = time.perf_counter()
                piece = slice(done, min(done + count, stop))
                pieces.append(target.evaluate(copy, job.frames[piece], job.name))
                done = piece.stop
                each = (time.perf_counter() - began) / (piece.stop - piece.start)
                count = max(1, min(round(_PIECE / each), _GROWTH * count))
                yield
                guard.find_unchanged()
                if source:
                    find_read_action(source)
    return pieces


class _ArmatureGuard:
    """Notices changes of bones and transforms between pieces, unless the action `moved` them."""

    def __init__(self, obj: bpy.types.Object, moved: Container[str]) -> None:
        self._owner = Handle.from_block(obj, "objects")
        self._moved = moved
        self._fingerprint = self._compute_fingerprint(obj)

    def find_unchanged(self) -> bpy.types.Object:
        """Return the object; raise RigChangedError if it changed."""
        obj = find_read_armature(self._owner)
        _check_not_edited(obj)
        if self._compute_fingerprint(obj) != self._fingerprint:
            raise RigChangedError(f"'{obj.name}' was changed while it was read; start again.")
        return obj

    def _compute_fingerprint(self, obj: bpy.types.Object) -> tuple[Any, ...]:
        own = curve_poses.read_object_channels(obj, self._moved)
        return [bone.name for bone in obj.data.bones], read_rest_bytes(obj), own


def _check_not_edited(obj: bpy.types.Object) -> None:
    if obj.mode == "EDIT":
        raise RigChangedError(f"armature '{obj.name}' is being edited; leave Edit Mode first.")


@dataclass(frozen=True, eq=False)
class _Job:
    """An action to sample, and why its curves are not enough; `body` is set if they are."""

    action: bpy.types.Action
    slot: Any
    name: str
    cyclic: bool
    frames: range
    channels: curve_poses.Channels
    obstacle: str
    body: curve_poses.StaticArmature | None
    key_count: int

    def to_sampled(self, clip: Clip) -> SampledClip:
        return SampledClip(clip, self.obstacle, self.cyclic, self.frames[0])


def _make_job(
    obj: bpy.types.Object,
    target: SampledArmature,
    action: bpy.types.Action,
    frames: tuple[int, int] | None,
    evaluate: bool,
) -> _Job:
    slot = actions.find_slot(action, obj)
    names = target.skeleton.names
    curves = actions.get_active_curves(action, slot)
    if not any(bone in obj.data.bones for bone in actions.find_moved_bones(curves)):
        raise MotionDataError(
            f"action '{action.name}' moves no bone of armature '{obj.name}'; choose another action."
        )
    first, last = frames or actions.compute_frame_range(action, curves)
    sampled = range(first, last + 1)
    channels = curve_poses.Channels(curves, sampled)
    obstacle = "that was asked for" if evaluate else curve_poses.find_obstacle(obj, channels, names)
    body = None if obstacle else curve_poses.StaticArmature.from_object(obj, names)
    cyclic = actions.is_cyclic(action)
    keys = sum(len(curve.keyframe_points) for curve in curves)
    return _Job(action, slot, action.name, cyclic, sampled, channels, obstacle, body, keys)


@dataclass(frozen=True)
class SampledArmature:
    """What an armature object is sampled as: a skeleton, and clips of a rate."""

    name: str
    skeleton: Skeleton
    fps: float

    @classmethod
    def from_object(cls, obj: bpy.types.Object, bones: str | None) -> SampledArmature:
        _check_not_edited(obj)
        scenes = obj.users_scene
        current = bpy.context.scene
        # an armature of another scene goes at the rate of that one
        fps = actions.get_scene_fps(current if current in scenes or not scenes else scenes[0])
        return cls(obj.name, read_sampled_skeleton(obj, bones), fps)

    def read(self, job: _Job) -> Clip:
        names = self.skeleton.names
        parents = self.skeleton.parents
        poses = curve_poses.compute_poses(job.body, job.channels, names, parents)
        return self._build_clip(job.name, *poses)

    def evaluate(self, copy: EvaluationCopy, frames: Sequence[int], name: str) -> Clip:
        """Return what a copy of the object plays in some frames as a clip of a name."""
        poses = copy.evaluate(frames, self.skeleton.names, self.skeleton.parents)
        return self._build_clip(name, *poses)

    def _build_clip(
        self, name: str, rotations: np.ndarray, positions: np.ndarray, worlds: np.ndarray
    ) -> Clip:
        """Build the clip of local poses, in the armature's units; worlds are (F or 1, 4, 4)."""
        turns, shifts, scales = (part[:, None] for part in decompose_similarity(worlds, self.name))
        roots = self.skeleton.parents < 0
        positions *= scales[..., None].astype(np.float32)
        positions[:, roots] = quat.mul_vec(turns, positions[:, roots].astype(np.float64)) + shifts
        rotations[:, roots] = quat.mul(turns, rotations[:, roots].astype(np.float64))
        rotations = quat.unroll(quat.normalize(rotations))
        return Clip(name, self.skeleton, positions, rotations, self.fps)
