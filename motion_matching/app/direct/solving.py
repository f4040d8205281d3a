"""Solve the shot of a character, bake the take, and say what became of each mark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

import bpy

from ...engine.database.database import Database
from ...engine.direct.conduct import describe_inside
from ...engine.direct.director import Directed, Director
from ...engine.direct.footage import jump_table
from ...engine.direct.footage.footage import Footage, make_footage
from ...engine.direct.improving import improve
from ...engine.direct.shot import from_performance
from ...engine.direct.shot.shot import Piece, Shot
from ...engine.direct.sketch import Sketch, Way, compute_way
from ...engine.direct.variations import find_variations
from ...engine.errors import MotionMatchingError, SettingsError
from ...engine.feet.contact_ranges import ContactRange
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import ReportProgress
from ...engine.takes import baking
from ...scene.blender.animation.actions import set_action
from ...scene.blender.handle import Handle
from ...scene.direct import own_track, stored_shots
from .. import callbacks
from ..character.characters import get_armature
from ..database.build import load_with_settings_steps
from ..database.library import get_library
from ..marks import marks, outcomes, shots
from ..marks.shots import Noted, Request
from ..property_access import settings_of
from ..runtime import runtime
from ..steps import EndedEarly, Steps, run_in_background_steps
from ..takes import take_actions
from . import flipping

_NAME = "Directed"
BuildRequest = Callable[[bpy.types.Object, Database], Request]
BuildPiece = Callable[[Shot, int], Piece]


@dataclass
class Footages:
    """The footage and jump table of the last solve, for the next one."""

    database: Database | None = None
    footage: Footage | None = None
    table: jump_table.JumpTable | None = None
    done: Directed | None = None
    settings: PerformerSettings | None = None


_LOOKS = 0.2  # seconds between two looks for a better take


class _Solved(NamedTuple):
    done: Directed
    ranges: list[ContactRange]


@dataclass(eq=False)
class BestWay:
    """The way of the best take so far, of a character of a size, and whether it was drawn."""

    way: Way
    size: float
    is_drawn: bool = False


def solve_steps(obj: bpy.types.Object, build: BuildRequest = shots.build_request) -> Steps[str]:
    """Solve the request of `build` with an armature's database, built if needed; bake the take.
    Returns a report. Nothing is changed before the end. EndedEarly, thrown into the steps, keeps
    the best take so far; it is raised if there is none.
    """
    uid = obj.session_uid
    obj, database, settings = yield from load_with_settings_steps(obj)
    request = build(obj, database)
    shot = shots.add_surroundings(obj, request)
    path = find_table(settings_of(obj).built_key)
    known = runtime.get_cache(Footages)
    solve = partial(_solve, database, settings, replace(request, shot=shot), path, known)
    callbacks.schedule(_redraw_best)
    try:
        found, is_early = yield from run_in_background_steps(solve, "Directing")
    except MotionMatchingError as error:
        raise type(error)(shots.to_frames(str(error), request.frame)) from error
    finally:
        callbacks.unschedule(_redraw_best)
        runtime.best_way = None
        callbacks.redraw("WINDOW")
    with suppress(EndedEarly):
        yield "Baking", 1.0
    bakes = []
    for solved in found:
        prepared = yield from _prepare_steps(get_armature(uid), request, solved, database)
        bakes.append((solved, prepared))
    return _bake_all(get_armature(uid), request, bakes, is_early)


def _redraw_best() -> float:
    """Redraw the views once for each best take so far; return the seconds until the next look."""
    best = runtime.best_way
    if best and not best.is_drawn:
        best.is_drawn = True
        callbacks.redraw("WINDOW")
    return _LOOKS


def solve_again_steps(obj: bpy.types.Object, action: bpy.types.Action) -> Steps[str]:
    """Solve the shot that is stored on a directed take, with the present database and settings."""
    shot, frame = stored_shots.read_shot(action)
    return solve_steps(obj, lambda obj, database: Request(shot, frame))


def solve_piece_steps(
    obj: bpy.types.Object, action: bpy.types.Action, piece: BuildPiece
) -> Steps[str]:
    """Solve a range of a directed take anew, and leave the rest of it as it is.

    `piece` returns the range and its request, for the take's shot and first frame. Pinned jumps in
    it stay.
    """
    shot, frame = stored_shots.read_shot(action)
    return solve_steps(obj, lambda obj, database: Request(shot, frame, piece=piece(shot, frame)))


def solve_variations_steps(obj: bpy.types.Object, count: int) -> Steps[str]:
    """Solve up to `count` takes of an armature's shot that differ, and show the first of them."""

    def build(obj: bpy.types.Object, database: Database) -> Request:
        return replace(shots.build_request(obj, database), variations=count)

    return solve_steps(obj, build)


def follow_steps(obj: bpy.types.Object, action: bpy.types.Action) -> Steps[str]:
    """Solve the way on which the simulation object of a take goes; return what to report.

    Raises SettingsError for takes of several recordings, or of a part of the body.
    """
    uid = obj.session_uid
    take = Handle.from_block(action, "actions")
    obj, _, settings = yield from load_with_settings_steps(obj)
    action = take_actions.find_take_action(take)
    parts = take_actions.read_parts_on_ground(obj, action)
    if len(parts) > 1 or parts[0].collection:
        raise SettingsError(
            f"The take '{action.name}' was recorded in several pieces, or for a part of the body; "
            "use Take to Marks instead."
        )
    [part] = parts
    shot = from_performance.build_shot(part.performance, settings, part.lead_in)
    request = Request(shot, round(part.frame))
    return (yield from solve_steps(get_armature(uid), lambda *_: request))


def _solve(
    database: Database,
    settings: PerformerSettings,
    request: Request,
    path: Path,
    known: Footages,
    report: ReportProgress,
) -> tuple[list[_Solved], bool]:
    """Solve a shot and a piece of it, with feet and limbs; this runs in a thread.

    Returns takes, and whether the last is only the best so far.
    """
    shot = request.shot
    piece = request.piece
    director = make_director(database, settings, path, known, report)
    if piece is None:
        found, is_early = _find_best(director, request, report)
        if request.variations <= 1:
            found = found[-1:]
            known.done = None if is_early else found[0]
            known.settings = settings
        return [_find_contacts(each, database) for each in found], is_early
    done = known.done
    if done is None or done.shot != shot or known.settings != settings:
        done = director.make(shot, progress=partial(report, "Directing"))
    report("Directing", 0.5)
    done = director.direct_again(done, piece.start, piece.stop, piece.shot)
    known.done = done
    known.settings = settings
    return [_find_contacts(done, database)], False


def make_director(
    database: Database,
    settings: PerformerSettings,
    path: Path,
    known: Footages,
    report: ReportProgress,
) -> Director:
    """Return a director with the footage that is known, or a new one; this runs in a thread."""
    if known.database is not database or known.footage is None or known.table is None:
        footage = make_footage(database)
        table = jump_table.load_or_build_table(footage, path, partial(report, "Finding Jumps"))
        known.database = database
        known.footage = footage
        known.table = table
        known.done = None
    return Director(known.footage, known.table, settings)


def find_table(key: str) -> Path:
    """Return where the table of the database of a key is, or will be."""
    library = get_library()
    library.touch(f"{key}.jumps")
    return jump_table.get_table_path(library.get_path(key))


def _find_best(
    director: Director, request: Request, report: ReportProgress
) -> tuple[list[Directed], bool]:
    """Return the takes that are found until the end, or until it is called early, and if it was.

    Raises EndedEarly before the first one.
    """
    found: list[Directed] = []

    def report_part(part: float) -> None:
        report(f"Directing, {_describe_best(found, request)}" if found else "Directing", part)

    if request.variations > 1:
        coming = find_variations(director, request.shot, request.variations, progress=report_part)
    else:
        coming = improve(director, request.shot, progress=report_part)
    try:
        for each in coming:
            found.append(each)
            span = 0.0, each.shot.seconds
            sketch = Sketch(each.shot, each.plan, each.closed, span, each.report)
            way = compute_way(sketch, director.footage)
            runtime.best_way = BestWay(way, director.footage.scale.length)
    except EndedEarly:
        if not found:
            raise
        return found, True
    return found, False


def _describe_best(found: list[Directed], request: Request) -> str:
    if request.variations > 1:
        return f"{len(found)} of {request.variations} Found"
    report = found[-1].report
    if not report["asked"]:
        return "One Take So Far"
    return f"{report['reached']} of {report['asked']} Met So Far"


def _find_contacts(done: Directed, database: Database) -> _Solved:
    ranges = baking.find_contact_ranges(baking.free_feet(done.take), database)
    return _Solved(done, list(ranges))


def _prepare_steps(
    obj: bpy.types.Object, request: Request, solved: _Solved, database: Database
) -> Steps[take_actions.Bake]:
    """Return a function that bakes a solved take. Ending early does not stop it, because it is
    solved.
    """
    part = take_actions.TakePart(solved.done.take.performance, request.frame)
    asked = take_actions.BakeRequest(_NAME, (part,), solved.ranges)
    steps = take_actions.prepare_take_steps(obj, asked, solved.done.take, solved.ranges, database)
    while True:
        try:
            progress = next(steps)
        except StopIteration as done:
            return done.value
        with suppress(EndedEarly):
            yield progress


def _bake_all(
    obj: bpy.types.Object,
    request: Request,
    bakes: Sequence[tuple[_Solved, take_actions.Bake]],
    is_early: bool,
) -> str:
    """Bake solved takes, note what became of the first one's marks, and describe that."""
    baked = [_bake(obj, request, *each) for each in bakes]
    (action, seconds) = baked[0]
    report = bakes[0][0].done.report
    if len(baked) > 1:
        flipping.show(obj, action)
    if request.put_marks:
        request = replace(request, marks=request.put_marks(obj))
    missed = _store_outcomes(obj, request, report)
    reached = f"{report['reached']} of {report['asked']} marks are met"
    text = f"Directed '{action.name}': {seconds:.1f} s from frame {request.frame} on, {reached}"
    inside = describe_inside(report)
    text += f", and {inside}" if inside else ""
    more = ["Ended early, with the best result so far"] if is_early else []
    if not is_early or len(baked) > 1:
        more += _describe_variations(baked[-1][0].name, len(baked), request.variations)
    return ". ".join((text, *more, *(sentence.rstrip(".") for sentence in missed[:3])))


def _describe_variations(last: str, found: int, asked: int) -> list[str]:
    """Describe the takes found in addition to the first, out of the requested number."""
    if asked <= 1:
        return []
    if found == 1:
        return [
            "No other different take meets as many marks; give the marks more time or tolerance"
        ]
    text = f"{found} different takes, up to '{last}'"
    return [text if found == asked else f"{text}; all others are too similar"]


def _bake(
    obj: bpy.types.Object, request: Request, solved: _Solved, bake: take_actions.Bake
) -> tuple[bpy.types.Action, float]:
    """Bake a solved take with its shot; return the action and its seconds."""
    data = obj.animation_data
    listed = {each.action for each in settings_of(obj).takes}
    before = data and data.action
    slot = getattr(data, "action_slot", None)
    action, seconds = bake()
    jumps = solved.done.report["jumps"]
    stored_shots.store_shot(action, solved.done.shot, request.frame, jumps)
    if settings_of(obj).use_nla:
        own_track.put_on_own_track(obj, action)
        if before and before not in listed:  # keys by hand, which stay above the solve
            set_action(obj.animation_data, before, slot)
    return action, seconds


def _store_outcomes(
    obj: bpy.types.Object, request: Request, report: dict[str, list[dict[str, object]]]
) -> list[str]:
    """Store outcomes on the marks that were solved, and return a sentence about each miss.

    A shot that is solved again is not that of the marks in the scene.
    """
    by_uid = {each.session_uid: each for each in bpy.data.objects}
    missed = []
    kinds: list[tuple[Noted, str]] = [(request.marks, "marks"), (request.tempos, "tempos")]
    kinds += [((), "paths"), ((), "kept")]
    for noted, kind in kinds:
        entries = [
            each | {"reason": shots.to_frames(str(each["reason"]), request.frame)}
            for each in report[kind]
        ]
        if noted:
            found = [(by_uid.get(uid), asked) for uid, asked in noted]
            missed += outcomes.store_outcomes(found, entries)
        else:
            missed += [str(each["reason"]) for each in entries if not each["reached"]]
    if request.marks:
        marks.refresh_markers(obj)
    return missed
