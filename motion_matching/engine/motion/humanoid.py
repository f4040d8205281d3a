"""A plain humanoid, 1.75 m tall, and the pose it takes over two moving feet.

The pelvis follows the path, held low enough for both legs to reach their feet; legs are solved from there (two
bones, knees ahead); trunk, arms and head follow what pelvis and feet do.
"""

from __future__ import annotations

import numpy as np

from ..maths import quat
from .gait import TOE_AHEAD, TOE_HEIGHT, Foot, Path, forward, leftward, step_rate
from .skeleton import Skeleton

Array = np.ndarray

THIGH, SHIN = 0.43, 0.42
ANKLE_HEIGHT = 0.085
HIP_WIDTH, HIP_DROP = 0.09, 0.03  # of the hip joints: to each side of the pelvis, and below it
_REACH = 0.992 * (THIGH + SHIN)  # a leg never straightens quite: knees would snap
_GRAVITY = 9.81
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


def humanoid_skeleton() -> Skeleton:
    """22 bones in a T-pose on the ground, facing -Y, left along +X; rest rotations are the identity."""
    bones = list(_TRUNK)
    ends = [("Head", _TIPS["Head"])]
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        for name, parent, (x, y, z) in _LIMBS:
            above = parent if parent in ("UpperChest", "Hips") else side + parent
            bones.append((side + name, above, (sign * x, y, z)))
        ends += [(side + name, (sign * x, y, z)) for name, (x, y, z) in _TIPS.items() if name != "Head"]
    names = tuple(name for name, _, _ in bones)
    parents = np.array([names.index(parent) if parent else -1 for _, parent, _ in bones], dtype=np.int64)
    rotations = np.tile(quat.IDENTITY, (len(bones), 1)).astype(np.float32)
    offsets = np.array([offset for _, _, offset in bones], dtype=np.float32)
    return Skeleton(names, parents, offsets, rotations, tuple((names.index(name), tip) for name, tip in ends))


def pose_body(skeleton: Skeleton, path: Path, left: Foot, right: Foot,
              rng: np.random.Generator) -> tuple[Array, Array]:
    """Local positions (F, B, 3) and rotations (F, B, 4) in float32 of the humanoid on that path over those feet."""
    rate = 1.0 / (path.times[1] - path.times[0])
    acceleration = _smooth(np.gradient(path.velocity, path.times, axis=0), 0.10 * rate)
    running = _smooth(path.running, 0.12 * rate)  # arms and trunk take their time to change the gait
    tilt = np.clip(acceleration / _GRAVITY, -0.6, 0.6)
    lean_ahead = 0.55 * np.sum(tilt * forward(path.yaw), axis=-1) + 0.02 * path.ahead + 0.05 * running
    lean_left = 0.55 * np.sum(tilt * leftward(path.yaw), axis=-1)
    stride = _smooth(_stride(path, left, right), 0.07 * rate)
    load = _smooth(left.planted.astype(float) - right.planted, 0.09 * rate)
    sway, look, breath = _wander(path.times, rng), _wander(path.times, rng), np.sin(1.6 * path.times)
    still = 1.0 - np.clip(path.pace / 0.5, 0.0, 1.0)

    rotations = np.tile(quat.IDENTITY, (len(path.times), skeleton.bone_count, 1))
    twist = -0.16 * stride * (1.0 - 0.3 * running)
    hips = _turn(path.yaw + twist, _Z, 0.4 * lean_ahead, _X, 0.3 * lean_left - 0.05 * load, _Y)
    aside = 0.022 * load + 0.012 * still * sway
    ground = path.position + leftward(path.yaw) * aside[:, None] + 0.012 * acceleration
    height = _pelvis_height(path, running, hips, ground, (left, right))
    positions = np.tile(np.asarray(skeleton.rest_positions, dtype=float), (len(path.times), 1, 1))
    positions[:, 0] = np.concatenate([ground, height[:, None]], axis=-1)
    rotations[:, 0] = hips

    trunk = {
        "Spine": (-0.7 * twist, 0.2 * lean_ahead, 0.25 * lean_left + 0.03 * load),
        "Chest": (-0.7 * twist, 0.2 * lean_ahead + 0.008 * breath, 0.25 * lean_left + 0.02 * load),
        "UpperChest": (-0.7 * twist, 0.2 * lean_ahead, 0.2 * lean_left),
        "Neck": (0.5 * twist + 0.4 * _glance(path, rate), 0.05 - 0.4 * lean_ahead, -0.3 * lean_left),
        "Head": (0.6 * twist + 0.4 * _glance(path, rate) + 0.1 * still * look, -0.05 - 0.4 * lean_ahead,
                 -0.3 * lean_left),
    }
    for name, (yaw, pitch, roll) in trunk.items():
        rotations[:, skeleton.index(name)] = _turn(yaw, _Z, pitch, _X, roll, _Y)
    for side, sign in (("Left", 1.0), ("Right", -1.0)):
        _pose_arm(rotations, skeleton, side, sign, path, running, -sign * stride, sway)
    for side, sign, foot in (("Left", 1.0, left), ("Right", -1.0, right)):
        _pose_leg(rotations, skeleton, side, sign, path, positions[:, 0], hips, foot)
    return positions.astype(np.float32), quat.unroll(quat.normalize(rotations)).astype(np.float32)


def _smooth(values: Array, deviation: float) -> Array:
    """Gaussian smoothing along time by a deviation in frames; ends hold."""
    from scipy.ndimage import gaussian_filter1d

    return gaussian_filter1d(values, deviation, axis=0, mode="nearest")


def _wander(times: Array, rng: np.random.Generator) -> Array:
    """Slow aimless signal (F,) within about -1..1."""
    frequencies, phases = rng.uniform(0.05, 0.3, 4), rng.uniform(0.0, 2.0 * np.pi, 4)
    return 0.5 * np.sum(np.sin(2.0 * np.pi * times[:, None] * frequencies + phases), axis=-1)


def _turn(*pairs: Array) -> Array:
    """Product (F, 4) of rotations given as angle (F,), axis, angle, axis, ...; the first is outermost."""
    result = quat.from_angle_axis(pairs[0], pairs[1])
    for angle, axis in zip(pairs[2::2], pairs[3::2], strict=True):
        result = quat.mul(result, quat.from_angle_axis(angle, axis))
    return result


def _stride(path: Path, left: Foot, right: Foot) -> Array:
    """How far the left toe is ahead of the right one (F,), in metres along the heading."""
    return np.sum((left.toe - right.toe)[:, :2] * forward(path.yaw), axis=-1)


def _glance(path: Path, rate: float) -> Array:
    """The head turns toward where the body will face in a quarter of a second."""
    soon = np.interp(path.times + 0.25, path.times, path.yaw)
    return np.tanh(_smooth(soon - path.yaw, 0.06 * rate))


def _ankles(foot: Foot) -> Array:
    """Ankle positions (F, 3) of a foot that rolls about its toe joint."""
    turn = _turn(foot.yaw, _Z, foot.pitch, _X)
    return foot.toe - quat.mul_vec(turn, np.tile([0.0, -TOE_AHEAD, TOE_HEIGHT - ANKLE_HEIGHT], (len(turn), 1)))


def _pelvis_height(path: Path, running: Array, hips: Array, ground: Array, feet: tuple[Foot, Foot]) -> Array:
    """Height of the hips (F,): a bob of two beats per stride, lowered to where both legs reach.

    A walk vaults over the standing leg; in a run the body falls between steps, with three quarters of gravity.
    """
    from scipy.ndimage import minimum_filter1d

    rate = 1.0 / (path.times[1] - path.times[0])
    swinging = _smooth(np.maximum(~feet[0].planted, ~feet[1].planted).astype(float), 0.07 * rate)
    down = _smooth(np.maximum(feet[0].planted, feet[1].planted).astype(float), 0.05 * rate)
    moving = (1.0 - running) * np.clip(path.pace / 0.5, 0.0, 1.0)
    flight = 0.75 * _GRAVITY / (2.0 * np.pi * step_rate(path)) ** 2
    stand = ANKLE_HEIGHT + HIP_DROP + 0.987 * (THIGH + SHIN)
    bob = _smooth(0.02 * moving * (swinging - 1.0), 0.03 * rate) + running * flight * (1.5 - 2.0 * down)
    level = stand - 0.04 * running
    for sign, foot in zip((1.0, -1.0), feet, strict=True):
        joint = quat.mul_vec(hips, np.tile([sign * HIP_WIDTH, 0.0, -HIP_DROP], (len(hips), 1)))
        ankle = _ankles(foot)
        across = np.linalg.norm(ankle[:, :2] - ground - joint[:, :2], axis=-1)
        limit = ankle[:, 2] + np.sqrt(np.maximum(_REACH**2 - across**2, 0.2**2)) - joint[:, 2]
        level = np.minimum(level, limit - bob)
    # the lowest value around each frame, then a mean as wide: smooth and nowhere above the limit, the bob kept whole
    radius = max(1, round(0.1 * rate))
    lowest = minimum_filter1d(level, 2 * radius + 1, mode="nearest")
    window = np.hanning(2 * radius + 3)[1:-1]
    return np.convolve(np.pad(lowest, radius, mode="edge"), window / window.sum(), mode="valid") + bob


def _pose_arm(rotations: Array, skeleton: Skeleton, side: str, sign: float, path: Path, running: Array,
              ahead: Array, sway: Array) -> None:
    """Arms hang and swing against the legs: `ahead` is how far the other foot leads, in metres."""
    swing = 0.6 * np.tanh(ahead / 0.6) * (0.6 + 0.25 * running) - 0.05 + 0.02 * sway
    drop = np.radians(78) - 0.10 * running
    elbow = 0.25 + 0.25 * np.clip(path.pace / 1.5, 0.0, 1.0) + 1.1 * running + 0.35 * np.maximum(swing, 0.0)
    rotations[:, skeleton.index(side + "Arm")] = _turn(-swing, _X, sign * drop, _Y)
    rotations[:, skeleton.index(side + "ForeArm")] = _turn(-sign * elbow, _Z)
    rotations[:, skeleton.index(side + "Hand")] = _turn(np.full(len(swing), -0.1 * sign), _Z)


def _pose_leg(rotations: Array, skeleton: Skeleton, side: str, sign: float, path: Path, pelvis: Array, hips: Array,
              foot: Foot) -> None:
    """Two-bone solution from hip to ankle by the law of cosines; the knee points between body and foot."""
    hip = pelvis + quat.mul_vec(hips, np.tile([sign * HIP_WIDTH, 0.0, -HIP_DROP], (len(hips), 1)))
    span = _ankles(foot) - hip
    length = np.clip(np.linalg.norm(span, axis=-1), abs(THIGH - SHIN) + 0.05, THIGH + SHIN - 1e-4)
    along = span / np.linalg.norm(span, axis=-1, keepdims=True)
    heading = forward(0.5 * (path.yaw + foot.yaw))
    hinge = np.cross(np.concatenate([heading, np.zeros((len(heading), 1))], axis=-1), along)
    hinge /= np.linalg.norm(hinge, axis=-1, keepdims=True)
    at_hip = np.arccos(np.clip((THIGH**2 + length**2 - SHIN**2) / (2 * THIGH * length), -1.0, 1.0))
    at_knee = np.pi - np.arccos(np.clip((THIGH**2 + SHIN**2 - length**2) / (2 * THIGH * SHIN), -1.0, 1.0))
    straight = quat.from_matrix(np.stack([hinge, np.cross(-along, hinge), -along], axis=-1))
    thigh = quat.mul(straight, quat.from_angle_axis(-at_hip, _X))
    shin = quat.mul(thigh, quat.from_angle_axis(at_knee, _X))
    sole = _turn(foot.yaw, _Z, foot.pitch, _X)
    rotations[:, skeleton.index(side + "UpLeg")] = quat.inv_mul(hips, thigh)
    rotations[:, skeleton.index(side + "Leg")] = quat.inv_mul(thigh, shin)
    rotations[:, skeleton.index(side + "Foot")] = quat.inv_mul(shin, sole)
    rotations[:, skeleton.index(side + "Toe")] = quat.from_angle_axis(-foot.bend, _X)
