"""Drive a control rig live: a pose of the deform bones per tick, straight to its controls.

No curve is written, and nothing but arrays of a fixed size changes. The roll control stays at rest
and so do controls that only shift a bone: the bake of what was recorded is exact, this is near.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import bpy
import numpy as np

from ...engine.errors import RigError
from ...engine.maths import quat
from ...engine.motion.skeleton import Skeleton
from ..blender.evaluation import compute_world_matrix
from ..blender.handle import Handle
from ..blender.playback import PlaybackState
from ..blender.rotation_modes import to_mode_near
from ..blender.transforms import REST, Transform, compose, decompose_similarity, read_property
from .bake_controls import ControlSettings, check_editable, check_existing, find_resting, open_graph
from .control_rig import ControlLimb, ControlRig, Switch
from .live_chain import build_levels, pose_controls
from .match import read_deform_skeleton
from .pose_graph import PoseGraph
from .solve_controls import compute_pole, list_keyed
from .switches import choose_modes, find_owner, list_switches, set_switches

_TICKS = 24  # that a measurement takes
_SWAY = 0.05  # metres and radians that it moves a character by


class ControlDriver:
    """Writes local poses of an armature's deform skeleton to its controls.

    Between `take_over` and `restore` the armature plays nothing and its switches are set. Raises
    RigError if the rig cannot be driven.
    """

    def __init__(
        self, obj: bpy.types.Object, rig: ControlRig, settings: ControlSettings | None = None
    ) -> None:
        settings = settings or ControlSettings()
        check_editable(obj)
        check_existing(obj, rig)
        limbs = tuple(replace(limb, roll="", target="") for limb in rig.limbs)
        rig = replace(rig, limbs=limbs, shift={})
        modes = choose_modes(rig, settings.legs, settings.arms)
        by_ik = [limb.name for limb in rig.limbs if modes[limb.name] == "IK"]
        by_fk = [limb.name for limb in rig.limbs if modes[limb.name] == "FK"]
        self.armature = Handle.from_block(obj, "objects")
        self.skeleton = read_deform_skeleton(obj)
        self.switches = list_switches(rig, modes)
        self._resting = find_resting(obj, rig)
        self.controls = list_keyed(rig, by_fk, by_ik)
        with open_graph(obj, self.switches, self._resting) as graph:
            self._plan(graph, rig, [limb for limb in rig.limbs if limb.name in by_ik])
        self._plan_channels(obj)
        self._chain = _Chain(self.skeleton, self._needed)
        turn, shift, scale = decompose_similarity(compute_world_matrix(obj), obj.name)
        self._stand = quat.inv(turn), shift, float(scale)
        self._saved: _Saved | None = None

    def _plan(self, graph: PoseGraph, rig: ControlRig, solved: list[ControlLimb]) -> None:
        """Note which deform bone each control follows, and what carries it."""
        bones = {**rig.place, **rig.follow}
        for limb in rig.limbs:
            bones |= dict(zip(limb.fk, limb.bones, strict=True))
        for limb in solved:
            bones |= {limb.ik: limb.bones[2], limb.pole: limb.bones[1]}
            bones |= {limb.toe: limb.bones[3]} if limb.toe and len(limb.bones) > 3 else {}
        poles = {limb.pole for limb in solved}
        placed = {*rig.place, *(limb.ik for limb in solved), *poles}
        self._needed = [*dict.fromkeys(bones[c] for c in self.controls)]
        self._needed += [b for limb in solved for b in limb.bones[:3] if b not in self._needed]
        place = {bone: i for i, bone in enumerate(self._needed)}
        self._follows = np.array([place[bones[c]] for c in self.controls])
        offsets = [graph.compute_offset(c, bones[c]) for c in self.controls]
        rotations, positions = (np.stack(part) for part in zip(*offsets, strict=True))
        self._offsets: Transform = rotations, positions
        self._levels = build_levels(graph, self.controls, [c in placed for c in self.controls])
        self._turns = np.array([c not in poles for c in self.controls])
        self._poles = [_Pole(graph, limb, self.controls.index(limb.pole), place) for limb in solved]

    def _plan_channels(self, obj: bpy.types.Object) -> None:
        """Note where the channels of controls are among those of all bones."""
        names = [bone.name for bone in obj.pose.bones]
        self._at = np.array([names.index(control) for control in self.controls])
        modes = [obj.pose.bones[control].rotation_mode for control in self.controls]
        if unusual := [c for c, m in zip(self.controls, modes, strict=True) if m == "AXIS_ANGLE"]:
            raise RigError(
                f"control '{unusual[0]}' of '{obj.name}' turns by axis and angle, which cannot be "
                "driven live; choose a quaternion or Euler angles as its rotation mode."
            )
        self._quaternions = np.array([i for i, m in enumerate(modes) if m == "QUATERNION"], int)
        eulers = sorted({mode for mode in modes if mode != "QUATERNION"})
        self._eulers = [(m, np.array([i for i, n in enumerate(modes) if n == m])) for m in eulers]
        still = [names.index(name) for name in sorted(self._resting)]
        self._still = np.array(still, int)

    def take_over(self) -> None:
        """Save pose, switches and action, and take the action off."""
        obj = self._find()
        self._saved = _Saved.capture(obj, self.switches)
        self._values = {name: values.copy() for name, values in self._saved.bones.items()}
        for name, values in self._values.items():
            values[self._still] = REST[name]
        self._values["scale"][self._at] = 1.0
        obj.pose.bones.foreach_set("scale", self._values["scale"].ravel())
        set_switches(obj, self.switches)

    def write(self, rotations: np.ndarray, positions: np.ndarray) -> None:
        """Show a local pose, rotations (B, 4) and positions (B, 3) in metres; Blender updates."""
        obj = self._find()
        turned, placed = self._chain.compute(rotations, positions)
        back, shift, scale = self._stand
        deform = quat.mul(back, turned), quat.mul_vec(back, placed - shift) / scale
        followed = deform[0][self._follows], deform[1][self._follows]
        wanted_r, wanted_p = compose(followed, self._offsets)
        for pole in self._poles:
            wanted_p[pole.control] = pole.compute(*deform)
        turns, shifts = pose_controls(self._levels, wanted_r, wanted_p, self._turns)
        self._set_channels(obj, turns, shifts)

    def _set_channels(self, obj: bpy.types.Object, turns: np.ndarray, shifts: np.ndarray) -> None:
        values = self._values
        values["location"][self._at] = shifts
        groups = [("rotation_quaternion", "QUATERNION", self._quaternions)]
        groups += [("rotation_euler", mode, own) for mode, own in self._eulers]
        for name, mode, own in groups:
            at = self._at[own]
            before = values[name][at].T.astype(np.float64)
            values[name][at] = to_mode_near(turns[own].T, mode, before).T
        for name in ("location", "rotation_quaternion", "rotation_euler"):
            obj.pose.bones.foreach_set(name, values[name].ravel())
        obj.update_tag()

    def restore(self) -> None:
        """Restore what `take_over` saved, once."""
        saved, self._saved = self._saved, None
        obj = self.armature.find()
        if saved is not None and obj is not None:
            saved.restore(obj)

    def _find(self) -> bpy.types.Object:
        obj: bpy.types.Object | None = self.armature.find()
        if obj is None:
            raise RigError("the armature that is driven was deleted; choose another one.")
        return obj


class _Saved:
    """The pose, switches and action of an armature before it was driven."""

    def __init__(
        self, bones: dict[str, np.ndarray], switches: list[Switch], playing: PlaybackState
    ) -> None:
        self.bones, self.switches, self.playing = bones, switches, playing

    @classmethod
    def capture(cls, obj: bpy.types.Object, switches: Sequence[Switch]) -> _Saved:
        """Save everything and take the action off."""
        bones = {name: read_property(obj.pose.bones, name) for name in REST}
        found = [(s, find_owner(obj, s)) for s in switches]
        before = [Switch(s.bone, s.name, float(o[s.name])) for s, o in found if o is not None]
        playing = PlaybackState.from_object(obj)
        playing.suspend(obj)
        return cls(bones, before, playing)

    def restore(self, obj: bpy.types.Object) -> None:
        for name, values in self.bones.items():
            obj.pose.bones.foreach_set(name, values.ravel())
        set_switches(obj, self.switches)
        self.playing.resume(obj)


class _Pole:
    """Where the pole of a limb has to be, by the poses of its deform bones."""

    def __init__(
        self, graph: PoseGraph, limb: ControlLimb, control: int, place: dict[str, int]
    ) -> None:
        self.control, self._graph, self._limb = control, PoseGraph(graph.obj), limb
        self._bones = [place[bone] for bone in limb.bones[:3]]
        pairs = zip(limb.fk[:3], limb.bones[:3], strict=True)
        self._offsets = [graph.compute_offset(control, bone) for control, bone in pairs]
        for name in (*limb.fk[:3], limb.pole):
            self._graph.get_rest(name)  # known from now on, without the armature

    def compute(self, rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
        joints = [
            compose((rotations[i : i + 1], positions[i : i + 1]), offset)
            for i, offset in zip(self._bones, self._offsets, strict=True)
        ]
        return compute_pole(self._graph, self._limb, joints)[0]


class _Chain:
    """World poses of some bones of a skeleton, level by level."""

    def __init__(self, skeleton: Skeleton, names: Sequence[str]) -> None:
        wanted = [skeleton.index(name) for name in names]
        needed = sorted({b for bone in wanted for b in skeleton.get_chain_to_root(bone)})
        depths = np.array([skeleton.get_depth(bone) for bone in needed])
        self._levels = [np.array(needed)[depths == d] for d in range(int(depths.max()) + 1)]
        self._parents = [skeleton.parents[level] for level in self._levels]
        self._wanted = np.array(wanted)

    def compute(self, rotations: np.ndarray, positions: np.ndarray) -> Transform:
        turned, placed = rotations.astype(np.float64), positions.astype(np.float64)
        for level, parents in zip(self._levels[1:], self._parents[1:], strict=True):
            local = turned[level], placed[level]
            turned[level], placed[level] = compose((turned[parents], placed[parents]), local)
        return turned[self._wanted], placed[self._wanted]


def measure_live_rate(obj: bpy.types.Object, rig: ControlRig) -> float:
    """Return how many poses a second an armature shows when its controls are driven, in Hz.

    That counts Blender's evaluation of what follows it, such as its meshes, but not their drawing.
    """
    driver = ControlDriver(obj, rig)
    driver.take_over()
    skeleton, times = driver.skeleton, []
    try:
        for tick in range(_TICKS):
            positions, rotations = skeleton.rest_positions.copy(), skeleton.rest_rotations.copy()
            away = _SWAY * np.sin(0.5 * tick)
            positions[skeleton.parents < 0, 2] -= abs(away)
            sway = quat.from_scaled_angle_axis(np.array([away, 0.0, 0.0]))
            rotations = quat.mul(rotations.astype(np.float64), sway)
            start = time.perf_counter()
            driver.write(rotations, positions)
            bpy.context.view_layer.update()
            times.append(time.perf_counter() - start)
    finally:
        driver.restore()
        bpy.context.view_layer.update()
    return 1.0 / float(np.median(times))
