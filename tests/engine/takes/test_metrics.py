"""Metrics of motions whose values are known."""

from __future__ import annotations

import numpy as np
import pytest

from building.studies import standing
from motion_matching.engine.control.trajectory import compute_desired_velocity
from motion_matching.engine.maths import planar
from motion_matching.engine.motion.simulation_bone import GroundTrack
from motion_matching.engine.takes import metrics
from motion_matching.engine.takes.bodies import BodyMotion, Frames

FPS = 60.0


def make_body(
    toes: np.ndarray, track: np.ndarray | None = None, positions: np.ndarray | None = None
) -> BodyMotion:
    """Return a body whose legs have all joints in the toes (F, L, 3)."""
    legs = np.repeat(toes[:, :, None], 4, axis=2)
    return make_legged_body(legs, track, toes if positions is None else positions)


def make_legged_body(
    legs: np.ndarray, track: np.ndarray | None = None, positions: np.ndarray | None = None
) -> BodyMotion:
    track = np.zeros((len(legs), 3)) if track is None else track
    positions = legs.reshape(len(legs), -1, 3) if positions is None else positions
    return BodyMotion(FPS, positions, legs, GroundTrack(track[:, :2], track[:, 2]))


def get_frames(body: BodyMotion, contacts: object = False, floor: float = 0.0) -> Frames:
    shape = body.legs.shape[:2]
    return Frames.from_body(body, np.broadcast_to(contacts, shape), np.full(shape[1], floor))


def make_sliding_toe(speed: float, height: float, frames: int = 61) -> np.ndarray:
    toes = np.zeros((frames, 1, 3))
    toes[:, 0, 0] = speed * np.arange(frames) / FPS
    toes[:, 0, 2] = height
    return toes


@pytest.mark.parametrize(
    ("height", "weight"), [(0.0, 1.0), (0.0125, 2 - 2**0.5), (0.02, 2 - 2**0.8)]
)
def test_foot_slide_weights_speed_by_height_above_the_floor(height, weight):
    frames = get_frames(make_body(make_sliding_toe(0.3, 0.04 + height)), floor=0.04)
    assert metrics.measure_mann_foot_slide(frames) == pytest.approx(0.3 * weight)


def test_a_foot_in_the_air_or_at_rest_does_not_slide():
    for speed, height, on_floor in ((3.0, 0.1, False), (0.0, 0.0, True)):
        frames = get_frames(make_body(make_sliding_toe(speed, height)), on_floor)
        measured = metrics.measure_frames(frames)
        slides = [value for name, value in measured.items() if name.startswith("foot_")]
        assert len(slides) == 6
        assert set(slides) == {0.0}


def test_foot_skate_of_a_toe_that_slides_at_a_known_speed_and_height():
    """A second at 0.1 m/s on the floor, one at 0.3 m/s 4 cm above it, one at 2 m/s in the air."""
    speeds, heights = np.repeat([0.1, 0.3, 2.0], 60), np.repeat([0.0, 0.04, 0.2], 60)
    toes = np.zeros((180, 1, 3))
    toes[1:, 0, 1] = np.cumsum(speeds[1:] / FPS)
    toes[:, 0, 2] = heights + 0.07
    contacts = np.zeros((180, 1), bool)
    contacts[10:110] = True
    measured = metrics.measure_frames(get_frames(make_body(toes), contacts, floor=0.07))
    # the frame before a change of speed is halfway between the two
    assert measured["foot_skate_from_height"] == pytest.approx(
        (59 * 0.1 + 0.2 + 59 * 0.3 + 1.15) / 120
    )
    assert measured["foot_skate_ratio"] == pytest.approx(0.5, abs=0.01)
    in_contact = (49 * 0.1 + 0.2 + 50 * 0.3) / 100
    assert measured["foot_skate_from_contacts"] == pytest.approx(in_contact)
    assert measured["foot_skate_max_vel"] == pytest.approx(0.3)
    assert measured["foot_slide_contacts"] == measured["foot_skate_from_contacts"]


def make_legs(bends: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Return legs (F, 2, 4, 3) with hips 0.2 m apart, knees bent, and ankles set apart sideways."""
    legs = np.zeros((len(bends), 2, 4, 3))
    for leg, side in enumerate((0.5, -0.5)):
        legs[:, leg, :2, 0] = 0.2 * side
        legs[:, leg, :2, 2] = 0.9, 0.5
        legs[:, leg, 2:, 0] = side * apart[:, None]
        legs[:, leg, 2:, 1] = 0.4 * np.sin(bends)[:, None]
        legs[:, leg, 2:, 2] = (0.5 - 0.4 * np.cos(bends))[:, None]
    return legs


def test_knees_are_measured_by_how_fast_they_bend():
    bends = np.concatenate([np.zeros(30), np.arange(60) * 3.0 / FPS, np.full(30, 59 * 3.0 / FPS)])
    body = make_legged_body(make_legs(bends, np.full(120, 0.2)))
    assert metrics.measure_frames(get_frames(body))["knee_rate_max"] == pytest.approx(3.0)
    np.testing.assert_allclose(body.knee_rates[:30], 0.0, atol=1e-9)


def test_legs_cross_where_an_ankle_is_past_the_other_by_more_than_five_centimetres():
    apart = np.linspace(0.3, -0.15, 451)  # the last 100 frames are past by over 5 cm
    body = make_legged_body(make_legs(np.zeros(451), apart))
    np.testing.assert_allclose(body.crossings, -apart, atol=1e-9)
    assert metrics.measure_frames(get_frames(body))["legs_crossed"] == pytest.approx(
        100 / 451, abs=0.003
    )
    one_leg = make_body(make_sliding_toe(0.1, 0.0))
    assert metrics.measure_frames(get_frames(one_leg))["legs_crossed"] == 0.0


def test_standing_is_measured_where_a_body_rests_for_half_a_second():
    """Three seconds of walking, one of standing with a heel up, two with feet wide apart."""
    apart = np.repeat([0.2, 0.3, 0.5], [180, 60, 120])
    legs = make_legs(np.zeros(360), apart)
    legs[180:240, 1, 2, 2] += 0.08
    track = np.zeros((360, 3))
    track[:180, 0] = np.linspace(-3.0, 0.0, 180)
    track[60:80] = track[60]  # too short to be standing
    body = make_legged_body(legs, track)
    floors = standing.measure_ankle_floors([body])
    np.testing.assert_allclose(floors, 0.1)
    measured = standing.measure_standing([body, body], floors)
    assert measured["standing_seconds"] == pytest.approx(6.0, abs=0.1)
    assert measured["standing_feet_apart"] == pytest.approx(0.5)
    assert measured["standing_heel_up"] == pytest.approx(1 / 3, abs=0.01)
    walking = make_legged_body(legs[:60], track[:60])
    assert set(standing.measure_standing([walking], floors).values()) == {0.0}


def test_moving_and_turning_a_body_changes_no_measure():
    rng = np.random.default_rng(2)
    legs = np.cumsum(rng.normal(size=(90, 2, 4, 3)), axis=0) * 0.01
    contacts = rng.random((90, 2)) < 0.5
    body = make_legged_body(legs)
    turned = legs.copy()
    turned[..., :2] = planar.rotate(legs[..., :2], 2.2) + np.array([30.0, -7.0])
    measured, after = (
        metrics.measure_frames(get_frames(each, contacts, -0.05))
        for each in (body, make_legged_body(turned))
    )
    assert after == pytest.approx(measured)
    assert all(value > 0 for value in measured.values())


def test_frames_count_once_for_each_time_that_they_are_played():
    frames = get_frames(make_body(make_sliding_toe(0.4, 0.0)), True)
    still = get_frames(make_body(make_sliding_toe(0.0, 0.0)), True)
    both = Frames.concatenate([frames.select(np.array([3, 3, 9])), still.select(np.array([5]))])
    assert metrics.measure_contact_slide(both) == pytest.approx(0.3)


def make_stepping_toe(speeds: np.ndarray, height: float = 0.0) -> Frames:
    """Return a toe that goes at speeds (F,) in m/s and stands from the 10th frame to the 170th."""
    toes = np.zeros((len(speeds), 1, 3))
    toes[:, 0, 0], toes[:, 0, 2] = np.cumsum(speeds) / FPS, height
    contacts = np.zeros((len(speeds), 1), bool)
    contacts[10:170] = True
    return get_frames(make_body(toes), contacts)


@pytest.mark.parametrize(
    ("speed", "frames", "height", "way"),
    [
        (0.3, 8, 0.0, 0.04),  # fast for more than a tenth of a second
        (0.3, 4, 0.0, None),  # fast, but briefly
        (0.1, 60, 0.0, 0.1),  # slowly, but far
        (0.1, 20, 0.0, None),  # slowly, and not far
        (0.3, 60, 0.06, None),  # too high to stand
    ],
)
def test_a_toe_slips_that_goes_fast_or_far_while_it_stands(speed, frames, height, way):
    speeds = np.zeros(180)
    speeds[50 : 50 + frames] = speed
    measured = metrics.measure_slips(make_stepping_toe(speeds, height), FPS)
    assert measured["slips_per_minute"] == pytest.approx(0.0 if way is None else 20.0)
    assert measured["slip_way"] == pytest.approx(way or 0.0)


def test_a_toe_slips_once_for_each_time_that_it_is_put_down():
    speeds = np.full(180, 0.3)
    frames = make_stepping_toe(speeds)
    assert metrics.measure_slips(frames, FPS)["slips_per_minute"] == pytest.approx(20.0)
    lifted = frames.select(np.r_[:60, 100:180])  # what lies between is not played
    measured = metrics.measure_slips(lifted, FPS)
    assert measured["slips_per_minute"] == pytest.approx(2 * 60 * FPS / 140)


def test_a_pop_is_harder_than_anything_in_the_frames_played():
    accelerations = np.full(300, 40.0)
    accelerations[60:63] = 61.0
    accelerations[200] = 59.0
    assert metrics.measure_pops(accelerations, 50.0, FPS) == {"pops": 1, "pop_seconds": [1.0]}
    # while standing still nothing is a pop that is slower than a fall
    assert metrics.measure_pops(np.full(60, 5.0), 0.0, FPS)["pops"] == 0


def test_contact_slide_counts_only_frames_in_contact():
    toes = make_sliding_toe(0.5, 0.0)
    toes[30:, 0, 0] = toes[30, 0, 0]
    contacts = np.zeros((61, 1), bool)
    contacts[40:] = True
    assert metrics.measure_contact_slide(get_frames(make_body(toes), contacts)) == 0.0
    contacts[:] = False
    contacts[5:20] = True
    assert metrics.measure_contact_slide(get_frames(make_body(toes), contacts)) == pytest.approx(
        0.5
    )


def test_a_falling_body_accelerates_with_gravity():
    t = np.arange(60) / FPS
    positions = np.zeros((60, 2, 3))
    positions[:, 1, 2] = 3 * t - 0.5 * 9.81 * t**2
    measured = make_body(make_sliding_toe(0, 0, 60), positions=positions).acceleration
    np.testing.assert_allclose(measured[1:-1], 9.81, rtol=1e-6)


def test_standing_over_half_a_second_while_asked_to_move_is_a_freeze():
    velocity, wanted = np.zeros((240, 2)), np.zeros((240, 2))
    wanted[60:] = (1.0, 0.0)
    velocity[60 + 29 :] = (1.0, 0.0)
    assert metrics.count_freezes(velocity, wanted, FPS) == 0
    velocity[120:160] = 0.0
    assert metrics.count_freezes(velocity, wanted, FPS) == 1
    assert metrics.count_freezes(velocity, 0.4 * wanted, FPS) == 0


def test_the_response_ends_at_nine_tenths_of_the_new_velocity():
    wanted = np.tile([1.0, 0.0], (300, 1))
    wanted[100:200] *= -1
    velocity = np.tile([1.0, 0.0], (300, 1))
    velocity[100:] = -np.linspace(-1, 1, 101)[np.minimum(np.arange(200), 100)][:, None] * [1.0, 0.0]
    first, second = measure_responses(velocity, wanted)
    assert first == pytest.approx(95 / FPS)
    assert second == float("inf")


def measure_responses(velocity, wanted, reachable=np.inf):
    yaws = np.arctan2(wanted[:, 0], -wanted[:, 1])
    reachable = np.broadcast_to(reachable, len(wanted))
    return metrics.measure_response_times(velocity, wanted, yaws, reachable, FPS)


def make_flip(slow: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return a velocity (T, 2) that flips at 1 m/s² and its desire, slower for the first second."""
    wanted = np.tile([1.0, 0.0], (400, 1))
    wanted[100:] *= -1
    wanted[100:160] *= slow
    velocity = np.zeros((400, 2))
    velocity[:, 0] = np.clip(1 - (np.arange(400) - 100) / FPS, -1, 1)
    return velocity, wanted


def test_a_response_is_to_the_full_speed_though_less_is_desired_within_the_turn():
    assert measure_responses(*make_flip()) == pytest.approx([1.9], abs=1.1 / FPS)
    assert measure_responses(*make_flip(slow=0.3)) == pytest.approx([1.9], abs=1.1 / FPS)


@pytest.mark.parametrize("degrees", [100, 135, 180])
def test_a_response_is_in_the_new_direction_though_the_desired_one_bends_within_the_turn(degrees):
    """A runner who turns at 3 rad/s is asked for little to the side and back, and much ahead."""
    ticks, new = np.arange(400), np.radians(degrees)
    yaws = np.clip((ticks - 100) * 3.0 / FPS, 0.0, new)
    stick = np.where(ticks[:, None] < 100, [0.0, -1.0], [np.sin(new), -np.cos(new)])
    wanted = np.array(
        [
            compute_desired_velocity(move, yaw, 2.8, 0.9, 0.8)
            for move, yaw in zip(stick, yaws, strict=True)
        ]
    )
    share = np.clip((ticks - 100) / FPS, 0.0, 1.0)[:, None]
    velocity = (1 - share) * [0.0, -2.8] + share * 2.8 * stick[-1]
    goals = np.where(ticks < 100, 0.0, new)
    measured = metrics.measure_response_times(velocity, wanted, goals, np.full(400, 4.0), FPS)
    along = -np.cos(new)  # of the old direction, against which the new one is gained
    assert measured == pytest.approx([(0.9 + along) / (1 + along)], abs=1.1 / FPS)


def test_more_than_the_data_reaches_need_not_be_reached():
    velocity, wanted = make_flip()
    assert measure_responses(0.6 * velocity, wanted) == [np.inf]
    assert measure_responses(0.6 * velocity, wanted, 0.6) == pytest.approx([1.9], abs=1.1 / FPS)


def test_quarter_turns_count_and_a_desire_that_stops_or_turns_ends_the_wait():
    velocity, wanted = make_flip()
    quarter = wanted.copy()
    quarter[:100] = [0.0, 1.0]
    assert measure_responses(velocity, quarter) == pytest.approx([1.9], abs=1.1 / FPS)
    quarter[:100] = [-0.5, 1.0]
    assert measure_responses(velocity, quarter) == []
    for after in ([0.0, 0.0], [-1.0, 1.0]):
        short = wanted.copy()
        short[150:] = after
        assert measure_responses(velocity, short) == [np.inf]


def test_turning_is_measured_by_the_turn_rate():
    track = np.zeros((120, 3))
    track[:, 2] = np.concatenate([np.zeros(60), np.arange(60) * 2.5 / FPS])
    measured = metrics.measure_clips(
        [make_body(make_sliding_toe(0, 0, 120), track)], [np.zeros((120, 1), bool)], np.zeros(1)
    )
    assert measured["turn_rate_max"] == pytest.approx(2.5)
    assert measured["turning_p99"] == pytest.approx(2.5)


def test_metrics_of_several_clips_ignore_the_gaps_between_them():
    near = make_sliding_toe(0.2, 0.0)
    far = near + np.array([50.0, 0.0, 0.0])
    measured = metrics.measure_clips(
        [make_body(near), make_body(far)], [np.zeros((61, 1), bool)] * 2, np.zeros(1)
    )
    assert measured["foot_slide_mann"] == pytest.approx(0.2)
