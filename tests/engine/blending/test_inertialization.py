"""Inertialization: poses stay continuous, offsets decay like springs, and chained jumps add up."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.blending.inertialization import Inertializer
from motion_matching.engine.blending.jump import Jump, Seam
from motion_matching.engine.blending.jump_fade import CUBIC, SPRING
from motion_matching.engine.maths import springs
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.performance.settings import AsPublished, Blending, PerformerSettings

BONES, DT, HALFLIFE = 12, 1 / 60, 0.1
RNG = np.random.default_rng(3)
NO_LIMITS = np.full((2, BONES), 1e9, np.float32)


def make_random_pose(spread: float = 1.0) -> np.ndarray:
    rotations = quat.from_scaled_angle_axis(spread * RNG.normal(size=(BONES, 3)))
    return np.concatenate([RNG.normal(size=(3, BONES)), rotations.T]).astype(np.float32)


def move_pose(start: np.ndarray, velocity: np.ndarray, t: float) -> np.ndarray:
    """Move a pose with constant velocities (6, B) for t seconds."""
    pose = start.copy()
    pose[:3] += velocity[:3] * t
    turn = quat.from_scaled_angle_axis((velocity[3:] * t).T.astype(np.float64))
    pose[3:] = quat.mul(turn, start[3:].T.astype(np.float64)).T
    return pose


def measure_angles(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return quat.angle_between(a[3:].T.astype(np.float64), b[3:].T.astype(np.float64))


def test_without_a_jump_the_pose_follows_the_source():
    inertializer, pose = Inertializer(NO_LIMITS, HALFLIFE, DT), make_random_pose()
    result, root = inertializer.update(pose)
    np.testing.assert_allclose(result, pose, atol=1e-6)
    assert root == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("shape", [SPRING, CUBIC], ids=["spring", "cubic"])
@pytest.mark.parametrize("jumps", [1, 2, 5])
def test_pose_and_velocity_are_continuous_across_chained_jumps(jumps, shape):
    """Between two ticks nothing moves further than its velocity and the spring's acceleration
    allow.
    """
    dt = 1e-3
    # a cubic's acceleration for these times is below the spring's
    time = HALFLIFE if shape is SPRING else 3 * HALFLIFE
    inertializer = Inertializer(NO_LIMITS, time, dt, shape)
    start, velocity = make_random_pose(0.3), RNG.normal(size=(6, BONES)).astype(np.float32)
    velocity[:, 0] = 0
    shown = [move_pose(start, velocity, k * dt) for k in range(3)]
    now, root = shown[-1], np.zeros(3, np.float32)
    for _ in range(jumps):
        entered, entered_velocity = (
            make_random_pose(0.3),
            RNG.normal(size=(6, BONES)).astype(np.float32),
        )
        entered_velocity[:, 0] = 0
        inertializer.transition(Jump(now, velocity, root, entered, entered_velocity, root))
        for k in range(1, 4):
            now = move_pose(entered, entered_velocity, k * dt)
            shown.append(inertializer.update(now)[0])
        velocity = entered_velocity
    shown = np.array(shown)
    # the spring's largest acceleration for these offsets
    y = springs.halflife_to_damping(HALFLIFE) / 2
    allowed = jumps * (y * y * 4 + 2 * y * 8)
    acceleration = np.abs(np.diff(shown[:, :3, 1:], 2, axis=0)) / dt**2
    assert acceleration.max() < allowed
    turns = np.array([measure_angles(a, b)[1:] for a, b in zip(shown[1:], shown[:-1], strict=True)])
    assert np.abs(np.diff(turns, axis=0)).max() / dt**2 < 2 * allowed


def test_offsets_decay_like_the_spring():
    inertializer = Inertializer(NO_LIMITS, HALFLIFE, DT)
    left, entered = make_random_pose(), make_random_pose()
    still = np.zeros((6, BONES), np.float32)
    root = np.zeros(3, np.float32)
    inertializer.transition(Jump(left, still, root, entered, still, root))
    for _ in range(9):
        result, _ = inertializer.update(entered)
    expected, _ = springs.spring(left[:3] - entered[:3], 0.0, 0.0, HALFLIFE, 9 * DT)
    np.testing.assert_allclose((result - entered)[:3, 1:], expected[:, 1:], atol=1e-5)
    for _ in range(120):
        result, _ = inertializer.update(entered)
    np.testing.assert_allclose(result[:, 1:], entered[:, 1:], atol=1e-3)


@pytest.mark.parametrize("shape", [SPRING, CUBIC], ids=["spring", "cubic"])
def test_angular_velocity_is_continuous_between_distant_poses(shape):
    """Large offsets rotate the velocities below them; the second jump starts before the first has
    faded.
    """
    dt = 1e-3
    time = HALFLIFE if shape is SPRING else 3 * HALFLIFE
    inertializer, root = Inertializer(NO_LIMITS, time, dt, shape), np.zeros(3, np.float32)
    now, velocity = make_random_pose(), 4.0 * RNG.normal(size=(6, BONES)).astype(np.float32)
    velocity[:, 0] = 0
    shown = [move_pose(now, velocity, t) for t in (-dt, 0.0)]
    now = shown[-1]
    for _ in range(2):
        entered, entered_velocity = (
            make_random_pose(),
            4.0 * RNG.normal(size=(6, BONES)).astype(np.float32),
        )
        entered_velocity[:, 0] = 0
        inertializer.transition(Jump(now, velocity, root, entered, entered_velocity, root))
        velocity = entered_velocity
        for k in range(1, 10):
            now = move_pose(entered, velocity, k * dt)
            shown.append(inertializer.update(now)[0])
    rotations = np.array(shown)[:, 3:, 1:].transpose(0, 2, 1).astype(np.float64)
    rates = (
        quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(rotations[1:], rotations[:-1]))) / dt
    )
    # the poses' velocities differ by some 10 rad/s, but change smoothly
    assert np.linalg.norm(np.diff(rates, axis=0), axis=-1).max() < 2.5


def test_a_slow_fade_of_one_bone_does_not_carry_another_further():
    limits = np.full((2, BONES), 1e9, np.float32)
    limits[0, 5] = 1.0
    still, root, pose = (
        np.zeros((6, BONES), np.float32),
        np.zeros(3, np.float32),
        make_random_pose(),
    )
    left, fast = pose.copy(), still.copy()
    left[0, 5] += 0.5  # fades over three halflives
    fast[0, 7] = 1.0
    slow, alone = Inertializer(limits, HALFLIFE, DT), Inertializer(NO_LIMITS, HALFLIFE, DT)
    slow.transition(Jump(left, fast, root, pose, still, root))
    alone.transition(Jump(left, fast, root, pose, still, root))
    shown = np.array([[i.update(pose)[0][0, [5, 7]] for i in (slow, alone)] for _ in range(30)])
    assert shown[10, 0, 0] > shown[10, 1, 0] + 0.1
    np.testing.assert_allclose(shown[:, 0, 1], shown[:, 1, 1], atol=1e-5)


def test_root_velocity_is_continuous_across_a_jump():
    inertializer, pose = Inertializer(NO_LIMITS, HALFLIFE, 1e-3), make_random_pose()
    still = np.zeros((6, BONES), np.float32)
    left, entered = np.array([0.0, -2.0, 0.5], np.float32), np.array([1.0, -1.0, -0.5], np.float32)
    inertializer.transition(Jump(pose, still, left, pose, still, entered))
    _, offset = inertializer.update(pose)
    np.testing.assert_allclose(entered + offset, left, atol=1e-3)
    for _ in range(2000):
        _, offset = inertializer.update(pose)
    np.testing.assert_allclose(offset, 0, atol=1e-4)


def test_fading_does_not_depend_on_the_heading():
    """Offsets are local, so turning both roots in the world changes nothing."""
    left, entered = make_random_pose(), make_random_pose()
    still, root = np.zeros((6, BONES), np.float32), np.zeros(3, np.float32)
    results = []
    for yaw in (0.0, 1.3):
        a, b = left.copy(), entered.copy()
        for pose in (a, b):
            pose[3:, 0] = quat.mul(quat.from_yaw(np.array(yaw)), pose[3:, 0])
        inertializer = Inertializer(NO_LIMITS, HALFLIFE, DT)
        inertializer.transition(Jump(a, still, root, b, still, root))
        results.append(inertializer.update(b)[0][:, 1:])
    np.testing.assert_array_equal(*results)


def test_a_jump_fades_slower_to_stay_within_the_accelerations_of_the_data():
    """Each bone's acceleration stays within the data's, and all bones fade together."""
    limits = np.full((2, BONES), 1e9, np.float32)
    limits[0, 5] = 20.0
    inertializer, pose = Inertializer(limits, HALFLIFE, 1e-3), make_random_pose()
    left, still, root = pose.copy(), np.zeros((6, BONES), np.float32), np.zeros(3, np.float32)
    left[0, 5] += 0.2
    left[1, 7] += 0.05
    inertializer.transition(Jump(left, still, root, pose, still, root))
    shown = np.array([left, *(inertializer.update(pose)[0] for _ in range(400))]) - pose
    pull = np.abs(np.diff(shown[:, 0, 5], 2)).max() / 1e-6
    assert pull < 20.0 * 1.05
    np.testing.assert_allclose(shown[:, 1, 7], shown[:, 0, 5] / 4, atol=1e-4)
    # without limits the same offset fades faster
    free = Inertializer(NO_LIMITS, HALFLIFE, 1e-3)
    free.transition(Jump(left, still, root, pose, still, root))
    assert abs(free.update(pose)[0][0, 5] - pose[0, 5]) < abs(shown[1, 0, 5])


def test_a_cubic_has_faded_after_its_time_and_a_spring_has_not():
    left, entered = make_random_pose(0.3), make_random_pose(0.3)
    velocity, root = RNG.normal(size=(6, BONES)).astype(np.float32), np.ones(3, np.float32)
    still, ticks = np.zeros((6, BONES), np.float32), round(0.3 / DT)
    for shape, time in ((SPRING, HALFLIFE), (CUBIC, 0.3)):
        inertializer = Inertializer(NO_LIMITS, time, DT, shape)
        inertializer.transition(Jump(left, velocity, root, entered, still, 0 * root))
        for _ in range(ticks):
            before = inertializer.is_faded
            result, turned = inertializer.update(entered)
        assert not before
        assert inertializer.is_faded == (shape is CUBIC)
    np.testing.assert_allclose(result[:, 1:], entered[:, 1:], atol=1e-6)
    assert turned == [0.0, 0.0, 0.0]
    assert inertializer.half_time == pytest.approx(0.15)


def test_a_cubic_takes_longer_to_stay_within_the_accelerations_of_the_data():
    limits = np.full((2, BONES), 1e9, np.float32)
    limits[0, 5] = limits[0, 6] = 20.0
    pose, still, root = (
        make_random_pose(),
        np.zeros((6, BONES), np.float32),
        np.zeros(3, np.float32),
    )
    left, fast = pose.copy(), still.copy()
    left[0, 5] += 0.3
    fast[0, 6] = 1.0
    inertializer = Inertializer(limits, 0.2, 1e-3, CUBIC)
    inertializer.transition(Jump(left, fast, root, pose, still, root))
    longest = max(inertializer.fading[3:])
    assert 0.2 < inertializer.fading.time < 0.6
    assert 0.2 < inertializer.fading.velocity_time < 0.6
    shown = np.array([left, *(inertializer.update(pose)[0] for _ in range(700))]) - pose
    for bone in (5, 6):
        assert np.abs(np.diff(shown[:, 0, bone], 2)).max() / 1e-6 < 20.0 * 1.05
    assert np.abs(shown[round(longest / 1e-3) + 1 :, :3]).max() < 1e-6


def test_a_jump_that_fades_when_the_shape_is_changed_fades_on_as_it_began():
    left, entered = make_random_pose(0.3), make_random_pose(0.3)
    still, root = np.zeros((6, BONES), np.float32), np.zeros(3, np.float32)
    jump = Jump(left, still, root, entered, still, root)
    changed, same = (Inertializer(NO_LIMITS, HALFLIFE, DT) for _ in range(2))
    for each in (changed, same):
        each.transition(jump)
    changed.apply(
        PerformerSettings(as_published=AsPublished(inertialization="cubic", blend_time=0.3))
    )
    for _ in range(5):
        results = [each.update(entered)[0] for each in (changed, same)]
        np.testing.assert_array_equal(*results)
    # the next jump goes on from what is left, and ends
    changed.transition(Jump(entered, still, root, entered, still, root))
    np.testing.assert_allclose(changed.fading.offset, same._offset, atol=1e-6)
    for _ in range(round(0.3 / DT)):
        changed.update(entered)
    assert changed.is_faded


def test_no_jump_fades_longer_than_three_halflives():
    limits = np.full((2, BONES), 1e-6, np.float32)
    inertializer, pose = Inertializer(limits, HALFLIFE, DT), make_random_pose()
    left, still, root = (
        make_random_pose(),
        np.zeros((6, BONES), np.float32),
        np.zeros(3, np.float32),
    )
    inertializer.transition(Jump(left, still, root, pose, still, root))
    for _ in range(round(3 * HALFLIFE / DT)):
        result, _ = inertializer.update(pose)
    expected, _ = springs.spring(left[:3] - pose[:3], 0.0, 0.0, 3 * HALFLIFE, 3 * HALFLIFE)
    np.testing.assert_allclose((result - pose)[:3, 1:], expected[:, 1:], atol=1e-4)


def make_hard_jump(limit: float = 5.0) -> tuple[Jump, np.ndarray]:
    """Return a jump that no bone may take as fast as it is set, and the limits."""
    left, entered = make_random_pose(0.3), make_random_pose(0.3)
    velocity, still = RNG.normal(size=(2, 6, BONES)).astype(np.float32)
    velocity[:, 0] = still[:, 0] = 0.0
    root, other = np.array([[0.3, -2.0, 0.5], [0.1, -1.0, -0.4]], np.float32)
    return Jump(left, velocity, root, entered, 0 * still, other), np.full((2, BONES), limit)


@pytest.mark.parametrize("shape", [SPRING, CUBIC], ids=["spring", "cubic"])
def test_jumps_take_no_longer_than_they_may_be_stretched(shape):
    jump, limits = make_hard_jump()
    for stretch in (1.0, 1.7, 3.0):
        inertializer = Inertializer(limits, HALFLIFE, DT, shape, stretch)
        inertializer.transition(jump)
        assert inertializer.fading[3:] == pytest.approx([stretch * HALFLIFE] * 2)
    published = Inertializer(limits, HALFLIFE, DT, shape, 1.0)
    free = Inertializer(NO_LIMITS, HALFLIFE, DT, shape, 3.0)
    for each in (published, free):
        each.transition(jump)
    for _ in range(20):
        results = [each.update(jump.target_pose)[0] for each in (published, free)]
        np.testing.assert_array_equal(*results)


def test_a_root_that_is_not_blended_moves_at_once_as_the_motion_that_is_entered():
    jump, limits = make_hard_jump()
    blended, at_once = (
        Inertializer(limits, HALFLIFE, DT, blends_root=blends) for blends in (True, False)
    )
    for each in (blended, at_once):
        each.transition(jump)
    (pose, offset), (same, none) = (
        each.update(jump.target_pose) for each in (blended, at_once)
    )  # fmt: skip
    np.testing.assert_array_equal(pose, same)
    assert none == [0.0, 0.0, 0.0]
    assert np.abs(offset).min() > 0.1


def test_a_preview_shows_the_step_of_a_root_that_is_not_blended():
    jump, limits = make_hard_jump()
    following = np.repeat(jump.target_pose[None], 3, axis=0)
    roots = np.tile(jump.target_root, (3, 1))
    for blends in (True, False):
        inertializer = Inertializer(limits, HALFLIFE, DT, blends_root=blends)
        for _ in range(2):
            inertializer.update(jump.source_pose)
        (preview,) = inertializer.preview([Seam(jump, following, roots)], jump.source_root)
        steps = np.diff(preview[:, :2, 0], axis=0) / DT
        inertializer.transition(jump)
        entered = jump.target_root + inertializer.update(jump.target_pose)[1]
        np.testing.assert_allclose(np.linalg.norm(steps[0]), np.linalg.norm(jump.source_root[:2]))
        np.testing.assert_allclose(steps[1], entered[:2], atol=1e-5)
        if not blends:
            np.testing.assert_allclose(entered, jump.target_root)


def test_settings_choose_stretch_and_root():
    jump, limits = make_hard_jump()
    published = PerformerSettings(blending=Blending(blend_stretch=1.0, blend_root=False))
    shipped = Inertializer.from_settings(limits, PerformerSettings(), DT)
    changed = Inertializer.from_settings(limits, PerformerSettings(), DT)
    changed.apply(published)
    made = Inertializer.from_settings(limits, published, DT)
    for each in (shipped, changed, made):
        each.transition(jump)
    for each in (changed, made):
        assert each.fading.time == HALFLIFE
        assert each.update(jump.target_pose)[1] == [0.0, 0.0, 0.0]
    assert shipped.fading.time > HALFLIFE
