"""What a jump would do to joints is known before it is taken."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.control.fade import CUBIC, SPRING, FadeShape
from motion_matching.engine.control.inertialization import Inertializer
from motion_matching.engine.control.joints import Joints
from motion_matching.engine.control.method import Jump
from motion_matching.engine.maths import quat

FOLLOWING = 3


def make_inertializer(database, shape: FadeShape = SPRING) -> Inertializer:
    return Inertializer(np.array(database.limits), 0.1, 1.0 / database.fps, shape)


def foresee(database, inertializer: Inertializer, jump: Jump, frame: int) -> float:
    """Return how fast a joint would accelerate after a jump to a frame."""
    poses = inertializer.preview(jump, get_following(database, frame))
    return Joints(database.skeleton.parents).measure_acceleration(poses, database.fps)


def get_state(database, frame: int) -> tuple[np.ndarray, ...]:
    root = database.root_motion[frame].astype(np.float32)
    return database.poses[frame], database.velocities[frame], root


def get_following(database, frame: int) -> np.ndarray:
    return database.poses[frame + 1 : frame + 1 + FOLLOWING]


def place_root(pose: np.ndarray, velocity: np.ndarray, seconds: float) -> np.ndarray:
    x, y, yaw = seconds * velocity
    result = pose.astype(np.float64)
    result[:, 0] = (x, y, 0.0, np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw))
    return result


@pytest.mark.parametrize("shape", [SPRING, CUBIC], ids=["spring", "cubic"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_foreseen_is_what_is_shown(demo_database, seed, shape):
    """The joints of the poses that the inertializer shows after a jump accelerate as foreseen."""
    rng = np.random.default_rng(seed)
    inertializer, dt = make_inertializer(demo_database, shape), 1.0 / demo_database.fps
    free = np.flatnonzero(demo_database.successors[: -2 * FOLLOWING] >= 0)
    # a jump that still fades is beneath
    for frames in rng.choice(free, (3, 2)).tolist():
        jump = Jump(*get_state(demo_database, frames[0]), *get_state(demo_database, frames[1]))
        following = get_following(demo_database, frames[1])
        foreseen = foresee(demo_database, inertializer, jump, frames[1])
        velocity = jump.source_root + inertializer._root
        preview = inertializer.preview(jump, following)
        inertializer.transition(jump)
        shown = [preview[0], preview[1]]
        for k, pose in enumerate(following, 1):
            shown.append(place_root(inertializer.update(pose)[0], velocity, k * dt))
        joints = quat.compute_world(np.stack(shown), demo_database.skeleton.parents)[1]
        second = np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1) / dt**2
        assert foreseen == pytest.approx(second.max(), rel=0.02)


def test_playing_on_shakes_no_joint_more_than_the_data(demo_database):
    inertializer, peaks = make_inertializer(demo_database), demo_database.motion_limits
    for frame in range(100, 2000, 190):
        jump = Jump(*get_state(demo_database, frame), *get_state(demo_database, frame))
        foreseen = foresee(demo_database, inertializer, jump, frame)
        assert foreseen < 1.1 * peaks.find_peak(frame) + 2.0


def test_a_foreseen_jump_leaves_the_inertializer_as_it_is(demo_database):
    inertializer = make_inertializer(demo_database)
    inertializer.transition(Jump(*get_state(demo_database, 200), *get_state(demo_database, 900)))
    state = inertializer._state.copy(), inertializer.fading.time
    jump = Jump(*get_state(demo_database, 900), *get_state(demo_database, 50))
    foresee(demo_database, inertializer, jump, 50)
    np.testing.assert_array_equal(inertializer._state, state[0])
    assert inertializer.fading.time == state[1]
