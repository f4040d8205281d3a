"""Takes: performed with the database of a character, baked as actions, and listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import bpy

from ...engine.control.performer import Placement
from ...engine.control.rollout import Take, join
from ...engine.database.database import Database
from ...engine.errors import SettingsError
from ...engine.feet.contact_ranges import ContactRange
from ...engine.matching.cost_terms import describe_missing_terms
from ...engine.matching.method import MotionMatching
from ...engine.maths.planar import rotate_xy
from ...engine.performance import performance
from ...engine.performance.performance import Performance
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import ReportProgress
from ...engine.takes import baking
from ...engine.takes import takes as engine_takes
from ...engine.takes.joining import continue_from, splice
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.blender.handle import Handle
from ...scene.reading import markers
from ...scene.rig.bone_choice import get_collection_bones
from ...scene.writing import recording
from ...scene.writing.bake import bake
from ..character import controls
from ..character.characters import get_armature, get_root_target
from ..controller.training import ChosenMethod
from ..database.build import load_with_settings_steps
from ..property_access import settings_of
from ..settings import add_obstacles
from ..steps import Steps, run_in_background_steps, scale_report
from .take_list import find_free_name, list_take

Bake = Callable[[], tuple[bpy.types.Action, float]]  # bakes, and returns the action and its seconds
# Says, given a session_uid, a database and settings, what is to be baked
RequestFactory = Callable[[int, Database, PerformerSettings], Steps["BakeRequest"]]


class TakePart(NamedTuple):
    """A performance, the frame that its take begins at, and the ticks before it in a session.

    With a `collection`, it is the performance of that bone collection alone. What it was recorded
    over goes on from it, and is led back to its old place within `lead_back` seconds unless 0.
    """

    performance: Performance
    frame: float
    lead_in: int = 0
    collection: str = ""
    lead_back: float = 0.0

    @property
    def continues(self) -> bool:
        """Return whether it continues the take it was recorded into, unlike earlier versions."""
        return self.performance.start is not None and not self.lead_in

    def count_lead_in(self, fps: float) -> int:
        """Return the ticks before the take at a frame rate."""
        return round(self.lead_in * fps / self.performance.fps)


class BakeRequest(NamedTuple):
    """A request to bake: a name, the performance, and when feet stand (None: to be found).

    The name gets a number if another action has it, and a `note` says how it ended. A take that was
    recorded into again has several parts; later ones win. If all parts are of one bone
    collection, only its bones are keyed; the rest is that of the action `beside`.
    """

    name: str
    parts: tuple[TakePart, ...]
    ranges: list[ContactRange] | None = None
    beside: str = ""
    note: str = ""

    def find_keyed_bones(self, obj: bpy.types.Object) -> frozenset[str] | None:
        """Return the bones that are keyed, None for all. RigError without their collection."""
        first, *others = {part.collection for part in self.parts}
        return get_collection_bones(obj, first) if first and not others else None

    @property
    def frame(self) -> int:
        return round(min(part.frame for part in self.parts))


def find_take_action(take: Handle) -> bpy.types.Action:
    """Return the action of a take. SettingsError if it is no longer in the file."""
    action: bpy.types.Action | None = take.find()
    if action is None:
        raise SettingsError(f"The take '{take.name}' was deleted; choose another.")
    return action


def read_parts(action: bpy.types.Action) -> tuple[TakePart, ...]:
    """Return what a take was made of. SettingsError if it cannot be read."""
    parts = []
    for part in recording.read_recorded_parts(action):
        performed = performance.from_json(part["performance"], f"The take '{action.name}'")
        where = part["frame"], part["lead_in"], part["collection"], part["lead_back"]
        if part["lead_in"] * performed.fps >= len(performed.intents) * part["fps"]:
            raise SettingsError(
                f"The take '{action.name}' is empty after its lead-in, because its property "
                f"'{recording.PARTS}' or its text was edited; bake or record another."
            )
        parts.append(TakePart(performed, *where))
    return tuple(parts)


def read_parts_on_ground(obj: bpy.types.Object, action: bpy.types.Action) -> tuple[TakePart, ...]:
    """Return what a take was made of, on the ground that the character has now."""
    parts = read_parts(action)
    return tuple(part._replace(performance=add_obstacles(obj, part.performance)) for part in parts)


class Performed(NamedTuple):
    """A request for the armature of a session_uid, performed and not baked yet."""

    uid: int
    request: BakeRequest
    takes: list[Take]
    database: Database

    def prepare_bake_steps(self) -> Steps[Callable[[], str]]:
        """Return a function to bake and describe the take. Raises errors of `scene.bake`."""
        obj = get_armature(self.uid)
        bake_all = yield from prepare_takes_steps(obj, self.request, self.takes, self.database)

        def bake() -> str:
            end = bpy.context.scene.frame_end
            action, seconds = bake_all()
            text = f"Baked '{action.name}': {seconds:.1f} s from frame {self.request.frame} on"
            terms = describe_missing_terms(self.request.parts[0].performance)
            notes = (self.request.note, terms, _describe_end(action, end))
            return ". ".join((text, *(note for note in notes if note)))

        return bake


def _describe_end(action: bpy.types.Action, before: int) -> str:
    """Say that the scene was made longer for a take, or that it ends before the take does.

    `before` is the last frame of the scene before the bake.
    """
    last = math.floor(action.frame_range[1])
    end = bpy.context.scene.frame_end
    if end != before:
        return f"The scene now ends at frame {end}"
    return f"It ends at frame {last}, the scene at {end}" if last > end else ""


def bake_steps(obj: bpy.types.Object, build_request: RequestFactory) -> Steps[str]:
    """Perform a request with an armature's database and settings; bake it and describe it."""
    performed = yield from prepare_steps(obj, build_request)
    bake = yield from performed.prepare_bake_steps()
    return bake()


def prepare_steps(obj: bpy.types.Object, build_request: RequestFactory) -> Steps[Performed]:
    """Perform a request with an armature's database and settings, built if need be."""
    uid = obj.session_uid
    obj, database, settings = yield from load_with_settings_steps(obj)
    request = yield from build_request(uid, database, settings)
    obj = get_armature(uid)
    request.find_keyed_bones(obj)  # raises before anything is performed
    method = ChosenMethod.from_object(obj)
    takes = yield from perform_steps(database, settings, request.parts, method)
    return Performed(uid, request, takes, database)


def perform_steps(
    database: Database,
    settings: PerformerSettings,
    parts: Sequence[TakePart],
    chosen: ChosenMethod | None = None,
    *,
    as_recorded: bool = False,
) -> Steps[list[Take]]:
    """Return the take of each part, without its lead-in.

    They are made by the `chosen` method, or else each by its own, as far as that is still stored. A
    part continues from the present end of the parts before, or, `as_recorded`, from where it began.
    Raises SettingsError if a part requests a tag that the chosen field was not trained for.
    """
    methods = [chosen or ChosenMethod.from_name(part.performance.method) for part in parts]
    rate = get_scene_fps(bpy.context.scene)

    def perform(report: ReportProgress) -> list[Take]:
        greedy = chosen is None
        fields = {method: method.load_field(database, or_greedy=greedy) for method in methods}
        for part in parts if chosen else ():
            if field := fields[chosen]:
                field.check(part.performance)
        result: list[Take] = []
        for number, (part, method) in enumerate(zip(parts, methods, strict=True)):
            report_part = scale_report(report, "Performing", number, len(parts))
            field = fields[method]
            performed = part.performance
            if result and part.continues and not as_recorded:
                before = join_takes(parts[:number], result, database, rate)
                tick = _find_tick(parts, part, database.fps, rate)
                performed = continue_from(before, tick, performed)
            adapted = field.adapt_performance(performed) if field else performed
            controller = field or MotionMatching
            made = engine_takes.perform(
                database, settings, adapted, report_part, controller=controller
            )
            # it stores the original intents, by whatever method it is performed the next time
            intents = performed.resample(made.fps).intents
            name = field.name if field else ""
            original = replace(made.performance, intents=intents, method=name)
            result.append(replace(made, performance=original).crop(part.count_lead_in(made.fps)))
        return result

    return (yield from run_in_background_steps(perform, "Performing"))


def join_takes(
    parts: Sequence[TakePart], takes: Sequence[Take], database: Database, rate: float | None = None
) -> Take:
    """Return the takes of parts as one, in frames of a `rate`, by default the current scene's."""
    fps = database.fps
    rate = rate or get_scene_fps(bpy.context.scene)
    joined = join([(_find_tick(parts, parts[0], fps, rate), takes[0])])
    for part, made in zip(parts[1:], takes[1:], strict=True):
        tick = _find_tick(parts, part, fps, rate)
        if part.continues:
            joined = splice(joined, tick, made, database, part.lead_back)
        else:
            joined = join([(0, joined), (tick, made)])
    return joined


def _find_tick(parts: Sequence[TakePart], part: TakePart, fps: float, rate: float) -> int:
    """Return the tick at which a part begins, after the first of all, at a rate of the scene."""
    return round((part.frame - min(each.frame for each in parts)) * fps / rate)


def prepare_takes_steps(
    obj: bpy.types.Object, request: BakeRequest, takes: Sequence[Take], database: Database
) -> Steps[Bake]:
    """Return a function that bakes performed takes by an armature's settings, with feet planted.

    It lists the action, marks its contacts, and returns it and its seconds. Until then, nothing
    changes. Raises errors of `scene.bake`.
    """
    uid = obj.session_uid
    joined = join_takes(request.parts, takes, database)
    planted, ranges = yield from plant_steps(joined, database, request.ranges)
    obj = get_armature(uid)
    bake_joined = yield from prepare_take_steps(obj, request, planted, ranges, database)

    def bake_all() -> tuple[bpy.types.Action, float]:
        action, seconds = bake_joined()
        _store_performances(action, request, takes)
        return action, seconds

    return bake_all


def plant_steps(
    take: Take, database: Database, ranges: Sequence[ContactRange] | None = None
) -> Steps[tuple[Take, Sequence[ContactRange]]]:
    """Plant the feet of a take in ranges, by default the found ones, unless its settings do not."""
    feet = "baked" if take.settings["foot_lock"] else "live"
    return run_in_background_steps(
        lambda _: baking.place_feet(take, database, feet, ranges), "Planting Feet"
    )


def prepare_take_steps(
    obj: bpy.types.Object,
    request: BakeRequest,
    taken: Take,
    ranges: Sequence[ContactRange],
    database: Database,
) -> Steps[Bake]:
    """Return a function that bakes a take as it is by an armature's settings, marks its contacts
    and lists it.

    It returns the action and its seconds. Raises errors of `scene.bake`.
    """
    uid = obj.session_uid
    legs = database.roles.leg_names
    write = yield from _solve_steps(obj, request, taken, database.role_names["hips"])

    def bake_one() -> tuple[bpy.types.Action, float]:
        obj = get_armature(uid)
        scene = bpy.context.scene
        action = write(obj)
        step = get_scene_fps(scene) / taken.fps
        markers.write_markers(action, ranges, legs, request.frame, step)
        seconds = taken.frame_count / taken.fps
        list_take(obj, action, seconds)
        if settings_of(obj).set_frame_range:
            scene.frame_end = max(scene.frame_end, math.floor(action.frame_range[1]))
        return action, seconds

    return bake_one


def _solve_steps(
    obj: bpy.types.Object, request: BakeRequest, taken: Take, hips: str
) -> Steps[Callable[[bpy.types.Object], bpy.types.Action]]:
    """Return what writes a take onto an armature: onto its controls, or onto its bones."""
    bones = request.find_keyed_bones(obj)
    rig = controls.find_rig(obj)
    if rig and bones is not None:
        raise controls.describe_partial(obj, rig)
    write_controls = (
        (yield from controls.solve_take_steps(obj, rig, taken, request.frame)) if rig else None
    )

    def write(obj: bpy.types.Object) -> bpy.types.Action:
        settings = settings_of(obj)
        name = find_free_name(request.name)
        track = name if settings.use_nla else None
        if write_controls:
            return write_controls(name, track)
        root, root_bone = get_root_target(obj)
        return bake(
            taken.to_clip(),
            obj,
            name=name,
            frame_start=request.frame,
            root=root,
            root_bone=root_bone,
            hips=hips,
            fewer_keys=settings.fewer_keys,
            track=track,
            bones=bones,
            beside=bpy.data.actions.get(request.beside) if bones else None,
        )

    return write


def _store_performances(
    action: bpy.types.Action, request: BakeRequest, takes: Sequence[Take]
) -> None:
    shift = request.frame - min(part.frame for part in request.parts)
    for part, made in zip(request.parts, takes, strict=True):
        performed = replace(made.performance, settings=made.settings)
        text = performance.to_json(performed)
        count = made.frame_count
        lead_in = len(performed.intents) - count
        recording.store_performance(
            action,
            text,
            part.frame + shift,
            count,
            made.fps,
            lead_in,
            part.collection,
            part.lead_back,
        )


def filter_settings(performed: Performance, keeps: Callable[[str, Any], bool]) -> Performance:
    """Return a performance with those settings, at first and changed, of which `keeps` is true."""

    def keep(settings: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in settings.items() if keeps(name, value)}

    changes = tuple((tick, keep(change)) for tick, change in performed.changes)
    return replace(performed, settings=keep(performed.settings), changes=changes)


def place_performance(performed: Performance, placement: Placement) -> Performance:
    """Return a performance that starts at a placement, in its direction."""
    x, y, yaw = placement
    turned = []
    for intent in performed.intents:
        facing = None if intent.facing is None else intent.facing + yaw
        turned.append(intent._replace(move=rotate_xy(*intent.move, yaw), facing=facing))
    return replace(performed, intents=tuple(turned), position=(x, y), facing=yaw)
