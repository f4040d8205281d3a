"""Check that a shot does not contradict itself, and that its database has the named data."""

from __future__ import annotations

import itertools

import numpy as np

from ..database.database import Database
from ..database.frame_names import find_frame
from ..errors import DatabaseError, SettingsError
from ..ground.ground import STEP, is_flat
from ..performance.settings import PerformerSettings
from .limbs.body_parts import check_parts, find_mark_problem
from .limbs.mark_poses import find_pose
from .obstacles.heights import can_walk
from .obstacles.obstruction import Obstruction
from .shot.mark import CHARACTER, GOALS, HIPS, Mark
from .shot.shot import KeptJump, Shot


def check_shot(shot: Shot, database: Database, settings: PerformerSettings) -> None:
    """Raise SettingsError or DatabaseError, with a sentence, for contradictions."""
    for mark in shot.marks:
        if problem := find_mark_problem(mark):
            raise SettingsError(f"The mark at {mark.time:g} s {problem}.")
    check_parts(database, shot.marks)
    _check_times(shot, database.fps)
    for mark in shot.marks:
        if mark.frame is not None:
            frame = find_frame(database, mark.frame)
            if not database.playable[frame]:
                raise SettingsError(
                    f"The mark at {mark.time:g} s asks for '{mark.frame}', which is tagged "
                    "'no_use'; choose another frame."
                )
        find_pose(database, mark)
    for jump in shot.forbidden:
        find_frame(database, jump.source), find_frame(database, jump.target)
    for kept in shot.kept:
        _check_kept(kept, shot, database)
    _check_tempos(shot)
    for _, tags in shot.list_tags():
        if tags and (problem := database.explain_missing_tags(tags, settings.search.end_guard)):
            raise DatabaseError(problem)
    _check_heights(shot)
    _check_obstacles(shot, settings.steering.collision_radius)


def _check_kept(jump: KeptJump, shot: Shot, database: Database) -> None:
    """Check that a required jump is possible."""
    name = f"The jump to '{jump.target}' that is kept at {jump.time:g} s"
    if not 0.0 < jump.time < shot.seconds:
        raise SettingsError(f"{name} is outside of the shot; unpin it, or make the shot longer.")
    for frame in (jump.source, jump.target):
        if not database.playable[find_frame(database, frame)]:
            raise SettingsError(f"{name} needs '{frame}', which is tagged 'no_use'; unpin it.")


def _check_tempos(shot: Shot) -> None:
    """Check that ranges of other tempos are within the shot and do not overlap."""
    for tempo in sorted(shot.tempos, key=lambda tempo: tempo.start):
        if not 0.0 <= tempo.start < tempo.stop <= shot.seconds:
            raise SettingsError(
                f"The tempo from {tempo.start:g} s to {tempo.stop:g} s is not within the "
                f"{shot.seconds:g} s of the shot; move it."
            )
    _check_overlaps("tempos", [(tempo.start, tempo.stop) for tempo in shot.tempos])


def _check_times(shot: Shot, fps: float) -> None:
    """Check that marks and paths do not ask for two things at once."""
    by_tick: dict[int, list[Mark]] = {}
    for mark in sorted(shot.marks, key=lambda each: each.time):
        if mark.time > shot.seconds:
            raise SettingsError(
                f"The mark at {mark.time:g} s is after the end of the shot at {shot.seconds:g} s; "
                "move it, or make the shot longer."
            )
        if not mark.leads:
            continue
        others = by_tick.setdefault(round(mark.time * fps), [])
        if problem := next(filter(None, (_compare(other, mark) for other in others)), ""):
            raise SettingsError(
                f"Two marks at {mark.time:g} s contradict each other in {problem}; move or remove "
                "one of them."
            )
        others.append(mark)
    held = [mark for mark in shot.leading.marks if mark.position]
    for mark, other in itertools.product(held, held):
        stop = mark.time + mark.hold
        is_elsewhere = other.part == mark.part and other.position != mark.position
        if is_elsewhere and mark.time < other.time < stop:
            raise SettingsError(
                f"The mark at {other.time:g} s is elsewhere than that at {mark.time:g} s, which "
                f"holds until {stop:g} s; shorten the hold, or move the mark."
            )
    _check_overlaps("paths", [(path.times[0], path.times[-1]) for path in shot.paths])


def _compare(a: Mark, b: Mark) -> str:
    """Describe the contradiction between two marks at one time, or return an empty string."""
    if a.position is not None and b.position is not None:
        if a.part == b.part and (a.position, a.height) != (b.position, b.height):
            return "place"
        if {a.part, b.part} == {CHARACTER, HIPS}:
            return "place, as the hips are where the character is"
    for name, goal in GOALS.items():
        values = getattr(a, name), getattr(b, name)
        is_of_both = not goal.parts or a.part == b.part
        if goal.rival and is_of_both and None not in values and values[0] != values[1]:
            return goal.rival
    return ""


def _check_overlaps(what: str, spans: list[tuple[float, float]]) -> None:
    for (_, stop), (start, _) in itertools.pairwise(sorted(spans)):
        if start < stop:
            raise SettingsError(
                f"Two {what} overlap from {start:g} s to {stop:g} s; let one end before the other."
            )


def _check_heights(shot: Shot) -> None:
    """Check that steps lead to each mark from the start or an earlier mark."""
    if is_flat(shot.floor):
        return
    known = [shot.position]
    for mark in sorted(shot.marks, key=lambda each: each.time):
        if mark.position is None or mark.is_of_part:
            continue
        height = shot.floor.height(*mark.position)
        if abs(height - shot.floor.height(*known[0])) > STEP and not any(
            can_walk(shot.floor, place, mark.position) for place in known
        ):
            raise SettingsError(
                f"The mark at {mark.time:g} s is inside an obstacle, or no straight way of steps "
                f"leads from the start or an earlier mark to the ground there, at {height:.1f} m; "
                "move it, or add a mark at the foot of the slope."
            )
        known.append(mark.position)


def _check_obstacles(shot: Shot, radius: float) -> None:
    obstruction = Obstruction.from_shot(shot, radius)
    marks = [mark for mark in shot.marks if mark.position and not mark.is_limb]
    wanted = [(f"The mark at {mark.time:g} s", mark.position) for mark in marks]
    for name, place in [("The start", shot.position), *wanted]:
        if obstruction.measure_distances(np.array([place]))[0] < radius:
            raise SettingsError(f"{name} is inside an obstacle; move one of them.")
