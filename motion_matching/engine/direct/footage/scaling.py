"""Scale shots and settings of a character to the size and speed of people."""

from __future__ import annotations

from dataclasses import replace

from ...ground.ground import Ground
from ...performance.settings import PerformerSettings
from ..shot.shot import Mark, Point, Shot


def shrink_shot(shot: Shot, size: float, pace: float) -> Shot:
    """Return a shot with lengths divided by a size and times by a pace, and marks in order.

    Heights are above the floor, because the footage is level.
    """

    def shrink(point: Point) -> Point:
        return point[0] / size, point[1] / size

    marks = [
        replace(
            mark,
            time=mark.time / pace,
            hold=mark.hold / pace,
            position=mark.position and shrink(mark.position),
            tolerance=mark.tolerance / size,
            height=measure_height(mark, shot.floor, size),
        )
        for mark in shot.marks
    ]
    paths = [
        replace(
            path,
            times=tuple(time / pace for time in path.times),
            positions=tuple(map(shrink, path.positions)),
        )
        for path in shot.paths
    ]
    return replace(
        shot,
        seconds=shot.seconds / pace,
        position=shrink(shot.position),
        marks=tuple(sorted(marks, key=lambda mark: mark.time)),
        paths=tuple(paths),
        forbidden=tuple(
            replace(jump, start=jump.start / pace, stop=jump.stop / pace) for jump in shot.forbidden
        ),
        tempos=tuple(
            replace(tempo, start=tempo.start / pace, stop=tempo.stop / pace)
            for tempo in shot.tempos
        ),
        kept=tuple(replace(jump, time=jump.time / pace) for jump in shot.kept),
        obstacles=tuple(
            box._replace(center=shrink(box.center), size=shrink(box.size)) for box in shot.obstacles
        ),
        walls=tuple((shrink(a), shrink(b)) for a, b in shot.walls),
    )


def measure_height(mark: Mark, floor: Ground, size: float = 1.0) -> float | None:
    """Return how high above the floor a mark asks its part to be, divided by a size."""
    if mark.height is None or mark.position is None:
        return None
    return (mark.height - floor.height(*mark.position)) / size


def shrink_settings(settings: PerformerSettings, size: float, pace: float) -> PerformerSettings:
    """Return settings whose speeds ahead are those of people's size."""
    walk, run = (
        replace(each, forward=each.forward * pace / size)
        for each in (settings.steering.walk, settings.steering.run)
    )
    return settings.with_changes({"walk": walk, "run": run})
