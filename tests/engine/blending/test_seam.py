"""What a jump would do to joints is known before it is taken."""

from __future__ import annotations

import numpy as np
import pytest

from motion_matching.engine.blending.inertialization import Inertializer
from motion_matching.engine.blending.jump import Jump, Seam
from motion_matching.engine.blending.jump_fade import CUBIC, SPRING, FadeShape
from motion_matching.engine.facts.motion_limits import MotionLimits
from motion_matching.engine.legs.joints import Joints
from motion_matching.engine.maths.planar import rotate_xy
from motion_matching.engine.maths.rotations import quat

FOLLOWING = 3


class Body:
    """A character that plays frames of a database, and is led over the ground by them."""

    def __init__(self, database, shape: FadeShape = SPRING, root_halflife: float = 0.0) -> None:
        self.database, self.dt = database, 1.0 / database.fps
        limits = np.array(database.limits)
        self.inertializer = Inertializer(limits, 0.1, self.dt, shape, root_halflife=root_halflife)
        self.led, self.place, self.shown = np.zeros(3), (0.0, 0.0, 0.0), []

    def play(self, frame: int, count: int) -> None:
        """Show the poses that follow a frame."""
        for k in range(count):
            pose, offset = self.inertializer.update(self.database.poses[frame + k + 1], True)
            self.led = self.database.root_motion[frame + k] + offset
            x, y, yaw = self.place
            dx, dy = rotate_xy(*(self.dt * self.led[:2]), yaw)
            self.place = x + dx, y + dy, yaw + self.dt * self.led[2]
            pose = pose.astype(np.float64)
            pose[:, 0] = (*self.place[:2], 0.0, *quat.from_yaw(np.array(self.place[2])))
            self.shown.append(pose)

    def foresee(self, jump: Jump, frame: int) -> float:
        """Return how fast a joint would accelerate around a jump to a frame."""
        seam = make_seam(self.database, jump, frame)
        return self.measure(self.inertializer.preview([seam], self.led)[0])

    def measure(self, poses: np.ndarray) -> float:
        joints = Joints(self.database.skeleton.parents)
        return joints.measure_acceleration(poses, self.database.fps)


def get_state(database, frame: int) -> tuple[np.ndarray, ...]:
    root = database.root_motion[frame].astype(np.float32)
    return database.poses[frame], database.velocities[frame], root


def make_jump(database, source: int, target: int) -> Jump:
    return Jump(*get_state(database, source), *get_state(database, target))


def make_seam(database, jump: Jump, frame: int) -> Seam:
    following = database.poses[frame + 1 : frame + 1 + FOLLOWING]
    return Seam(jump, following, database.root_motion[frame : frame + FOLLOWING])


@pytest.mark.parametrize("root_halflife", [0.0, 0.06], ids=["root_fades", "root_on_feet"])
@pytest.mark.parametrize("shape", [SPRING, CUBIC], ids=["spring", "cubic"])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_foreseen_is_what_is_shown(demo_database, seed, shape, root_halflife):
    """Joints in the world accelerate around a jump as foreseen, as the ground passes by too."""
    rng = np.random.default_rng(seed)
    body = Body(demo_database, shape, root_halflife)
    free = np.flatnonzero(demo_database.successors[: -3 * FOLLOWING] >= 0)
    frame = int(rng.choice(free))
    body.play(frame, FOLLOWING)
    # jumps that still fade are beneath the second and the third one
    for target in rng.choice(free, 3).tolist():
        jump = make_jump(demo_database, frame + FOLLOWING, target)
        foreseen = body.foresee(jump, target)
        body.inertializer.transition(jump)
        body.play(target, FOLLOWING)
        assert foreseen == pytest.approx(
            body.measure(np.stack(body.shown[-FOLLOWING - 2 :])), rel=0.01
        )
        frame = target


def test_a_body_that_was_not_shown_before_is_foreseen_from_the_jump_on(demo_database):
    body = Body(demo_database)
    jump = make_jump(demo_database, 200, 900)
    foreseen = body.foresee(jump, 900)
    body.inertializer.transition(jump)
    body.play(900, FOLLOWING)
    assert foreseen >= body.measure(np.stack(body.shown)) > 0.0


def test_playing_on_shakes_no_joint_more_than_the_data(demo_database):
    body, peaks = Body(demo_database), demo_database.derive(MotionLimits)
    for frame in range(100, 2000, 190):
        body.play(frame - 2, 2)
        foreseen = body.foresee(make_jump(demo_database, frame, frame), frame)
        assert foreseen < 1.1 * peaks.find_peak(frame) + 2.0
        body.inertializer.reset()


def test_a_foreseen_jump_leaves_the_inertializer_as_it_is(demo_database):
    body = Body(demo_database)
    body.inertializer.transition(make_jump(demo_database, 200, 900))
    state = body.inertializer._state.copy(), body.inertializer.fading.time
    body.foresee(make_jump(demo_database, 900, 50), 50)
    np.testing.assert_array_equal(body.inertializer._state, state[0])
    assert body.inertializer.fading.time == state[1]


def test_jumps_that_are_foreseen_together_are_as_each_alone(demo_database):
    """What is left of an earlier jump is beneath each, and all go on from one body."""
    body, targets = Body(demo_database, root_halflife=0.06), [50, 900, 1500]
    body.inertializer.transition(make_jump(demo_database, 100, 700))
    body.play(700, FOLLOWING)
    jumps = [make_jump(demo_database, 700 + FOLLOWING, target) for target in targets]
    seams = [make_seam(demo_database, *each) for each in zip(jumps, targets, strict=True)]
    together = body.inertializer.preview(seams, body.led)
    joints = Joints(demo_database.skeleton.parents)
    hardest = joints.compute_hardest(together, demo_database.fps).max(axis=1)
    for seam, target, poses, most in zip(seams, targets, together, hardest, strict=True):
        np.testing.assert_allclose(
            poses, body.inertializer.preview([seam], body.led)[0], rtol=0.0, atol=1e-6
        )
        assert most == pytest.approx(body.foresee(seam.jump, target), rel=1e-5)


def test_a_jump_that_was_foreseen_is_entered_as_any_other(demo_database):
    """Even among others, and after a tick in which it was not entered."""
    jump, other = (make_jump(demo_database, 700 + FOLLOWING, target) for target in (900, 50))
    seams = make_seam(demo_database, other, 50), make_seam(demo_database, jump, 900)
    for waits in (False, True):
        foreseen, plain = Body(demo_database), Body(demo_database)
        for body in (foreseen, plain):
            body.play(700, FOLLOWING)
            if body is foreseen:
                body.inertializer.preview(seams, body.led)
            if waits:
                body.inertializer.transition(other)
                body.play(50, FOLLOWING)
            body.inertializer.transition(jump)
            body.play(900, FOLLOWING)
        np.testing.assert_array_equal(foreseen.shown, plain.shown)
