"""Play a take beside a character, following the timeline: it is drawn, and in no file.

The character keeps its action. What moves beside it is another take, or a variant of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import bpy
import numpy as np

from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip
from ...engine.progress import ReportProgress
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.reading import sampling
from ...scene.rig.root_target import RootTarget
from ...scene.staging.body import Skin, build_skin
from .. import callbacks
from ..character.characters import get_armature, get_bone_choice, get_roles, get_root_target
from ..property_access import get_active_take, settings_of
from ..runtime import runtime
from ..sources.source_motion import find_hips, sample_steps
from ..steps import Steps, run_in_background_steps
from .take_actions import find_take_action, read_parts
from .variants import perform_variant_steps

_READING = "Reading"


class BesideMotion(NamedTuple):
    """Bones in the world: `rotations` (F, B, 4) and `positions` (F, B, 3) at `fps`."""

    rotations: np.ndarray
    positions: np.ndarray
    fps: float

    def interpolate(self, row: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the bones (B, 4) and (B, 3) at a row or between two; the ends go on."""
        row = min(max(row, 0.0), len(self.positions) - 1.0)
        before = min(int(row), max(len(self.positions) - 2, 0))
        after = min(before + 1, len(self.positions) - 1)
        share = np.float32(row - before)
        here = self.rotations[before]
        there = self.rotations[after]
        there = np.where(np.sum(here * there, axis=-1, keepdims=True) < 0.0, -there, there)
        rotations = quat.normalize(here + share * (there - here))
        positions = self.positions[before]
        return rotations, positions + share * (self.positions[after] - positions)


@dataclass(frozen=True, eq=False)
class PlayedBeside:
    """A take beside the `take` of an armature: its motion, its body, and the names of both.

    It begins at frame `first` of the timeline, where the take does, in heading `yaw`. `other` is
    the take that it is, None for a variant. `height` is that of the larger of
    both in metres, and `joints` are the bones of the armature's body.
    """

    armature: Handle
    take: Handle
    other: Handle | None
    names: tuple[str, str]
    motion: BesideMotion
    body: Skin
    first: float
    yaw: float
    height: float
    joints: tuple[str, ...]

    def find_armature(self) -> bpy.types.Object | None:
        """Return the armature if it still plays the take; else None."""
        obj: bpy.types.Object | None = self.armature.find()
        action = self.take.find()
        return obj if obj and action and is_played(obj, action) else None

    def compute_aside(self, obj: bpy.types.Object) -> np.ndarray:
        """Return how far (3,) in metres it is moved aside, to the left of where the take starts."""
        left = np.array([np.cos(self.yaw), np.sin(self.yaw), 0.0])
        return settings_of(obj).compare_apart * self.height * left

    def find_bones(self, obj: bpy.types.Object, frame: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the bones (B, 4) and (B, 3) that are seen at a frame of the timeline."""
        row = (frame - self.first) * self.motion.fps / get_scene_fps(bpy.context.scene)
        rotations, positions = self.motion.interpolate(row)
        return rotations, positions + self.compute_aside(obj)


def is_played(obj: bpy.types.Object, action: bpy.types.Action) -> bool:
    """Return whether an armature plays an action, from its NLA or as its active one."""
    data = obj.animation_data
    if data is None:
        return False
    strips = (strip for track in data.nla_tracks for strip in track.strips)
    return data.action == action or any(strip.action == action for strip in strips)


def play_beside_steps(
    obj: bpy.types.Object, action: bpy.types.Action, kind: str, other: bpy.types.Action | None
) -> Steps[str]:
    """Show another take of an armature beside it, or a variant of its own (a `kind` of these).

    Raises errors of reading an action, and of `perform_variant_steps`.
    """
    uid = obj.session_uid
    take = Handle.from_block(action, "actions")
    shown = Handle.from_block(other, "actions") if kind == "TAKE" and other else None
    first_part = min(read_parts(action), key=lambda part: part.frame)
    first = first_part.frame
    if shown:
        stage = f"{_READING} {shown.name}"
        yield stage, 0.0
        sampled = yield from sample_steps(get_armature(uid), find_take_action(shown), stage)
        clip = sampled.clip
        name = shown.name
    else:
        variant = yield from perform_variant_steps(obj, take, kind)
        clip = variant.take.to_clip()
        name = variant.name
        if get_root_target(get_armature(uid))[0] is RootTarget.IN_PLACE:
            clip = _stop_in_place(clip)
    obj = get_armature(uid)
    frames = round(first), round(first) + 1
    start = sampling.sample(
        obj, [find_take_action(take)], bones=get_bone_choice(obj), frames=frames
    )[0].clip
    roles = get_roles(settings_of(obj))
    handle = Handle.from_block(obj, "objects")

    def compute(_: ReportProgress) -> PlayedBeside:
        hips = find_hips(clip, roles)
        own = find_hips(start, roles)
        rotations, positions = (np.asarray(each, np.float32) for each in clip.compute_world())
        at = start.compute_world()[1][0]
        positions[..., :2] += (at[own, :2] - positions[0, hips, :2]).astype(np.float32)
        sizes = (_measure_height(start, own), _measure_height(clip, hips))
        return PlayedBeside(
            armature=handle,
            take=take,
            other=shown,
            names=(take.name, name),
            motion=BesideMotion(rotations, positions, clip.fps),
            body=build_skin(clip.skeleton, hips),
            first=first,
            yaw=first_part.performance.facing,
            height=max(*sizes, 1e-6),
            joints=tuple(start.skeleton.names[bone] for bone in _list_body(start, own)),
        )

    runtime.beside = yield from run_in_background_steps(compute, _READING)
    callbacks.redraw("WINDOW", "UI")
    return f"'{name}' plays beside '{take.name}'"


def _stop_in_place(clip: Clip) -> Clip:
    """Return a take whose bone 0, which carries it over the ground, stays as it begins."""
    still = replace(clip, rotations=clip.rotations.copy(), positions=clip.positions.copy())
    still.rotations[:, 0] = clip.rotations[0, 0]
    still.positions[:, 0] = clip.positions[0, 0]
    return still


def _list_body(clip: Clip, hips: int) -> list[int]:
    return [hips, *clip.skeleton.get_descendants(hips)]


def _measure_height(clip: Clip, hips: int) -> float:
    """Return how high the joints of a body reach above its lowest one at rest, in metres."""
    heights = clip.skeleton.compute_rest_world()[1][_list_body(clip, hips), 2]
    return float(np.ptp(heights))


def stop() -> None:
    """Hide what plays beside a character; may be called twice."""
    if runtime.beside is not None:
        runtime.beside = None
        callbacks.redraw("WINDOW", "UI")


def follow_changes() -> None:
    """Hide it if the armature, its take, or the other one is gone."""
    shown = runtime.beside
    if shown and not all(
        handle.find() for handle in (shown.armature, shown.take, shown.other) if handle
    ):
        stop()


def follow_selection() -> None:
    """Hide it if another take was chosen."""
    shown = runtime.beside
    obj = shown.armature.find() if shown else None
    active = get_active_take(obj) if obj else None
    if obj and (active is None or active != shown.take.find()):
        stop()
