"""Numbers for counting and drawing motion data, each with its unit and its reason."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..settings import tune


@dataclass(frozen=True)
class InsightNumbers:
    """Colours are defined next to their use."""

    # coverage
    coverage_window: float = tune(
        1.0, "s", "averages speed and turning: as the strands of 'Code vs Data Driven Displacement'"
    )
    speed_cells: tuple[float, float, float] = tune(
        (0.0, 8.1, 0.5), "m/s", "from, to and width: two speeds half a metre apart look different"
    )
    turn_cells: tuple[float, float, float] = tune(
        (-195.0, 196.0, 30.0), "°/s", "from, to and width: straight on is amid, the ends open"
    )
    speed_bins: tuple[float, float, float] = tune(
        (0.0, 6.1, 0.5), "m/s", "of the histogram: as the cells, up to a run"
    )
    acceleration_bins: tuple[float, float, float] = tune(
        (0.0, 24.1, 2.0), "m/s²", "of the histogram: a sprint's start is about 10"
    )
    turn_bins: tuple[float, float, float] = tune((0.0, 361.0, 30.0), "°/s", "as the cells")
    cell_frames: int = tune(10, "1", "with fewer, a cell the controller leads to is a hole; by eye")
    least_demand: float = tune(1e-3, "1", "of its time, from which the controller leads to a cell")
    standing_speed: float = tune(0.5, "m/s", "the slowest row of cells")
    holes_listed: int = tune(8, "1", "what is missing most: nobody captures more at once")
    slope_edges: tuple[float, float, float, float] = tune(
        (5.0, 15.0, 25.0, 35.0),
        "°",
        "below the first people walk as on the level; the last is open",
    )
    slope_seconds: float = tune(1.0, "s", "from which a slope is covered, as speeds are")
    slope_speed: float = tune(0.05, "m/s", "what is slower stands on the slope")
    slope_turn: float = tune(
        math.radians(15.0), "rad/s", "from which motion turns: where the map's middle column ends"
    )
    strand_seconds: float = tune(1.0, "s", "of a strand: as in 'Code vs Data Driven Displacement'")
    strand_speed: float = tune(5.0, "m/s", "the lightest colour: a run")
    strand_points: int = tune(11, "1", "of a strand: with ten pieces it is round")
    # frames
    frames_apart: float = tune(
        1.0 / 3.0,
        "s",
        "of frames nearer to each other, the cheapest is listed: the rest look alike",
    )
    # maps
    landmarks: int = tune(300, "1", "of a scaling (de Silva, Tenenbaum): more are slow; by eye")
    distances_at_once: int = tune(4096, "1", "frames measured together; changes no result")
    stress_frames: int = tune(1000, "1", "that stress is measured on: a few seconds' work; by eye")
    graph_states: int = tune(
        4000, "1", "in the graph, the rest are interpolated in their clip: more are slow; by eye"
    )
    neighbours: int = tune(12, "1", "of a state in the graph: with few, it falls apart; by eye")
    map_dimensions: int = tune(3, "1", "that the view can show")
    # plots
    width: float = tune(560.0, "px", "of a plot; by eye")
    height: float = tune(520.0, "px", "of a plot; by eye")
    margin: float = tune(50.0, "px", "around a plot: a number of an axis and its unit")
    metre: float = tune(60.0, "px", "of a plot of strands: a second of a run fits")
    strands_drawn: int = tune(800, "1", "more cover each other")
    poses_drawn: int = tune(2000, "1", "more cover each other, and make pages slow")
    line_length: int = tune(80, "1", "characters of a line of what to capture next")
    # sheets of takes
    plan_width: float = tune(0.4, "1", "of the width, that the view from above has")
    slim: float = tune(0.5, "1", "least width of a body's picture for its height: one that stands")
    broad: float = tune(2.0, "1", "the same at most: one that lies")
    sheet_margin: float = tune(0.04, "1", "of the sheet's height")
    near_grey: float = tune(30.0, "1", "of 255, of the body's nearest parts")
    far_grey: float = tune(170.0, "1", "of 255, of its farthest parts, still seen on white")
    way_seen: tuple[float, float] = tune(
        (-0.5, 1.0), "s", "before and after, of the way that is drawn below a body"
    )
    shape_frames: int = tune(10, "1", "from which the shape of a body is measured")
    path_lines: int = tune(400, "1", "of a path, at most: lines of a long take would take long")
    azimuth: float = tune(math.radians(30.0), "rad", "of the view: to the front's left; by eye")
    elevation: float = tune(math.radians(18.0), "rad", "of the view: from above; by eye")


NUMBERS = InsightNumbers()
