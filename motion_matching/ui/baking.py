"""From what is wanted to a take in the list: work that performs it with the database of a character, and bakes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import bpy

from . import recordings, request
from .fields import Chosen
from .operators_build import built
from .work import Steps, in_background

if TYPE_CHECKING:
    from ..engine.control.contact_ranges import ContactRange
    from ..engine.control.performance import Performance
    from ..engine.control.settings import PerformerSettings
    from ..engine.control.take import Take
    from ..engine.matching.database import Database

    WishOf = Callable[[bpy.types.Object, Database, PerformerSettings], "Wish"]


class Part(NamedTuple):
    """A performance, the frame that its take begins at, and its ticks before, as a live take begins within a session.

    It may be that of a bone collection alone.
    """

    wanted: Performance
    frame: int
    lead_in: int = 0
    collection: str = ""


class Wish(NamedTuple):
    """What is to be baked: a name, what is performed, and when feet stand, None to have it found.

    Most takes are of one part; those that were recorded into again have more, of which later ones win. Where all are of
    one bone collection, only its bones are keyed, and the rest has what it has in the action `beside`.
    """

    name: str
    parts: tuple[Part, ...]
    ranges: list[ContactRange] | None = None
    beside: str = ""

    def bones_of(self, obj: bpy.types.Object) -> frozenset[str] | None:
        """The bones that are keyed, None for all. RigError where the armature lacks the collection."""
        from ..scene.bone_choice import bones_in

        collections = {part.collection for part in self.parts}
        return (
            bones_in(obj, *collections) if len(collections) == 1 and "" not in collections else None
        )

    @property
    def frame(self) -> int:
        return min(part.frame for part in self.parts)


def parts_of(action: bpy.types.Action) -> tuple[Part, ...]:
    """What a take was made of. SettingsError where it cannot be read."""
    from ..engine.control import performance
    from ..scene import recording

    where = f"The take '{action.name}'"
    return tuple(
        Part(
            performance.from_json(part["performance"], where),
            round(part["frame"]),
            part["lead_in"],
            part.get("collection", ""),
        )
        for part in recording.recorded_parts(action)
    )


def baked(obj: bpy.types.Object, wish_of: WishOf) -> Steps[str]:
    """Work that performs a wish with the database and the settings of an armature, and bakes it; returns what to report."""
    uid = obj.session_uid
    database = yield from built(obj)
    obj = request.held(uid)
    settings = request.performer_settings(obj, database)
    wish = wish_of(obj, database, settings)
    wish.bones_of(obj)  # said before it is performed
    takes = yield from performed(database, settings, wish.parts, Chosen.of(obj))
    yield "Baking", 1.0
    action, seconds = bake_takes(request.held(uid), wish, takes, database)
    return f"Baked '{action.name}': {seconds:.1f} s from frame {wish.frame} on"


def performed(
    database: Database,
    settings: PerformerSettings,
    parts: Sequence[Part],
    chosen: Chosen | None = None,
) -> Steps[list[Take]]:
    """Work that gives the take of each part, without what leads in, by the method that is chosen; where none is, each by
    the one that it was made by, as far as that is kept.

    SettingsError where a part asks for a tag that the chosen field was not trained for.
    """
    from ..engine import takes
    from ..engine.matching.method import MotionMatching

    methods = [chosen or Chosen.named(part.wanted.method) for part in parts]

    def perform(tell: Callable[[str, float], None]) -> list[Take]:
        result = []
        fields = {method: method.field(database, or_greedy=chosen is None) for method in methods}
        for part in parts if chosen else ():
            if field := fields[chosen]:
                field.check(part.wanted)
        for number, (part, method) in enumerate(zip(parts, methods, strict=True)):
            field = fields[method]
            take = takes.perform(
                database,
                settings,
                field.performed(part.wanted) if field else part.wanted,
                lambda done, before=number: tell("Performing", (before + done) / len(parts)),
                controller=field or MotionMatching,
            )
            # it keeps what is wanted, by whatever method it is performed the next time
            wanted = replace(
                take.performance,
                intents=part.wanted.at_rate(take.fps).intents,
                method=field.name if field else "",
            )
            take = replace(take, performance=wanted)
            result.append(take.sliced(round(part.lead_in * take.fps / part.wanted.fps)))
        return result

    return (yield from in_background(perform, "Performing"))


def joined(parts: Sequence[Part], takes: Sequence[Take]) -> Take:
    """The takes of parts as one, in the frames of the current scene."""
    from ..engine.control import take
    from ..scene.bake import scene_fps

    first, rate = min(part.frame for part in parts), scene_fps(bpy.context.scene)
    return take.joined(
        [
            (round((part.frame - first) * made.fps / rate), made)
            for part, made in zip(parts, takes, strict=True)
        ]
    )


def bake_takes(
    obj: bpy.types.Object,
    wish: Wish,
    takes: Sequence[Take],
    database: Database,
) -> tuple[bpy.types.Action, float]:
    """Bake what a wish has given onto an armature as its settings say, feet planted with the contacts ahead known.

    Returns the action, which is listed then and whose markers tell when feet stand, and its seconds. Errors are those of
    `scene.bake`.
    """
    from ..engine import baking
    from ..scene import contact_markers
    from ..scene.bake import bake, scene_fps

    settings, scene, take = obj.motion_matching, bpy.context.scene, joined(wish.parts, takes)
    hips, ranges = database.role_names["hips"], wish.ranges
    ranges = baking.ranges_of(take, database) if ranges is None else ranges
    if take.settings["foot_lock"]:
        take = baking.bake_feet(take, database, ranges)
    root, root_bone = request.root_of(obj)
    action = bake(
        take.clip(),
        obj,
        name=wish.name,
        frame_start=wish.frame,
        root=root,
        root_bone=root_bone,
        hips=hips,
        fewer_keys=settings.fewer_keys,
        track=wish.name if settings.use_nla else None,
        bones=(bones := wish.bones_of(obj)),
        beside=bpy.data.actions.get(wish.beside) if bones else None,
    )
    contact_markers.write_markers(
        action, ranges, database.roles.leg_names, wish.frame, scene_fps(scene) / take.fps
    )
    _keep_performances(action, wish.parts, takes)
    seconds = take.frame_count / take.fps
    recordings.list_take(obj, action, seconds)
    if settings.set_frame_range:
        scene.frame_start, scene.frame_end = wish.frame, math.floor(action.frame_range[1])
    return action, seconds


def _keep_performances(
    action: bpy.types.Action, parts: Sequence[Part], takes: Sequence[Take]
) -> None:
    """Note what was performed, and with which settings."""
    from ..engine.control import performance
    from ..scene import recording

    for part, take in zip(parts, takes, strict=True):
        wanted = replace(take.performance, settings=take.settings)
        lead_in = len(wanted.intents) - take.frame_count
        recording.keep_performance(
            action,
            performance.to_json(wanted),
            part.frame,
            take.frame_count,
            take.fps,
            lead_in,
            part.collection,
        )


def standing_where(obj: bpy.types.Object, wanted: Performance) -> Performance:
    """A performance that starts where the armature stands and heads on from where it faces."""
    x, y, yaw = request.standing_place(obj)
    c, s = math.cos(yaw), math.sin(yaw)
    turned = tuple(
        intent._replace(
            move=(c * intent.move[0] - s * intent.move[1], s * intent.move[0] + c * intent.move[1]),
            facing=None if intent.facing is None else intent.facing + yaw,
        )
        for intent in wanted.intents
    )
    return replace(wanted, intents=turned, position=(x, y), facing=yaw)
