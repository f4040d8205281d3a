"""Join the rest of a take to a new part before it, moved and turned so that no seam shows.

The end of the new part and the start of the rest differ in pose, place and motion. The difference
fades as after a jump, and feet that stand meanwhile stay in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..blending.inertialization import Inertializer
from ..blending.jump import Jump
from ..feet.live.foot_lock import FootLock
from ..feet.played_toes import PlayedToes, measure_toes
from ..legs.joints import Joints
from ..legs.legs import LegGeometry
from ..maths.easing import smoothstep
from ..maths.numeric import arctan2
from ..maths.planar import rotate, rotate_xy, wrap
from ..maths.rotations import quat
from ..motion.margins import MARGINS
from ..performance.settings import FootLocking, PerformerSettings
from ..performance.start_state import GroundPlace, build_start_state, compose_places
from ..scale import Scale
from ..skeleton.skeleton import Skeleton
from ..units import PLACE, POSE, measured
from .numbers import NUMBERS


class Body(NamedTuple):
    """A moving body: bones, their `limits` (2, B) as in `Method`, legs, and ticks per second.

    All is in body units of a `scale`.
    """

    skeleton: Skeleton
    limits: np.ndarray
    legs: Sequence[LegGeometry]
    fps: float
    scale: Scale = Scale()


@measured(poses=POSE, unlocked=POSE, move=PLACE)
class CarriedRest(NamedTuple):
    """Poses (F, 7, B) of the rest's first ticks, and the same without planted feet.

    All later poses are only moved: `move` is the place on the ground to which the world's origin
    goes. From the tick `faded` on, the poses without planted feet are the moved ones, too.
    """

    poses: np.ndarray
    unlocked: np.ndarray
    move: GroundPlace
    faded: int


def carry_on(
    before: np.ndarray,
    rest: np.ndarray,
    body: Body,
    settings: PerformerSettings,
    *,
    contacts: np.ndarray | None = None,
    lead_back: float = 0.0,
    moves: bool = True,
) -> CarriedRest:
    """Go on from the last two ticks (2, 7, B) of a new part with the rest of a take (T, 7, B).

    The rest begins two ticks early: its second tick is at the time of the last new one. Within
    `lead_back` seconds it is led to its old place; with 0, it stays where the new part leads it.
    Unless it `moves`, it stays in its place. With `contacts` (T, L), feet are planted in them, on
    flat ground.
    """
    scale = body.scale
    before = scale.to_body(before, POSE)
    rest = scale.to_body(rest, POSE)
    settings = scale.to_body(settings)
    lead_back = scale.to_body(lead_back, "s")
    unlocked, places, faded = _fade(before, rest, body, settings, lead_back, moves)
    old = _get_places(rest[2:])
    poses = unlocked
    end = faded
    if contacts is not None and settings.feet.foot_lock and len(body.legs):
        toes = _list_toes(rest, contacts, body)
        poses, end = _plant(before, unlocked, contacts[2:], toes, body, settings.feet, faded)
    last = min(end, len(unlocked) - 1)
    move = (0.0, 0.0, 0.0)
    if moves and not (lead_back and last >= faded):
        (x, y, yaw), (old_x, old_y, old_yaw) = places[last].tolist(), old[last].tolist()
        dx, dy = rotate_xy(old_x, old_y, yaw - old_yaw)
        move = (x - dx, y - dy, yaw - old_yaw)
    return scale.to_world(CarriedRest(poses[: last + 1], unlocked, move, faded))


def move_places(poses: np.ndarray, move: GroundPlace) -> np.ndarray:
    """Return poses (F, 7, B) moved and turned on the ground, as `CarriedRest.move` says."""
    result = poses.copy()
    for row, place in enumerate(_get_places(poses)):
        _set_place(result[row], compose_places(move, tuple(place.tolist())))
    return result


def _fade(
    before: np.ndarray,
    rest: np.ndarray,
    body: Body,
    settings: PerformerSettings,
    lead_back: float,
    moves: bool,
) -> tuple[np.ndarray, np.ndarray, int]:
    """Return the rest's faded poses (F, 7, B), their places (F, 3), and the tick of the fade's end.

    From that tick on, the poses are the moved ones of the rest.
    """
    fps = body.fps
    skeleton = body.skeleton
    dt = 1.0 / body.fps
    inertializer = Inertializer.from_settings(body.limits, settings, dt)
    ends = [
        build_start_state(skeleton.names, poses, fps)[1].to_moving_pose(skeleton)
        for poses in (np.concatenate([before, before[-1:]]), rest[:3])
    ]
    inertializer.transition(Jump(*ends[0], *ends[1]))
    old = _get_places(rest)
    count = len(rest) - 2
    x, y, yaw = _get_places(before[-1:])[0].tolist()
    steps = _measure_steps(old[1:])
    poses = rest[2:].astype(np.float32)
    places = old[2:].copy()
    faded = count
    for tick in range(count):
        if not inertializer.is_faded:
            pose, offset = inertializer.update(poses[tick])
            poses[tick, :, 1:] = pose[:, 1:]
        else:
            faded = min(faded, tick)
            offset = [0.0, 0.0, 0.0]
        if moves:
            (sx, sy, turn) = steps[tick].tolist()
            (ox, oy, rate) = offset
            dx, dy = rotate_xy(sx + ox * dt, sy + oy * dt, yaw)
            x = x + dx
            y = y + dy
            yaw = yaw + turn + rate * dt
            places[tick] = x, y, yaw
    if lead_back and moves:
        ticks = np.arange(1, count + 1)
        share = 1.0 - _ease(np.clip(ticks * dt / lead_back, 0.0, 1.0))[:, None]
        away = places - old[2:]
        away[:, 2] += wrap(away[:1, 2]) - away[:1, 2]  # the shorter way around
        places = old[2:] + share * away
        faded = max(faded, min(round(lead_back * fps), count))
    for tick in range(count):
        _set_place(poses[tick], tuple(places[tick].tolist()))
    return poses, places, faded


def _list_toes(rest: np.ndarray, contacts: np.ndarray, body: Body) -> list[PlayedToes]:
    """Return the toes of a rest (T, 7, B) and their landings in it, from its third tick on."""
    track = _get_places(rest)
    own = np.array(rest, np.float64)
    own[:, :, 0] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    bones = [leg.chain[-1] for leg in body.legs]
    toes = body.skeleton.compute_bone_positions(bones, own)
    rows = measure_toes(toes, track, contacts, np.array([len(rest)]), [False], body.fps)
    steps = _measure_steps(track) * body.fps
    return [
        PlayedToes(row, step, tick == 0)
        for tick, (row, step) in enumerate(zip(rows[2:], steps[1:], strict=True))
    ]


def _plant(
    before: np.ndarray,
    poses: np.ndarray,
    contacts: np.ndarray,
    toes: Sequence[PlayedToes],
    body: Body,
    locking: FootLocking,
    faded: int,
) -> tuple[np.ndarray, int]:
    """Return the poses with feet planted until all has faded, and the tick when the last is free.

    Contacts that begin later are left to the rest.
    """
    dt = 1.0 / body.fps
    feet = FootLock(body.legs)
    hardest = Joints(body.skeleton.parents).measure_acceleration(poses.astype(np.float64), body.fps)
    hardest = max(hardest, MARGINS.fall)
    feet.start_from(before[-1], before[-2], locking, dt)
    result = poses.copy()
    release = len(poses)
    own = np.zeros(contacts.shape[1], bool)  # contacts left to the rest
    for tick in range(len(poses)):
        if tick >= faded:
            own |= ~np.array(feet.locked) & ~contacts[tick]
            late = own | ~np.array(feet.locked)
            contact = contacts[tick] & ~late
            if release == len(poses) and not any(feet.locked):
                release = tick
        else:
            contact = contacts[tick]
        feet.apply(result[tick], contact, locking, dt, toes=toes[tick], hardest=hardest)
        since = (tick - release) * dt
        if since >= NUMBERS.ease_legs:
            return result, tick - 1
        if since > 0.0:
            share = 1.0 - float(smoothstep(since / NUMBERS.ease_legs))
            result[tick] = _mix(poses[tick], result[tick], share)
    return result, len(poses)


def _mix(pose: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """Blend a pose (7, B) with a share of a very similar one."""
    near = np.where(np.einsum("cb,cb->b", pose[3:], other[3:]) < 0.0, -1.0, 1.0)
    result = pose.copy()
    result[3:] = quat.normalize((pose[3:] + share * (near * other[3:] - pose[3:])).T).T
    return result


def _ease(share: np.ndarray) -> np.ndarray:
    """Return a share eased with velocity and acceleration zero at both ends."""
    return share**3 * (10.0 + share * (6.0 * share - 15.0))


def _measure_steps(places: np.ndarray) -> np.ndarray:
    """Return the steps (F - 1, 3) between places (F, 3), each in the axes of the one before."""
    steps = np.diff(places, axis=0)
    steps[:, :2] = rotate(steps[:, :2], -places[:-1, 2])
    return steps


def _get_places(poses: np.ndarray) -> np.ndarray:
    """Return x, y and unwrapped yaw (F, 3) of bone 0 in poses (F, 7, B)."""
    poses = poses.astype(np.float64)
    yaw = np.unwrap(2.0 * arctan2(poses[:, 6, 0], poses[:, 3, 0]))
    return np.column_stack([poses[:, :2, 0], yaw])


def _set_place(pose: np.ndarray, place: GroundPlace) -> None:
    x, y, yaw = place
    pose[:, 0] = [x, y, pose[2, 0], *quat.from_yaw(np.array(yaw))]
