"""Bakes of scripts, and of characters that are led along a curve, to a target or by a recording."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import bpy
import numpy as np

from ...engine.control.performer import Placement
from ...engine.database.database import Database
from ...engine.database.tags.tags import parse_names
from ...engine.errors import DatabaseError, MotionMatchingError, RigError
from ...engine.field.field_controller import get_field_controller
from ...engine.maths.rotations.scalar_quat import Vector
from ...engine.performance.performance import Performance
from ...engine.performance.scripts import SCRIPTS
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import ReportProgress, map_steps
from ...engine.takes import takes
from ...engine.takes.performers import create_performer
from ...live.inputs.base import Input, Start
from ...live.stepper import Stepper
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.animation.curves import ON_KEY
from ...scene.reading.moving_pose import PoseReader
from ...scene.staging import placements
from ..character.characters import get_armature, get_placement, get_root_target
from ..controller.training import ChosenMethod
from ..live.leaders import LEADERS, Leading, check_leader, describe_leader
from ..property_access import settings_of
from ..settings import add_obstacles, read_ground
from ..steps import Steps, run_in_background_steps
from .take_actions import BakeRequest, Performed, TakePart, place_performance, prepare_steps

# how much longer than straight at full speed a character may take to its target, and seconds more
_DETOUR = 3.0
_LATE = 10.0
_LONGEST = 3600.0  # seconds that anything else may lead


@dataclass(frozen=True)
class BakePlan:
    """A performance from a `frame` on: a script, or something to move `along`.

    `along` is "script", "curve", "target" or "take". With 0 `seconds` it lasts as long as it needs.
    """

    along: str
    script: str
    gait: str
    seconds: float
    seed: int
    tags: str
    frame: int

    def build_request_steps(
        self, uid: int, database: Database, settings: PerformerSettings
    ) -> Steps[BakeRequest]:
        """Say what is baked for the armature of a session_uid. DatabaseError for missing tags."""
        tags = frozenset(parse_names(self.tags))
        if problem := database.explain_missing_tags(tags, settings.search.end_guard):
            raise DatabaseError(problem)
        if self.along != "script":
            return (yield from self._lead_steps(uid, database, settings, tags))
        yield "Performing", 0.0
        performed = takes.prepare_performance(
            database, settings, self.script, gait=self.gait, seconds=self.seconds, seed=self.seed
        )
        obj = get_armature(uid)
        start = _read_start(obj, database, self.frame)
        performed = place_performance(performed.with_tags(tags), start.placement)
        looks = self._sample_look_at(obj, performed.seconds, performed.fps)
        intents = (intent._replace(look_at=looks()) for intent in performed.intents)
        performed = replace(performed, start=start.state, intents=tuple(intents))
        part = TakePart(add_obstacles(obj, performed), self.frame)
        return BakeRequest(f"{SCRIPTS[self.script].label} {self.gait.title()}", (part,))

    def _lead_steps(
        self, uid: int, database: Database, settings: PerformerSettings, tags: frozenset[str]
    ) -> Steps[BakeRequest]:
        """Perform what a live session with the same input would record from its start."""
        obj = get_armature(uid)
        play = settings_of(obj).play
        check_leader(play, self.along, "in the panel Takes, or bake a script")
        name = describe_leader(play, self.along, self.gait)
        start = _read_start(obj, database, self.frame)
        seconds = self.seconds
        get_target = None
        limit = _LONGEST
        if self.along == "target":
            limit = _estimate_way(
                start.placement, play.target, getattr(settings.steering, self.gait).forward
            )
            if placements.is_animated(play.target):
                seconds = seconds or self._measure_rest_of_scene()
                get_target = self._sample_target(play.target, seconds, database.fps)
        ground, walls = read_ground(obj)
        led = Leading(play, self.gait, settings, database.fps, ground, get_target)
        leader = LEADERS[self.along].create(led)
        chosen = ChosenMethod.from_object(obj)
        look_at = self._sample_look_at(obj, seconds, database.fps, leader.lead_in)

        def perform(report: ReportProgress) -> Performance:
            method = chosen.create_method(database, settings)
            stepper = Stepper(create_performer(method, settings, ground), leader, walls)
            stepper.tags = tags
            stepper.find_look_at = look_at
            if field := get_field_controller(method):
                stepper.adapt_intent = field.adapt_intent
                stepper.method_name = field.name
            length = seconds or leader.lap_seconds
            return stepper.perform(start, length, limit, partial(report, "Steering"))

        performed = yield from run_in_background_steps(perform, "Steering")
        performed = add_obstacles(get_armature(uid), replace(performed, name=name))
        part = TakePart(performed, self.frame, leader.lead_in)
        return BakeRequest(name, (part,), note=_describe_end(leader, bool(seconds)))

    def _measure_rest_of_scene(self) -> float:
        """Return the seconds from the first frame to the end of the scene, a second at least."""
        scene = bpy.context.scene
        return max((scene.frame_end - self.frame + 1) / get_scene_fps(scene), 1.0)

    def _sample_target(
        self, target: bpy.types.Object, seconds: float, fps: float
    ) -> Callable[[], Placement]:
        """Return a function whose calls, one a tick, return where a moving target is then."""
        times = np.arange(math.ceil(seconds * fps) + 1) / fps
        frames = self.frame + get_scene_fps(bpy.context.scene) * times
        found = placements.sample_placements(target, frames.tolist())
        return partial(next, iter(found), found[-1])

    def _sample_look_at(
        self, obj: bpy.types.Object, seconds: float, fps: float, lead_in: int = 0
    ) -> Callable[[], Vector | None]:
        """Return a function whose calls, one a tick, return the point that is looked at then.

        The first of them belong to the lead-in before the first frame.
        """
        target = settings_of(obj).controller.look_at
        if target is None:
            return lambda: None
        count = 1
        if placements.is_animated(target):
            seconds = seconds or self._measure_rest_of_scene()
            count += lead_in + math.ceil(seconds * fps)
        times = (np.arange(count) - lead_in * (count > 1)) / fps
        frames = self.frame + get_scene_fps(bpy.context.scene) * times
        points = placements.sample_points(target, frames.tolist())
        return partial(next, iter(points), points[-1])


def _read_start(obj: bpy.types.Object, database: Database, frame: int) -> Start:
    """Return where an armature stands before a frame, and how it moves if it is within a take.

    From the first frame of a take on, another one is performed anew.
    """
    placement = get_placement(obj, frame)
    action = obj.animation_data.action if obj.animation_data else None
    is_take = any(take.action == action for take in settings_of(obj).takes if action)
    if action is None or not is_take or frame <= action.frame_range[0]:
        return Start(placement)
    step = get_scene_fps(bpy.context.scene) / database.fps
    last = action.frame_range[1]
    before = frame - step  # whose pose the first tick goes on from
    root, root_bone = get_root_target(obj)
    try:
        reader = PoseReader(obj, database, root=root, root_bone=root_bone)
        at_end = abs(before - last) < ON_KEY
        place, state = reader.read_start(obj, before, step, action, at_end=at_end)
    except RigError:  # its animation hides it, or it is of other bones
        return Start(placement)
    return Start(Placement(*place), state=state)


def _estimate_way(here: Placement, target: bpy.types.Object, speed: float) -> float:
    """Return the seconds after which a character that has not reached its target never will."""
    place = target.matrix_world.translation
    return _LATE + _DETOUR * math.hypot(place.x - here.x, place.y - here.y) / max(speed, 0.1)


def _describe_end(leader: Input, is_limited: bool) -> str:
    if leader.is_finished or leader.is_settled:
        return leader.ending
    return "" if is_limited or leader.lap_seconds else "The target was not reached"


def bake_steps(jobs: Sequence[tuple[bpy.types.Object, BakePlan]]) -> Steps[tuple[str, list[str]]]:
    """Bake the performance of each armature, all at the end: until then nothing changes. Returns a
    report, and the errors of armatures left out. A single error is raised.
    """
    uids = [(obj.session_uid, obj.name, plan) for obj, plan in jobs]
    errors: list[tuple[str, MotionMatchingError]] = []
    performed: list[tuple[str, Performed]] = []
    prepared = []
    reports = []
    for number, (uid, name, plan) in enumerate(uids):
        with _collect_error(name, errors):
            steps = prepare_steps(get_armature(uid), plan.build_request_steps)
            report = partial(_report_part, name, number, len(uids))
            performed.append((name, (yield from map_steps(steps, report))))
    for name, ready in performed:
        with _collect_error(name, errors):
            prepared.append((name, (yield from ready.prepare_bake_steps())))
    for name, bake in prepared:
        with _collect_error(name, errors):
            reports.append(bake())
    refused = [f"'{name}' was left out: {error}" for name, error in errors]
    if not reports:
        raise errors[0][1] if len(errors) == 1 else MotionMatchingError(" ".join(refused))
    return reports[0] if len(reports) == 1 else f"Baked {len(reports)} takes", refused


@contextmanager
def _collect_error(name: str, errors: list[tuple[str, MotionMatchingError]]) -> Iterator[None]:
    """Add what goes wrong with an armature to the errors, for the others to go on."""
    try:
        yield
    except MotionMatchingError as error:
        errors.append((name, error))


def _report_part(
    name: str, number: int, count: int, progress: tuple[str, float]
) -> tuple[str, float]:
    """Return progress over all of `count` characters, named if there are several."""
    text, part = progress
    return (f"{name}: {text}", (number + part) / count) if count > 1 else progress
