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

import numpy as np

from motion_matching.engine.maths.easing import smootherstep
from motion_matching.engine.maths.planar import yaw_to_forward, yaw_to_left
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.skeleton.skeleton import Skeleton

from .feet import Foot, compute_stride_phase
from .footprints import TOE_AHEAD, TOE_HEIGHT
from .gait import PLAIN, SIDES, BodyPath, Style, compute_step_rate
from .pelvis import (
    GRAVITY,
    compute_floor,
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
_HIPS_HEIGHT = ANKLE_HEIGHT + THIGH + SHIN + HIP_DROP
_HIGHEST = _HIPS_HEIGHT + 0.015  # of the hips: a runner does not hop
_LEAN_UPHILL, _LEAN_DOWNHILL = 0.4, 0.12  # of the trunk, for each radian of the climb
# share of a step's rise by which the hips are lower: half a rise is how far the lower foot is below
# the middle between both feet. Without, legs run out of reach, and the hips stop on each step
_STRETCH = 0.65
_SLOW = 0.3  # m/s; below, a body stands rather than climbs
_X, _Y, _Z = np.eye(3)

# name, parent, offset from it; sides are filled in below
_TRUNK = (
    ("Hips", "", (0.0, 0.0, _HIPS_HEIGHT)),
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
_TIPS = {"Hand": (0.17, 0.0, 0.0), "Toe": (0.0, -0.07, -0.01)}


def build_humanoid_skeleton() -> Skeleton:
    """Return 22 bones in a T-pose on the ground, facing -Y; rest rotations are the identity."""
    bones = list(_TRUNK)
    ends = [("Head", (0.0, 0.0, 0.195))]
    for side, sign in zip(("Left", "Right"), SIDES, strict=True):
        for name, parent, (x, y, z) in _LIMBS:
            full_parent = parent if parent in ("UpperChest", "Hips") else side + parent
            bones.append((side + name, full_parent, (sign * x, y, z)))
        ends += [(side + name, (sign * x, y, z)) for name, (x, y, z) in _TIPS.items()]
    names = tuple(name for name, _, _ in bones)
    parents = [names.index(parent) if parent else -1 for _, parent, _ in bones]
    rotations = np.tile(quat.IDENTITY, (len(bones), 1)).astype(np.float32)
    offsets = np.array([offset for _, _, offset in bones], dtype=np.float32)
    tips = tuple((names.index(name), tip) for name, tip in ends)
    return Skeleton(names, np.array(parents, dtype=np.int64), offsets, rotations, tips)


def pose_body(
    skeleton: Skeleton,
    path: BodyPath,
    left: Foot,
    right: Foot,
    rng: np.random.Generator,
    style: Style = PLAIN,
) -> tuple[Array, Array]:
    """Return local positions (F, B, 3) and rotations (F, B, 4), float32, of the humanoid."""
    gait = _Gait(path, style, left, right, rng)
    twist = -style.twist * (0.20 - 0.02 * gait.running) * gait.sample_stride(0.07 * gait.running)
    walk = gait.sum_waves((1, 0.048, 0.17), (3, 0.026, 0.14))
    run = gait.sum_waves((1, 0.035, 0.93), (3, 0.055, 0.11))
    sinking = gait.going * (walk + gait.running * (run - walk)) + 0.085 * gait.rest
    drop = -style.hips * sinking  # of the swinging side
    lean, roll = 0.35 * gait.lean_ahead - 0.02, 0.3 * gait.lean_left + drop
    hips = _compose_rotations(path.yaw + twist, _Z, lean, _X, roll, _Y)
    positions = np.tile(np.asarray(skeleton.rest_positions, dtype=float), (len(hips), 1, 1))
    positions[:, 0] = _compute_pelvis_position(gait, hips, (left, right))
    posed = {"Hips": hips} | _pose_trunk(gait, twist, drop)
    for side, sign, foot in zip(("Left", "Right"), SIDES, (left, right), strict=True):
        limbs = _pose_arm(gait, sign) | _pose_leg(path, sign, positions[:, 0], hips, foot)
        posed |= {side + bone: rotation for bone, rotation in limbs.items()}
    rotations = quat.normalize(np.stack([posed[name] for name in skeleton.names], axis=1))
    return positions.astype(np.float32), quat.unroll(rotations).astype(np.float32)


class _Gait:
    """What trunk and arms follow, (F,) each."""

    def __init__(
        self, path: BodyPath, style: Style, left: Foot, right: Foot, rng: np.random.Generator
    ) -> None:
        self.path, self.style, times = path, style, path.times
        self.rate = rate = 1.0 / (times[1] - times[0])
        forward, aside = yaw_to_forward(path.yaw), yaw_to_left(path.yaw)
        # 0 to 1; arms and trunk take their time to change the gait
        self.running = smooth(path.running, 0.12, rate)
        # the lean (F, 2) that balances the acceleration, and that of the trunk, in radians
        coming = smooth(path.sample(path.acceleration, times + _FORESEEN), 0.10, rate)
        self.push = np.clip(coming / GRAVITY, -0.6, 0.6)
        steady = 0.02 * path.forward_speed
        self.lean_ahead = 0.75 * np.sum(self.push * forward, axis=-1) + steady + 0.19 * self.running
        # height (F,) of the ground under the body, and metres a second by which that climbs
        self.floor = compute_floor((left, right), rate)
        self.climb_rate = np.gradient(smooth(self.floor, 0.25, rate)) * rate
        self.lean_ahead = self.lean_ahead + self._compute_lean_on_slope()
        self.lean_left = 0.75 * np.sum(self.push * aside, axis=-1) + 0.03 * path.sideways_speed
        # 1 while the body stands, how much it steps, and how much ahead (negative: backward)
        moving = np.clip((path.pace + 0.3 * np.abs(path.turn_rate)) / 0.4, 0.0, 1.0)
        self.still = smooth(1.0 - moving, 0.25, rate)
        self.going = 1.0 - self.still
        self.onward = self.going * smooth(np.clip(path.forward_speed, -1.0, 1.0), 0.1, rate)
        # metres by which the left toe is ahead of the right one, and the angle through the strides
        self.stride = smooth(np.sum((left.toe - right.toe)[:, :2] * forward, axis=-1), 0.06, rate)
        self.phase = smooth(compute_stride_phase(times, left, right), 0.06, rate)
        # on the left (1) or right (-1) foot as the body sways over it
        shifts = [(foot, 0.15 + _SHIFT * foot.standing) for foot in (left, right)]
        bears = [foot.compute_load(shift, shift) for foot, shift in shifts]
        self.load = smooth(bears[0] - bears[1], 0.09, rate)
        self.rest = self.still * generate_resting_leg(times, rng)  # the leg that stands at ease
        self.breath = np.sin(1.6 * times + rng.uniform(0.0, 6.0))
        self.look, self.sway = generate_wander(times, rng), generate_wander(times, rng)

    def _compute_lean_on_slope(self) -> Array:
        """Return the lean (F,) of the trunk ahead on a climb, and back where it leads down."""
        angle = np.arctan2(self.climb_rate, np.maximum(self.path.forward_speed, _SLOW))
        return np.where(angle > 0.0, _LEAN_UPHILL, _LEAN_DOWNHILL) * angle

    def sample_stride(self, seconds: Array | float) -> Array:
        """Return the stride (F,) some seconds (F,) ahead: the body moves before the toes do."""
        return np.interp(self.path.times + seconds, self.path.times, self.stride)

    def sum_waves(self, *parts: tuple[int, float, Array | float]) -> Array:
        """Return a sum (F,) of cosines: waves a stride, height, and share of the stride at a peak.

        A stride begins as the left foot strikes.
        """
        turns = [(n * (self.phase - 2.0 * np.pi * peak), height) for n, height, peak in parts]
        return np.sum([height * np.cos(turn) for turn, height in turns], axis=0)


def _compute_pelvis_position(gait: _Gait, hips: Array, feet: tuple[Foot, Foot]) -> Array:
    """Return positions (F, 3) of the hips, swaying over the loaded leg, high as the legs allow."""
    path, running = gait.path, gait.running
    brisk = np.clip(path.pace / 1.4, 0.0, 1.0)
    sway = gait.style.hips * (0.042 - 0.018 * brisk - 0.014 * running) * gait.load
    aside = sway + 0.045 * gait.rest + 0.006 * gait.still * gait.sway
    surge = gait.onward * (1.0 - 0.5 * running) * gait.sum_waves((2, 0.015, 0.16))
    ground = path.position + yaw_to_left(path.yaw) * aside[:, None]
    ground = ground + _FALL * (1.0 - running)[:, None] * gait.push  # a walk begins as a fall
    ground = ground + yaw_to_forward(path.yaw) * (surge + 0.005 * gait.still * gait.look)[:, None]
    speed = np.maximum(np.linalg.norm(path.velocity, axis=-1), 0.1)
    bounce = np.clip(np.abs(path.forward_speed) / speed, 0.3, 1.0)
    bounce = running * smooth(bounce, 0.1, gait.rate)
    # the leg that stays behind uphill, or reaches ahead downhill, has further to go
    rise = gait.climb_rate / (gait.style.step_rate * compute_step_rate(path))
    low = gait.floor - _STRETCH * np.abs(rise)
    desired: list[Array] = []
    load: list[Array] = []
    limits = [gait.floor + _HIGHEST]
    for sign, foot in zip(SIDES, feet, strict=True):
        joint = quat.mul_vec(hips, np.tile([sign * HIP_WIDTH, 0.0, -HIP_DROP], (len(hips), 1)))
        ankle = _compute_ankles(foot)
        across = np.sum((ankle[:, :2] - ground - joint[:, :2]) ** 2, axis=-1)
        fold = 2 * THIGH * SHIN * np.cos(compute_knee_bend(foot, path.pace, bounce))
        bent = np.sqrt(THIGH**2 + SHIN**2 + fold)
        # a leg is bent from just before the toes leave the ground until it reaches out
        leaving, swinging = 1.0 - foot.until / 0.12, (-foot.since - 0.08) / 0.12
        off_ground = np.maximum(smootherstep(leaving), smootherstep(swinging))
        reach = _REACH * (1.0 - 0.022 * off_ground)
        # on a climb the body keeps to the smooth line between the feet, not to each of them
        level = ankle[:, 2] - foot.floor + low
        for length, height, heights in ((bent, level, desired), (reach, ankle[:, 2], limits)):
            over = np.sqrt(np.maximum(length**2 - across, 0.2**2))
            heights.append(height - joint[:, 2] + over)
        at_ease = 1.0 + 0.9 * sign * gait.rest
        load.append(foot.compute_load(0.15, 0.30 - 0.15 * running) * at_ease)
    height = solve_pelvis_height(desired, load, limits, bounce, gait.rate)
    return np.concatenate([ground, height[:, None]], axis=-1)


def _pose_trunk(gait: _Gait, twist: Array, drop: Array) -> dict[str, Array]:
    """Pose spine, chest, neck and head: shoulders turn against the pelvis, the head stays level."""
    path, style, running, rest = gait.path, gait.style, gait.running, gait.rest
    shoulders = style.twist * (0.06 + 0.17 * running) * gait.sample_stride(0.08 - 0.03 * running)
    against = shoulders - twist
    walk = gait.sum_waves((1, 0.032, 0.66), (3, 0.006, 0.29))
    sway = walk + running * gait.sum_waves((1, 0.032, 0.50))
    tilt = -style.hips * gait.going * sway - 0.02 * rest
    # of the shoulders: the side of the stance sinks, and the head stays level
    upright = tilt - drop
    # the trunk keeps its pace while the hips speed up and lag
    bob = gait.onward * gait.sum_waves((2, 0.016, 0.45))
    stoop = 0.5 * (0.05 + 0.03 * gait.still + style.stoop)
    coming = np.interp(path.times + 0.3, path.times, path.yaw) - path.yaw
    glance = np.tanh(smooth(coming, 0.06, gait.rate))
    look = 0.5 * gait.still * gait.look
    ahead, left = gait.lean_ahead, gait.lean_left
    breath = gait.breath
    level = -0.5 * (against + twist) + 0.35 * glance
    nod = -0.15 - 0.45 * ahead - stoop - bob + 0.05 * gait.still * gait.sway
    angles = {
        "Spine": (0.30 * against, 0.25 * ahead + bob - 0.02, 0.25 * left + 0.5 * upright),
        "Chest": (
            0.35 * against,
            0.20 * ahead + 0.010 * breath + stoop,
            0.2 * left + 0.3 * upright,
        ),
        "UpperChest": (
            0.35 * against + 0.2 * glance,
            0.20 * ahead - 0.006 * breath + stoop,
            0.2 * left + 0.2 * upright,
        ),
        "Neck": (level + 0.4 * look, 0.20 - 0.4 * ahead - stoop, -0.3 * left - 0.5 * tilt),
        "Head": (level + 0.6 * look, nod, -0.35 * left - 0.5 * tilt),
    }
    return {
        bone: _compose_rotations(yaw, _Z, pitch, _X, roll, _Y)
        for bone, (yaw, pitch, roll) in angles.items()
    }


def _compose_rotations(*pairs: Array) -> Array:
    """Return the product (F, 4) of angles (F,) about axes, given in turn, the outermost first."""
    result = quat.from_angle_axis(pairs[0], pairs[1])
    for angle, axis in zip(pairs[2::2], pairs[3::2], strict=True):
        result = quat.mul(result, quat.from_angle_axis(angle, axis))
    return result


def _compute_ankles(foot: Foot) -> Array:
    """Return ankle positions (F, 3) of a foot that rolls about its toe joint."""
    turn = _compose_rotations(foot.yaw, _Z, foot.pitch, _X)
    ankle = np.tile([0.0, -TOE_AHEAD, TOE_HEIGHT - ANKLE_HEIGHT], (len(turn), 1))
    return foot.toe - quat.mul_vec(turn, ankle)


def _pose_arm(gait: _Gait, sign: float) -> dict[str, Array]:
    """Pose an arm that hangs from its shoulder and swings against the leg, ahead of it in time.

    The elbow bends as the arm swings forward and the hand comes in front of the body, and opens as
    it swings back. In a run it stays near a right angle, and shoulders and forearms bounce with the
    steps.
    """
    path, style = gait.path, gait.style
    # arms are up before a run begins and until it ends
    soon, before = (np.interp(path.times + t, path.times, gait.running) for t in (0.2, -0.15))
    running = smooth(np.maximum(soon, before), 0.06, gait.rate)
    moving = np.clip(path.pace / 1.5, 0.0, 1.0)
    sidling = np.clip(smooth(np.abs(path.sideways_speed), 0.2, gait.rate) / 1.2, 0.0, 1.0)
    reach, bending = (
        -0.9 * sign * np.tanh(gait.sample_stride(lead) / 0.9)
        for lead in (0.085, 0.085 + 0.07 * running)
    )
    vigour = style.arms * (1.0 + sign * style.favour + 0.07 * gait.look)
    swing = vigour * (0.57 + 0.20 * running) * reach + 0.05
    swing = swing + sidling * sign * gait.sum_waves((1, 0.10, 0.25))
    swing = swing + running * (gait.sum_waves((2, 0.055, 0.25)) - 0.18) + 0.02 * gait.sway
    swing = swing + 0.06 * gait.still * sign * gait.rest
    out = 0.20 + 0.05 * moving + 0.13 * (1.0 - running) * reach
    out = out + running * (0.15 + sign * gait.sum_waves((1, 0.05, 0.85)))
    out = out + sidling * (0.12 - 0.05 * sign * gait.load) + 0.01 * gait.breath
    inward = 0.30 + 0.02 * running + (0.40 + 0.15 * running) * reach
    elbow = 0.32 + 0.10 * moving + vigour * (0.45 - 0.12 * running) * bending
    elbow = elbow + 0.35 * sidling * (1.0 - running) + 1.25 * running
    bounce = gait.going * (0.05 + 0.075 * running)
    elbow = elbow + bounce * gait.sum_waves((2, 1.0, 0.45 - 0.08 * running))
    shrug = gait.going * (0.018 + 0.045 * running) * gait.sum_waves((2, 1.0, 0.41))
    slope = 0.20 - 0.06 * running - 0.012 * gait.breath - shrug  # of the shoulders
    hanging, cupped = sign * (0.5 * np.pi - slope - out), np.full(len(reach), sign * 0.08)
    return {
        "Shoulder": _compose_rotations(-0.12 * sign * (swing - 0.05), _Z, sign * slope, _Y),
        "Arm": _compose_rotations(-swing, _X, hanging, _Y, inward, _X),
        "ForeArm": _compose_rotations(-sign * np.maximum(elbow, 0.09), _Z),
        "Hand": _compose_rotations(-sign * (0.12 + 0.05 * reach), _Z, cupped, _Y),
    }


def _pose_leg(
    path: BodyPath, sign: float, pelvis: Array, hips: Array, foot: Foot
) -> dict[str, Array]:
    """Pose a leg from hip to ankle by the law of cosines; the knee points between body and foot."""
    hip = pelvis + quat.mul_vec(hips, np.tile([sign * HIP_WIDTH, 0.0, -HIP_DROP], (len(hips), 1)))
    span = _compute_ankles(foot) - hip
    length = np.clip(np.linalg.norm(span, axis=-1), abs(THIGH - SHIN) + 0.05, THIGH + SHIN - 1e-4)
    along = span / np.linalg.norm(span, axis=-1, keepdims=True)
    heading = yaw_to_forward(0.5 * (path.yaw + foot.yaw))
    hinge = np.cross(np.concatenate([heading, np.zeros((len(heading), 1))], axis=-1), along)
    hinge /= np.linalg.norm(hinge, axis=-1, keepdims=True)
    at_hip = np.arccos(np.clip((THIGH**2 + length**2 - SHIN**2) / (2 * THIGH * length), -1.0, 1.0))
    inside = np.clip((THIGH**2 + SHIN**2 - length**2) / (2 * THIGH * SHIN), -1.0, 1.0)
    straight = quat.from_matrix(np.stack([hinge, np.cross(-along, hinge), -along], axis=-1))
    thigh = quat.mul(straight, quat.from_angle_axis(-at_hip, _X))
    shin = quat.mul(thigh, quat.from_angle_axis(np.pi - np.arccos(inside), _X))
    sole = _compose_rotations(foot.yaw, _Z, foot.pitch, _X)
    return {
        "UpLeg": quat.inv_mul(hips, thigh),
        "Leg": quat.inv_mul(thigh, shin),
        "Foot": quat.inv_mul(shin, sole),
        "Toe": quat.from_angle_axis(-foot.bend, _X),
    }
