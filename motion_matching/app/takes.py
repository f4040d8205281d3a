"""Takes: performed with the database of a character, baked as actions, and listed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import bpy

from ..engine.control import performance, take
from ..engine.matching.method import MotionMatching
from ..engine.takes import baking
from ..engine.takes import takes as engine_takes
from ..scene.blender.actions import get_scene_fps
from ..scene.reading import contact_markers
from ..scene.rig.bone_choice import get_collection_bones
from ..scene.writing import recording
from ..scene.writing.bake import bake
from . import callbacks, items
from .build import load_or_build_steps
from .characters import get_armature, get_placement, get_root_target
from .settings import get_performer_settings
from .steps import ReportProgress, Steps, run_in_background_steps
from .training import ChosenMethod
from .typed import settings_of

if TYPE_CHECKING:
    from ..engine.control.contact_ranges import ContactRange
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..engine.control.take import Take
    from ..engine.database.database import Database

    BakeRequestFactory = Callable[[bpy.types.Object, Database, PerformerSettings], "BakeRequest"]


class TakePart(NamedTuple):
    """A performance, the frame that its take begins at, and the ticks before, as a live take begins
    within a session.

    With a `collection`, it is the performance of that bone collection alone.
    """

    performance: Performance
    frame: int
    lead_in: int = 0
    collection: str = ""


class BakeRequest(NamedTuple):
    """What is to be baked: a name, what is performed, and when feet stand, None to have that found.

    Most takes have one part. Those that were recorded into again have more, of which later ones
    win. Where all parts are of one bone collection, only its bones are keyed, and the rest keeps
    what it has in the action `beside`.
    """

    name: str
    parts: tuple[TakePart, ...]
    ranges: list[ContactRange] | None = None
    beside: str = ""

    def find_keyed_bones(self, obj: bpy.types.Object) -> frozenset[str] | None:
        """Return the bones that are keyed, None for all. RigError where the armature lacks the
        collection.
        """
        collections = {part.collection for part in self.parts}
        return (
            get_collection_bones(obj, *collections)
            if len(collections) == 1 and "" not in collections
            else None
        )

    @property
    def frame(self) -> int:
        return min(part.frame for part in self.parts)


def read_parts(action: bpy.types.Action) -> tuple[TakePart, ...]:
    """Return what a take was made of. SettingsError where it cannot be read."""
    where = f"The take '{action.name}'"
    return tuple(
        TakePart(
            performance.from_json(part["performance"], where),
            round(part["frame"]),
            part["lead_in"],
            part.get("collection", ""),
        )
        for part in recording.read_recorded_parts(action)
    )


# ---------------------------------------------------------------- baking


def bake_steps(obj: bpy.types.Object, build_request: BakeRequestFactory) -> Steps[str]:
    """Perform a request with the database and the settings of an armature, and bake it; return what
    to report.
    """
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj)
    obj = get_armature(uid)
    settings = get_performer_settings(obj, database)
    request = build_request(obj, database, settings)
    request.find_keyed_bones(obj)  # raises before anything is performed
    takes = yield from perform_steps(
        database, settings, request.parts, ChosenMethod.from_object(obj)
    )
    yield "Baking", 1.0
    action, seconds = bake_takes(get_armature(uid), request, takes, database)
    return f"Baked '{action.name}': {seconds:.1f} s from frame {request.frame} on"


def perform_steps(
    database: Database,
    settings: PerformerSettings,
    parts: Sequence[TakePart],
    chosen: ChosenMethod | None = None,
) -> Steps[list[Take]]:
    """Return the take of each part, without what leads in.

    They are made by the `chosen` method, or without one each by the method that it was made by, as
    far as that is still stored. SettingsError where a part requests a tag that the chosen field was
    not trained for.
    """
    methods = [chosen or ChosenMethod.from_name(part.performance.method) for part in parts]

    def perform(report: ReportProgress) -> list[Take]:
        result = []
        fields = {
            method: method.load_field(database, or_greedy=chosen is None) for method in methods
        }
        for part in parts if chosen else ():
            if field := fields[chosen]:
                field.check(part.performance)
        for number, (part, method) in enumerate(zip(parts, methods, strict=True)):

            def report_part(done: float, before: int = number) -> None:
                report("Performing", (before + done) / len(parts))

            field = fields[method]
            made = engine_takes.perform(
                database,
                settings,
                field.adapt_performance(part.performance) if field else part.performance,
                report_part,
                controller=field or MotionMatching,
            )
            # it stores the original intents, by whatever method it is performed the next time
            original = replace(
                made.performance,
                intents=part.performance.resample(made.fps).intents,
                method=field.name if field else "",
            )
            made = replace(made, performance=original)
            result.append(made.crop(round(part.lead_in * made.fps / part.performance.fps)))
        return result

    return (yield from run_in_background_steps(perform, "Performing"))


def join_takes(parts: Sequence[TakePart], takes: Sequence[Take]) -> Take:
    """Return the takes of parts as one, in the frames of the current scene."""
    first, rate = min(part.frame for part in parts), get_scene_fps(bpy.context.scene)
    return take.join(
        [
            (round((part.frame - first) * made.fps / rate), made)
            for part, made in zip(parts, takes, strict=True)
        ]
    )


def bake_takes(
    obj: bpy.types.Object,
    request: BakeRequest,
    takes: Sequence[Take],
    database: Database,
) -> tuple[bpy.types.Action, float]:
    """Bake performed takes onto an armature as its settings say, with feet planted over known
    contacts.

    Returns the action, which is listed and has markers for its contacts, and its seconds. Errors
    are those of `scene.bake`.
    """
    settings, scene, joined = settings_of(obj), bpy.context.scene, join_takes(request.parts, takes)
    ranges = (
        baking.find_contact_ranges(joined, database) if request.ranges is None else request.ranges
    )
    if joined.settings["foot_lock"]:
        joined = baking.bake_feet(joined, database, ranges)
    root, root_bone = get_root_target(obj)
    bones = request.find_keyed_bones(obj)
    action = bake(
        joined.to_clip(),
        obj,
        name=request.name,
        frame_start=request.frame,
        root=root,
        root_bone=root_bone,
        hips=database.role_names["hips"],
        fewer_keys=settings.fewer_keys,
        track=request.name if settings.use_nla else None,
        bones=bones,
        beside=bpy.data.actions.get(request.beside) if bones else None,
    )
    contact_markers.write_markers(
        action, ranges, database.roles.leg_names, request.frame, get_scene_fps(scene) / joined.fps
    )
    _store_performances(action, request.parts, takes)
    seconds = joined.frame_count / joined.fps
    list_take(obj, action, seconds)
    if settings.set_frame_range:
        scene.frame_start, scene.frame_end = request.frame, math.floor(action.frame_range[1])
    return action, seconds


def _store_performances(
    action: bpy.types.Action, parts: Sequence[TakePart], takes: Sequence[Take]
) -> None:
    """Note on an action what was performed, and with which settings."""
    for part, made in zip(parts, takes, strict=True):
        performed = replace(made.performance, settings=made.settings)
        lead_in = len(performed.intents) - made.frame_count
        recording.store_performance(
            action,
            performance.to_json(performed),
            part.frame,
            made.frame_count,
            made.fps,
            lead_in,
            part.collection,
        )


def place_at_armature(obj: bpy.types.Object, performed: Performance) -> Performance:
    """Return a performance that starts where the armature stands and heads on from where it
    faces.
    """
    x, y, yaw = get_placement(obj)
    c, s = math.cos(yaw), math.sin(yaw)
    turned = tuple(
        intent._replace(
            move=(c * intent.move[0] - s * intent.move[1], s * intent.move[0] + c * intent.move[1]),
            facing=None if intent.facing is None else intent.facing + yaw,
        )
        for intent in performed.intents
    )
    return replace(performed, intents=turned, position=(x, y), facing=yaw)


# ---------------------------------------------------------------- the list


def list_take(
    obj: bpy.types.Object, action: bpy.types.Action, seconds: float | None = None
) -> None:
    """List a take of a character, or note its new length, which is that of its keys unless
    given.
    """
    settings = settings_of(obj)
    index = next(
        (index for index, listed in enumerate(settings.takes) if listed.action == action), None
    )
    listed = items.add(settings.takes, action.name) if index is None else settings.takes[index]
    start, stop = action.frame_range[0], action.frame_range[1]
    listed.action = action
    listed.seconds = (
        (stop - start + 1.0) / get_scene_fps(bpy.context.scene) if seconds is None else seconds
    )
    settings.take_index = len(settings.takes) - 1 if index is None else index
    callbacks.redraw()


def discard_take(obj: bpy.types.Object, index: int) -> None:
    """Take a take off the list of a character, and delete its action, its strips and its stored
    performance.

    SettingsError for one that comes with a linked file.
    """
    settings = settings_of(obj)
    action = settings.takes[index].action
    items.remove(settings.takes, index, f"The take '{settings.takes[index].name}'")
    if index < settings.take_index or settings.take_index == len(settings.takes):
        settings.take_index = max(0, settings.take_index - 1)
    if action and not action.library:
        recording.remove_take(obj, action)
    callbacks.redraw()
