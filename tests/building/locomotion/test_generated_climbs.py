"""Generated walks over ramps and stairs: feet and the true ground agree, and bodies climb like people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pytest

from building.locomotion.climbs import Climb, find_climb, generate_climbs
from building.locomotion.feet import Foot
from building.locomotion.footprints import TOE_HEIGHT
from building.locomotion.ground import GroundProfile
from building.locomotion.humanoid import SHIN, THIGH
from building.locomotion.locomotion import generate
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip

SIDES = ("Left", "Right")
FPS = 60.0
# points of a foot: bone, its place there, and metres ahead of the heel
SOLE = (
    ("Foot", (0.0, 0.05, -0.085), 0.0),
    ("Foot", (0.0, -0.01, -0.085), 0.06),
    ("Foot", (0.0, -0.07, -0.085), 0.12),
    ("Foot", (0.0, -0.13, -0.085), 0.18),
    ("Toe", (0.0, -0.07, -0.01), 0.25),
)
HEEL, MIDDLE, BALL, TIP = 0, 2, 3, 4


@dataclass(frozen=True)
class Walked:
    """A climb, its clip, and what is measured on it."""

    climb: Climb
    clip: Clip

    @cached_property
    def world(self) -> tuple[np.ndarray, np.ndarray]:
        rotations, positions = self.clip.compute_world()
        return rotations.astype(float), positions.astype(float)

    @cached_property
    def feet(self) -> tuple[Foot, Foot]:
        return self.climb.move_feet(self.clip.fps)

    @property
    def ground(self) -> GroundProfile:
        return self.climb.ground

    @property
    def stairs(self) -> bool:
        return self.climb.name.startswith("stairs")

    @property
    def up(self) -> bool:
        return "_up_" in self.climb.name

    @cached_property
    def climbing(self) -> np.ndarray:
        """Frames in which the hips are over the ramp or the treads."""
        along = -self.get_path("Hips")[:, 1]
        return (along > self.ground.edges[0]) & (along < self.ground.edges[-1])

    @cached_property
    def approaching(self) -> np.ndarray:
        """Frames of the walk on flat ground, between its start and half a metre from the climb."""
        along = -self.get_path("Hips")[:, 1]
        return (along > 0.8) & (along < self.ground.edges[0] - 0.5)

    def get_path(self, bone: str) -> np.ndarray:
        return self.world[1][:, self.clip.skeleton.index(bone)]

    def get_sole(self, side: str) -> np.ndarray:
        """Return world points (F, 5, 3) of a sole."""
        points = []
        for bone, offset, _ in SOLE:
            index = self.clip.skeleton.index(side + bone)
            turn = self.world[0][:, index]
            points.append(
                self.world[1][:, index] + quat.mul_vec(turn, np.tile(offset, (len(turn), 1)))
            )
        return np.stack(points, axis=1)

    def measure_above_ground(self, points: np.ndarray) -> np.ndarray:
        return points[..., 2] - self.climb.compute_height(points[..., :2])

    def get_knee(self, side: str) -> np.ndarray:
        """Return the bend (F,) of a knee in degrees."""
        turn = self.clip.rotations[:, self.clip.skeleton.index(side + "Leg")].astype(float)
        return np.degrees(quat.to_scaled_angle_axis(quat.positive(turn))[:, 0])

    def find_stances(self) -> Iterator[tuple[str, Foot, slice]]:
        for side, foot in zip(SIDES, self.feet, strict=True):
            begins = np.flatnonzero(np.diff(foot.planted.astype(int), prepend=0) > 0)
            ends = np.flatnonzero(np.diff(foot.planted.astype(int), append=0) < 0) + 1
            yield from ((side, foot, slice(*ends)) for ends in zip(begins, ends, strict=True))

    @property
    def lean(self) -> np.ndarray:
        """Return by how many degrees (F,) the trunk leans ahead."""
        trunk = self.get_path("Neck") - self.get_path("Hips")
        return np.degrees(np.arctan2(-trunk[:, 1], trunk[:, 2]))


@pytest.fixture(scope="module")
def walks() -> dict[str, Walked]:
    clips = generate_climbs(seed=0, fps=FPS)
    return {clip.name: Walked(find_climb(clip.name, seed=0), clip) for clip in clips}


@pytest.fixture(scope="module")
def flat_walks() -> list[Clip]:
    return [clip for clip in generate(seed=0, fps=FPS) if clip.name.startswith("walk")]


def measure_accelerations(clip: Clip) -> np.ndarray:
    """Return the greatest acceleration (B,) of each bone in m/s²."""
    points = clip.compute_world()[1].astype(float)
    return np.max(np.linalg.norm(np.diff(points, 2, axis=0), axis=-1), axis=0) * clip.fps**2


def measure_vertical_acceleration(height: np.ndarray, fps: float) -> float:
    return float(np.max(np.abs(np.diff(height.astype(float), 2))) * fps**2)


# ---------------------------------------------------------------- the ground


def test_stairs_rise_by_a_riser_at_each_edge() -> None:
    stairs = GroundProfile.from_stairs(2.0, tread=0.3, riser=0.15, treads=2)
    ahead = np.array([[5.0, 0.0], [0.0, -1.99], [0.0, -2.01], [0.0, -2.31], [3.0, -2.61]])
    np.testing.assert_allclose(stairs.compute_height(ahead), [0.0, 0.0, 0.15, 0.3, 0.45])
    down = GroundProfile.from_stairs(2.0, tread=0.3, riser=-0.15, treads=2)
    np.testing.assert_allclose(down.compute_height(ahead), [0.45, 0.45, 0.3, 0.15, 0.0], atol=1e-9)


def test_a_ramp_rises_at_its_angle() -> None:
    ramp = GroundProfile.from_ramp(1.0, 3.0, np.radians(30))
    ahead = np.array([[0.0, 0.0], [0.0, -1.0], [4.0, -2.0], [0.0, -3.0], [0.0, -9.0]])
    rise = np.tan(np.radians(30))
    np.testing.assert_allclose(ramp.compute_height(ahead), [0, 0, rise, 2 * rise, 2 * rise])
    slopes = ramp.compute_slope(np.tile([0.0, -2.0], (3, 1)), np.radians([0.0, 90.0, 180.0]))
    np.testing.assert_allclose(slopes, np.radians([30.0, 0.0, -30.0]), atol=1e-9)


# ---------------------------------------------------------------- clips as a whole


def test_climbs_cover_ramps_and_stairs_up_and_down(walks: dict[str, Walked]) -> None:
    assert all(8.0 <= walk.clip.duration <= 15.0 for walk in walks.values())
    for way in ("up", "down"):
        for angle in (10, 20, 30):
            ground = walks[f"ramp_{way}_{angle}"].ground
            rise, length = abs(np.diff(ground.heights[1:])[0]), np.diff(ground.edges)[0]
            assert np.degrees(np.arctan2(rise, length)) == pytest.approx(angle)
        for number, riser, tread in ((15, 0.15, 0.30), (17, 0.175, 0.29), (20, 0.20, 0.28)):
            ground = walks[f"stairs_{way}_{number}"].ground
            np.testing.assert_allclose(np.abs(np.diff(ground.heights)), riser)
            np.testing.assert_allclose(np.diff(ground.edges), tread)
            assert len(ground.edges) >= 6


def test_climbs_are_determined_by_their_seed() -> None:
    names = ("ramp_up_20", "stairs_down_17")
    for name in names:
        one, again, other = (find_climb(name, seed).pose(30.0) for seed in (4, 4, 5))
        assert np.array_equal(one.positions, again.positions)
        assert np.array_equal(one.rotations, again.rotations)
        assert one.positions.shape != other.positions.shape or not np.array_equal(
            one.positions, other.positions
        )


def test_seeds_draw_people_of_another_gait() -> None:
    styles = {
        find_climb(name, seed).style for name in ("ramp_up_20", "ramp_down_20") for seed in (4, 5)
    }
    assert len(styles) == 4


def test_either_foot_steps_first() -> None:
    first = {
        int(np.argmin([swings.lift[0] for swings in find_climb("stairs_up_17", seed).swings]))
        for seed in range(8)
    }
    assert first == {0, 1}


@pytest.mark.parametrize("name", ["ramp_down_20", "stairs_up_17"])
def test_any_frame_rate_samples_the_same_climb(name: str) -> None:
    climb = find_climb(name)
    rare, dense = climb.pose(24.0), climb.pose(120.0)
    together = dense.compute_world()[1][::5][: rare.frame_count]
    apart = np.linalg.norm(rare.compute_world()[1][: len(together)] - together, axis=-1)
    assert np.max(apart[:, rare.skeleton.index("Hips")]) < 0.03
    for side in SIDES:
        assert np.max(apart[:, rare.skeleton.index(side + "Toe")]) < 0.03


def test_climbs_start_and_end_standing_still(walks: dict[str, Walked]) -> None:
    still = round(0.7 * FPS)
    for name, walk in walks.items():
        for part in (slice(0, still), slice(-still, None)):
            for side in SIDES:
                toe = walk.get_path(side + "Toe")[part]
                assert np.max(np.ptp(toe, axis=0)) < 0.002, name
                assert np.max(np.abs(walk.measure_above_ground(toe) - TOE_HEIGHT)) < 0.005, name
            hips = walk.get_path("Hips")[part]
            assert np.max(np.linalg.norm(np.diff(hips, axis=0), axis=-1)) * FPS < 0.1, name


# ---------------------------------------------------------------- feet and the ground


def test_planted_toes_rest_on_the_ground_and_do_not_slide(walks: dict[str, Walked]) -> None:
    for name, walk in walks.items():
        stances = list(walk.find_stances())
        assert len(stances) > 12, name
        for side, foot, part in stances:
            toe = walk.get_path(side + "Toe")[part]
            assert np.max(np.linalg.norm(toe - toe[0], axis=-1)) < 0.001, name
            slope = walk.ground.compute_slope(toe[:, :2], np.zeros(len(toe)))
            above = walk.measure_above_ground(toe) * np.cos(slope)
            assert np.max(np.abs(above - TOE_HEIGHT)) < 0.005, name
            np.testing.assert_allclose(toe, foot.toe[part], atol=1e-3)  # the leg reaches the foot


def test_soles_lie_along_the_ground_in_stance(walks: dict[str, Walked]) -> None:
    """After the foot is down and before the heel rises, a third of the way through a stance."""
    for name, walk in walks.items():
        flat = 0
        for side, _, part in walk.find_stances():
            third = part.start + (part.stop - part.start) // 3
            sole = walk.get_sole(side)[third]
            assert np.max(np.abs(walk.measure_above_ground(sole) - (0, 0, 0, 0, 0.015))) < 0.006, (
                name
            )
            flat += 1
        assert flat > 12, name


def test_feet_never_enter_the_ground(walks: dict[str, Walked]) -> None:
    for name, walk in walks.items():
        for side in SIDES:
            assert np.min(walk.measure_above_ground(walk.get_sole(side))) > -0.001, name


def test_swings_clear_the_edges_that_they_pass(walks: dict[str, Walked]) -> None:
    """By two centimetres at each point of the sole, above the corner.

    A tip that stands on an edge before or after a swing, within a centimetre, cannot clear it.
    """
    for name, walk in walks.items():
        passed = 0
        for side, foot in zip(SIDES, walk.feet, strict=True):
            sole = walk.get_sole(side)
            along = -sole[..., 1]
            airborne = ~foot.planted & (foot.since < 0)
            both = (airborne[1:] & airborne[:-1])[:, None]
            frames = np.arange(len(along))
            before = np.maximum.accumulate(np.where(foot.planted, frames, 0))[1:]
            later = np.where(foot.planted, frames, frames[-1])[::-1]
            after = np.minimum.accumulate(later)[::-1][1:]
            for edge in walk.ground.edges:
                corner = max(walk.climb.compute_height(np.array([[0, -edge], [0, 1e-6 - edge]])))
                stands = (
                    np.minimum(np.abs(along[before] - edge), np.abs(along[after] - edge)) < 0.01
                )
                passes = both & ~stands & ((along[1:] > edge) != (along[:-1] > edge))
                share = (edge - along[:-1]) / np.where(passes, along[1:] - along[:-1], 1.0)
                height = sole[:-1, :, 2] + share * (sole[1:, :, 2] - sole[:-1, :, 2])
                assert np.all(height[passes] - corner > 0.02), name
                passed += np.count_nonzero(passes)
        assert passed > 1.5 * len(SOLE) * len(walk.ground.edges), name


def test_stances_on_stairs_take_one_tread_each(walks: dict[str, Walked]) -> None:
    """Feet alternate from tread to tread. None stands over an edge by more than heel or tip."""
    for name, walk in walks.items():
        edges, landings = walk.ground.edges, []
        for side, _, part in walk.find_stances():
            along = -walk.get_sole(side)[(part.start + part.stop) // 2, :, 1]
            along[HEEL] = along[BALL] - 0.18  # the heel may have risen
            piece = int(np.searchsorted(edges, along[MIDDLE]))
            assert np.searchsorted(edges, along[BALL]) == piece, name
            away = np.abs(edges[:, None] - along)
            assert np.min(away[:, [MIDDLE, BALL]]) > 0.06, name
            inside = np.min(away[:, [HEEL, TIP]])
            assert inside > (0.004 if walk.stairs else 0.015), name
            landings.append((part.start, side, piece))
        if walk.stairs:
            landings.sort()
            on_treads = [(side, piece) for _, side, piece in landings if 0 < piece < len(edges)]
            assert [piece for _, piece in on_treads] == list(range(1, len(edges))), name
            assert all(a[0] != b[0] for a, b in pairwise(on_treads)), name


# ---------------------------------------------------------------- bodies


def test_legs_are_within_reach_and_knees_bend_one_way(walks: dict[str, Walked]) -> None:
    for name, walk in walks.items():
        for side in SIDES:
            leg = walk.get_path(side + "Foot") - walk.get_path(side + "UpLeg")
            assert np.max(np.linalg.norm(leg, axis=-1)) < 0.995 * (THIGH + SHIN), name
            knee = walk.get_knee(side)
            assert np.min(knee) > 8.0, name
            assert np.max(knee) < 115.0, name


def test_knees_turn_no_more_abruptly_than_on_flat_ground(
    walks: dict[str, Walked], flat_walks: list[Clip]
) -> None:
    def measure(walk: Walked) -> float:
        turns = [np.diff(walk.get_knee(side), 2) for side in SIDES]
        return float(np.max(np.abs(turns)))

    climb = next(iter(walks.values())).climb
    limit = max(measure(Walked(climb, clip)) for clip in flat_walks)
    for name, walk in walks.items():
        assert measure(walk) < limit, name


def test_joints_accelerate_no_more_than_on_flat_ground(
    walks: dict[str, Walked], flat_walks: list[Clip]
) -> None:
    hardest = np.max([measure_accelerations(clip) for clip in flat_walks], axis=0)
    for name, walk in walks.items():
        assert np.max(measure_accelerations(walk.clip) / hardest) < 1.0, name


def test_hips_rise_and_fall_as_smoothly_as_on_flat_ground(
    walks: dict[str, Walked], flat_walks: list[Clip]
) -> None:
    """Neither in jerks nor in steps: they hardly turn back, and never rush, as they would from step to step."""
    hardest = max(
        measure_vertical_acceleration(clip.positions[:, 0, 2], FPS) for clip in flat_walks
    )
    for name, walk in walks.items():
        height = walk.get_path("Hips")[:, 2]
        assert measure_vertical_acceleration(height, FPS) < hardest, name
        climb = height[walk.climbing] * (1.0 if walk.up else -1.0)
        assert np.max(np.maximum.accumulate(climb) - climb) < 0.015, name
        speed = np.diff(climb) * FPS
        assert np.max(speed) < np.mean(speed) + 0.4, name


def test_the_hips_keep_a_walking_height_over_the_ground_between_the_feet(
    walks: dict[str, Walked],
) -> None:
    for name, walk in walks.items():
        floor = 0.5 * (walk.feet[0].floor + walk.feet[1].floor)
        above = walk.get_path("Hips")[:, 2] - floor
        assert np.min(above) > 0.7, name
        assert np.max(above) < 1.0, name


def test_trunks_lean_into_a_climb(walks: dict[str, Walked]) -> None:
    """Ahead uphill and back downhill, more where it is steeper (Leroux, Fung and Barbeau 2002)."""
    lean = {
        name: float(np.mean(walk.lean[walk.climbing]) - np.mean(walk.lean[walk.approaching]))
        for name, walk in walks.items()
    }
    assert 1.0 < lean["ramp_up_10"] < lean["ramp_up_20"] < lean["ramp_up_30"] < 15.0
    assert -6.0 < lean["ramp_down_30"] < lean["ramp_down_20"] < lean["ramp_down_10"] < 0.0
    for number in (15, 17, 20):
        assert 3.0 < lean[f"stairs_up_{number}"] < 15.0
        assert -6.0 < lean[f"stairs_down_{number}"] < 0.0


def test_people_walk_slower_where_it_is_steeper(walks: dict[str, Walked]) -> None:
    def measure(name: str) -> float:
        walk = walks[name]
        return float(-np.mean(np.diff(walk.get_path("Hips")[walk.climbing], axis=0)[:, 1]) * FPS)

    for way in ("up", "down"):
        assert 1.2 > measure(f"ramp_{way}_10") > measure(f"ramp_{way}_20") > 0.6
        assert 0.6 > measure(f"ramp_{way}_30") > 0.4
        for number in (15, 17, 20):
            assert 0.3 < measure(f"stairs_{way}_{number}") < 0.6
    assert measure("stairs_up_17_slowly") < 0.92 * measure("stairs_up_17")
    assert measure("ramp_up_10_slowly") < 0.8 * measure("ramp_up_10")


def test_knees_land_bent_upstairs_and_nearly_straight_downstairs(walks: dict[str, Walked]) -> None:
    """And bend most in the swing upstairs, late in stance and in the swing downstairs.

    Source: McFadyen and Winter (1988); Riener et al. (2002).
    """
    for name, walk in walks.items():
        if not walk.stairs:
            continue
        for side, _, part in walk.find_stances():
            piece = np.searchsorted(walk.ground.edges, -walk.get_path(side + "Toe")[part.start, 1])
            if 1 < piece < len(walk.ground.edges) - 1:
                lands, leaves = walk.get_knee(side)[[part.start, part.stop - 1]]
                low, high = (50.0, 85.0) if walk.up else (10.0, 35.0)
                assert low < lands < high, name
                low, high = (10.0, 50.0) if walk.up else (55.0, 100.0)
                assert low < leaves < high, name


def test_the_ball_of_the_foot_lands_first_on_stairs(walks: dict[str, Walked]) -> None:
    """In both directions (Riener, Rabuffetti and Frigo 2002); on flat ground the heel does."""
    for name, walk in walks.items():
        for side, foot, part in walk.find_stances():
            if part.start == 0:
                continue
            struck = part.start - int(np.argmax((foot.since[: part.start] < 0)[::-1]))
            heel, ball = walk.measure_above_ground(walk.get_sole(side))[struck, [HEEL, BALL]]
            tread = np.searchsorted(walk.ground.edges, -walk.get_path(side + "Toe")[part.start, 1])
            if walk.stairs and 0 < tread < len(walk.ground.edges):
                assert ball < heel, name
                assert ball < 0.012, name
