"""Compute the simulation bone: a ground point that moves through a clip like a controller's object.

Its position is that of an upper spine bone on the ground, its heading the hips' forward direction
on the ground. A Savitzky-Golay filter smooths both, which removes the swing of hips and shoulders
and preserves turns, starts and stops. `attachment` makes it bone 0, the root of all others.
Headings are yaws as in `maths.planar`; in the character's own frame forward is -Y and left is +X.

Source: "Code vs Data Driven Displacement", section "Simulation Bone".
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import RigError
from ..maths.along_time import apply_savitzky_golay, compute_window, compute_windowed_minimum
from ..maths.easing import smoothstep
from ..maths.planar import rotate, yaw_to_forward
from ..maths.rotations import quat
from ..skeleton.bone_names import make_unique_names
from ..skeleton.skeleton import Skeleton
from .clip import Clip
from .numbers import NUMBERS
from .rest import AT_REST
from .settings import SimulationBoneSettings

SIMULATION_BONE_NAME = "Simulation"

_STANDS_TO_MOVES = AT_REST.speed, NUMBERS.moving_speed
_SWINGS_TO_TURNS = NUMBERS.swinging_rate, NUMBERS.turning_rate


PRESETS = {
    "article": SimulationBoneSettings(),
    # 61 frames (the notebook's 60, made odd) of order 4 and 65 frames of order 5 at 30 fps
    "notebook": SimulationBoneSettings(2.0, 4, 65 / 30, 5, heading="angle", source="hips"),
    # twice the article's windows while moving, less than the article's while standing
    "adaptive": SimulationBoneSettings(1.0, 3, 2.0, 3, standing=0.35),
}


@dataclass(frozen=True)
class GroundTrack:
    """A path on the ground: `positions` (F, 2) in metres and unwrapped `yaw` (F,), float64."""

    positions: np.ndarray
    yaw: np.ndarray

    def __post_init__(self) -> None:
        if self.yaw.ndim != 1 or self.positions.shape != (len(self.yaw), 2):
            shapes = f"{self.positions.shape} and {self.yaw.shape}"
            raise ValueError(f"a ground track needs positions (F, 2) and yaw (F,), not {shapes}")

    @classmethod
    def from_rows(cls, rows: np.ndarray) -> GroundTrack:
        """Return the track of rows (F, 3) of x, y and yaw."""
        return cls(rows[:, :2], rows[:, 2])

    @property
    def rows(self) -> np.ndarray:
        """The track as rows (F, 3) of x, y and yaw."""
        return np.column_stack([self.positions, self.yaw])

    @property
    def frame_count(self) -> int:
        return len(self.yaw)

    def crop(self, start: int, stop: int) -> GroundTrack:
        """Return the frames start <= f < stop."""
        return GroundTrack(self.positions[start:stop], self.yaw[start:stop])

    def mirrored(self) -> GroundTrack:
        """Return the track of the clip's mirror image, X -> -X."""
        return GroundTrack(self.positions * [-1.0, 1.0], -self.yaw)

    @property
    def forward(self) -> np.ndarray:
        """Unit directions (F, 2) on the ground that the headings face."""
        return yaw_to_forward(self.yaw)


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
    """Find the path of the simulation bone through a clip.

    `hips`, `spine` and `root` are bones; `forward` (3,) is the hips' forward axis in their own
    frame. Raises RigError if the settings take the root bone and the rig has none.
    """
    raw = compute_raw_track(clip, hips, spine, forward, source=settings.source, root=root)
    return smooth_track(raw, clip.fps, settings, cyclic)


def smooth_track(
    raw: GroundTrack, fps: float, settings: SimulationBoneSettings, cyclic: bool = False
) -> GroundTrack:
    """Smooth the raw track of one clip; the track of a root bone stays unchanged.

    A `cyclic` clip is a loop whose last frame repeats the pose of the first; it may travel and
    turn, and the smoothed track continues across the seam.
    """
    if settings.source == "root":
        return raw
    cyclic = cyclic and raw.frame_count > 1
    windows = settings.position_window, settings.direction_window
    longest = None if cyclic else raw.frame_count
    adaptive = settings.standing < 1
    long = [compute_window(seconds, fps, longest) for seconds in windows]
    margin = max(long) // 2
    # round a loop, the choice between long and short windows is itself made and blended over them
    margin *= 3 if cyclic and adaptive else 1
    extended = _extend_loop(raw, margin) if cyclic else _extend_by_reflection(raw, margin)
    track = _filter_track(extended, settings, *long)
    if adaptive:
        brief = [compute_window(settings.standing * seconds, fps, longest) for seconds in windows]
        short = _filter_track(extended, settings, *brief)
        position, heading = map(compute_windowed_minimum, _measure_steadiness(short, fps), long)
        positions = short.positions + position[:, None] * (track.positions - short.positions)
        track = GroundTrack(positions, short.yaw + heading * (track.yaw - short.yaw))
    return track.crop(margin, margin + raw.frame_count)


def _measure_steadiness(track: GroundTrack, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return shares (F,) from 0 to 1 of moving, and of moving without a sharp turn."""
    if track.frame_count < 2:
        return np.zeros(track.frame_count), np.zeros(track.frame_count)
    speed = np.linalg.norm(np.gradient(track.positions, 1.0 / fps, axis=0), axis=1)
    turning = np.abs(np.gradient(track.yaw, 1.0 / fps))
    moving, turned = (
        np.clip((values - low) / (high - low), 0.0, 1.0)
        for values, (low, high) in ((speed, _STANDS_TO_MOVES), (turning, _SWINGS_TO_TURNS))
    )
    return moving, moving * (1.0 - turned)


def _filter_track(
    track: GroundTrack, settings: SimulationBoneSettings, position_window: int, yaw_window: int
) -> GroundTrack:
    """Smooth a track with windows in frames; frames nearer to its ends are unreliable."""
    positions = apply_savitzky_golay(track.positions, position_window, settings.position_order)
    yaw = apply_savitzky_golay(track.yaw, yaw_window, settings.direction_order)
    if settings.heading == "direction":
        forward = apply_savitzky_golay(track.forward, yaw_window, settings.direction_order)
        yaw = _blend_yaw(forward, yaw)
    return GroundTrack(positions, yaw)


def compute_raw_track(
    clip: Clip,
    hips: int,
    spine: int,
    forward: np.ndarray,
    *,
    source: str = "spine",
    root: int | None = None,
) -> GroundTrack:
    """Return the path before smoothing: the spine bone on the ground and the hips' heading.

    If the settings' `source` is "hips", it is the hips' path; if "root", the root bone's, as for
    `find_track`.
    """
    if source == "root":
        return _find_root_track(clip, hips, forward, root)
    rotations, positions = clip.skeleton.compute_bone_world(hips, clip.rotations, clip.positions)
    if source == "spine":
        _, positions = clip.skeleton.compute_bone_world(spine, clip.rotations, clip.positions)
    yaw = _compute_headings(rotations, np.asarray(forward, dtype=np.float64))
    return GroundTrack(positions[:, :2], yaw)


def _find_root_track(clip: Clip, hips: int, forward: np.ndarray, root: int | None) -> GroundTrack:
    """Return the path of a root bone, forward along the axis that the hips follow over the clip."""
    if root is None:
        raise RigError(
            f"The simulation bone of clip '{clip.name}' should be its root bone, but the rig has "
            "none; name it in the rig's roles, or let the spine and hips give the simulation bone, "
            "as 'article' does."
        )
    rotations, positions = clip.skeleton.compute_bone_world(root, clip.rotations, clip.positions)
    hips_rotations, _ = clip.skeleton.compute_bone_world(hips, clip.rotations, clip.positions)
    facing = quat.mul_vec(hips_rotations, forward)
    facing[:, 2] = 0.0
    mean = quat.inv_mul_vec(rotations, facing).mean(axis=0)
    largest = np.argmax(np.abs(mean))
    axis = np.zeros(3)
    axis[largest] = np.sign(mean[largest]) or 1.0
    return GroundTrack(positions[:, :2], _compute_headings(rotations, axis))


def _compute_headings(rotations: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Return the unwrapped yaw (F,) of world `rotations` (F, 4) with a local forward axis (3,).

    A tilted bone is first turned upright the shortest way (the twist of a swing-twist
    decomposition). Unlike the forward axis on the ground, that neither vanishes nor flips when the
    hips bend until forward is vertical. It is undefined only upside down; there it is interpolated.
    """
    left = np.cross(_find_local_up(rotations, forward), forward)
    up = np.cross(forward, left)
    turned = quat.mul(rotations, quat.from_matrix(np.stack([left, -forward, up], axis=-1)))
    defined = np.hypot(turned[:, 0], turned[:, 3]) > NUMBERS.upside_down_cosine
    if not defined.any():
        defined[:] = True
    yaw = np.unwrap(2.0 * np.arctan2(turned[defined, 3], turned[defined, 0]))
    yaw -= 2.0 * np.pi * np.round(yaw[:1] / (2.0 * np.pi))
    return np.interp(np.arange(len(rotations)), np.flatnonzero(defined), yaw)


def _find_local_up(rotations: np.ndarray, forward: np.ndarray) -> np.ndarray:
    """Return the local up axis (3,), perpendicular to forward: the sky's while forward is level."""
    level = 1.0 - quat.mul_vec(rotations, forward)[:, 2] ** 2
    skies = quat.inv_mul_vec(rotations, np.array([0.0, 0.0, 1.0]))
    up = (level[:, None] * (skies - (skies @ forward)[:, None] * forward)).sum(axis=0)
    if np.linalg.norm(up) < 1e-6 * len(rotations):
        # forward is always vertical: any axis across it will do, the same in every clip
        across = np.eye(3)[np.argmin(np.abs(forward))]
        up = across - (across @ forward) * forward
    return up / np.linalg.norm(up)


# ---------------------------------------------------------------- smoothing


def _extend_by_reflection(track: GroundTrack, margin: int) -> GroundTrack:
    """Extend a track by `margin` frames at both ends, by its reflection through each end.

    Measured against the longer takes that pieces were cut from, speed and heading at the ends have
    half the error of a polynomial fitted to the last window, whose turns overshoot there.
    """

    def extend(values: np.ndarray) -> np.ndarray:
        before = values[margin:0:-1]
        after = values[-2 : -margin - 2 : -1]
        return np.concatenate([2.0 * values[:1] - before, values, 2.0 * values[-1:] - after])

    return GroundTrack(extend(track.positions), extend(track.yaw)) if margin else track


def _extend_loop(track: GroundTrack, margin: int) -> GroundTrack:
    """Extend a loop by `margin` frames at both ends: each round goes on from the last one's end.

    With the ground as the complex plane, one round is z -> turn * (z - start) + end. The starts of
    the rounds are then a geometric series, summed in a form that is exact for small turns too.
    """
    count = track.frame_count
    rounds, frames = np.divmod(np.arange(-margin, count + margin), count - 1)
    path = track.positions[:, 0] + 1j * track.positions[:, 1]
    angle = track.yaw[-1] - track.yaw[0]
    turn = angle - 2.0 * np.pi * np.round(angle / (2.0 * np.pi))
    steps = rounds * np.sinc(rounds * turn / (2.0 * np.pi)) / np.sinc(turn / (2.0 * np.pi))
    starts = path[0] + steps * np.exp(0.5j * turn * (rounds - 1)) * (path[-1] - path[0])
    extended = starts + np.exp(1j * turn * rounds) * (path[frames] - path[0])
    positions = np.stack([extended.real, extended.imag], axis=-1)
    return GroundTrack(positions, track.yaw[frames] + rounds * angle)


def _blend_yaw(directions: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the yaw (F,) of smoothed `directions` (F, 2), corrected by smoothed `angles` (F,).

    In a fast turn the smoothed direction passes close to zero, where it may go round the wrong way
    or jump. There the unwrapped angle decides. The two are blended by how much of the direction
    lies along the angle: a short direction, or one that contradicts the angle, is ignored.
    """
    sin = np.sin(angles)
    cos = np.cos(angles)
    along = directions[:, 0] * sin - directions[:, 1] * cos
    across = directions[:, 0] * cos + directions[:, 1] * sin
    low, high = NUMBERS.untrusted_direction, NUMBERS.trusted_direction
    return angles + smoothstep((along - low) / (high - low)) * np.arctan2(across, along)


# ---------------------------------------------------------------- measuring


def compute_local_velocity(track: GroundTrack, fps: float) -> tuple[np.ndarray, np.ndarray]:
    """Return velocity (F, 2) in m/s in the character's own frame, and yaw rate (F,) in rad/s.

    The first axis points to the left, the second behind: walking forward is (0, -speed).
    """
    if track.frame_count < 2:
        return np.zeros((track.frame_count, 2)), np.zeros(track.frame_count)
    velocity = np.gradient(track.positions, 1.0 / fps, axis=0)
    return rotate(velocity, -track.yaw), np.gradient(track.yaw, 1.0 / fps)


def attach(clip: Clip, track: GroundTrack, hips: int, before: np.ndarray | None = None) -> Clip:
    """Return the clip with the simulation bone as bone 0, moving along `track`, above all others.

    Bones above the hips, such as a root that stays at the origin, then move with the simulation
    bone; every other bone keeps its motion in the world. At rest the simulation bone is at the
    origin below the hips. Rotations `before` (B, 4), of the last frame of a clip that goes before
    it, choose the hemisphere of the first frame's.
    """
    skeleton = clip.skeleton
    riders = skeleton.get_ancestors(hips)
    rotations = clip.rotations.astype(np.float64)
    positions = clip.positions.astype(np.float64)
    ground = np.concatenate([track.positions, np.zeros((track.frame_count, 1))], axis=-1)
    turns = quat.from_yaw(track.yaw)
    for bone in _find_bones_below(skeleton, riders):
        rotation, position = skeleton.compute_bone_world(bone, clip.rotations, clip.positions)
        rotations[:, bone] = quat.inv_mul(turns, rotation)
        positions[:, bone] = quat.inv_mul_vec(turns, position - ground)
    rotations[:, riders] = quat.IDENTITY
    positions[:, riders] = 0.0
    rotations = np.concatenate([turns[:, None], rotations], axis=1)
    positions = np.concatenate([ground[:, None], positions], axis=1)
    return _build_clip(clip, add_bone(skeleton, hips), positions, rotations, before)


def detach(clip: Clip) -> Clip:
    """Return the clip without its simulation bone, as motion capture comes: undo `attach`.

    The children of bone 0 become roots with the motion that they have in the world, so a root bone
    of the source takes over the motion of the simulation bone. Raises RigError if bone 0 is not the
    root of all others.
    """
    skeleton = clip.skeleton
    if list(np.flatnonzero(skeleton.parents < 0)) != [0]:
        raise RigError(
            f"Clip '{clip.name}' has no simulation bone to detach: bone '{skeleton.names[0]}' is "
            "not the root of all others."
        )
    rotations = clip.rotations.astype(np.float64)
    positions = clip.positions.astype(np.float64)
    rest_rotations = skeleton.rest_rotations.copy()
    rest_positions = skeleton.rest_positions.copy()
    for bone in skeleton.get_children(0):
        rotations[:, bone], positions[:, bone] = skeleton.compute_bone_world(
            bone, clip.rotations, clip.positions
        )
        rest_rotations[bone], rest_positions[bone] = skeleton.compute_rest_bone_world(bone)
    parents = np.maximum(skeleton.parents[1:] - 1, -1)
    sites = tuple((bone - 1, offset) for bone, offset in skeleton.end_sites if bone > 0)
    bare = Skeleton(skeleton.names[1:], parents, rest_positions[1:], rest_rotations[1:], sites)
    return _build_clip(clip, bare, positions[:, 1:], rotations[:, 1:])


def add_bone(skeleton: Skeleton, hips: int) -> Skeleton:
    """Return the skeleton with the simulation bone, its rest pose moved to have the hips above."""
    riders = skeleton.get_ancestors(hips)
    rotations = skeleton.rest_rotations.copy()
    positions = skeleton.rest_positions.copy()
    _, hips_position = skeleton.compute_rest_bone_world(hips)
    for bone in _find_bones_below(skeleton, riders):
        rotations[bone], positions[bone] = skeleton.compute_rest_bone_world(bone)
        positions[bone] -= hips_position * [1.0, 1.0, 0.0]
    rotations[riders] = quat.IDENTITY
    positions[riders] = 0.0
    return Skeleton(
        (make_unique_names([*skeleton.names, SIMULATION_BONE_NAME])[-1], *skeleton.names),
        np.concatenate([[-1], skeleton.parents + 1]).astype(skeleton.parents.dtype),
        np.concatenate([np.zeros((1, 3), positions.dtype), positions]),
        np.concatenate([quat.IDENTITY[None].astype(rotations.dtype), rotations]),
        tuple((bone + 1, offset) for bone, offset in skeleton.end_sites),
    )


def _find_bones_below(skeleton: Skeleton, riders: list[int]) -> list[int]:
    """Return the bones right below the simulation bone and its riders, which keep their motion."""
    above = {-1, *riders}
    parents = skeleton.parents.tolist()
    return [bone for bone, parent in enumerate(parents) if parent in above and bone not in above]


def _build_clip(
    clip: Clip,
    skeleton: Skeleton,
    positions: np.ndarray,
    rotations: np.ndarray,
    before: np.ndarray | None = None,
) -> Clip:
    """Return the clip with other bones, in contiguous float32, quaternions on one hemisphere."""
    rotations = quat.unroll(quat.normalize(rotations), before)
    rotations = np.ascontiguousarray(rotations, dtype=np.float32)
    positions = np.ascontiguousarray(positions, dtype=np.float32)
    return replace(clip, skeleton=skeleton, rotations=rotations, positions=positions)
