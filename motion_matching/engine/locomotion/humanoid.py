"""Pose a plain humanoid, 1.75 m tall, over two moving feet.

The pelvis follows the path, carried by the legs. The legs are solved from there (two bones, knees
forward); trunk, arms and head follow pelvis and feet. What repeats with the strides is a sum of
one, two or three waves a stride.

Source: measured walks and runs. Shoulders turn against the pelvis and sink over the standing leg
(Crosbie, Vachalathiti and Smith 1997). Arms swing against the legs, a tenth of a stride before
them, by some 40 degrees in a walk and 60 in a run, where elbows are near a right angle (Murray,
Sepic and Barnard 1967; Hinrichs 1987). The trunk leans by a few degrees in a walk and by 5 to 10 in
a run (Novacheck 1998). The head stays level and looks into a turn before the body follows (Hirasaki
et al. 1999; Patla et al. 1999). A walk begins with a fall: the weight moves over one leg and the
body ahead of both before the other foot leaves (Jian et al. 1993).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..maths import quat
from ..maths.easing import smootherstep
from ..maths.planar import yaw_to_forward, yaw_to_left
from ..motion.skeleton import Skeleton
from .feet import TOE_AHEAD, TOE_HEIGHT, Foot, compute_stride_phase
from .gait import PLAIN, SIDES, BodyPath, Style
from .pelvis import (
    GRAVITY,
    compute_knee_bend,
    generate_resting_leg,
    generate_wander,
    smooth,
    solve_pelvis_height,
)

Array = np.ndarray

THIGH, SHIN = 0.43, 0.42
ANKLE_HEIGHT = 0.085
HIP_WIDTH, HIP_DROP = 0.09, 0.03  # from the pelvis to the hip joints: to each side, and down
_REACH = 0.992 * (THIGH + SHIN)  # a leg is never quite straight: its knee would snap
# of a stance: by how much longer the weight shifts before a first step and after a last one
_SHIFT = 0.45
_FALL = 0.15  # metres by which the hips lead into a start or stay behind in a stop, for each radian
_FORESEEN = 0.1  # seconds by which the body leans before it speeds up
_HIGHEST = (
    ANKLE_HEIGHT + THIGH + SHIN + HIP_DROP + 0.015
)  # highest position of the hips: a runner does not hop
_X, _Y, _Z = np.eye(3)

# name, parent, offset from it; sides are filled in below
_TRUNK = (
    ("Hips", "", (0.0, 0.0, ANKLE_HEIGHT + THIGH + SHIN + HIP_DROP)),
    ("Spine", "Hips", (0.0, 0.0, 0.10)),
    ("Chest", "Spine", (0.0, 0.0, 0.13)),
    ("UpperChest", "Chest", (0.0, 0.0, 0.13)),
    ("Neck", "UpperChest", (0.0, 0.0, 0.14)),
    ("Head", "Neck", (0.0, 0.0, 0.09)),
)
_LIMBS = (
    ("Shoulder", "UpperChest", (0.03, 0.0, 0.10)),
    ("Arm", "Shoulder", (0.145, 0.0, 0.0)),
    ("ForeArm", "Arm", (0.28, 0.0, 0.0)),
    ("Hand", "ForeArm", (0.25, 0.0, 0.0)),
    ("UpLeg", "Hips", (HIP_WIDTH, 0.0, -HIP_DROP)),
    ("Leg", "UpLeg", (0.0, 0.0, -THIGH)),
    ("Foot", "Leg", (0.0, 0.0, -SHIN)),
    ("Toe", "Foot", (0.0, -TOE_AHEAD, TOE_HEIGHT - ANKLE_HEIGHT)),
)
_TIPS = {"Head": (0.0, 0.0, 0.195), "Hand": (0.17, 0.0, 0.0), "Toe": (0.0, -0.07, -0.01)}


def build_humanoid_skeleton() -> Skeleton:
    """Return 22 bones in a T-pose on the ground, facing -Y, left along +X; rest rotations are the
    identity.
    """
    bones = list(_TRUNK)
    ends = [("Head", _TIPS["Head"])]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        for name, parent, (x, y, z) in _LIMBS:
            full_parent = parent if parent in ("UpperChest", "Hips") else side + parent
            bones.append((side + name, full_parent, (sign * x, y, z)))
        ends += [
            (side + name, (sign * x, y, z)) for name, (x, y, z) in _TIPS.items() if name != "Head"
        ]
    names = tuple(name for name, _, _ in bones)
    parents = np.array(
        [names.index(parent) if parent else -1 for _, parent, _ in bones], dtype=np.int64
    )
    rotations = np.tile(quat.IDENTITY, (len(bones), 1)).astype(np.float32)
    offsets = np.array([offset for _, _, offset in bones], dtype=np.float32)
    return Skeleton(
        names, parents, offsets, rotations, tuple((names.index(name), tip) for name, tip in ends)
    )


def pose_body(
    skeleton: Skeleton,
    path: BodyPath,
    left: Foot,
    right: Foot,
    rng: np.random.Generator,
    style: Style = PLAIN,
) -> tuple[Array, Array]:
    """Return local positions (F, B, 3) and rotations (F, B, 4), float32, of the humanoid on a path
    over its feet.
    """
    gait = _Gait.from_path(path, left, right, rng)
    rotations = np.tile(quat.IDENTITY, (len(path.times), skeleton.bone_count, 1))
    positions = np.tile(np.asarray(skeleton.rest_positions, dtype=float), (len(path.times), 1, 1))
    twist = -style.twist * (0.20 - 0.02 * gait.running) * gait.sample_stride(0.07 * gait.running)
    walk, run = (
        gait.sum_waves((1, 0.048, 0.17), (3, 0.026, 0.14)),
        gait.sum_waves((1, 0.035, 0.93), (3, 0.055, 0.11)),
    )
    drop = -style.hips * (
        gait.going * (walk + gait.running * (run - walk)) + 0.085 * gait.rest
    )  # of the swinging side
    hips = _compose_rotations(
        path.yaw + twist, _Z, 0.35 * gait.lean_ahead - 0.02, _X, 0.3 * gait.lean_left + drop, _Y
    )
    positions[:, 0] = _compute_pelvis_position(path, gait, hips, (left, right), style)
    rotations[:, 0] = hips
    _pose_trunk(rotations, skeleton, path, gait, twist, drop, style)
    for side, sign in zip(("Left", "Right"), SIDES, strict=True):
        _pose_arm(rotations, skeleton, side, sign, path, gait, style)
        _pose_leg(
            rotations,
            skeleton,
            side,
            sign,
            path,
            positions[:, 0],
            hips,
            left if sign > 0 else right,
        )
    return positions.astype(np.float32), quat.unroll(quat.normalize(rotations)).astype(np.float32)


@dataclass(frozen=True)
class _Gait:
    """What trunk and arms follow, (F,) each.

    `running` is 0 to 1, `still` is 1 while the body stands; `push` is the lean (F, 2) that balances
    the acceleration, `lean_ahead` and `lean_left` that of the trunk, in radians; `stride` is how
    far the left toe is ahead of the right one, in metres; `phase` is the angle through the strides;
    `going` is how much the body steps, 0 to 1, and `onward` the same of forward steps, negative
    backward; `load` is on the left (1) or right (-1) foot as the body sways over it; `rest` is the
    leg that stands at ease; `breath`, `look` and `sway` have no aim.
    """

    times: Array
    rate: float
    running: Array
    still: Array
    push: Array
    lean_ahead: Array
    lean_left: Array
    stride: Array
    phase: Array
    going: Array
    onward: Array
    load: Array
    rest: Array
    breath: Array
    look: Array
    sway: Array

    @classmethod
    def from_path(cls, path: BodyPath, left: Foot, right: Foot, rng: np.random.Generator) -> _Gait:
        rate = 1.0 / (path.times[1] - path.times[0])
        running = smooth(
            path.running, 0.12, rate
        )  # arms and trunk take their time to change the gait
        tilt = np.clip(
            smooth(path.sample(path.acceleration, path.times + _FORESEEN), 0.10, rate) / GRAVITY,
            -0.6,
            0.6,
        )
        still = smooth(
            1.0 - np.clip((path.pace + 0.3 * np.abs(path.turn_rate)) / 0.4, 0.0, 1.0), 0.25, rate
        )
        stride = np.sum((left.toe - right.toe)[:, :2] * yaw_to_forward(path.yaw), axis=-1)
        shifts = [(foot, 0.15 + _SHIFT * foot.standing) for foot in (left, right)]
        bears = [foot.compute_load(shift, shift) for foot, shift in shifts]
        going = 1.0 - still
        return cls(
            path.times,
            rate,
            running,
            still,
            tilt,
            0.75 * np.sum(tilt * yaw_to_forward(path.yaw), axis=-1)
            + 0.02 * path.forward_speed
            + 0.19 * running,
            0.75 * np.sum(tilt * yaw_to_left(path.yaw), axis=-1) + 0.03 * path.sideways_speed,
            smooth(stride, 0.06, rate),
            smooth(compute_stride_phase(path.times, left, right), 0.06, rate),
            going,
            going * smooth(np.clip(path.forward_speed, -1.0, 1.0), 0.1, rate),
            smooth(bears[0] - bears[1], 0.09, rate),
            still * generate_resting_leg(path.times, rng),
            np.sin(1.6 * path.times + rng.uniform(0.0, 6.0)),
            generate_wander(path.times, rng),
            generate_wander(path.times, rng),
        )

    def sample_stride(self, seconds: Array | float) -> Array:
        """Return the stride (F,) some seconds (F,) ahead: the body moves before the toes do."""
        return np.interp(self.times + seconds, self.times, self.stride)

    def sum_waves(self, *parts: tuple[int, float, Array | float]) -> Array:
        """Return a sum (F,) of cosines, each given by waves a stride, height, and the share of the
        stride at its peak.

        A stride begins as the left foot strikes.
        """
        return np.sum(
            [
                height * np.cos(times * (self.phase - 2.0 * np.pi * peak))
                for times, height, peak in parts
            ],
            axis=0,
        )


def _compute_pelvis_position(
    path: BodyPath, gait: _Gait, hips: Array, feet: tuple[Foot, Foot], style: Style
) -> Array:
    """Return the position of the hips (F, 3): over the path, swaying over the loaded leg, as high
    as the legs allow.
    """
    brisk = np.clip(path.pace / 1.4, 0.0, 1.0)
    aside = (
        style.hips * (0.042 - 0.018 * brisk - 0.014 * gait.running) * gait.load + 0.045 * gait.rest
    )
    aside = aside + 0.006 * gait.still * gait.sway
    surge = gait.onward * (1.0 - 0.5 * gait.running) * gait.sum_waves((2, 0.015, 0.16))
    ground = path.position + yaw_to_left(path.yaw) * aside[:, None]
    ground = ground + _FALL * (1.0 - gait.running)[:, None] * gait.push  # a walk begins as a fall
    ground = ground + yaw_to_forward(path.yaw) * (surge + 0.005 * gait.still * gait.look)[:, None]
    speed = np.linalg.norm(path.velocity, axis=-1)
    bounce = gait.running * smooth(
        np.clip(np.abs(path.forward_speed) / np.maximum(speed, 0.1), 0.3, 1.0), 0.1, gait.rate
    )
    desired: list[Array] = []
    load: list[Array] = []
    limits = [np.full(len(hips), _HIGHEST)]
    for sign, foot in zip(SIDES, feet, strict=True):
        joint = quat.mul_vec(hips, np.tile([sign * HIP_WIDTH, 0.0, -HIP_DROP], (len(hips), 1)))
        ankle = _compute_ankles(foot)
        across = np.sum((ankle[:, :2] - ground - joint[:, :2]) ** 2, axis=-1)
        length = np.sqrt(
            THIGH**2
            + SHIN**2
            + 2 * THIGH * SHIN * np.cos(compute_knee_bend(foot, path.pace, bounce))
        )
        for lengths, heights in (
            (length, desired),
            (_REACH * (1.0 - 0.022 * _compute_lift_off(foot)), limits),
        ):
            heights.append(
                ankle[:, 2] - joint[:, 2] + np.sqrt(np.maximum(lengths**2 - across, 0.2**2))
            )
        load.append(
            foot.compute_load(0.15, 0.30 - 0.15 * gait.running) * (1.0 + 0.9 * sign * gait.rest)
        )
    height = solve_pelvis_height(desired, load, limits, bounce, gait.rate)
    return np.concatenate([ground, height[:, None]], axis=-1)


def _compute_lift_off(foot: Foot) -> Array:
    """Return how much a leg is off the ground (F,), and bent: from just before the toes leave until
    it reaches out.
    """
    return np.maximum(
        smootherstep(1.0 - foot.until / 0.12), smootherstep((-foot.since - 0.08) / 0.12)
    )


def _pose_trunk(
    rotations: Array,
    skeleton: Skeleton,
    path: BodyPath,
    gait: _Gait,
    twist: Array,
    drop: Array,
    style: Style,
) -> None:
    """Pose spine, chest, neck and head: shoulders turn against the pelvis, the head stays level and
    looks ahead.
    """
    shoulders = (
        style.twist * (0.06 + 0.17 * gait.running) * gait.sample_stride(0.08 - 0.03 * gait.running)
    )
    against = shoulders - twist
    tilt = (
        -style.hips
        * gait.going
        * (
            gait.sum_waves((1, 0.032, 0.66), (3, 0.006, 0.29))
            + gait.running * gait.sum_waves((1, 0.032, 0.50))
        )
        - 0.02 * gait.rest
    )
    upright = (
        tilt - drop
    )  # of the shoulders: the side of the stance sinks, and the head stays level
    bob = gait.onward * gait.sum_waves(
        (2, 0.016, 0.45)
    )  # the trunk keeps its pace while the hips speed up and lag
    stoop = 0.05 + 0.03 * gait.still + style.stoop
    glance = np.tanh(
        smooth(np.interp(path.times + 0.3, path.times, path.yaw) - path.yaw, 0.06, gait.rate)
    )
    look = 0.5 * gait.still * gait.look
    ahead, left = gait.lean_ahead, gait.lean_left
    trunk = {
        "Spine": (0.30 * against, 0.25 * ahead + bob - 0.02, 0.25 * left + 0.5 * upright),
        "Chest": (
            0.35 * against,
            0.20 * ahead + 0.010 * gait.breath + 0.5 * stoop,
            0.2 * left + 0.3 * upright,
        ),
        "UpperChest": (
            0.35 * against + 0.2 * glance,
            0.20 * ahead - 0.006 * gait.breath + 0.5 * stoop,
            0.2 * left + 0.2 * upright,
        ),
        "Neck": (
            -0.5 * (against + twist) + 0.35 * glance + 0.4 * look,
            0.20 - 0.4 * ahead - 0.5 * stoop,
            -0.3 * left - 0.5 * tilt,
        ),
        "Head": (
            -0.5 * (against + twist) + 0.35 * glance + 0.6 * look,
            -0.15 - 0.45 * ahead - 0.5 * stoop - bob + 0.05 * gait.still * gait.sway,
            -0.35 * left - 0.5 * tilt,
        ),
    }
    for name, (yaw, pitch, roll) in trunk.items():
        rotations[:, skeleton.index(name)] = _compose_rotations(yaw, _Z, pitch, _X, roll, _Y)


def _compose_rotations(*pairs: Array) -> Array:
    """Return the product (F, 4) of rotations given as angle (F,), axis, angle, axis, ...; the first
    is outermost.
    """
    result = quat.from_angle_axis(pairs[0], pairs[1])
    for angle, axis in zip(pairs[2::2], pairs[3::2], strict=True):
        result = quat.mul(result, quat.from_angle_axis(angle, axis))
    return result


def _compute_ankles(foot: Foot) -> Array:
    """Return ankle positions (F, 3) of a foot that rolls about its toe joint."""
    turn = _compose_rotations(foot.yaw, _Z, foot.pitch, _X)
    return foot.toe - quat.mul_vec(
        turn, np.tile([0.0, -TOE_AHEAD, TOE_HEIGHT - ANKLE_HEIGHT], (len(turn), 1))
    )


def _pose_arm(
    rotations: Array,
    skeleton: Skeleton,
    side: str,
    sign: float,
    path: BodyPath,
    gait: _Gait,
    style: Style,
) -> None:
    """Pose an arm that hangs from its shoulder and swings against the leg of its side, ahead of it
    in time.

    The elbow bends as the arm swings forward and the hand comes in front of the body, and opens as
    it swings back. In a run it stays near a right angle, and shoulders and forearms bounce with the
    steps.
    """
    soon, before = (
        np.interp(path.times + seconds, path.times, gait.running) for seconds in (0.2, -0.15)
    )
    running = smooth(
        np.maximum(soon, before), 0.06, gait.rate
    )  # arms are up before a run begins and until it ends
    moving = np.clip(path.pace / 1.5, 0.0, 1.0)
    sidling = np.clip(smooth(np.abs(path.sideways_speed), 0.2, gait.rate) / 1.2, 0.0, 1.0)
    reach, bending = (
        -0.9 * sign * np.tanh(gait.sample_stride(lead) / 0.9)
        for lead in (0.085, 0.085 + 0.07 * running)
    )
    vigour = style.arms * (1.0 + sign * style.favour + 0.07 * gait.look)
    swing = (
        vigour * (0.57 + 0.20 * running) * reach
        + 0.05
        + sidling * sign * gait.sum_waves((1, 0.10, 0.25))
    )
    swing = swing + running * (gait.sum_waves((2, 0.055, 0.25)) - 0.18) + 0.02 * gait.sway
    swing = swing + 0.06 * gait.still * sign * gait.rest
    out = (
        0.20
        + 0.05 * moving
        + 0.13 * (1.0 - running) * reach
        + running * (0.15 + sign * gait.sum_waves((1, 0.05, 0.85)))
    )
    out = out + sidling * (0.12 - 0.05 * sign * gait.load) + 0.01 * gait.breath
    inward = 0.30 + 0.02 * running + (0.40 + 0.15 * running) * reach
    elbow = 0.32 + 0.10 * moving + vigour * (0.45 - 0.12 * running) * bending
    elbow = elbow + 0.35 * sidling * (1.0 - running) + 1.25 * running
    elbow = elbow + gait.going * (0.05 + 0.075 * running) * gait.sum_waves(
        (2, 1.0, 0.45 - 0.08 * running)
    )
    shrug = gait.going * (0.018 + 0.045 * running) * gait.sum_waves((2, 1.0, 0.41))
    slope = 0.20 - 0.06 * running - 0.012 * gait.breath - shrug  # of the shoulders
    for bone, rotation in (
        ("Shoulder", _compose_rotations(-0.12 * sign * (swing - 0.05), _Z, sign * slope, _Y)),
        ("Arm", _compose_rotations(-swing, _X, sign * (0.5 * np.pi - slope - out), _Y, inward, _X)),
        ("ForeArm", _compose_rotations(-sign * np.maximum(elbow, 0.09), _Z)),
        (
            "Hand",
            _compose_rotations(
                -sign * (0.12 + 0.05 * reach), _Z, np.full(len(reach), sign * 0.08), _Y
            ),
        ),
    ):
        rotations[:, skeleton.index(side + bone)] = rotation


def _pose_leg(
    rotations: Array,
    skeleton: Skeleton,
    side: str,
    sign: float,
    path: BodyPath,
    pelvis: Array,
    hips: Array,
    foot: Foot,
) -> None:
    """Pose a leg from hip to ankle by the law of cosines; the knee points between body and foot."""
    hip = pelvis + quat.mul_vec(hips, np.tile([sign * HIP_WIDTH, 0.0, -HIP_DROP], (len(hips), 1)))
    span = _compute_ankles(foot) - hip
    length = np.clip(np.linalg.norm(span, axis=-1), abs(THIGH - SHIN) + 0.05, THIGH + SHIN - 1e-4)
    along = span / np.linalg.norm(span, axis=-1, keepdims=True)
    heading = yaw_to_forward(0.5 * (path.yaw + foot.yaw))
    hinge = np.cross(np.concatenate([heading, np.zeros((len(heading), 1))], axis=-1), along)
    hinge /= np.linalg.norm(hinge, axis=-1, keepdims=True)
    at_hip = np.arccos(np.clip((THIGH**2 + length**2 - SHIN**2) / (2 * THIGH * length), -1.0, 1.0))
    at_knee = np.pi - np.arccos(
        np.clip((THIGH**2 + SHIN**2 - length**2) / (2 * THIGH * SHIN), -1.0, 1.0)
    )
    straight = quat.from_matrix(np.stack([hinge, np.cross(-along, hinge), -along], axis=-1))
    thigh = quat.mul(straight, quat.from_angle_axis(-at_hip, _X))
    shin = quat.mul(thigh, quat.from_angle_axis(at_knee, _X))
    sole = _compose_rotations(foot.yaw, _Z, foot.pitch, _X)
    rotations[:, skeleton.index(side + "UpLeg")] = quat.inv_mul(hips, thigh)
    rotations[:, skeleton.index(side + "Leg")] = quat.inv_mul(thigh, shin)
    rotations[:, skeleton.index(side + "Foot")] = quat.inv_mul(shin, sole)
    rotations[:, skeleton.index(side + "Toe")] = quat.from_angle_axis(-foot.bend, _X)
