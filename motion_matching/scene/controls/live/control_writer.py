"""Poses on the controls of a rig, tick by tick: what a bake keys, shown as the pose.

Switches are set while it shows and belong to its tracks, so that a recording plays what was shown.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import bpy
import numpy as np

from ....engine.errors import RigError
from ....engine.maths.rotations import quat
from ....engine.skeleton.bone_names import join_quoted
from ....engine.skeleton.skeleton import Skeleton
from ...blender.animation import actions
from ...blender.animation.curves import parse_bone_name
from ...blender.evaluation.channels import OBJECT_GROUP
from ...blender.evaluation.evaluation import compute_world_matrix
from ...blender.id_properties import Switch
from ...blender.transforms.transforms import (
    Transform,
    decompose_similarity,
    place_on_ground,
    see_from,
)
from ...rig.armature import to_blender_names
from ...writing.channel_writer import CarrierMove, ChannelWriter, Track
from ..bake_controls import (
    LOCKED,
    ControlSettings,
    check_editable,
    check_existing,
    explain_lock,
    find_resting,
    open_graph,
)
from ..control_rig import ControlRig, matches
from .live_solver import LiveSolver, WorldChain

_MEASURED = 24  # updates that the rate is measured over
# of a measurement on its own: most ticks, least, and time
_TICKS = 24
_FEWEST = 3
_SECONDS = 0.5
_SWAY = 0.05  # metres and radians that it moves a character by


class ControlWriter(ChannelWriter):
    """Writes poses (7, B) of a skeleton onto the controls of an armature, like a `PoseWriter`.

    The skeleton has the deform bones by name, and bone 0 in the world. `label` names the rig.
    Raises RigError if the rig cannot be driven.
    """

    def __init__(
        self,
        obj: bpy.types.Object,
        rig: ControlRig,
        skeleton: Skeleton,
        settings: ControlSettings | None = None,
    ) -> None:
        settings = settings or ControlSettings()
        check_editable(obj)
        check_existing(obj, rig)
        super().__init__(obj)
        self.label = rig.label
        keyed = settings.choose(rig)
        with open_graph(obj, keyed.switches, find_resting(obj, rig)) as graph:
            self._solver = LiveSolver(graph, keyed)
        turn, shift, scale = decompose_similarity(compute_world_matrix(obj), obj.name)
        self._stand: Transform = turn, shift
        self._scale = float(scale)
        names = to_blender_names(skeleton.names)
        bones = self._solver.bones
        if missing := [bone for bone in bones if bone not in names]:
            raise RigError(
                f"the motion has no {join_quoted(missing[:3])}, which controls of "
                f"'{self.armature.name}' move; build the database for this armature again."
            )
        self._chain = WorldChain(skeleton, names, bones, self._stand, self._scale)
        self.start = float(shift[0]), float(shift[1]), 2.0 * float(np.arctan2(turn[3], turn[0]))
        driven = self._solver.controls
        idle = _find_idle(obj, rig, driven)
        self._assign_channels(obj, [*driven, *idle], idle=idle)
        self._assign_switches(obj, keyed.switches)
        self._find_locked(obj, driven)
        self._durations = np.zeros(_MEASURED)
        self._updates = 0

    @property
    def rate(self) -> float:
        """Return how many poses a second Blender evaluates, in Hz; 0 before it is known.

        That counts what follows the rig, such as its meshes, but not their drawing.
        """
        known = self._durations[: min(self._updates, _MEASURED)]
        return 1.0 / float(np.median(known)) if self._updates >= _MEASURED // 2 else 0.0

    @property
    def bone_count(self) -> int:
        """Return how many bones the armature has."""
        return self._bone_count

    def compute_channels(self, pose: np.ndarray, before: np.ndarray) -> np.ndarray:
        """Return the channels (C,), float64, of a pose (7, B), near those `before` (C,).

        Raises RigError if a locked channel of a control would have to move.
        """
        turns, shifts = self._solver.compute(self._chain.compute(pose))
        count = len(turns)
        self._rotations[:count] = turns
        self._locations[:count] = shifts
        result = self._pack_channels(before)
        result[self._switched] = self._switch_values
        away = np.abs(result[self._locked] - self._locked_at)
        if np.any(away > LOCKED):
            raise RigError(explain_lock(*self._locked_names[np.argmax(away)], self.armature.name))
        return result

    def find_carrier_moves(self, place: tuple[float, float, float]) -> list[CarrierMove]:
        """Return how keys change when all is moved on the ground, the world's origin to a place.

        Those are the keys of controls that nothing carries, such as the torso and feet on IK.
        """
        turn, shift = see_from(self._stand, place_on_ground(place))
        shift = shift / self._scale
        moves = []
        for row, rotation, position, is_local in self._solver.iterate_world_controls():
            own = quat.mul(quat.inv_mul(rotation, turn), rotation)
            away = quat.mul_vec(turn, position) + shift - position
            linear = own if is_local else turn
            away = quat.inv_mul_vec(rotation, away) if is_local else away
            moves.append(CarrierMove(*self._tracks_by_row[row], own, linear, away))
        return moves

    def _update(self) -> None:
        began = time.perf_counter()
        super()._update()
        self._durations[self._updates % _MEASURED] = time.perf_counter() - began
        self._updates += 1

    def _assign_switches(self, obj: bpy.types.Object, switches: Sequence[Switch]) -> None:
        """Assign channels to the switches, after all others; each keeps its value."""
        found = [(switch, switch.find_owner(obj)) for switch in switches]
        known = [(switch, owner) for switch, owner in found if owner is not None]
        # a preset may name one twice: the later one counts
        named = {switch.build_path(owner): (switch, owner) for switch, owner in known}
        first = self.channel_count
        self.channel_count = self.channel_count + len(named)
        self._switched = slice(first, self.channel_count)
        tracks = []
        for number, (path, (switch, owner)) in enumerate(named.items()):
            is_bone = isinstance(owner, bpy.types.PoseBone)
            before = owner[switch.name]
            value = float(type(before)(switch.value))
            self._switches.append(Switch(owner.name if is_bone else "", switch.name, value))
            group = owner.name if is_bone else OBJECT_GROUP
            tracks.append(Track(path, group, first + number, (0,), (float(before),)))
        self._switch_values = np.array([switch.value for switch in self._switches])
        self.at_rest = np.concatenate([self.at_rest, self._switch_values])
        self.tracks += tuple(tracks)
        self._last_channels = self.at_rest

    def _find_locked(self, obj: bpy.types.Object, driven: Sequence[str]) -> None:
        """Find the channels that are locked although the motion may need them."""
        locked: list[tuple[int, tuple[str, str]]] = []
        for row, name in enumerate(driven):
            location, rotation, mode = self._tracks_by_row[row]
            kinds = [(rotation, "rotation")] if mode != "QUATERNION" or not rotation.free else []
            connected = obj.data.bones[name].use_connect
            for track, kind in [*kinds, *([] if connected else [(location, "location")])]:
                stuck = (c for c in range(len(track.rest)) if c not in track.free)
                locked += [(track.start + c, (kind, name)) for c in stuck]
        self._locked = np.array([channel for channel, _ in locked], np.intp)
        self._locked_at = self.at_rest[self._locked]
        self._locked_names = [names for _, names in locked]


def _find_idle(obj: bpy.types.Object, rig: ControlRig, driven: Sequence[str]) -> list[str]:
    """Return bones that a description puts at rest, if they are posed now or have keys."""
    action = actions.get_assigned(obj)
    curves = actions.get_active_curves(action, actions.find_slot(action, obj)) if action else ()
    keyed = {parse_bone_name(curve.data_path) for curve in curves}
    idle = find_resting(obj, rig) | {limb.roll for limb in rig.limbs}
    others = [bone.name for bone in obj.pose.bones if bone.name not in driven]
    return [n for n in others if n in idle or (n in keyed and matches(n, rig.rest))]


def measure_live_rate(writer: ControlWriter, skeleton: Skeleton) -> float:
    """Return how many poses a second an armature shows when its controls are driven, in Hz.

    The skeleton is the writer's. Meshes that follow the armature count, if they are visible, but
    not their drawing. That takes half a second, or three poses of a rig that is slower.
    """
    times: list[float] = []
    writer.take_over()
    try:
        while len(times) < _FEWEST or (len(times) < _TICKS and sum(times) < _SECONDS):
            positions = skeleton.rest_positions.copy()
            rotations = skeleton.rest_rotations.copy()
            away = _SWAY * np.sin(0.5 * len(times))
            positions[skeleton.parents < 0, 2] -= abs(away)
            sway = quat.from_scaled_angle_axis(np.array([away, 0.0, 0.0]))
            rotations = quat.mul(rotations.astype(np.float64), sway)
            began = time.perf_counter()
            writer.show(np.concatenate([positions, rotations], axis=1).T)
            times.append(time.perf_counter() - began)
    finally:
        writer.restore()
    return 1.0 / float(np.median(times))
