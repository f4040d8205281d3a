"""The simulation bone: smooth, never flipped, and without effect on motion in the world."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import savgol_coeffs, savgol_filter

from motion_matching.engine.bvh import bvh
from motion_matching.engine.errors import RigError, SettingsError
from motion_matching.engine.maths.along_time import compute_window
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion import simulation_bone
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.simulation_bone import (
    GroundTrack,
    SimulationBoneSettings,
    attach,
    detach,
)
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.engine.rigs import measure_heading
from tests.strategies import make_generators, make_vectors

FPS = 30.0
DIRECTION = SimulationBoneSettings()
ANGLE = SimulationBoneSettings(heading="angle")
ADAPTIVE = simulation_bone.PRESETS["adaptive"]
BOTH = pytest.mark.parametrize("settings", [DIRECTION, ANGLE], ids=["direction", "angle"])
ALL = pytest.mark.parametrize(
    "settings", [DIRECTION, ANGLE, ADAPTIVE], ids=["direction", "angle", "adaptive"]
)
TURNS = st.floats(0.5 * np.pi, 1.2 * np.pi) | st.floats(-1.2 * np.pi, -0.5 * np.pi)
RATES = st.sampled_from([24.0, 30.0, 60.0, 120.0])

ROOT, HIPS, SPINE, LEG, PROP = range(5)
NAMES = ("Root", "Hips", "Spine", "Leg", "Prop")
PARENTS = np.array([-1, 0, 1, 1, 0])
# the hips' axes point anywhere: only `FORWARD`, in those axes, says where the character faces
HIPS_AXES = quat.normalize(np.array([0.3, -0.5, 0.7, 0.4]))
FORWARD = quat.inv_mul_vec(HIPS_AXES, np.array([0.0, -1.0, 0.0]))


def make_times(duration: float, fps: float = FPS) -> np.ndarray:
    return np.arange(round(duration * fps) + 1) / fps


def make_skeleton() -> Skeleton:
    rest_positions = np.array(
        [[0.1, 0.2, 0], [0.5, -0.4, 0.9], [0, 0, 0.4], [0.1, 0, -0.1], [1, 1, 0]], np.float32
    )
    rest_rotations = np.tile(quat.IDENTITY, (5, 1)).astype(np.float32)
    rest_rotations[ROOT] = quat.from_yaw(np.array(0.3))
    rest_rotations[HIPS] = HIPS_AXES
    return Skeleton(NAMES, PARENTS, rest_positions, rest_rotations, ((SPINE, (0.0, 0.0, 0.2)),))


def make_clip(
    path: np.ndarray,
    yaw: np.ndarray,
    *,
    pitch: np.ndarray | float = 0.0,
    roll: np.ndarray | float = 0.0,
    root: tuple[np.ndarray, np.ndarray] | None = None,
    fps: float = FPS,
) -> Clip:
    """Make hips over `path` (F, 2) facing along `yaw` (F,), bent forward by `pitch` and sideways by
    `roll`.

    The spine bone stands upright over the hips. `root` gives path and yaw of the root bone, which
    is still without it.
    """
    count = len(yaw)
    zeros = np.zeros((count, 1))
    bend = quat.from_angle_axis(np.zeros(count) + pitch, np.array([1.0, 0, 0]))
    lean = quat.from_angle_axis(np.zeros(count) + roll, np.array([0, 1.0, 0]))
    hips = quat.mul(
        quat.from_yaw(yaw), quat.mul(bend, quat.mul(lean, np.tile(HIPS_AXES, (count, 1))))
    )
    rotations = np.tile(quat.IDENTITY, (count, 5, 1))
    positions = np.zeros((count, 5, 3))
    if root is not None:
        positions[:, ROOT, :2] = root[0]
        rotations[:, ROOT] = quat.from_yaw(root[1])
    rotations[:, HIPS] = hips
    positions[:, HIPS] = np.concatenate([path, zeros + 0.9], axis=1)
    rotations[:, SPINE] = quat.from_yaw(yaw)
    positions[:, SPINE] = np.concatenate([path, zeros + 1.3], axis=1)
    rotations[:, LEG] = hips
    positions[:, LEG] = positions[:, HIPS] + quat.mul_vec(
        hips, np.broadcast_to([0.1, 0, -0.1], (count, 3))
    )
    positions[:, PROP, :2] = 2.0
    local_rotations, local_positions = quat.ik(rotations, positions, PARENTS)
    return Clip(
        "made",
        make_skeleton(),
        local_positions.astype(np.float32),
        quat.unroll(local_rotations).astype(np.float32),
        fps,
    )


def find_track(
    clip: Clip, settings: SimulationBoneSettings = DIRECTION, cyclic: bool = False, **options
) -> GroundTrack:
    if cyclic:
        raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
        return simulation_bone.smooth_track(raw, clip.fps, settings, cyclic)
    return simulation_bone.find_track(clip, HIPS, SPINE, FORWARD, settings, **options)


def make_wandering_clip(
    seed: int | np.random.Generator, duration: float = 6.0, fps: float = FPS
) -> Clip:
    """Make a smooth random walk with swinging hips."""
    rng = np.random.default_rng(seed)
    t = make_times(duration, fps)
    wave = sum(rng.normal() / k * np.sin(k * 0.7 * t + rng.uniform(0, 6)) for k in range(1, 5))
    yaw = rng.uniform(-3, 3) + 1.5 * wave + 0.15 * np.sin(9 * t)
    velocity = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1) * (1.0 + 0.3 * np.sin(18 * t))[:, None]
    path = np.cumsum(velocity, axis=0) / fps + rng.normal(size=2)
    return make_clip(path, yaw, pitch=0.2 + 0.1 * np.sin(7 * t), roll=0.08 * np.sin(9 * t), fps=fps)


def same_heading(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    return bool(np.max(np.abs(np.angle(np.exp(1j * (a - b))))) < tolerance)


def measure_sway(values: np.ndarray, fps: float) -> float:
    """Return the root mean square of the second derivative."""
    return float(np.sqrt(np.mean((np.diff(values, 2, axis=0) * fps**2) ** 2)))


# ---------------------------------------------------------------- tracks


@ALL
def test_a_straight_walk_is_kept_unchanged(settings):
    t = make_times(3)
    yaw = np.full(len(t), 0.7)
    path = 1.2 * t[:, None] * np.array([np.sin(0.7), -np.cos(0.7)])
    track = find_track(make_clip(path, yaw), settings)
    np.testing.assert_allclose(track.positions, path, atol=1e-5)
    np.testing.assert_allclose(track.yaw, yaw, atol=1e-5)
    velocity, turning = simulation_bone.compute_local_velocity(track, FPS)
    np.testing.assert_allclose(velocity, np.tile([0.0, -1.2], (len(t), 1)), atol=1e-3)
    np.testing.assert_allclose(turning, 0.0, atol=1e-3)


def test_filtering_away_from_the_ends_matches_scipy():
    clip = make_wandering_clip(1)
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    track = find_track(clip, ANGLE)
    np.testing.assert_allclose(
        track.positions[7:-7], savgol_filter(raw.positions, 15, 3, axis=0)[7:-7], atol=1e-12
    )
    np.testing.assert_allclose(track.yaw[15:-15], savgol_filter(raw.yaw, 31, 3)[15:-15], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_cropped_take_keeps_its_track_nearly_to_the_ends(seed):
    """At the ends it is closer than a filter that fits its polynomial to the last window."""
    whole = make_wandering_clip(seed, 9.0)
    takes, fitted, found = find_track(whole, ANGLE), [], []
    for start in range(20, 160, 7):
        piece = whole.crop(start, start + 80)
        raw, track = (
            simulation_bone.compute_raw_track(piece, HIPS, SPINE, FORWARD),
            find_track(piece, ANGLE),
        )
        wanted = np.gradient(takes.yaw)[start : start + 80]
        found.append(np.gradient(track.yaw) - wanted)
        fitted.append(np.gradient(savgol_filter(raw.yaw, 31, 3)) - wanted)
        np.testing.assert_allclose(found[-1][16:-16], 0.0, atol=1e-4)
        distance = np.linalg.norm(track.positions - takes.positions[start : start + 80], axis=1)
        assert distance[8:-8].max() < 1e-6
        assert distance.max() < 0.03
    assert np.sqrt(np.mean(np.square(found))) < 0.7 * np.sqrt(np.mean(np.square(fitted)))


def test_directions_of_slow_turns_match_the_article():
    clip = make_wandering_clip(2)
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    smoothed = savgol_filter(raw.forward, 31, 3, axis=0)
    article = np.arctan2(smoothed[:, 0], -smoothed[:, 1])
    slow = np.linalg.norm(smoothed, axis=1) > 0.9
    slow[:15] = slow[-15:] = False
    assert slow.mean() > 0.5
    assert same_heading(find_track(clip).yaw[slow], article[slow], 1e-9)


def test_the_notebook_preset_has_its_windows_at_30_fps():
    notebook = simulation_bone.PRESETS["notebook"]
    windows = notebook.position_window, notebook.direction_window
    assert [compute_window(window, 30.0) for window in windows] == [61, 65]
    assert (notebook.position_order, notebook.direction_order, notebook.heading) == (4, 5, "angle")


def test_the_notebook_preset_smooths_the_hips():
    clip, margin = make_wandering_clip(2), 33
    _, hips = clip.skeleton.compute_bone_world(HIPS, clip.rotations, clip.positions)
    smoothed = savgol_filter(hips[:, :2], 61, 4, axis=0)
    track = find_track(clip, simulation_bone.PRESETS["notebook"])
    inner = slice(margin, -margin)  # ends are extended otherwise
    np.testing.assert_allclose(track.positions[inner], smoothed[inner], atol=1e-9)


@pytest.mark.parametrize(
    ("span", "fps", "frames"),
    [(0.5, 60, 31), (1.0, 60, 61), (0.5, 30, 15), (0.3, 30, 9), (0, 30, 1)],
)
def test_windows_are_the_nearest_odd_number_of_frames(span, fps, frames):
    assert compute_window(span, fps) == frames


@BOTH
def test_steps_and_swinging_hips_are_smoothed_away(settings):
    clip = make_wandering_clip(3)
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    track = find_track(clip, settings)
    assert measure_sway(track.positions, FPS) < 0.7 * measure_sway(raw.positions, FPS)
    assert measure_sway(track.yaw, FPS) < 0.7 * measure_sway(raw.yaw, FPS)
    assert np.linalg.norm(track.positions - raw.positions, axis=1).max() < 0.1


@pytest.mark.parametrize("fps", [24.0, 60.0, 120.0])
def test_the_track_does_not_depend_on_the_frame_rate(fps):
    coarse, fine = (
        find_track(make_wandering_clip(4, fps=30.0)),
        find_track(make_wandering_clip(4, fps=fps)),
    )
    times = make_times(6)
    yaw = np.interp(times, make_times(6, fps), fine.yaw)
    assert same_heading(coarse.yaw[15:-15], yaw[15:-15], 0.12)


# ---------------------------------------------------------------- invariances


@ALL
@given(make_generators(), st.floats(-4.0, 4.0), make_vectors(1, 5.0))
def test_moving_and_turning_the_world_moves_and_turns_the_track(settings, rng, angle, shift):
    clip, shift = make_wandering_clip(rng), shift[0] * [1, 1, 0]
    turn = quat.from_yaw(np.array(angle))
    positions, rotations = clip.positions.copy(), clip.rotations.copy()
    positions[:, ROOT] = quat.mul_vec(turn, positions[:, ROOT]) + shift
    rotations[:, ROOT] = quat.mul(
        np.broadcast_to(turn, rotations[:, ROOT].shape), rotations[:, ROOT]
    )
    before, after = (
        find_track(clip, settings),
        find_track(replace(clip, positions=positions, rotations=rotations), settings),
    )
    spun = np.concatenate([before.positions, np.zeros((clip.frame_count, 1))], axis=1)
    np.testing.assert_allclose(
        after.positions, (quat.mul_vec(turn, spun) + shift)[:, :2], atol=1e-4
    )
    assert same_heading(after.yaw, before.yaw + angle, 1e-4)


@ALL
@given(make_generators())
def test_reversing_a_clip_reverses_its_track(settings, rng):
    clip = make_wandering_clip(rng)
    backwards = replace(
        clip, positions=clip.positions[::-1].copy(), rotations=clip.rotations[::-1].copy()
    )
    before, after = find_track(clip, settings), find_track(backwards, settings)
    np.testing.assert_allclose(after.positions[::-1], before.positions, atol=1e-5)
    assert same_heading(after.yaw[::-1], before.yaw, 1e-5)


def test_the_axes_of_the_hips_bone_do_not_matter():
    clip = make_wandering_clip(5)
    roll = quat.normalize(np.array([0.2, 0.9, -0.3, 0.1]))
    rolled = clip.rotations.copy()
    rolled[:, HIPS] = quat.mul(clip.rotations[:, HIPS], np.tile(roll, (clip.frame_count, 1)))
    spun = replace(clip, rotations=rolled.astype(np.float32))
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    again = simulation_bone.compute_raw_track(spun, HIPS, HIPS, quat.inv_mul_vec(roll, FORWARD))
    np.testing.assert_allclose(again.yaw, raw.yaw, atol=1e-5)


# ---------------------------------------------------------------- fast turns and tilted hips


@ALL
@given(RATES, st.floats(0.05, 0.6), TURNS)
def test_a_fast_half_turn_is_made_once_and_in_its_direction(settings, fps, duration, turn):
    t = make_times(5, fps)
    share = np.clip((t - 2.5) / duration + 0.5, 0, 1)
    raw = 0.4 + turn * share
    track = find_track(make_clip(np.zeros((len(t), 2)), raw, fps=fps), settings)
    turned = (track.yaw - track.yaw[0]) / turn
    assert abs(turned[-1] - 1.0) < 1e-3
    # a cubic filter overshoots a step by 8 %; more is not allowed
    assert turned.min() > -0.09
    assert turned.max() < 1.09
    # nor may it turn faster than the kernel's bound on the hips' turn rate
    gain = np.abs(savgol_coeffs(compute_window(1.0, fps), 3)).sum()
    assert np.abs(np.diff(track.yaw)).max() <= gain * np.abs(np.diff(raw)).max()


@ALL
@given(make_generators())
def test_wildly_turning_hips_never_make_the_heading_jump_or_lose_a_turn(settings, rng):
    stretches = rng.integers(3, 18, 40)
    rates = np.repeat(rng.normal(size=40) * rng.uniform(1, 14), stretches)[:150]
    yaw = np.cumsum(rates) / FPS
    track = find_track(make_clip(np.zeros((len(yaw), 2)), yaw), settings)
    gain = np.abs(savgol_coeffs(31, 3)).sum()
    assert np.abs(np.diff(track.yaw)).max() <= gain * np.abs(np.diff(yaw)).max()
    assert abs(np.ptp(track.yaw[[0, -1]]) - np.ptp(yaw[[0, -1]])) < 1e-4


@ALL
@given(make_generators())
def test_the_heading_does_not_turn_faster_than_the_hips(settings, rng):
    clip = make_wandering_clip(rng)
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    turning = np.abs(np.diff(find_track(clip, settings).yaw))
    limit = np.abs(np.diff(raw.yaw)).max()
    assert turning[15:-15].max() <= limit
    # within half a window of the ends, the filter sees its polynomial from one side only
    assert turning.max() <= 1.15 * limit


@ALL
def test_all_turns_of_a_spinning_character_are_counted(settings):
    t = make_times(6)
    yaw = 2 * np.pi * 3 * np.clip((t - 1) / 4, 0, 1)  # three turns in four seconds
    track = find_track(make_clip(np.zeros((len(t), 2)), yaw), settings)
    assert abs(track.yaw[-1] - track.yaw[0] - 6 * np.pi) < 0.1
    assert np.diff(track.yaw).min() > -0.05


@ALL
@given(st.floats(-120.0, 120.0))
def test_bending_to_the_ground_or_the_sky_keeps_the_heading(settings, bend):
    t = make_times(6)
    pitch = np.radians(bend) * np.sin(np.pi * t / 6) ** 2
    roll = 0.15 * np.sin(5 * t)
    yaw = 0.8 + 0.3 * np.sin(t)
    clip = make_clip(np.zeros((len(t), 2)), yaw, pitch=pitch, roll=roll)
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    # a lean to the side looks like a turn once the hips are bent: by the lean times tan(bend / 2)
    most = 0.15 * np.tan(np.radians(abs(bend)) / 2) + 0.05
    assert same_heading(raw.yaw, yaw, most)
    assert same_heading(find_track(clip, settings).yaw, yaw, most)


def test_a_pelvis_facing_the_ground_still_turns():
    t = make_times(4)
    yaw = 2.0 * t
    clip = make_clip(np.zeros((len(t), 2)), yaw, pitch=np.pi / 2)
    track = find_track(clip)
    np.testing.assert_allclose(np.diff(track.yaw)[10:-10], 2.0 / FPS, atol=1e-3)


@ALL
def test_a_somersault_keeps_its_heading(settings):
    t = make_times(4)
    pitch = 2 * np.pi * np.clip(t - 1.5, 0, 1)
    clip = make_clip(np.zeros((len(t), 2)), np.full(len(t), -2.0), pitch=pitch, roll=0.02)
    assert same_heading(find_track(clip, settings).yaw, -2.0, 0.3)


def test_tilted_hips_face_where_their_forward_axis_points():
    t = make_times(4)
    clip = make_clip(np.zeros((len(t), 2)), 0.5 * t, pitch=0.25, roll=0.1 * np.sin(6 * t))
    rotations, _ = clip.compute_world()
    on_the_ground = measure_heading(rotations[:, HIPS], FORWARD)
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    assert same_heading(raw.yaw, on_the_ground, np.radians(1.0))


# ---------------------------------------------------------------- short clips and loops


@ALL
@given(st.integers(1, 32))
def test_short_clips_get_shorter_windows(settings, frames):
    clip = make_wandering_clip(6).crop(0, frames)
    raw = simulation_bone.compute_raw_track(clip, HIPS, SPINE, FORWARD)
    for cyclic in (False, True):
        track = find_track(clip, settings, cyclic=cyclic)
        assert track.frame_count == frames
        assert np.isfinite(track.positions).all()
        assert np.abs(track.yaw - raw.yaw).max() < 0.3
    simulation_bone.compute_local_velocity(track, FPS)
    attach(clip, track, HIPS)


def make_loop(turn: float, drift: float, wide: float, frames: int = 31) -> Clip:
    """Make one round of a walk with swaying spine and hips; the last frame repeats the first."""
    phase = np.linspace(0, 1, frames)
    yaw = 0.3 + turn * phase + 0.3 * np.sin(2 * np.pi * phase)
    heading = 0.3 + turn * phase
    forward = np.stack([np.sin(heading), -np.cos(heading)], axis=1)
    side = np.stack([np.cos(heading), np.sin(heading)], axis=1)
    steps = 0.5 * (forward[1:] + forward[:-1]) * drift / (frames - 1)
    path = np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])
    return make_clip(path + wide * np.sin(2 * np.pi * phase)[:, None] * side, yaw)


@BOTH
@given(st.sampled_from([0.0, 1e-9]) | st.floats(-6.3, 6.3), st.sampled_from([11, 31, 61]))
def test_a_loop_that_travels_and_turns_has_no_seam(settings, turn, frames):
    track = find_track(make_loop(turn, 1.4, 0.08, frames), settings, cyclic=True)
    velocity, turning = simulation_bone.compute_local_velocity(play_twice(track), FPS)
    # after the seam, the second round repeats the first, and the track is as smooth as elsewhere
    seam = frames - 1
    np.testing.assert_allclose(velocity[seam + 1 : -1], velocity[1:seam], atol=1e-3)
    np.testing.assert_allclose(turning[seam + 1 : -1], turning[1:seam], atol=1e-3)
    accelerations = np.linalg.norm(np.diff(velocity[1:-1], axis=0), axis=1)
    assert (
        accelerations[seam - 2 : seam + 1].max() <= 1.05 * accelerations[1 : seam - 3].max() + 1e-3
    )
    assert abs(track.yaw[-1] - track.yaw[0] - turn) < 1e-5


def append_round(track: GroundTrack, round_: GroundTrack) -> GroundTrack:
    """Append one more round of a loop to a track, moved and turned to the track's end."""
    turn = track.yaw[-1] - round_.yaw[0]
    way = np.pad(round_.positions[1:] - round_.positions[0], ((0, 0), (0, 1)))
    further = track.positions[-1] + quat.mul_vec(quat.from_yaw(np.array(turn)), way)[:, :2]
    return GroundTrack(
        np.concatenate([track.positions, further]),
        np.concatenate([track.yaw, round_.yaw[1:] + turn]),
    )


def play_twice(track: GroundTrack) -> GroundTrack:
    return append_round(track, track)


@ALL
def test_a_loop_is_smoothed_like_the_endless_walk(settings):
    frames, rounds = 31, 7
    one = make_loop(0.9, 1.4, 0.08, frames)
    raw = endless = simulation_bone.compute_raw_track(one, HIPS, SPINE, FORWARD)
    for _ in range(rounds - 1):
        endless = append_round(endless, raw)
    long = find_track(make_clip(endless.positions, endless.yaw), settings)
    middle = slice(3 * (frames - 1), 4 * (frames - 1) + 1)
    track = find_track(one, settings, cyclic=True)
    turned = long.yaw[middle] - track.yaw
    np.testing.assert_allclose(turned, turned[0], atol=1e-4)
    own, others = (simulation_bone.compute_local_velocity(path, FPS)[0] for path in (track, long))
    others = others[middle]
    np.testing.assert_allclose(own[1:-1], others[1:-1], atol=2e-3)


# ---------------------------------------------------------------- other sources


def test_a_root_bone_is_used_unchanged():
    t = make_times(3)
    path, yaw = np.stack([t, 0.2 * t**2], axis=1), 0.4 + 0.5 * t
    wobble = 0.1 * np.sin(9 * t)
    quarter = (
        np.pi / 2
    )  # the root's own -Y points to the character's side: the hips tell which axis is forward
    clip = make_clip(path + wobble[:, None], yaw + wobble, root=(path, yaw + quarter))
    track = find_track(clip, SimulationBoneSettings(source="root"), root=ROOT)
    np.testing.assert_allclose(track.positions, path, atol=1e-5)
    assert same_heading(track.yaw, yaw, 1e-5)


def test_requesting_a_missing_root_bone_is_refused():
    with pytest.raises(RigError, match="made"):
        find_track(make_wandering_clip(0), SimulationBoneSettings(source="root"))


@pytest.mark.parametrize(
    "wrong",
    [
        {"heading": "up"},
        {"source": "hand"},
        {"position_window": -1.0},
        {"direction_window": np.nan},
        {"direction_order": 2.5},
        {"position_order": -1},
    ],
)
def test_invalid_settings_are_refused(wrong):
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        SimulationBoneSettings(**wrong)


# ---------------------------------------------------------------- attaching and detaching


def make_moving_root_clip() -> Clip:
    t = make_times(3)
    still = make_wandering_clip(7, 3.0)
    raw = simulation_bone.compute_raw_track(still, HIPS, SPINE, FORWARD)
    return make_clip(raw.positions, raw.yaw, pitch=0.2, root=(np.stack([t, -t], axis=1), 3.0 * t))


@pytest.mark.parametrize(
    "clip", [make_wandering_clip(7), make_moving_root_clip()], ids=["still root", "moving root"]
)
def test_attaching_changes_nothing_in_the_world(clip):
    track = find_track(clip)
    attached = attach(clip, track, HIPS)
    rotations, positions = attached.compute_world()
    before_rotations, before_positions = clip.compute_world()
    kept = [HIPS, SPINE, LEG, PROP]
    np.testing.assert_allclose(positions[:, 1:][:, kept], before_positions[:, kept], atol=1e-5)
    assert quat.angle_between(rotations[:, 1:][:, kept], before_rotations[:, kept]).max() < 1e-3
    # the simulation bone follows the track on the ground, and the former root follows it
    for bone in (0, 1 + ROOT):
        np.testing.assert_allclose(positions[:, bone, :2], track.positions, atol=1e-5)
        np.testing.assert_allclose(positions[:, bone, 2], 0.0)
        assert same_heading(
            measure_heading(rotations[:, bone], np.array([0.0, -1.0, 0.0])), track.yaw, 1e-4
        )
    np.testing.assert_array_equal(attached.positions[:, 1 + ROOT], 0.0)
    assert attached.positions.dtype == attached.rotations.dtype == np.float32
    assert (np.sum(attached.rotations[1:] * attached.rotations[:-1], axis=-1) > 0).all()


def test_attaching_adds_a_bone_and_puts_the_hips_over_the_origin():
    clip = make_wandering_clip(8)
    skeleton = attach(clip, find_track(clip), HIPS).skeleton
    assert skeleton.names == ("Simulation", *NAMES)
    np.testing.assert_array_equal(skeleton.parents, [-1, 0, 1, 2, 2, 1])
    assert skeleton.end_sites == ((1 + SPINE, (0.0, 0.0, 0.2)),)
    rotations, positions = skeleton.compute_rest_world()
    before_rotations, before_positions = clip.skeleton.compute_rest_world()
    shift = before_positions[HIPS] * [1, 1, 0]
    kept = [HIPS, SPINE, LEG, PROP]
    np.testing.assert_allclose(positions[1:][kept], before_positions[kept] - shift, atol=1e-6)
    assert quat.angle_between(rotations[1:][kept], before_rotations[kept]).max() < 1e-3
    np.testing.assert_array_equal(positions[[0, 1 + ROOT]], 0.0)
    np.testing.assert_array_equal(rotations[[0, 1 + ROOT]], np.tile(quat.IDENTITY, (2, 1)))


def test_a_name_that_is_taken_gets_a_number():
    clip = make_wandering_clip(8)
    taken = replace(
        clip, skeleton=clip.skeleton.with_names(("Simulation", "Simulation.001", "a", "b", "c"))
    )
    assert attach(taken, find_track(taken), HIPS).skeleton.names[0] == "Simulation.002"


@pytest.mark.parametrize(
    "clip", [make_wandering_clip(7), make_moving_root_clip()], ids=["still root", "moving root"]
)
def test_detaching_restores_the_motion_with_a_moving_root(clip):
    track = find_track(clip)
    back = detach(attach(clip, track, HIPS))
    assert back.skeleton.names == clip.skeleton.names
    np.testing.assert_array_equal(back.skeleton.parents, clip.skeleton.parents)
    assert back.skeleton.end_sites == clip.skeleton.end_sites
    rotations, positions = back.compute_world()
    before_rotations, before_positions = clip.compute_world()
    kept = [HIPS, SPINE, LEG, PROP]
    np.testing.assert_allclose(positions[:, kept], before_positions[:, kept], atol=1e-5)
    assert quat.angle_between(rotations[:, kept], before_rotations[:, kept]).max() < 1e-3
    np.testing.assert_allclose(positions[:, ROOT, :2], track.positions, atol=1e-5)
    assert same_heading(
        measure_heading(rotations[:, ROOT], np.array([0.0, -1.0, 0.0])), track.yaw, 1e-4
    )


def test_detaching_restores_a_clip_whose_root_is_the_hips():
    clip = make_wandering_clip(9)
    rotations, positions = clip.compute_world()
    parents = np.array([-1, 0, 0])
    bones = [HIPS, SPINE, LEG]
    local_rotations, local_positions = quat.ik(rotations[:, bones], positions[:, bones], parents)
    bare = Clip(
        "bare",
        Skeleton(
            ("Hips", "Spine", "Leg"),
            parents,
            clip.skeleton.rest_positions[bones],
            clip.skeleton.rest_rotations[bones],
        ),
        local_positions,
        local_rotations,
        FPS,
    )
    track = simulation_bone.find_track(bare, 0, 1, FORWARD, DIRECTION)
    back = detach(attach(bare, track, 0))
    np.testing.assert_allclose(back.positions, bare.positions, atol=1e-5)
    assert quat.angle_between(back.rotations, bare.rotations).max() < 1e-3


def test_detaching_a_clip_with_several_roots_is_refused():
    clip = make_wandering_clip(0)
    parents = clip.skeleton.parents.copy()
    parents[PROP] = -1
    with pytest.raises(RigError, match="made"):
        detach(replace(clip, skeleton=replace(clip.skeleton, parents=parents)))


# ---------------------------------------------------------------- speeds and the report


def test_speeds_are_in_the_characters_own_frame():
    t = make_times(4)
    yaw = 0.5 * t
    forward = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1)
    left = np.stack([np.cos(yaw), np.sin(yaw)], axis=1)
    # v = 2 forward + 0.5 left, integrated: forward' = 0.5 left, left' = -0.5 forward
    path = -2.0 / 0.5 * left + 0.5 / 0.5 * forward
    velocity, turning = simulation_bone.compute_local_velocity(GroundTrack(path, yaw), FPS)
    np.testing.assert_allclose(velocity[1:-1], np.tile([0.5, -2.0], (len(t) - 2, 1)), atol=1e-3)
    np.testing.assert_allclose(turning, 0.5, atol=1e-9)


# ---------------------------------------------------------------- real motion capture


def load_real(path: Path) -> tuple[Clip, int, int, np.ndarray]:
    clip = bvh.load(path)
    names = clip.skeleton.names
    hips = names.index("Hips")
    spine = names.index("Spine2" if "Spine2" in names else "Chest")
    left, right = (
        names.index(n)
        for n in (
            ("LeftUpLeg", "RightUpLeg") if "LeftUpLeg" in names else ("UpperLeg_L", "UpperLeg_R")
        )
    )
    rotations, positions = clip.compute_world()
    across = positions[:, left] - positions[:, right]
    forward = quat.inv_mul_vec(rotations[:, hips], np.cross(across, [0.0, 0.0, 1.0])).mean(axis=0)
    return clip, hips, spine, forward / np.linalg.norm(forward)


REAL = [
    "lafan1/push1_subject2.bvh",
    "bandai-namco/dataset-1_walk_normal_002.bvh",
    "bandai-namco/dataset-1_run_tired_001.bvh",
    "bandai-namco/dataset-1_walk-left_angry_001.bvh",
    "bandai-namco/dataset-2_run_normal_004.bvh",
]


@pytest.mark.parametrize("file", REAL)
def test_real_motion_is_smoothed_without_jumps_and_kept_in_the_world(mocap, file):
    clip, hips, spine, forward = load_real(mocap / file)
    raw = simulation_bone.compute_raw_track(clip, hips, spine, forward)
    for settings in simulation_bone.PRESETS.values():
        track = simulation_bone.find_track(clip, hips, spine, forward, settings)
        assert measure_sway(track.positions, clip.fps) < measure_sway(raw.positions, clip.fps)
        assert measure_sway(track.yaw, clip.fps) < measure_sway(raw.yaw, clip.fps)
        assert np.abs(np.diff(track.yaw)).max() <= np.abs(np.diff(raw.yaw)).max()
        attached = attach(clip, track, hips)
        kept = [
            bone
            for bone in range(clip.skeleton.bone_count)
            if bone not in clip.skeleton.get_ancestors(hips)
        ]
        before, after = clip.compute_world(), attached.compute_world()
        assert np.abs(after[1][:, 1:][:, kept] - before[1][:, kept]).max() < 1e-4
        back = detach(attached).compute_world()
        assert np.abs(back[1][:, kept] - before[1][:, kept]).max() < 1e-4
        assert quat.angle_between(back[0][:, kept], before[0][:, kept]).max() < 2e-3
