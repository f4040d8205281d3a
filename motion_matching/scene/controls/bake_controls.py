"""Bake a clip of deform bones to keys of an animator's controls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import bpy
import numpy as np

from ...engine.errors import RigChangedError, RigError, SettingsError
from ...engine.maths.rotations import quat
from ...engine.motion.clip import Clip, resample
from ...engine.progress import ShareSteps
from ...engine.skeleton.bone_names import join_quoted
from ..blender.animation import actions
from ..blender.animation.curves import build_bone_path, create_curve, write_smooth_keys
from ..blender.evaluation.channels import (
    STILL,
    Channel,
    build_rest_channels,
    build_scale_channel,
    find_unlocked_components,
    shorten,
)
from ..blender.evaluation.evaluation import EvaluationCopy, EvaluationCopyGone, compute_world_matrix
from ..blender.handle import Handle
from ..blender.id_properties import Switch, set_switches
from ..blender.transforms.rotation_modes import get_rotation_property, to_mode
from ..blender.transforms.transforms import REST, Transform, decompose_similarity
from ..rig.armature import compute_rest_frame
from ..rig.root_target import take_off_carrying
from .control_rig import ControlRig, KeyedControls, matches
from .deform import check_bones, compute_deform_poses
from .pose_graph import PoseGraph
from .solve_controls import ControlMotion, find_planted, snap_controls, solve_controls_steps
from .thinning import ControlTrack, Thinning

# writes an action of a name, onto a new NLA track if one is named
WriteAction = Callable[[str, str | None], bpy.types.Action]

_MODES = ("IK", "FK")
# nothing adds to the errors of IK, and poles are far away
_EASE_OF_POLES = 4.0
_EASE_OF_IK = 1.6
_STANCE = 0.5  # of the distance: how far a ball may be from where it rests
LOCKED = 1e-3  # radians, or units: what a locked channel may be off


@dataclass(frozen=True)
class ControlSettings:
    """Options for writing a clip to controls.

    `legs` and `arms` are 'IK' or 'FK'. `match_both` keys the other controls of a limb too, so that
    a switch between IK and FK keeps the pose. `fewer_keys` leaves out keys as long as no deform
    bone is off by more than `distance` in metres and `degrees`.
    """

    legs: str = "IK"
    arms: str = "FK"
    match_both: bool = True
    fewer_keys: bool = False
    distance: float = 0.01
    degrees: float = 2.0

    def __post_init__(self) -> None:
        for name in ("legs", "arms"):
            if getattr(self, name) not in _MODES:
                raise SettingsError(f"'{name}' is {getattr(self, name)!r}; give 'IK' or 'FK'.")
        if not self.distance > 0.0 or not self.degrees > 0.0:
            raise SettingsError("'distance' and 'degrees' must be positive.")

    def choose(self, rig: ControlRig) -> KeyedControls:
        """Return what gets keys of a rig."""
        return KeyedControls.choose(rig, self.legs, self.arms, self.match_both)


@dataclass(frozen=True)
class _ControlBake:
    """A bake: a clip at the scene's rate, and what of a rig it keys."""

    armature: Handle
    keyed: KeyedControls
    clip: Clip
    settings: ControlSettings

    @classmethod
    def prepare(
        cls,
        obj: bpy.types.Object,
        rig: ControlRig,
        clip: Clip,
        settings: ControlSettings,
        start_frame: int,
    ) -> _ControlBake:
        """Check that the rig can be keyed; raise RigError if it cannot."""
        check_editable(obj)
        check_existing(obj, rig)
        check_bones(clip, rig, obj.name)
        clip = resample(clip, actions.get_scene_fps(bpy.context.scene))
        standing = decompose_similarity(compute_world_matrix(obj), obj.name)[:2]
        clip = take_off_carrying(clip, obj, standing, start_frame)
        return cls(Handle.from_block(obj, "objects"), settings.choose(rig), clip, settings)

    @property
    def rig(self) -> ControlRig:
        return self.keyed.rig

    @property
    def obj(self) -> bpy.types.Object:
        """Return the armature. Raises RigChangedError if it is gone."""
        obj: bpy.types.Object = self.armature.require()
        return obj


def solve_bake_steps(
    obj: bpy.types.Object,
    rig: ControlRig,
    clip: Clip,
    settings: ControlSettings | None = None,
    start_frame: int = 1,
) -> ShareSteps[WriteAction]:
    """Solve a clip of deform bones for an armature's controls in pieces; return a function to write
    it.

    That makes a new action, which is assigned, or put onto a new NLA `track`. Controls keep their
    rotation modes; switches are set and keyed; controls that the description puts at rest get a key
    if they are not. Frame, mode, selection and other actions stay as they are; nothing is changed
    until it is called, and on an error nothing is left behind. Raises RigError if the rig cannot be
    keyed, and RigChangedError if the armature is gone or an undo removed what it is evaluated by.
    """
    job = _ControlBake.prepare(obj, rig, clip, settings or ControlSettings(), start_frame)
    resting = find_resting(obj, rig)
    try:
        with open_graph(obj, job.keyed.switches, resting) as graph:
            channels, tracks = yield from _build_all_steps(job, graph)
    except EvaluationCopyGone as gone:
        raise RigChangedError(f"'{job.armature.name}' was undone; start again.") from gone

    def write(name: str, track: str | None = None) -> bpy.types.Action:
        obj = job.obj
        check_existing(obj, rig)
        at_rest = [c for bone in sorted(resting) for c in _build_rest_channels(obj, bone)]
        at_rest += _build_switch_channels(obj, job.keyed.switches)
        frames = start_frame + np.arange(job.clip.frame_count, dtype=np.float64)
        with actions.create_action(name, obj, track=track, frame_start=start_frame) as action:
            for channel in (*channels, *at_rest):
                _write_channel(action, channel, frames, tracks.get(channel.path))
            set_switches(obj, job.keyed.switches)
        return action

    return write


def _build_all_steps(
    job: _ControlBake, graph: PoseGraph
) -> ShareSteps[tuple[list[Channel], dict[str, ControlTrack]]]:
    """Return the channels of all controls, and those with fewer keys by data path."""
    yield None
    planted = find_planted(job.rig, job.clip, _STANCE * job.settings.distance)
    yield None
    poses = compute_deform_poses(job.obj, job.clip)
    motions = yield from solve_controls_steps(graph, job.keyed, poses, planted)
    built = (build_channels(job.obj, name, motion) for name, motion in motions.items())
    channels = [channel for several in built for channel in several]
    if job.settings.fewer_keys and job.clip.frame_count > 2:
        return channels, (yield from _thin_steps(job, graph, motions, channels, (poses, planted)))
    return channels, {}


def _thin_steps(
    job: _ControlBake,
    graph: PoseGraph,
    motions: Mapping[str, ControlMotion],
    channels: list[Channel],
    take: tuple[Mapping[str, Transform], Mapping[str, np.ndarray]],
) -> ShareSteps[dict[str, ControlTrack]]:
    """Return channels with fewer keys, and with planted feet held, by data path."""
    poses, planted = take
    posed = graph.create_alike()
    for name, motion in motions.items():
        still = quat.IDENTITY[None]
        nowhere = np.zeros((1, 3))
        rotation = still if motion.rotation is None else motion.rotation
        posed.give_basis(name, rotation, nowhere if motion.location is None else motion.location)
    tracks = {c.path: _create_track(job, c, planted) for c in channels if c.moves}
    wanted = {}
    for name in motions:
        wanted[name] = graph.compute_pose(name)
        yield None

    def snap() -> Mapping[str, Transform]:
        return snap_controls(posed, job.keyed, poses, planted)

    thinning = Thinning(posed, list(tracks.values()), wanted, job.keyed, snap)
    scale = compute_rest_frame(job.obj)[1]
    angle = float(np.radians(job.settings.degrees))
    for _ in thinning.run_steps(job.settings.distance / scale, angle, scale):
        yield thinning.done
    return tracks


def _create_track(
    job: _ControlBake, channel: Channel, planted: Mapping[str, np.ndarray]
) -> ControlTrack:
    count = job.clip.frame_count
    legs = [limb for limb in job.rig.limbs if limb.ik == channel.group]
    stances = [planted.get(limb.name, np.zeros(count, bool)) for limb in legs]
    # rotation and location share an array, so that they hold the same frames
    holds = bool(legs and legs[0].roll)
    stance = stances[0] if holds else np.zeros(count, bool)
    alone = channel.mode and legs and not legs[0].roll
    ease = _EASE_OF_IK if alone else 1.0 if channel.mode else _choose_ease(job, channel.group)
    return ControlTrack(channel.group, channel.mode, stance, holds, np.zeros(count), ease)


def _choose_ease(job: _ControlBake, control: str) -> float:
    """Return how much more than its part of the distance a control's location may be off."""
    rig = job.rig
    bones = job.obj.data.bones
    if control in {limb.pole for limb in rig.limbs}:
        return _EASE_OF_POLES
    if control in {limb.ik for limb in rig.limbs}:
        return _EASE_OF_IK
    ends = {c.name: b for b in rig.shift.values() for c in (bones[b], *bones[b].children)}
    if (bone := ends.get(rig.shift.get(control) or rig.place.get(control, ""))) is None:
        return 1.0
    length = bones[bone].length * compute_rest_frame(job.obj)[1]  # a bone between two locations
    return min(1.0, float(np.radians(job.settings.degrees)) * length / job.settings.distance)


def _write_channel(
    action: bpy.types.Action, channel: Channel, frames: np.ndarray, track: ControlTrack | None
) -> None:
    if track is None:
        at = frames[: channel.values.shape[1]]
        actions.write_channel(action, channel.path, at, channel.values, channel.group, channel.free)
        return
    bag = actions.get_channelbag(action)
    keys = track.mask
    for component in channel.free:
        curve = create_curve(bag, channel.path, component, channel.group)
        values = track.values[component, keys]
        slopes = track.slopes[component, keys]
        write_smooth_keys(curve, frames[keys], values, slopes)


def check_editable(obj: bpy.types.Object) -> None:
    """Raise RigError if an armature is linked, or edited now."""
    if obj.library and not obj.override_library:
        raise RigError(
            f"armature '{obj.name}' is linked from another file; make a library override first "
            "(Object > Library Override > Make)."
        )
    if obj.mode == "EDIT":
        raise RigError(f"armature '{obj.name}' is being edited; leave Edit Mode first.")


def check_existing(obj: bpy.types.Object, rig: ControlRig) -> None:
    """Raise RigError if an armature lacks controls or deform bones of a description."""
    if missing := rig.find_missing(bone.name for bone in obj.data.bones):
        raise RigError(
            f"armature '{obj.name}' has no {join_quoted(missing[:3])}, which the controls of "
            f"{rig.label} need; choose another description of its controls."
        )


def find_resting(obj: bpy.types.Object, rig: ControlRig) -> frozenset[str]:
    """Return the bones that a description puts at rest and that are posed now."""
    controls = set(rig.controls)
    listed = (b for b in obj.pose.bones if b.name not in controls and matches(b.name, rig.rest))
    away = {bone.name: np.array(bone.matrix_basis) - np.eye(4) for bone in listed}
    return frozenset(name for name, matrix in away.items() if np.abs(matrix).max() > STILL)


@contextmanager
def open_graph(
    obj: bpy.types.Object, switches: Sequence[Switch], at_rest: frozenset[str]
) -> Iterator[PoseGraph]:
    """Yield the poses of an armature under its switches, without any action; it stays as it is."""
    with EvaluationCopy(obj) as copy:
        copy.stop_playing()
        set_switches(copy.armature, switches)
        copy.scene.frame_set(bpy.context.scene.frame_current)
        yield PoseGraph(copy.find_evaluated, at_rest)


def build_channels(obj: bpy.types.Object, name: str, motion: ControlMotion) -> list[Channel]:
    """Build a control's curves in its rotation mode; what stays gets a single key.

    Raises RigError if a locked channel would have to move.
    """
    bone = obj.pose.bones[name]
    path = build_bone_path(name)
    mode = bone.rotation_mode
    turns = None if motion.rotation is None else to_mode(motion.rotation.T, mode)
    shifts = None if motion.location is None else motion.location.T
    parts = (("rotation", get_rotation_property(mode), turns), ("location", "location", shifts))
    result = []
    for kind, prop, values in parts:
        if values is not None:
            values = shorten(values)
            free = find_unlocked_components(bone, kind)
            away = np.abs(values - np.array(REST[prop])[:, None]).max(axis=1)
            if any(away[i] > LOCKED for i in range(len(away)) if i not in free):
                raise RigError(explain_lock(kind, name, obj.name))
            own_mode = mode if kind == "rotation" else ""
            result.append(Channel(-1, own_mode, values, f"{path}.{prop}", name, free))
    if not np.allclose(np.array(bone.scale), 1.0, atol=1e-6):
        result.append(build_scale_channel(name))
    return [channel for channel in result if channel.free]


def explain_lock(kind: str, control: str, armature: str) -> str:
    """Say that a location or rotation that the motion needs is locked."""
    return (
        f"the {kind} of control '{control}' of '{armature}' is locked, but the motion needs it; "
        "unlock it in the sidebar (N), under Item > Transform."
    )


def _build_rest_channels(obj: bpy.types.Object, name: str) -> list[Channel]:
    """Build single keys that put a bone at rest, where it is not locked."""
    bone = obj.pose.bones[name]
    scale = replace(build_scale_channel(name), free=find_unlocked_components(bone, "scale"))
    return [*build_rest_channels(bone), scale]


def _build_switch_channels(obj: bpy.types.Object, switches: Sequence[Switch]) -> list[Channel]:
    owned = [(switch, switch.find_owner(obj)) for switch in switches]
    return [
        Channel(-1, "", np.array([[switch.value]]), switch.build_path(owner), owner.name, (0,))
        for switch, owner in owned
        if owner is not None
    ]
