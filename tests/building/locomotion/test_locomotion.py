"""Generated locomotion: feet stay planted, bodies move like people, and takes cover all speeds and
directions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from building.locomotion.feet import TOE_HEIGHT, Foot, move_feet
from building.locomotion.gait import BodyPath, plan_footsteps
from building.locomotion.humanoid import build_humanoid_skeleton, pose_body
from building.locomotion.locomotion import Move, generate, perform, plan_path
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from tests.engine.rigs import measure_heading

SKELETON = build_humanoid_skeleton()
SIDES = ("Left", "Right")
FORWARD = np.array([0.0, -1.0, 0.0])


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    return generate(seed=0)


def get_world_path(clip: Clip, bone: str) -> np.ndarray:
    return clip.compute_world()[1][:, SKELETON.index(bone)].astype(float)


def measure_speeds(points: np.ndarray, fps: float) -> np.ndarray:
    return np.linalg.norm(np.diff(points, axis=0), axis=-1) * fps


def measure_angular_velocity(clip: Clip) -> np.ndarray:
    q = clip.rotations.astype(float)
    return quat.to_scaled_angle_axis(quat.positive(quat.mul_inv(q[1:], q[:-1]))) * clip.fps


def measure_travel(clip: Clip) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Measure speed ahead and to the left of the hips, and their turn rate, over a fifth of a
    second.
    """
    rotations, positions = clip.compute_world()
    yaw = np.unwrap(measure_heading(rotations[:, 0].astype(float), FORWARD))
    span = round(0.2 * clip.fps)
    velocity = (positions[span:, 0, :2] - positions[:-span, 0, :2]).astype(float) * clip.fps / span
    turn = (yaw[span:] - yaw[:-span]) * clip.fps / span
    middle = 0.5 * (yaw[span:] + yaw[:-span])
    ahead = velocity[:, 0] * np.sin(middle) - velocity[:, 1] * np.cos(middle)
    left = velocity[:, 0] * np.cos(middle) + velocity[:, 1] * np.sin(middle)
    return ahead, left, turn


def perform_walk(
    moves: list[Move], fps: float = 30.0
) -> tuple[BodyPath, tuple[Foot, Foot], np.ndarray, np.ndarray]:
    """Return path, feet and pose of a schedule that stands for a second at both ends."""
    path = plan_path([Move(1.0), *moves, Move(2.5)], fps)
    rng = np.random.default_rng(3)
    feet = move_feet(path, *plan_footsteps(path, rng))
    positions, rotations = pose_body(SKELETON, path, *feet, rng)
    return path, feet, positions, rotations


def is_on_ground(foot: Foot) -> np.ndarray:
    """Tell whether heel or toes bear weight (F,)."""
    return (foot.since >= 0) & (foot.until > 0)


@dataclass(frozen=True)
class Steady:
    """A straight stretch at one speed: world points (F, 3) by bone, angles (F,) in radians, and
    both feet.
    """

    fps: float
    feet: tuple[Foot, Foot]
    points: dict[str, np.ndarray]
    pelvis_yaw: np.ndarray
    shoulder_yaw: np.ndarray
    arms: tuple[np.ndarray, np.ndarray]  # left and right upper arm, ahead of vertical
    knees: tuple[np.ndarray, np.ndarray]

    @classmethod
    def from_speed(cls, speed: float, fps: float = 60.0) -> Steady:
        _, feet, positions, rotations = perform_walk([Move(9.0, speed)], fps)
        world, places = quat.fk(rotations.astype(float), positions.astype(float), SKELETON.parents)
        part = slice(round(3.5 * fps), round(9.0 * fps))
        points = {name: places[part, bone] for bone, name in enumerate(SKELETON.names)}
        forward = np.array([0.0, -1.0, 0.0])
        yaw = [
            measure_heading(world[part, SKELETON.index(bone)], forward)
            for bone in ("Hips", "UpperChest")
        ]
        arms = [
            np.arctan2(-d[:, 1], -d[:, 2])
            for d in (points[s + "ForeArm"] - points[s + "Arm"] for s in SIDES)
        ]
        knees = [
            quat.to_scaled_angle_axis(rotations[part, SKELETON.index(s + "Leg")].astype(float))[
                :, 0
            ]
            for s in SIDES
        ]
        cut = [Foot(**{key: value[part] for key, value in vars(foot).items()}) for foot in feet]
        return cls(
            fps, (cut[0], cut[1]), points, yaw[0], yaw[1], (arms[0], arms[1]), (knees[0], knees[1])
        )

    def strikes(self, foot: int) -> np.ndarray:
        """Return the frames at which a foot comes down."""
        down = is_on_ground(self.feet[foot])
        return np.flatnonzero(down[1:] & ~down[:-1]) + 1

    @property
    def step_length(self) -> float:
        """Metres from the place of one foot to that of the next."""
        own = [
            self.feet[f].toe[self.feet[f].planted & (self.feet[f].since > 0.1)][:, 1]
            for f in (0, 1)
        ]
        places = np.unique(np.round(np.concatenate(own), 3))
        return float(np.median(np.diff(places)))

    @property
    def step_rate(self) -> float:
        strikes = np.sort(np.concatenate([self.strikes(0), self.strikes(1)]))
        return float(self.fps / np.mean(np.diff(strikes)))

    @property
    def duty(self) -> float:
        """Share of strides that a foot is down, from strike to strike."""
        strikes = self.strikes(0)
        return float(np.mean(is_on_ground(self.feet[0])[strikes[0] : strikes[-1]]))


# ---------------------------------------------------------------- skeleton


def test_the_rest_pose_stands_on_the_ground_and_is_symmetric() -> None:
    rotations, positions = SKELETON.compute_rest_world()
    tips = [
        positions[bone] + quat.mul_vec(rotations[bone], np.array(tip))
        for bone, tip in SKELETON.end_sites
    ]
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


@pytest.mark.slow
def test_clips_are_determined_by_their_seed() -> None:
    first, again, other = generate(4), generate(4), generate(5)
    assert [clip.name for clip in first] == [clip.name for clip in other]
    for a, b in zip(first, again, strict=True):
        assert np.array_equal(a.positions, b.positions)
        assert np.array_equal(a.rotations, b.rotations)
    assert any(
        a.positions.shape != b.positions.shape or not np.array_equal(a.positions, b.positions)
        for a, b in zip(first, other, strict=True)
    )


def test_takes_are_long_and_few(clips: list[Clip]) -> None:
    assert all(10 <= clip.duration <= 30 for clip in clips)
    assert 6000 <= sum(clip.frame_count for clip in clips) <= 16000
    assert len({clip.name for clip in clips}) == len(clips)


@pytest.mark.parametrize("fps", [24.0, 60.0])
def test_any_frame_rate_samples_the_same_motion(fps: float) -> None:
    moves = [Move(3.0, 1.3), Move(2.0, 3.0, turn=40)]
    rare, dense = (
        perform("a", moves, fps, np.random.default_rng(1)),
        perform("a", moves, 120.0, np.random.default_rng(1)),
    )
    assert rare.duration == pytest.approx(dense.duration, abs=1 / fps)
    every = round(120 / fps)
    together = dense.positions[::every, 0][: rare.frame_count]
    assert np.max(np.abs(rare.positions[: len(together), 0] - together)) < 0.05


def test_arrays_are_valid(clips: list[Clip]) -> None:
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
            ends = clip.compute_world()[1][part].astype(float)
            for side in SIDES:
                toe = ends[:, SKELETON.index(side + "Toe")]
                assert np.max(measure_speeds(toe, clip.fps)) < 0.01, clip.name
                assert np.max(np.abs(toe[:, 2] - TOE_HEIGHT)) < 0.005, clip.name
            assert np.max(measure_speeds(ends[:, 0], clip.fps)) < 0.1, clip.name
        feet = [clip.compute_world()[1][-1, SKELETON.index(side + "Toe"), :2] for side in SIDES]
        assert np.linalg.norm(feet[0] - feet[1]) < 0.35, clip.name


# ---------------------------------------------------------------- feet


@pytest.mark.parametrize("move", [
    Move(4.0, 0.7), Move(4.0, 1.4), Move(4.0, 3.5), Move(4.0, 1.2, turn=60), Move(4.0, 3.0, turn=-57),
    Move(4.0, 0.9, direction=90), Move(4.0, 1.1, direction=180), Move(4.0, 1.8, direction=-90),
    Move(4.0, 1.3, pivot=180), Move(4.0, pivot=180), Move(5.0, 1.1, swing=56),
])  # fmt: skip
def test_planted_toes_do_not_slide(move: Move) -> None:
    _, feet, positions, rotations = perform_walk([move])
    _, points = quat.fk(rotations.astype(float), positions.astype(float), SKELETON.parents)
    for side, foot in zip(SIDES, feet, strict=True):
        toe = points[:, SKELETON.index(side + "Toe")]
        np.testing.assert_allclose(toe, foot.toe, atol=1e-3)  # the leg reaches the foot
        held = foot.planted[1:] & foot.planted[:-1]
        assert np.count_nonzero(held) > 30
        assert np.max(measure_speeds(toe, 30.0)[held]) < 0.01
        assert np.max(np.abs(toe[foot.planted, 2] - TOE_HEIGHT)) < 1e-3


def test_walks_always_have_a_foot_on_the_ground_and_runs_do_not() -> None:
    for moves, flies in (([Move(6.0, 1.4)], False), ([Move(6.0, 3.2)], True)):
        _, feet, _, _ = perform_walk(moves)
        steady = slice(90, 200)
        airborne = ~is_on_ground(feet[0])[steady] & ~is_on_ground(feet[1])[steady]
        assert np.any(airborne) == flies
        assert np.mean(airborne) < 0.4


@pytest.mark.parametrize(
    ("pace", "lowest", "highest"), [(0.7, 1.2, 1.6), (1.4, 1.7, 2.1), (3.0, 2.5, 3.0)]
)
def test_step_rates_are_human(pace: float, lowest: float, highest: float) -> None:
    path = plan_path([Move(1.0), Move(8.0, pace), Move(2.5)], 30.0)
    swings = plan_footsteps(path, np.random.default_rng(0))
    lifts = np.sort(np.concatenate([s.lift for s in swings]))
    steady = lifts[(lifts > 3) & (lifts < 8)]
    assert lowest < 1.0 / np.mean(np.diff(steady)) < highest


@pytest.mark.parametrize("direction", [90, -90])
def test_sidesteps_are_short_and_quick(direction: float) -> None:
    """In mocap at 1 m/s, feet are at most 0.6 m apart, step 3.6 times a second and bob the hips by
    4 cm.
    """
    _, feet, positions, _ = perform_walk([Move(8.0, 1.0, direction=direction)], 60.0)
    steady = slice(180, 480)
    apart = np.linalg.norm(feet[0].toe[steady, :2] - feet[1].toe[steady, :2], axis=-1)
    assert 0.5 < np.max(apart) < 0.76
    lifts = np.sum(
        [np.count_nonzero(np.diff(foot.planted[steady].astype(int)) < 0) for foot in feet]
    )
    assert 3.1 < lifts / 5.0 < 4.0
    assert np.ptp(positions[steady, 0, 2]) < 0.05


def test_feet_alternate_and_do_not_swing_into_each_other(clips: list[Clip]) -> None:
    for clip in clips:
        left, right = get_world_path(clip, "LeftToe"), get_world_path(clip, "RightToe")
        apart = np.linalg.norm(left - right, axis=-1)
        assert np.percentile(apart, 0.5) > 0.07, clip.name


def test_nothing_sinks_below_the_ground(clips: list[Clip]) -> None:
    for clip in clips:
        rotations, positions = clip.compute_world()
        lowest = positions[..., 2].min()
        for bone, tip in SKELETON.end_sites:
            offsets = np.broadcast_to(tip, positions[:, bone].shape)
            lowest = min(
                lowest, (positions[:, bone] + quat.mul_vec(rotations[:, bone], offsets))[:, 2].min()
            )
        for side in SIDES:  # the sole under the heel
            foot = SKELETON.index(side + "Foot")
            heel = np.broadcast_to([0.0, 0.05, -0.085], positions[:, foot].shape)
            lowest = min(
                lowest, (positions[:, foot] + quat.mul_vec(rotations[:, foot], heel))[:, 2].min()
            )
        assert lowest > -0.005, clip.name


# ---------------------------------------------------------------- measurements from the literature


WALKS, RUNS = (0.8, 1.1, 1.4, 1.8), (2.5, 3.0, 3.5, 4.0)


@pytest.mark.parametrize("speed", WALKS)
def test_walking_steps_keep_the_walk_ratio(speed: float) -> None:
    """Step length over steps a minute is 0.0065 m from slow to fast walks (Sekiya et al. 1997)."""
    walk = Steady.from_speed(speed)
    assert walk.step_length * walk.step_rate == pytest.approx(speed, rel=0.06)
    assert walk.step_length / (60 * walk.step_rate) == pytest.approx(0.0065, rel=0.12)


@pytest.mark.parametrize("speed", RUNS)
def test_running_steps_get_longer_rather_than_faster(speed: float) -> None:
    """2.5 to 3 steps a second from jogs to runs, and steps of 0.9 to 1.5 m (Cavanagh and Kram
    1989).
    """
    run = Steady.from_speed(speed)
    assert 2.45 < run.step_rate < 3.0
    assert run.step_length == pytest.approx(speed / run.step_rate, rel=0.06)


def test_stance_takes_over_half_of_a_walking_stride_and_less_of_a_run() -> None:
    """60 to 65 % in a walk, less at speed (Murray et al. 1964); 30 to 40 % in a run (Novacheck
    1998).
    """
    walks, runs = (
        [Steady.from_speed(v).duty for v in WALKS],
        [Steady.from_speed(v).duty for v in RUNS],
    )
    assert all(0.54 < duty < 0.68 for duty in walks)
    assert all(0.27 < duty < 0.42 for duty in runs)
    assert walks[0] > walks[-1] > runs[0] > runs[-1]


@pytest.mark.parametrize(
    ("speed", "lowest", "highest"), [(0.8, 0.012, 0.04), (1.4, 0.02, 0.06), (3.0, 0.075, 0.11)]
)
def test_the_pelvis_rises_and_falls_as_measured(
    speed: float, lowest: float, highest: float
) -> None:
    """3 to 5 cm in a walk, more at speed; 8 to 10 cm in a run. In a walk it is highest over the
    stance leg.
    """
    steady = Steady.from_speed(speed)
    height = steady.points["Hips"][:, 2]
    assert lowest < np.percentile(height, 98) - np.percentile(height, 2) < highest
    single = is_on_ground(steady.feet[0]) ^ is_on_ground(steady.feet[1])
    higher = height[single].mean() > height[~single].mean()
    assert higher == (speed < 2)


@pytest.mark.parametrize("speed", [1.1, 1.4])
def test_the_pelvis_sways_over_the_stance_leg_and_drops_on_the_other_side(speed: float) -> None:
    """4 to 6 cm from side to side (Orendurff et al. 2004); 5 to 10 degrees between both drops
    (Inman et al. 1981).
    """
    steady = Steady.from_speed(speed)
    aside = steady.points["Hips"][:, 0] - steady.points["Hips"][:, 0].mean()
    assert 0.02 < np.ptp(aside) < 0.07
    load = is_on_ground(steady.feet[0]).astype(float) - is_on_ground(steady.feet[1])
    assert np.corrcoef(aside, load)[0, 1] > 0.6
    across = steady.points["LeftUpLeg"] - steady.points["RightUpLeg"]
    drop = np.arctan2(across[:, 2], np.hypot(across[:, 0], across[:, 1]))
    assert np.radians(7) < np.ptp(drop) < np.radians(11)
    assert np.corrcoef(drop, load)[0, 1] > 0.6


@pytest.mark.parametrize("speed", [1.1, 1.6, 2.8, 3.6])
def test_shoulders_turn_against_the_pelvis_and_arms_swing_against_legs(speed: float) -> None:
    steady = Steady.from_speed(speed)
    assert np.corrcoef(steady.pelvis_yaw, steady.shoulder_yaw)[0, 1] < -0.8
    assert np.radians(8) < np.ptp(steady.pelvis_yaw) < np.radians(20)
    for side, arm in zip(SIDES, steady.arms, strict=True):
        leg = steady.points["Hips"][:, 1] - steady.points[side + "Foot"][:, 1]
        assert np.corrcoef(arm, leg)[0, 1] < -0.7
    assert np.corrcoef(*steady.arms)[0, 1] < -0.9


def test_arms_swing_more_at_speed() -> None:
    swings = [float(np.ptp(Steady.from_speed(speed).arms[0])) for speed in (0.8, 1.4, 3.0)]
    assert np.radians(15) < swings[0] < swings[1] < swings[2] < np.radians(75)


def test_upper_arms_of_a_runner_swing_ahead_of_vertical() -> None:
    """From 50 or 60 degrees behind to some 10 ahead."""
    arm = np.degrees(Steady.from_speed(3.0).arms[0])
    assert -65 < arm.min() < -45
    assert 0 < arm.max() < 15


@pytest.mark.parametrize("speed", [1.1, 1.4, 1.8])
def test_shoulders_sink_over_the_stance_leg_of_a_walk(speed: float) -> None:
    """By some 5 degrees in all, opposite to the drop of the pelvis."""
    points = Steady.from_speed(speed).points
    roll, drop = (
        np.degrees(np.arctan2(across[:, 2], np.linalg.norm(across[:, :2], axis=-1)))
        for across in (points[f"Left{bone}"] - points[f"Right{bone}"] for bone in ("Arm", "UpLeg"))
    )
    assert 3.5 < np.ptp(roll) < 8
    assert np.corrcoef(roll, drop)[0, 1] < -0.5


@pytest.mark.parametrize("speed", [1.1, 1.4, 3.0])
def test_elbows_bend_and_hands_move_inwards_as_arms_swing_ahead(speed: float) -> None:
    """Murray, Sepic and Barnard (1967) for walks; in a run the elbow leads the arm by a tenth of a
    stride.
    """
    steady = Steady.from_speed(speed)
    upper, lower = (
        steady.points[f"Left{end}"] - steady.points[f"Left{start}"]
        for start, end in (("Arm", "ForeArm"), ("ForeArm", "Hand"))
    )
    cosine = (
        np.sum(upper * lower, axis=-1)
        / np.linalg.norm(upper, axis=-1)
        / np.linalg.norm(lower, axis=-1)
    )
    assert np.corrcoef(np.arccos(cosine), steady.arms[0])[0, 1] > (0.9 if speed < 2 else 0.6)
    assert np.corrcoef(lower[:, 0], steady.arms[0])[0, 1] < -0.5
    assert np.ptp(lower[:, 0]) > 0.03


def test_a_walker_is_fastest_between_single_supports() -> None:
    """The body vaults over each leg: slow at the top, fast as the next foot strikes (Inman, Ralston
    and Todd 1981).
    """
    steady = Steady.from_speed(1.3)
    hips = steady.points["Hips"]
    ahead = -np.gradient(hips[:, 1]) * steady.fps
    assert 0.1 < np.ptp(ahead) < 0.6
    assert np.corrcoef(ahead, hips[:, 2])[0, 1] < -0.5


@pytest.mark.parametrize("speed", [0.8, 1.2, 1.7])
def test_a_walk_begins_with_a_fall_over_the_stance_leg(speed: float) -> None:
    """Before the first foot lifts, the body moves over the other one and ahead (Jian et al. 1993)."""
    path, feet, positions, _ = perform_walk([Move(4.0, speed)], 60.0)
    first = min((0, 1), key=lambda foot: np.argmin(feet[foot].planted))
    lift = int(np.argmin(feet[first].planted))
    gone = positions[lift, 0] - positions[40, 0]
    assert 0.05 < -gone[1] < 0.2
    assert 0.025 < gone[0] * (-1.0, 1.0)[first] < 0.08
    assert lift / 60.0 - float(path.times[np.argmax(path.forward_speed > 0.02)]) > 0.15


def test_step_widths_vary() -> None:
    """By some 2 cm (Owings and Grabiner 2004)."""
    feet = Steady.from_speed(1.2).feet
    places = [
        np.unique(np.round(foot.toe[foot.planted & (foot.since > 0.1)][:, 0], 4)) for foot in feet
    ]
    assert all(0.002 < np.std(own) < 0.03 for own in places)


def test_knees_are_nearly_straight_at_foot_strike_and_fold_in_the_swing() -> None:
    """Less than 22 degrees at the strike, 60 to 75 in the swing; in a run 90 to 125 (Winter 1991;
    Novacheck 1998).
    """
    for speed, strike, low, high in ((1.4, 22, 58, 78), (3.0, 32, 90, 130)):
        steady = Steady.from_speed(speed)
        soon = steady.strikes(0)[:-1, None] + np.arange(4)  # within 50 ms
        at_strike = np.degrees(steady.knees[0][soon]).min(axis=1)
        assert np.all(at_strike < strike)
        assert low < np.degrees(steady.knees[0].max()) < high


@pytest.mark.parametrize("speed", [0.6, *WALKS, 1.6, 2.0])
def test_a_walking_knee_bends_steadily_during_push_off(speed: float) -> None:
    """From its straightest in late stance until toe-off, it only bends (Perry and Burnfield 2010)."""
    steady = Steady.from_speed(speed)
    for foot, knee in zip((0, 1), steady.knees, strict=True):
        for strike in steady.strikes(foot)[:-1]:
            leaving = strike + int(np.argmin(is_on_ground(steady.feet[foot])[strike:]))
            late = np.degrees(knee[(strike + leaving) // 2 : leaving + 2])
            folding = late[np.argmin(late[: len(late) // 2]) :]
            assert np.max(np.maximum.accumulate(folding) - folding) < 3


def test_heels_strike_first_and_lift_first_in_a_walk() -> None:
    foot = Steady.from_speed(1.4).feet[0]
    down = is_on_ground(foot)
    striking, leaving = down & (foot.since < 0.03), down & (foot.until < 0.03)
    assert np.all(np.degrees(foot.pitch[striking]) < -5)
    assert np.all(np.degrees(foot.pitch[leaving]) > 25)


def test_bodies_lean_into_their_motion() -> None:
    """Ahead as they start, back as they brake, inwards in a curve."""

    def measure_lean(moves: list[Move], axis: int) -> np.ndarray:
        path, _, positions, rotations = perform_walk(moves, 30.0)
        _, places = quat.fk(rotations.astype(float), positions.astype(float), SKELETON.parents)
        trunk = places[:, SKELETON.index("Neck")] - places[:, 0]
        along = (
            np.stack([np.sin(path.yaw), -np.cos(path.yaw)], -1)
            if axis == 0
            else np.stack([np.cos(path.yaw), np.sin(path.yaw)], -1)
        )
        return np.degrees(np.arctan2(np.sum(trunk[:, :2] * along, -1), trunk[:, 2]))

    run = measure_lean([Move(3.0, 3.0), Move(1.5)], 0)
    assert run[40:50].max() > run[80:110].mean() + 5  # starting, compared with steady running
    assert run[125:145].min() < run[80:110].mean() - 8
    assert measure_lean([Move(4.0, 2.9, turn=60)], 1)[80:120].mean() > 8
    assert measure_lean([Move(4.0, 2.9, turn=-60)], 1)[80:120].mean() < -8


def test_standing_bodies_shift_their_weight_and_breathe(clips: list[Clip]) -> None:
    """Weight moves between the legs, the chest breathes, and feet stay in place."""
    idle = next(clip for clip in clips if clip.name == "idle")
    aside = get_world_path(idle, "Hips")[:, 0]
    assert 0.03 < np.ptp(aside) < 0.14
    assert np.ptp(get_world_path(idle, "Head")[:, 1]) > 0.005
    for side in SIDES:
        assert np.max(measure_speeds(get_world_path(idle, side + "Toe"), idle.fps)) < 0.01


def test_toes_are_flat_while_feet_stand_flat(clips: list[Clip]) -> None:
    for clip in clips:
        still = slice(0, round(0.5 * clip.fps))
        for side in SIDES:
            toes = quat.to_scaled_angle_axis(
                clip.rotations[still, SKELETON.index(side + "Toe")].astype(float)
            )
            assert np.max(np.abs(toes)) < np.radians(1), clip.name


def test_takes_differ_in_style(clips: list[Clip]) -> None:
    """Feet turn out and stand apart by different amounts, so that takes look like different people."""
    apart = {
        round(
            float(get_world_path(clip, "LeftToe")[0, 1] - get_world_path(clip, "RightToe")[0, 1]), 3
        )
        for clip in clips
    }
    assert len(apart) > 0.8 * len(clips)


# ---------------------------------------------------------------- bodies


def test_knees_are_hinges_that_bend_one_way(clips: list[Clip]) -> None:
    for clip in clips:
        for side in SIDES:
            knee = clip.rotations[:, SKELETON.index(side + "Leg")].astype(float)
            bend = quat.to_scaled_angle_axis(quat.positive(knee))
            assert np.max(np.abs(bend[:, 1:])) < 1e-3
            assert np.all(bend[:, 0] > np.radians(3))
            assert np.all(bend[:, 0] < np.radians(140))


def test_joints_rotate_no_faster_than_human_ones(clips: list[Clip]) -> None:
    for clip in clips:
        turning = measure_angular_velocity(clip)
        assert np.max(np.linalg.norm(turning, axis=-1)) < 22, clip.name
        assert np.max(np.linalg.norm(np.diff(turning, axis=0), axis=-1)) * clip.fps < 900, clip.name


def test_the_body_has_no_pops(clips: list[Clip]) -> None:
    for clip in clips:
        for bone, limit in (
            ("Hips", 35.0),
            ("Head", 35.0),
            ("LeftHand", 160.0),
            ("LeftToe", 250.0),
        ):
            jolt = (
                np.linalg.norm(np.diff(get_world_path(clip, bone), 2, axis=0), axis=-1)
                * clip.fps**2
            )
            assert np.max(jolt) < limit, (clip.name, bone)


def test_the_hips_stay_upright_and_at_a_standing_height(clips: list[Clip]) -> None:
    for clip in clips:
        rotations, positions = clip.compute_world()
        up = quat.mul_vec(
            rotations[:, 0], np.broadcast_to(np.float32([0, 0, 1]), positions[:, 0].shape)
        )
        assert up[:, 2].min() > np.cos(np.radians(25))
        assert positions[:, 0, 2].min() > 0.75
        assert positions[:, 0, 2].max() < 1.0


@pytest.mark.parametrize("pace", [2.6, 3.2, 3.8])
def test_a_runner_is_in_free_fall_between_steps(pace: float) -> None:
    _, _, positions, _ = perform_walk([Move(6.0, pace)], 60.0)
    fall = -np.diff(positions[180:360, 0, 2].astype(float), 2) * 60.0**2
    assert 0.4 * 9.81 < np.max(fall) < 1.3 * 9.81
    assert 0.07 < np.ptp(positions[180:360, 0, 2]) < 0.10


# ---------------------------------------------------------------- coverage


def test_takes_cover_the_speeds_and_directions_that_players_need(clips: list[Clip]) -> None:
    ahead, left, turn = (
        np.concatenate(values) for values in zip(*map(measure_travel, clips), strict=True)
    )
    sideways, straight = np.abs(left) > 2 * np.abs(ahead), np.abs(ahead) > 2 * np.abs(left)
    second = 30
    assert np.count_nonzero(np.hypot(ahead, left) < 0.05) > 10 * second
    for low, high in (
        (0.5, 0.9),
        (0.9, 1.3),
        (1.3, 1.7),
        (1.7, 2.3),
        (2.3, 2.8),
        (2.8, 3.3),
        (3.3, 4.1),
    ):
        assert np.count_nonzero(straight & (ahead > low) & (ahead < high)) > 2 * second, (low, high)
    for sign in (1, -1):
        for low, high in ((0.4, 0.8), (0.8, 1.2), (1.2, 2.0)):
            assert (
                np.count_nonzero(sideways & (sign * left > low) & (sign * left < high)) > second
            ), (sign, low)
        for low, high in ((0.4, 0.8), (0.8, 1.3), (1.3, 2.5)):
            assert (
                np.count_nonzero((ahead > 0.8) & (sign * turn > low) & (sign * turn < high))
                > second
            ), (sign, low)
        assert np.count_nonzero(sign * turn > 3.0) > 0.5 * second
    assert np.count_nonzero(straight & (ahead < -0.5)) > 3 * second
    assert np.count_nonzero(straight & (ahead < -1.2)) > second
    assert np.percentile(np.abs(turn), 99) > 3.0


def test_a_pivot_turns_around_on_its_line() -> None:
    path = plan_path([Move(1.0), Move(3.0, 1.4), Move(3.0, 1.4, pivot=180), Move(2.5)], 60.0)
    before, after = path.velocity[int(3.5 * 60)], path.velocity[int(6.5 * 60)]
    np.testing.assert_allclose(after, -before, atol=1e-3)
    assert path.yaw[-1] == pytest.approx(np.pi)
    np.testing.assert_allclose(path.forward_speed[int(6.5 * 60)], 1.4, atol=1e-3)
    assert (
        np.max(np.abs(path.position[:, 0])) < 1e-6
    )  # braked and returned along one line, not around a loop


def test_velocity_and_heading_of_a_path_are_smooth() -> None:
    moves = [
        Move(1.0),
        Move(2.0, 1.2),
        Move(2.0, 3.0, pivot=90),
        Move(2.0, 1.0, direction=90, turn=40),
        Move(2.5),
    ]
    steps = []
    for fps in (60.0, 120.0):
        path = plan_path(moves, fps)
        steps.append(np.max(np.linalg.norm(np.diff(path.velocity, 2, axis=0), axis=-1)) * fps)
        assert np.max(np.linalg.norm(np.diff(path.velocity, axis=0), axis=-1)) * fps < 9.0
    assert steps[1] < 0.6 * steps[0]  # accelerations change continuously
