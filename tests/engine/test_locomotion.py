"""Generated locomotion: feet stay where they stand, bodies stay in one piece, and the takes cover the ground."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.maths import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.motion.gait import TOE_HEIGHT, Foot, Path, footsteps, move_feet
from motion_matching.engine.motion.humanoid import pose_body
from motion_matching.engine.motion.locomotion import Move, generate, humanoid_skeleton, perform, plan_path

SKELETON = humanoid_skeleton()
SIDES = ("Left", "Right")
FORWARD = np.array([0.0, -1.0, 0.0])


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    return generate(seed=0)


def world(clip: Clip, bone: str) -> np.ndarray:
    return clip.world()[1][:, SKELETON.index(bone)].astype(float)


def speed(points: np.ndarray, fps: float) -> np.ndarray:
    return np.linalg.norm(np.diff(points, axis=0), axis=-1) * fps


def angular_velocity(clip: Clip) -> np.ndarray:
    q = clip.rotations.astype(float)
    return quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(q[1:], q[:-1]))) * clip.fps


def travel(clip: Clip) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Speed ahead and to the left of the hips, and their turn rate, over a fifth of a second."""
    rotations, positions = clip.world()
    yaw = np.unwrap(quat.yaw(rotations[:, 0].astype(float), FORWARD))
    span = round(0.2 * clip.fps)
    velocity = (positions[span:, 0, :2] - positions[:-span, 0, :2]).astype(float) * clip.fps / span
    turn = (yaw[span:] - yaw[:-span]) * clip.fps / span
    middle = 0.5 * (yaw[span:] + yaw[:-span])
    ahead = velocity[:, 0] * np.sin(middle) - velocity[:, 1] * np.cos(middle)
    left = velocity[:, 0] * np.cos(middle) + velocity[:, 1] * np.sin(middle)
    return ahead, left, turn


def walked(moves: list[Move], fps: float = 30.0) -> tuple[Path, tuple[Foot, Foot], np.ndarray, np.ndarray]:
    """Path, feet and pose of a schedule that stands for a second at both ends."""
    path = plan_path([Move(1.0), *moves, Move(2.5)], fps)
    rng = np.random.default_rng(3)
    feet = move_feet(path, *footsteps(path, rng))
    positions, rotations = pose_body(SKELETON, path, *feet, rng)
    return path, feet, positions, rotations


# ---------------------------------------------------------------- skeleton


def test_rest_pose_stands_on_the_ground_and_is_symmetric() -> None:
    rotations, positions = SKELETON.rest_world()
    tips = [positions[bone] + quat.mul_vec(rotations[bone], np.array(tip)) for bone, tip in SKELETON.end_sites]
    assert max(tip[2] for tip in tips) == pytest.approx(1.75, abs=1e-3)
    assert 0.0 <= min(tip[2] for tip in tips) < 0.03
    assert np.all(SKELETON.rest_rotations == quat.IDENTITY)
    for name in SKELETON.names:
        if name.startswith("Left"):
            left, right = SKELETON.index(name), SKELETON.index(name.replace("Left", "Right"))
            np.testing.assert_allclose(positions[left] * [-1, 1, 1], positions[right], atol=1e-6)
            assert positions[left][0] > 0
    assert positions[SKELETON.index("LeftToe")][1] < positions[SKELETON.index("LeftFoot")][1]


# ---------------------------------------------------------------- takes as a whole


def test_a_seed_gives_the_same_clips_and_another_seed_others() -> None:
    first, again, other = generate(4), generate(4), generate(5)
    assert [clip.name for clip in first] == [clip.name for clip in other]
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.positions, b.positions)
        assert np.array_equal(a.rotations, b.rotations)
    assert any(a.positions.shape != b.positions.shape or not np.array_equal(a.positions, b.positions)
               for a, b in zip(first, other, strict=True))


def test_takes_are_long_and_few(clips: list[Clip]) -> None:
    assert all(10 <= clip.duration <= 30 for clip in clips)
    assert 4000 <= sum(clip.frame_count for clip in clips) <= 8000
    assert len({clip.name for clip in clips}) == len(clips)


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_the_frame_rate_samples_the_same_motion(fps: float) -> None:
    moves = [Move(3.0, 1.3), Move(2.0, 3.0, turn=40)]
    rare, dense = perform("a", moves, fps, np.random.default_rng(1)), perform("a", moves, 120.0, np.random.default_rng(1))
    assert rare.duration == pytest.approx(dense.duration, abs=1 / fps)
    every = round(120 / fps)
    together = dense.positions[::every, 0][: rare.frame_count]
    assert np.max(np.abs(rare.positions[: len(together), 0] - together)) < 0.05


def test_arrays_are_sound(clips: list[Clip]) -> None:
    for clip in clips:
        assert clip.positions.dtype == clip.rotations.dtype == np.float32
        assert np.all(np.isfinite(clip.positions))
        np.testing.assert_allclose(np.linalg.norm(clip.rotations, axis=-1), 1.0, atol=1e-5)
        assert np.all(np.sum(clip.rotations[1:] * clip.rotations[:-1], axis=-1) > 0)


def test_bones_keep_their_lengths(clips: list[Clip]) -> None:
    for clip in clips:
        assert np.all(clip.positions[:, 1:] == SKELETON.rest_positions[1:])


def test_takes_start_and_end_standing_still(clips: list[Clip]) -> None:
    for clip in clips:
        still = round(0.7 * clip.fps)
        for part in (slice(0, still), slice(-still, None)):
            ends = clip.world()[1][part].astype(float)
            for side in SIDES:
                toe = ends[:, SKELETON.index(side + "Toe")]
                assert np.max(speed(toe, clip.fps)) < 0.01, clip.name
                assert np.max(np.abs(toe[:, 2] - TOE_HEIGHT)) < 0.005, clip.name
            assert np.max(speed(ends[:, 0], clip.fps)) < 0.1, clip.name
        feet = [clip.world()[1][-1, SKELETON.index(side + "Toe"), :2] for side in SIDES]
        assert np.linalg.norm(feet[0] - feet[1]) < 0.35, clip.name


# ---------------------------------------------------------------- feet


@pytest.mark.parametrize("move", [
    Move(4.0, 0.7), Move(4.0, 1.4), Move(4.0, 3.5), Move(4.0, 1.2, turn=60), Move(4.0, 3.0, turn=-57),
    Move(4.0, 0.9, direction=90), Move(4.0, 1.1, direction=180), Move(4.0, 1.8, direction=-90),
    Move(4.0, 1.3, pivot=180), Move(4.0, pivot=180), Move(5.0, 1.1, swing=56),
])  # fmt: skip
def test_planted_toes_do_not_slide(move: Move) -> None:
    _, feet, positions, rotations = walked([move])
    _, points = quat.fk(rotations.astype(float), positions.astype(float), SKELETON.parents)
    for side, foot in zip(SIDES, feet, strict=True):
        toe = points[:, SKELETON.index(side + "Toe")]
        np.testing.assert_allclose(toe, foot.toe, atol=1e-3)  # the leg reaches the foot
        held = foot.planted[1:] & foot.planted[:-1]
        assert np.count_nonzero(held) > 30
        assert np.max(speed(toe, 30.0)[held]) < 0.01
        assert np.max(np.abs(toe[foot.planted, 2] - TOE_HEIGHT)) < 1e-3


def test_a_walk_always_has_a_foot_on_the_ground_and_a_run_flies() -> None:
    for moves, flies in (([Move(6.0, 1.4)], False), ([Move(6.0, 3.2)], True)):
        _, feet, _, _ = walked(moves)
        steady = slice(90, 200)
        airborne = ~feet[0].planted[steady] & ~feet[1].planted[steady]
        assert np.any(airborne) == flies
        assert np.mean(airborne) < 0.4


@pytest.mark.parametrize(("pace", "lowest", "highest"), [(0.7, 1.2, 1.6), (1.4, 1.7, 2.1), (3.0, 2.5, 3.0)])
def test_steps_come_at_human_rates(pace: float, lowest: float, highest: float) -> None:
    path = plan_path([Move(1.0), Move(8.0, pace), Move(2.5)], 30.0)
    swings = footsteps(path, np.random.default_rng(0))
    lifts = np.sort(np.concatenate([s.lift for s in swings]))
    steady = lifts[(lifts > 3) & (lifts < 8)]
    assert lowest < 1.0 / np.mean(np.diff(steady)) < highest


def test_feet_alternate_and_do_not_swing_into_each_other(clips: list[Clip]) -> None:
    for clip in clips:
        left, right = world(clip, "LeftToe"), world(clip, "RightToe")
        apart = np.linalg.norm(left - right, axis=-1)
        assert np.percentile(apart, 0.5) > 0.07, clip.name


def test_nothing_goes_under_the_ground(clips: list[Clip]) -> None:
    for clip in clips:
        rotations, positions = clip.world()
        lowest = positions[..., 2].min()
        for bone, tip in SKELETON.end_sites:
            offsets = np.broadcast_to(tip, positions[:, bone].shape)
            lowest = min(lowest, (positions[:, bone] + quat.mul_vec(rotations[:, bone], offsets))[:, 2].min())
        for side in SIDES:  # the sole under the heel
            foot = SKELETON.index(side + "Foot")
            heel = np.broadcast_to([0.0, 0.05, -0.085], positions[:, foot].shape)
            lowest = min(lowest, (positions[:, foot] + quat.mul_vec(rotations[:, foot], heel))[:, 2].min())
        assert lowest > -0.005, clip.name


# ---------------------------------------------------------------- bodies


def test_knees_are_hinges_that_bend_ahead(clips: list[Clip]) -> None:
    for clip in clips:
        for side in SIDES:
            knee = clip.rotations[:, SKELETON.index(side + "Leg")].astype(float)
            bend = quat.to_scaled_angle_axis(quat.positive(knee))
            assert np.max(np.abs(bend[:, 1:])) < 1e-3
            assert np.all(bend[:, 0] > np.radians(3))
            assert np.all(bend[:, 0] < np.radians(140))


def test_joints_turn_no_faster_than_peoples(clips: list[Clip]) -> None:
    for clip in clips:
        turning = angular_velocity(clip)
        assert np.max(np.linalg.norm(turning, axis=-1)) < 22, clip.name
        assert np.max(np.linalg.norm(np.diff(turning, axis=0), axis=-1)) * clip.fps < 900, clip.name


def test_the_body_has_no_pops(clips: list[Clip]) -> None:
    for clip in clips:
        for bone, limit in (("Hips", 35.0), ("Head", 35.0), ("LeftHand", 160.0), ("LeftToe", 250.0)):
            jolt = np.linalg.norm(np.diff(world(clip, bone), 2, axis=0), axis=-1) * clip.fps**2
            assert np.max(jolt) < limit, (clip.name, bone)


def test_the_hips_stay_upright_and_at_a_standing_height(clips: list[Clip]) -> None:
    for clip in clips:
        rotations, positions = clip.world()
        up = quat.mul_vec(rotations[:, 0], np.broadcast_to(np.float32([0, 0, 1]), positions[:, 0].shape))
        assert up[:, 2].min() > np.cos(np.radians(25))
        assert positions[:, 0, 2].min() > 0.75
        assert positions[:, 0, 2].max() < 1.0


@pytest.mark.parametrize("pace", [2.6, 3.2, 3.8])
def test_a_runner_falls_between_steps(pace: float) -> None:
    _, _, positions, _ = walked([Move(6.0, pace)], 60.0)
    fall = -np.diff(positions[180:360, 0, 2].astype(float), 2) * 60.0**2
    assert 0.4 * 9.81 < np.max(fall) < 1.3 * 9.81
    assert 0.015 < np.ptp(positions[180:360, 0, 2]) < 0.10


# ---------------------------------------------------------------- coverage


def test_takes_cover_the_speeds_and_directions_a_player_asks_for(clips: list[Clip]) -> None:
    ahead, left, turn = (np.concatenate(values) for values in zip(*map(travel, clips), strict=True))
    sideways, straight = np.abs(left) > 2 * np.abs(ahead), np.abs(ahead) > 2 * np.abs(left)
    second = 30
    assert np.count_nonzero(np.hypot(ahead, left) < 0.05) > 10 * second
    for low, high in ((0.5, 0.9), (0.9, 1.3), (1.3, 1.7), (1.7, 2.3), (2.3, 2.8), (2.8, 3.3), (3.3, 4.1)):
        assert np.count_nonzero(straight & (ahead > low) & (ahead < high)) > 2 * second, (low, high)
    for sign in (1, -1):
        for low, high in ((0.4, 0.8), (0.8, 1.2), (1.2, 2.0)):
            assert np.count_nonzero(sideways & (sign * left > low) & (sign * left < high)) > second, (sign, low)
        for low, high in ((0.4, 0.8), (0.8, 1.3), (1.3, 2.5)):
            assert np.count_nonzero((ahead > 0.8) & (sign * turn > low) & (sign * turn < high)) > second, (sign, low)
        assert np.count_nonzero(sign * turn > 3.0) > 0.5 * second
    assert np.count_nonzero(straight & (ahead < -0.5)) > 3 * second
    assert np.count_nonzero(straight & (ahead < -1.2)) > second
    assert np.percentile(np.abs(turn), 99) > 3.0


def test_a_pivot_turns_around_where_it_was_asked_to() -> None:
    path = plan_path([Move(1.0), Move(3.0, 1.4), Move(3.0, 1.4, pivot=180), Move(2.5)], 60.0)
    before, after = path.velocity[int(3.5 * 60)], path.velocity[int(6.5 * 60)]
    np.testing.assert_allclose(after, -before, atol=1e-3)
    assert path.yaw[-1] == pytest.approx(np.pi)
    np.testing.assert_allclose(path.ahead[int(6.5 * 60)], 1.4, atol=1e-3)
    assert np.max(np.abs(path.position[:, 0])) < 1e-6  # braked and returned along one line, not around a loop


def test_velocity_and_heading_of_a_path_have_no_kinks() -> None:
    moves = [Move(1.0), Move(2.0, 1.2), Move(2.0, 3.0, pivot=90), Move(2.0, 1.0, direction=90, turn=40), Move(2.5)]
    steps = []
    for fps in (60.0, 120.0):
        path = plan_path(moves, fps)
        steps.append(np.max(np.linalg.norm(np.diff(path.velocity, 2, axis=0), axis=-1)) * fps)
        assert np.max(np.linalg.norm(np.diff(path.velocity, axis=0), axis=-1)) * fps < 9.0
    assert steps[1] < 0.6 * steps[0]  # the change of acceleration per frame goes to zero with the frame time
