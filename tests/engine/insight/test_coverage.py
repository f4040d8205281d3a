"""Coverage: data and controller are measured alike, holes are where they differ, and suggestions
name them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from building.locomotion.locomotion import Move, perform
from motion_matching.engine.building.build import BuildSettings, build
from motion_matching.engine.control.rollout import simulate
from motion_matching.engine.database.database import Database
from motion_matching.engine.database.tags.tags import TagRange
from motion_matching.engine.insight.coverage import coverage
from motion_matching.engine.insight.coverage.coverage import (
    SPEED_EDGES,
    TURN_EDGES,
    GroundMotion,
    compute_histograms,
    measure_coverage,
    measure_database,
    measure_track,
)
from motion_matching.engine.performance import scripts
from motion_matching.engine.performance.settings import Speeds
from motion_matching.engine.sources.sources import Source
from motion_matching.engine.takes import takes


def arc(speed: float, turn: float, seconds: float = 6.0, fps: float = 30.0) -> np.ndarray:
    """Return a track (T, 3) at a speed in m/s and a turn rate in rad/s."""
    yaw = np.arange(round(seconds * fps)) / fps * turn
    way = np.stack([np.sin(yaw), -np.cos(yaw)], axis=-1) * speed / fps
    return np.column_stack([np.cumsum(way, axis=0), yaw])


def find_cell(speed: float, turn: float) -> tuple[int, int]:
    return int(np.searchsorted(SPEED_EDGES, speed, "right")) - 1, int(
        np.searchsorted(TURN_EDGES, turn, "right")
    ) - 1


# ---------------------------------------------------------------- measuring


@pytest.mark.parametrize(
    ("speed", "turn"), [(0.0, 0.0), (1.2, 0.0), (1.2, 1.0), (3.3, -2.0), (0.0, 3.0)]
)
def test_an_arc_lies_in_one_cell_wherever_it_starts(speed: float, turn: float):
    track = arc(speed, turn)
    motion = measure_track(track, 30.0)
    c, s = np.cos(1.0), np.sin(1.0)
    moved = np.column_stack([track[:, :2] @ np.array([[c, s], [-s, c]]) + 7.0, track[:, 2] + 1.0])
    for m in (motion, measure_track(moved, 30.0), measure_track(arc(speed, turn, fps=60.0), 60.0)):
        np.testing.assert_allclose(m.mean_speed, speed, atol=0.01 + 0.02 * abs(speed * turn))
        np.testing.assert_allclose(m.mean_turn_rate, turn, atol=1e-6)
        inside = m.acceleration[3:-3]
        np.testing.assert_allclose(inside, abs(speed * turn), rtol=0.02, atol=1e-6)
        frames = coverage.count_cell_frames(m)
        assert frames.sum() == len(m.speed) == frames[find_cell(speed, turn)]


def test_swaying_hips_do_not_count_as_turning():
    """A stride of a second swings the hips by 40 degrees a second, which averages out over a
    second.
    """
    t = np.arange(300) / 30.0
    track = np.column_stack([0 * t, -1.3 * t, np.radians(40) / (2 * np.pi) * np.sin(2 * np.pi * t)])
    motion = measure_track(track, 30.0)
    assert coverage.count_cell_frames(motion.select(slice(15, -15)))[find_cell(1.3, 0.0)] == 270
    assert np.degrees(np.abs(motion.turn_rate)).max() > 35


def test_values_beyond_the_map_fall_into_its_last_cells():
    frames = coverage.count_cell_frames(measure_track(arc(30.0, 9.0), 30.0))
    assert frames[-1, -1] == frames.sum()


def test_the_simulation_object_moves_alone_as_in_a_take(demo_database: Database):
    settings = takes.make_default_settings(demo_database).with_changes(
        {"displacement": "independent"}
    )
    performance = scripts.build_script(
        "square", 6.0, 30.0, settings.steering.walk, settings.steering.run
    )
    performance = replace(
        performance,
        position=(2.0, 1.0),
        facing=0.5,
        settings={"velocity_halflife": 0.4},
        changes=((60, {"rotation_halflife": 0.5}),),
    )
    take = takes.perform(demo_database, settings, performance)
    np.testing.assert_allclose(simulate(performance, settings, 30.0), take.simulation, atol=1e-9)


# ---------------------------------------------------------------- holes


def build_database(
    *moves: list[Move], tags: tuple[TagRange, ...] = (), **settings: object
) -> Database:
    sources = [
        Source(clip=perform(f"clip {k}", m, 30.0, np.random.default_rng(k)), tags=tags)
        for k, m in enumerate(moves)
    ]
    return build(sources, BuildSettings(**settings))[0]


@pytest.fixture(scope="module")
def straight_walks() -> Database:
    return build_database([Move(4.0, 1.2)], [Move(4.0, 1.0)], [Move(4.0, 0.6)])


def test_a_hole_is_where_the_controller_leads_without_frames(straight_walks: Database):
    turning = measure_track(arc(1.2, 1.0, 60.0), 30.0)
    map_ = measure_coverage(measure_database(straight_walks), turning)
    assert np.argwhere(map_.holes).tolist() == [list(find_cell(1.2, 1.0))]
    assert map_.frames.sum() == straight_walks.frame_count
    assert map_.demand.sum() == pytest.approx(1.0)
    [line] = map_.suggest_captures()
    assert line.startswith("Walking at 1 to 1.5 m/s while turning left at 45 to 75°/s: 0 frames")
    # such motion closes the hole; when mirrored, also the one on the other side
    curve = [Move(4.0, 1.2, turn=np.degrees(1.0))]
    for turn, mirror in ((1.0, False), (-1.0, True)):
        filled = build_database([Move(4.0, 1.2)], curve, mirror=mirror)
        assert not measure_coverage(
            measure_database(filled), measure_track(arc(1.2, turn, 60.0), 30.0)
        ).holes.any()
    assert measure_coverage(
        measure_database(build_database([Move(4.0, 1.2)], curve)),
        measure_track(arc(1.2, -1.0, 60.0), 30.0),
    ).holes.any()


def test_no_use_frames_close_no_hole():
    curve, wanted = [Move(4.0, 1.2, turn=57.0)], measure_track(arc(1.2, 1.0, 60.0), 30.0)
    assert not measure_coverage(measure_database(build_database(curve)), wanted).holes.any()
    assert measure_coverage(
        measure_database(build_database(curve, tags=(TagRange("no_use", 40, 160),))), wanted
    ).holes.any()


def test_suggestions_merge_both_sides_and_start_with_the_highest_demand(
    straight_walks: Database,
):
    tracks = [arc(1.2, turn, 30.0) for turn in (1.0, -1.0, 1.5, -1.5)] + [arc(3.2, 0.0, 40.0)]
    demand = GroundMotion.concatenate([measure_track(t, 30.0) for t in tracks])
    lines = measure_coverage(measure_database(straight_walks), demand).suggest_captures()
    assert len(lines) == 2
    assert lines[0].startswith(
        "Walking at 1 to 1.5 m/s while turning left or right at 45 to 105°/s"
    )
    assert "75.0 %" in lines[0]
    assert lines[1].startswith("Running at 3 to 3.5 m/s straight")


def test_the_demo_covers_what_its_controller_requests(demo_database: Database):
    settings = takes.make_default_settings(demo_database)
    wanted = coverage.measure_tracks(
        coverage.simulate_tracks(settings, demo_database.fps), demo_database.fps
    )
    map_ = measure_coverage(measure_database(demo_database), wanted)
    assert map_.demand[map_.holes].sum() < 0.02
    faster = settings.with_changes({"run": Speeds(6.0, 5.0, 4.0)})
    more = measure_coverage(
        measure_database(demo_database),
        coverage.measure_tracks(
            coverage.simulate_tracks(faster, demo_database.fps), demo_database.fps
        ),
    )
    assert more.holes[9:].any()
    assert any(line.startswith("Running at") for line in more.suggest_captures())


# ---------------------------------------------------------------- histograms


def test_histograms_are_complete_and_overlap_for_the_same_motion(demo_database: Database):
    data = coverage.measure_database(demo_database)
    both = compute_histograms(data, data)
    for table in both.values():
        assert sum(table["data"]) == pytest.approx(1.0, abs=1e-3)
        assert table["overlap"] == pytest.approx(1.0, abs=1e-3)
        assert len(table["edges"]) == len(table["data"]) + 1 == len(table["simulation"]) + 1
    other = compute_histograms(data, measure_track(arc(20.0, 0.0), 30.0))
    assert other["speed"]["overlap"] < 0.01
