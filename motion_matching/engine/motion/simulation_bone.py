"""The simulation bone: an imaginary object on the ground that moves through a clip as a character controller would.

Its position is an upper spine bone on the ground, its heading the hips' forward direction on the ground, both
smoothed by a Savitzky-Golay filter, so that the swing of hips and shoulders goes and turns, starts and stops stay
("Code vs Data Driven Displacement", section "Simulation Bone"). It becomes bone 0, the root of everything else.

On the ground a heading is a yaw in radians: 0 faces -Y, forward is `(sin yaw, -cos yaw)`. The character's own frame
is the world turned back by the yaw: forward is -Y, its left is +X.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import RigError, SettingsError
from ..maths import quat
from .clip import Clip
from .skeleton import Skeleton

NAME = "Simulation"
HEADINGS = ("direction", "angle")
SOURCES = ("spine", "root")

# Below the first length a smoothed direction says nothing about the heading, above the second it is trusted alone.
_TRUSTED_DIRECTION = (0.3, 0.9)
# Cosine of half the tilt beyond which hips count as upside down and have no heading of their own: about 163 degrees.
_UPSIDE_DOWN = 0.15
# Seconds at either end of a clip that are looked at to tell whether the character stands there.
_STANDING_SPAN = 0.2


@dataclass(frozen=True)
class SimulationBoneSettings:
    """How the simulation bone is found; the defaults are the article's.

    Windows are in seconds, orders are those of the filter's polynomials. `heading` smooths the ground direction as a
    vector ("direction", the article) or as an unwrapped angle ("angle", the notebook). `source` is "spine", or "root"
    to take an existing root bone as it is, without smoothing. SettingsError for values that make no sense.
    """

    position_window: float = 0.5
    position_order: int = 3
    direction_window: float = 1.0
    direction_order: int = 3
    heading: str = "direction"
    source: str = "spine"

    def __post_init__(self) -> None:
        if self.heading not in HEADINGS:
            raise SettingsError(f"Simulation bone heading '{self.heading}' is unknown: use {' or '.join(HEADINGS)}.")
        if self.source not in SOURCES:
            raise SettingsError(f"Simulation bone source '{self.source}' is unknown: use {' or '.join(SOURCES)}.")
        for name in ("position", "direction"):
            window, order = getattr(self, f"{name}_window"), getattr(self, f"{name}_order")
            if not (np.isfinite(window) and window >= 0):
                raise SettingsError(f"Simulation bone {name}_window must be zero or more seconds, not {window}.")
            if order != int(order) or order < 0:
                raise SettingsError(f"Simulation bone {name}_order must be a whole number from 0, not {order}.")


PRESETS = {
    "article": SimulationBoneSettings(),
    # 60 frames of order 4 and 65 frames of order 5 at 30 fps ("Stabilizing Displacement and Orientation with
    # Savitzky-Golay Filter"); a symmetric filter has an odd number of frames, so 60 becomes 61.
    "notebook": SimulationBoneSettings(2.0, 4, 65 / 30, 5, heading="angle"),
}


@dataclass(frozen=True)
class GroundTrack:
    """A path on the ground: `positions` (F, 2) metres and unwrapped `yaw` (F,) radians, both float64."""

    positions: np.ndarray
    yaw: np.ndarray

    def __post_init__(self) -> None:
        if self.yaw.ndim != 1 or self.positions.shape != (len(self.yaw), 2):
            raise ValueError(f"a ground track needs positions (F, 2) and yaw (F,), not {self.positions.shape} "
                             f"and {self.yaw.shape}")

    @property
    def frame_count(self) -> int:
        return len(self.yaw)

    def sliced(self, start: int, stop: int) -> GroundTrack:
        """Frames start <= f < stop."""
        return GroundTrack(self.positions[start:stop], self.yaw[start:stop])

    def mirrored(self) -> GroundTrack:
        """The track of the clip's mirror image, X -> -X."""
        return GroundTrack(self.positions * [-1.0, 1.0], -self.yaw)

    @property
    def forward(self) -> np.ndarray:
        """Unit directions (F, 2) on the ground."""
        return np.stack([np.sin(self.yaw), -np.cos(self.yaw)], axis=-1)


def odd_frames(seconds: float, fps: float) -> int:
    """The odd number of frames nearest to a span, of two the larger: filters are symmetric about their frame."""
    return 2 * int(seconds * fps / 2) + 1


# ---------------------------------------------------------------- finding the track


def find_track(
    clip: Clip,
    hips: int,
    spine: int,
    forward: np.ndarray,
    settings: SimulationBoneSettings,
    *,
    root: int | None = None,
) -> GroundTrack:
    """Path of the simulation bone through a clip.

    `hips`, `spine` and `root` are bone indices, `forward` (3,) is the hips' forward axis in their own frame. RigError
    where a root bone is asked for and there is none.
    """
    if settings.source == "root":
        return root_track(clip, hips, forward, root)
    return smoothed_track(raw_track(clip, hips, spine, forward), clip.fps, settings)


def smoothed_track(raw: GroundTrack, fps: float, settings: SimulationBoneSettings, cyclic: bool = False) -> GroundTrack:
    """A raw track of one clip, smoothed.

    A `cyclic` clip is a loop whose last frame repeats the pose of the first; it may travel and turn, and the track
    continues across the seam.
    """
    cyclic = cyclic and raw.frame_count > 1
    longest = None if cyclic else raw.frame_count
    position_window = _window(settings.position_window, fps, longest)
    direction_window = _window(settings.direction_window, fps, longest)
    margin = max(position_window, direction_window) // 2
    longer = _played_on(raw, margin) if cyclic else _mirrored_on(raw, margin)
    inside = slice(margin, margin + raw.frame_count)
    positions = _smoothed(longer.positions, position_window, settings.position_order)
    yaw = _smoothed(longer.yaw, direction_window, settings.direction_order)
    if settings.heading == "direction":
        yaw = _along(_smoothed(longer.forward, direction_window, settings.direction_order), yaw)
    return GroundTrack(positions[inside], yaw[inside])


def raw_track(clip: Clip, hips: int, spine: int, forward: np.ndarray) -> GroundTrack:
    """The path before smoothing: the spine bone on the ground and the hips' heading."""
    _, spine_positions = _bone_world(clip.rotations, clip.positions, clip.skeleton, spine)
    hips_rotations, _ = _bone_world(clip.rotations, clip.positions, clip.skeleton, hips)
    return GroundTrack(spine_positions[:, :2], _headings(hips_rotations, np.asarray(forward, dtype=np.float64)))


def root_track(clip: Clip, hips: int, forward: np.ndarray, root: int | None) -> GroundTrack:
    """An existing root bone as it is, looking along that of its axes which the hips follow over the clip."""
    if root is None:
        raise RigError(f"The simulation bone of clip '{clip.name}' is to be its root bone and the rig names none: "
                       "name it in the rig's roles, or have the simulation bone found, as 'article' does.")
    rotations, positions = _bone_world(clip.rotations, clip.positions, clip.skeleton, root)
    hips_rotations, _ = _bone_world(clip.rotations, clip.positions, clip.skeleton, hips)
    looking = quat.mul_vec(hips_rotations, np.broadcast_to(forward, (clip.frame_count, 3))) * [1.0, 1.0, 0.0]
    mean = quat.inv_mul_vec(rotations, looking).mean(axis=0)
    axis = np.zeros(3)
    axis[np.argmax(np.abs(mean))] = np.sign(mean[np.argmax(np.abs(mean))]) or 1.0
    return GroundTrack(positions[:, :2], _headings(rotations, axis))


def _headings(rotations: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Yaw (F,), unwrapped from within half a turn, of a bone with world `rotations` (F, 4) and its own forward axis.

    Of an upright bone it is the direction of the forward axis on the ground. A tilted one is first brought upright by
    the shortest turn (the twist of a swing-twist decomposition): unlike the forward axis on the ground, that neither
    vanishes nor flips when the hips bend until forward is vertical and further. Only upside down it is undefined, and
    there it is interpolated.
    """
    left = np.cross(_local_up(rotations, forward), forward)
    up = np.cross(forward, left)
    turned = quat.mul(rotations, quat.from_matrix(np.stack([left, -forward, up], axis=-1)))
    defined = np.hypot(turned[:, 0], turned[:, 3]) > _UPSIDE_DOWN
    if not defined.any():
        defined[:] = True
    yaw = np.unwrap(2.0 * np.arctan2(turned[defined, 3], turned[defined, 0]))
    yaw -= 2.0 * np.pi * np.round(yaw[:1] / (2.0 * np.pi))
    return np.interp(np.arange(len(rotations)), np.flatnonzero(defined), yaw)


def _local_up(rotations: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """The bone's own up (3,), at right angles to its forward axis: where the sky is while forward lies level."""
    count = len(rotations)
    level = 1.0 - quat.mul_vec(rotations, np.broadcast_to(forward, (count, 3)))[:, 2] ** 2
    skies = quat.inv_mul_vec(rotations, np.broadcast_to([0.0, 0.0, 1.0], (count, 3)))
    up = (level[:, None] * (skies - (skies @ forward)[:, None] * forward)).sum(axis=0)
    if np.linalg.norm(up) < 1e-6 * count:
        # forward is vertical all along: any axis across it is as good, as long as it is the same in every clip
        across = np.eye(3)[np.argmin(np.abs(forward))]
        up = across - (across @ forward) * forward
    return up / np.linalg.norm(up)


# ---------------------------------------------------------------- smoothing


def _window(seconds: float, fps: float, longest: int | None) -> int:
    """Frames of a filter: an odd number, and a shorter one for a clip of fewer frames."""
    window = odd_frames(seconds, fps)
    return window if longest is None else min(window, longest - 1 + longest % 2)


def _mirrored_on(track: GroundTrack, margin: int) -> GroundTrack:
    """A clip led on by `margin` frames at both ends by its reflection through the end: as it went there, it goes on.

    Against the longer take that a piece was cut from, this halves the errors of speed and heading at the ends of a
    filter that fits its polynomial to the last window instead, and such a filter's turns shoot over there.
    """
    def led_on(values: np.ndarray) -> np.ndarray:
        before, after = values[margin:0:-1], values[-2 : -margin - 2 : -1]
        return np.concatenate([2.0 * values[:1] - before, values, 2.0 * values[-1:] - after])

    return GroundTrack(led_on(track.positions), led_on(track.yaw)) if margin else track


def _played_on(track: GroundTrack, margin: int) -> GroundTrack:
    """A loop led on by `margin` frames at both ends: each round starts where the last came to, turned as it was.

    With the ground as the complex plane one round is z -> turn * (z - start) + end, so that the starts of the rounds
    are a geometric series, summed here in a form that holds for loops that hardly turn as well.
    """
    rounds, frames = np.divmod(np.arange(-margin, track.frame_count + margin), track.frame_count - 1)
    path = track.positions[:, 0] + 1j * track.positions[:, 1]
    angle = track.yaw[-1] - track.yaw[0]
    turn = angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
    steps = rounds * np.sinc(rounds * turn / (2.0 * np.pi)) / np.sinc(turn / (2.0 * np.pi))
    starts = path[0] + steps * np.exp(0.5j * turn * (rounds - 1)) * (path[-1] - path[0])
    longer = starts + np.exp(1j * turn * rounds) * (path[frames] - path[0])
    return GroundTrack(np.stack([longer.real, longer.imag], axis=-1), track.yaw[frames] + rounds * angle)


def _smoothed(values: np.ndarray, window: int, order: int) -> np.ndarray:
    """Savitzky-Golay along the first axis; a window too short for its order, as tiny clips have, changes nothing."""
    from scipy.signal import savgol_filter

    # what is done at the ends is cut off with the margin: the cheapest will do
    return savgol_filter(values, window, order, axis=0, mode="nearest") if window > order + 1 else values


def _along(directions: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Yaw (F,) of smoothed `directions` (F, 2), helped by smoothed unwrapped `angles` (F,).

    A fast turn makes the smoothed direction pass close to zero, where it may go round the wrong way or jump; there
    the angle leads, which knows the way the character turned. Both are blended by how much of the direction lies
    along the angle, so that neither a short direction nor one that contradicts the turning has a say.
    """
    sin, cos = np.sin(angles), np.cos(angles)
    along = directions[:, 0] * sin - directions[:, 1] * cos
    across = directions[:, 0] * cos + directions[:, 1] * sin
    low, high = _TRUSTED_DIRECTION
    trust = np.clip((along - low) / (high - low), 0.0, 1.0)
    return angles + trust * trust * (3.0 - 2.0 * trust) * np.arctan2(across, along)


# ---------------------------------------------------------------- attaching it and taking it off


def attach(clip: Clip, track: GroundTrack, hips: int) -> Clip:
    """The clip with the simulation bone as bone 0, on the ground in the world, and all else below it.

    Bones above the hips, such as a root that stays at the origin, ride on the simulation bone from here on; every
    other bone keeps its motion in the world. At rest the simulation bone is at the origin below the hips.
    """
    skeleton = clip.skeleton
    riders = skeleton.ancestors(hips)
    rotations, positions = clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
    ground = np.concatenate([track.positions, np.zeros((track.frame_count, 1))], axis=-1)
    turns = quat.from_yaw(track.yaw)
    for bone in _first_below(skeleton, riders):
        world_rotations, world_positions = _bone_world(clip.rotations, clip.positions, skeleton, bone)
        rotations[:, bone] = quat.inv_mul(turns, world_rotations)
        positions[:, bone] = quat.inv_mul_vec(turns, world_positions - ground)
    rotations[:, riders], positions[:, riders] = quat.IDENTITY, 0.0
    rotations = np.concatenate([turns[:, None], rotations], axis=1)
    positions = np.concatenate([ground[:, None], positions], axis=1)
    skeleton = _attached(skeleton, riders, hips)
    return _stored(replace(clip, skeleton=skeleton, rotations=rotations, positions=positions))


def detach(clip: Clip) -> Clip:
    """The clip without its simulation bone, as motion capture comes: the reverse of `attach`.

    What was right below bone 0 becomes a root with the motion it has in the world; a root bone of the source, which
    rode on the simulation bone, thus carries its motion. RigError where bone 0 is not the root of everything.
    """
    skeleton = clip.skeleton
    if list(np.flatnonzero(skeleton.parents < 0)) != [0]:
        raise RigError(f"Clip '{clip.name}' has no simulation bone to take off: bone '{skeleton.names[0]}' is not "
                       "the root of all others.")
    rotations, positions = clip.rotations.astype(np.float64), clip.positions.astype(np.float64)
    rest_rotations, rest_positions = skeleton.rest_rotations.copy(), skeleton.rest_positions.copy()
    for bone in skeleton.children(0):
        rotations[:, bone], positions[:, bone] = _bone_world(clip.rotations, clip.positions, skeleton, bone)
        rest_rotations[bone], rest_positions[bone] = _rest_world(skeleton, bone)
    bare = Skeleton(
        skeleton.names[1:],
        np.maximum(skeleton.parents[1:] - 1, -1),
        rest_positions[1:],
        rest_rotations[1:],
        tuple((bone - 1, offset) for bone, offset in skeleton.end_sites if bone > 0),
    )
    return _stored(replace(clip, skeleton=bare, rotations=rotations[:, 1:], positions=positions[:, 1:]))


def _attached(skeleton: Skeleton, riders: list[int], hips: int) -> Skeleton:
    """The skeleton with the simulation bone; its rest pose moves along the ground, hips to the origin."""
    rotations, positions = skeleton.rest_rotations.copy(), skeleton.rest_positions.copy()
    _, hips_position = _rest_world(skeleton, hips)
    for bone in _first_below(skeleton, riders):
        rotations[bone], positions[bone] = _rest_world(skeleton, bone)
        positions[bone] -= hips_position * [1.0, 1.0, 0.0]
    rotations[riders], positions[riders] = quat.IDENTITY, 0.0
    return Skeleton(
        (_free_name(skeleton.names), *skeleton.names),
        np.concatenate([[-1], skeleton.parents + 1]).astype(skeleton.parents.dtype),
        np.concatenate([np.zeros((1, 3), positions.dtype), positions]),
        np.concatenate([quat.IDENTITY[None].astype(rotations.dtype), rotations]),
        tuple((bone + 1, offset) for bone, offset in skeleton.end_sites),
    )


def _first_below(skeleton: Skeleton, riders: list[int]) -> list[int]:
    """Bones that keep their motion while what they hang from becomes the simulation bone or rides on it."""
    above = {-1, *riders}
    return [bone for bone, parent in enumerate(skeleton.parents) if int(parent) in above and bone not in above]


def _free_name(names: tuple[str, ...]) -> str:
    candidates = [NAME, *(f"{NAME}.{number:03d}" for number in range(1, len(names) + 1))]
    return next(name for name in candidates if name not in names)


def _stored(clip: Clip) -> Clip:
    """Float32, contiguous, quaternions on one hemisphere along time."""
    rotations = np.ascontiguousarray(quat.unroll(quat.normalize(clip.rotations)), dtype=np.float32)
    return replace(clip, rotations=rotations, positions=np.ascontiguousarray(clip.positions, dtype=np.float32))


def _bone_world(
    rotations: np.ndarray, positions: np.ndarray, skeleton: Skeleton, bone: int
) -> tuple[np.ndarray, np.ndarray]:
    """World rotations (..., 4) and positions (..., 3) of one bone in float64: only the chain above it is walked."""
    chain = [bone, *skeleton.ancestors(bone)]
    rotation, position = rotations[..., bone, :].astype(np.float64), positions[..., bone, :].astype(np.float64)
    for above in chain[1:]:
        above_rotation = rotations[..., above, :].astype(np.float64)
        position = positions[..., above, :] + quat.mul_vec(above_rotation, position)
        rotation = quat.mul(above_rotation, rotation)
    return quat.normalize(rotation), position


def _rest_world(skeleton: Skeleton, bone: int) -> tuple[np.ndarray, np.ndarray]:
    return _bone_world(skeleton.rest_rotations, skeleton.rest_positions, skeleton, bone)


# ---------------------------------------------------------------- looking at it


def speeds(track: GroundTrack, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Velocity (F, 2) in m/s in the character's own frame and yaw rate (F,) in rad/s, by central differences.

    The first axis points to the character's left, the second behind it: walking forward is (0, -speed).
    """
    if track.frame_count < 2:
        return np.zeros((track.frame_count, 2)), np.zeros(track.frame_count)
    velocity = np.gradient(track.positions, 1.0 / fps, axis=0)
    cos, sin = np.cos(track.yaw), np.sin(track.yaw)
    left = cos * velocity[:, 0] + sin * velocity[:, 1]
    back = cos * velocity[:, 1] - sin * velocity[:, 0]
    return np.stack([left, back], axis=-1), np.gradient(track.yaw, 1.0 / fps)


def standing_report(clip: Clip, track: GroundTrack, speed: float = 0.3) -> tuple[str, ...]:
    """A sentence where the clip does not both start and end standing, that is slower than `speed` m/s.

    The filter knows nothing beyond a clip's ends, so the track is least certain there if the character moves (section
    "Simulation Bone"). Loops that were smoothed as such need no report.
    """
    span = max(2, round(_STANDING_SPAN * clip.fps) + 1)
    ground_speed = np.linalg.norm(speeds(track, clip.fps)[0], axis=-1)
    ends = {"starts": float(ground_speed[:span].mean()), "ends": float(ground_speed[-span:].mean())}
    moving = [f"{verb} at {value:.1f} m/s" for verb, value in ends.items() if value >= speed]
    if not moving:
        return ()
    return (f"Clip '{clip.name}' {' and '.join(moving)}: its simulation bone is least certain there, so prefer takes "
            "that start and end standing, mark a loop as one, or give the track yourself.",)
