"""Insight tells which slopes are climbed at which gait and speed, and which are missing."""

from __future__ import annotations

import numpy as np
import pytest

from building.locomotion.climbs import find_climb
from motion_matching.engine.insight.coverage import inspection, slopes
from motion_matching.engine.insight.coverage.slopes import EDGES, Slope
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.engine.takes import takes
from tests.demo import load_climbing, load_few


def find(found: list[Slope], direction: str, degrees: float) -> Slope:
    steep = int(np.searchsorted(EDGES, degrees)) - 1
    [slope] = (s for s in found if (s.gait, s.direction, s.steep) == ("walk", direction, steep))
    return slope


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["up", "down"])
@pytest.mark.parametrize("degrees", [10, 20, 30])
def test_ramps_are_told_by_their_degrees_and_speeds(direction: str, degrees: int):
    """The clips' own ground is known from how they are made."""
    data = load_climbing()
    told = find(slopes.measure_slopes(data), direction, degrees)
    name = f"ramp_{direction}_{degrees}"
    [number] = (k for k, r in enumerate(data.ranges) if r.clip == name)
    track = data.track[data.starts[number] : data.stops[number]]
    height = find_climb(name).compute_height(track[:, :2])
    steps = np.linalg.norm(np.diff(track[:, :2], axis=0), axis=1)
    on_ramp = np.abs(np.diff(height)) > np.tan(np.radians(degrees - 3.0)) * steps + 1e-4
    assert told.seconds > 0.7 * on_ramp.sum() / data.fps
    speed = float(np.median(steps[on_ramp])) * data.fps
    assert told.speeds[0] < speed < told.speeds[1] + 0.05


def test_no_level_clip_climbs():
    assert slopes.measure_slopes(load_few()) == []
    assert slopes.suggest_captures([]) == slopes.describe([]) == slopes.summarize([]) == []
    [told] = slopes.suggest_captures([], rise=1.25)
    assert told.startswith("The ground rises by 1.2 m, and no clip climbs")


def make(gait: str, direction: str, *steep: int, turning: float = 3.0) -> list[Slope]:
    return [Slope(gait, direction, each, 9.0, turning, (0.4, 1.0)) for each in steep]


def test_what_is_missing_is_told_in_a_sentence():
    walks = [*make("walk", "up", 0, 1, 2), *make("walk", "down", 0, 1, 2)]
    assert slopes.suggest_captures(walks, ["walk"]) == []
    [runs] = slopes.suggest_captures(walks)
    assert runs.startswith("No clip runs up or down slopes: capture runs straight up and down")
    assert slopes.suggest_captures([*walks, *make("run", "up", 0, 1, 2)]) == [
        "No clip runs down slopes: capture runs straight down those of your scenes"
    ]


def test_holes_between_slopes_are_told_by_their_degrees():
    found = [*make("walk", "up", 0, 3), *make("walk", "down", 0, 1)]
    assert slopes.suggest_captures(found, ["walk"]) == [
        "No clip walks up slopes of 15 to 35°: capture walks up such slopes",
        "No clip walks down slopes of 25° and more: capture walks down such slopes",
    ]


def test_clips_that_never_turn_on_slopes_are_told():
    found = [*make("walk", "up", 0, turning=0.2), *make("walk", "down", 0, turning=0.2)]
    [told] = slopes.suggest_captures(found, ["walk"])
    assert told.startswith("No clip turns as it walks on slopes")


def test_an_inspection_has_slopes_as_text_and_as_data():
    data = load_climbing()
    settings = takes.make_default_settings(data)
    tracks = [data.track[data.starts[0] : data.stops[0]]]
    found = inspection.inspect_tracks(data, settings, tracks)
    assert "walking up 5 to 15°: " in found.text
    assert {(row["gait"], row["direction"]) for row in found.data["slopes"]} == {
        ("walk", "up"),
        ("walk", "down"),
    }
    assert found.data["slopes"][0]["degrees"] == [5.0, 15.0]
    assert found.data["slopes"][-1]["degrees"] == [35.0, None]
    assert any("turns as it walks on slopes" in text for text in found.data["to_capture"])
    # these clips have no run, so none is asked for
    assert settings.steering.run == settings.steering.walk
    assert not any("runs" in text for text in found.data["to_capture"])
    runs = inspection.inspect_tracks(data, PerformerSettings(), tracks)
    assert any("No clip runs up or down slopes" in text for text in runs.data["to_capture"])


def test_where_the_ground_rises_clips_that_climb_are_asked_for():
    data = load_few()
    tracks = [data.track[data.starts[0] : data.stops[0]]]
    settings = takes.make_default_settings(data)
    for rise in (0.0, 0.8):
        found = inspection.inspect_tracks(data, settings, tracks, rise)
        told = [text for text in found.data["to_capture"] if "no clip climbs" in text]
        assert len(told) == (rise > 0.0)
        assert found.data["slopes"] == []
