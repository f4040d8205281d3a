"""The simulation bone: an imaginary object on the ground that moves through a clip as a character controller would.

Its position is an upper spine bone on the ground, its heading the hips' forward direction on the ground, both
smoothed by a Savitzky-Golay filter, so that the swing of hips and shoulders goes and turns, starts and stops stay
("Code vs Data Driven Displacement", section "Simulation Bone"). `attachment` makes it bone 0, the root of all others.

On the ground a heading is a yaw in radians: 0 faces -Y, forward is `(sin yaw, -cos yaw)`. The character's own frame
is the world turned back by the yaw: forward is -Y, its left is +X.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import RigError, SettingsError
from ..maths import quat
from .clip import Clip
from .smoothing import least_within, savitzky_golay, window_frames

NAME = "Simulation"
HEADINGS = ("direction", "angle")
SOURCES = ("spine", "root")

# Below the first length a smoothed direction says nothing about the heading, above the second it is trusted alone.
_TRUSTED_DIRECTION = (0.3, 0.9)
# Cosine of half the tilt beyond which hips count as upside down and have no heading of their own: about 163 degrees.
_UPSIDE_DOWN = 0.15
# Metres per second between which standing becomes moving, for windows that are shorter while standing.
_STANDS_TO_MOVES = (0.1, 0.4)
# Radians per second between which the swing of hips becomes a sharp turn, which such windows leave alone as well.
_SWINGS_TO_TURNS = (1.3, 2.1)
# Seconds at either end of a clip that are looked at to tell whether the character stands there.
_STANDING_SPAN = 0.2


@dataclass(frozen=True)
class SimulationBoneSettings:
    """How the simulation bone is found; the defaults are the article's.

    Windows are in seconds, orders are those of the filter's polynomials. `heading` smooths the ground direction as a
    vector ("direction", the article) or as an unwrapped angle ("angle", the notebook). `source` is "spine", or "root"
    to take an existing root bone as it is, without smoothing. `standing` is the part of both windows that is left where
    the character stands or nearly so: below 1, long windows take out the sway of steps without blunting starts, stops
    and turns on the spot. SettingsError for values that make no sense.
    """

    position_window: float = 0.5
    position_order: int = 3
    direction_window: float = 1.0
    direction_order: int = 3
    heading: str = "direction"
    source: str = "spine"
    standing: float = 1.0

    def __post_init__(self) -> None:
        if self.heading not in HEADINGS:
            raise SettingsError(
                f"Simulation bone heading '{self.heading}' is unknown: use {' or '.join(HEADINGS)}."
            )
        if self.source not in SOURCES:
            raise SettingsError(
                f"Simulation bone source '{self.source}' is unknown: use {' or '.join(SOURCES)}."
            )
        if not 0 <= self.standing <= 1:
            raise SettingsError(
                f"Simulation bone standing must be a part from 0 to 1 of the windows, not {self.standing}."
            )
        for name in ("position", "direction"):
            window, order = getattr(self, f"{name}_window"), getattr(self, f"{name}_order")
            if not (np.isfinite(window) and window >= 0):
                raise SettingsError(
                    f"Simulation bone {name}_window must be zero or more seconds, not {window}."
                )
            if order != int(order) or order < 0:
                raise SettingsError(
                    f"Simulation bone {name}_order must be a whole number from 0, not {order}."
                )


PRESETS = {
    "article": SimulationBoneSettings(),
    # 60 frames of order 4 and 65 frames of order 5 at 30 fps ("Stabilizing Displacement and Orientation with
    # Savitzky-Golay Filter"); a symmetric filter has an odd number of frames, so 60 becomes 61.
    "notebook": SimulationBoneSettings(2.0, 4, 65 / 30, 5, heading="angle"),
    # twice the article's windows while moving, less than the article's while standing
    "adaptive": SimulationBoneSettings(1.0, 3, 2.0, 3, standing=0.35),
}


@dataclass(frozen=True)
class GroundTrack:
    """A path on the ground: `positions` (F, 2) metres and unwrapped `yaw` (F,) radians, both float64."""

    positions: np.ndarray
    yaw: np.ndarray

    def __post_init__(self) -> None:
        if self.yaw.ndim != 1 or self.positions.shape != (len(self.yaw), 2):
            raise ValueError(
                f"a ground track needs positions (F, 2) and yaw (F,), not {self.positions.shape} "
                f"and {self.yaw.shape}"
            )

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


# ---------------------------------------------------------------- finding the track


def find_track(
    clip: Clip,
    hips: int,
    spine: int,
    forward: np.ndarray,
    settings: SimulationBoneSettings,
    *,
    root: int | None = None,
    cyclic: bool = False,
) -> GroundTrack:
    """Path of the simulation bone through a clip.

    `hips`, `spine` and `root` are bone indices, `forward` (3,) is the hips' forward axis in their own frame; `cyclic` as
    for `smoothed_track`. RigError where a root bone is asked for and there is none.
    """
    if settings.source == "root":
        return root_track(clip, hips, forward, root)
    return smoothed_track(raw_track(clip, hips, spine, forward), clip.fps, settings, cyclic)


def smoothed_track(
    raw: GroundTrack, fps: float, settings: SimulationBoneSettings, cyclic: bool = False
) -> GroundTrack:
    """A raw track of one clip, smoothed.

    A `cyclic` clip is a loop whose last frame repeats the pose of the first; it may travel and turn, and the track
    continues across the seam.
    """
    cyclic = cyclic and raw.frame_count > 1
    windows = settings.position_window, settings.direction_window
    longest = None if cyclic else raw.frame_count
    margin = max(window_frames(seconds, fps, longest) for seconds in windows) // 2
    adaptive = settings.standing < 1
    # which of the windows holds is looked up in one as well, and blended: round a loop
    margin *= 3 if cyclic and adaptive else 1
    longer = _played_on(raw, margin) if cyclic else _mirrored_on(raw, margin)
    track = _filtered(longer, fps, settings, windows, longest)
    if adaptive:
        short = _filtered(
            longer, fps, settings, [settings.standing * seconds for seconds in windows], longest
        )
        place, heading = (
            least_within(part, window_frames(seconds, fps, longest))
            for part, seconds in zip(_steady(short, fps), windows, strict=True)
        )
        track = GroundTrack(
            short.positions + place[:, None] * (track.positions - short.positions),
            short.yaw + heading * (track.yaw - short.yaw),
        )
    return track.sliced(margin, margin + raw.frame_count)


def _steady(track: GroundTrack, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """How far each frame (F,) is one of moving along, and of moving along without a sharp turn, 0 to 1."""
    if track.frame_count < 2:
        return np.zeros(track.frame_count), np.zeros(track.frame_count)
    speed = np.linalg.norm(np.gradient(track.positions, 1.0 / fps, axis=0), axis=1)
    turning = np.abs(np.gradient(track.yaw, 1.0 / fps))
    moving, turned = (
        np.clip((values - low) / (high - low), 0.0, 1.0)
        for values, (low, high) in ((speed, _STANDS_TO_MOVES), (turning, _SWINGS_TO_TURNS))
    )
    return moving, moving * (1.0 - turned)


def _filtered(
    track: GroundTrack,
    fps: float,
    settings: SimulationBoneSettings,
    windows: Sequence[float],
    longest: int | None,
) -> GroundTrack:
    """A track smoothed with these windows in seconds for place and direction, its ends excepted."""
    of_place, of_direction = (window_frames(seconds, fps, longest) for seconds in windows)
    positions = savitzky_golay(track.positions, of_place, settings.position_order)
    yaw = savitzky_golay(track.yaw, of_direction, settings.direction_order)
    if settings.heading == "direction":
        yaw = _along(savitzky_golay(track.forward, of_direction, settings.direction_order), yaw)
    return GroundTrack(positions, yaw)


def raw_track(clip: Clip, hips: int, spine: int, forward: np.ndarray) -> GroundTrack:
    """The path before smoothing: the spine bone on the ground and the hips' heading."""
    _, spine_positions = clip.skeleton.bone_world(spine, clip.rotations, clip.positions)
    hips_rotations, _ = clip.skeleton.bone_world(hips, clip.rotations, clip.positions)
    return GroundTrack(
        spine_positions[:, :2], _headings(hips_rotations, np.asarray(forward, dtype=np.float64))
    )


def root_track(clip: Clip, hips: int, forward: np.ndarray, root: int | None) -> GroundTrack:
    """An existing root bone as it is, looking along that of its axes which the hips follow over the clip."""
    if root is None:
        raise RigError(
            f"The simulation bone of clip '{clip.name}' is to be its root bone and the rig names none: "
            "name it in the rig's roles, or have the simulation bone found, as 'article' does."
        )
    rotations, positions = clip.skeleton.bone_world(root, clip.rotations, clip.positions)
    hips_rotations, _ = clip.skeleton.bone_world(hips, clip.rotations, clip.positions)
    looking = quat.mul_vec(hips_rotations, np.broadcast_to(forward, (clip.frame_count, 3))) * [
        1.0,
        1.0,
        0.0,
    ]
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
    rounds, frames = np.divmod(
        np.arange(-margin, track.frame_count + margin), track.frame_count - 1
    )
    path = track.positions[:, 0] + 1j * track.positions[:, 1]
    angle = track.yaw[-1] - track.yaw[0]
    turn = angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
    steps = rounds * np.sinc(rounds * turn / (2.0 * np.pi)) / np.sinc(turn / (2.0 * np.pi))
    starts = path[0] + steps * np.exp(0.5j * turn * (rounds - 1)) * (path[-1] - path[0])
    longer = starts + np.exp(1j * turn * rounds) * (path[frames] - path[0])
    return GroundTrack(
        np.stack([longer.real, longer.imag], axis=-1), track.yaw[frames] + rounds * angle
    )


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
    return (
        f"Clip '{clip.name}' {' and '.join(moving)}: its simulation bone is least certain there, so prefer takes "
        "that start and end standing, mark a loop as one, or give the track yourself.",
    )
