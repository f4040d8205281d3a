"""From the settings of a character to what the engine and the scene are asked for."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Set
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

import bpy

from ..engine.control.settings import PerformerSettings, Speeds
from ..engine.errors import SettingsError
from ..engine.matching.thresholds import AutoTagSettings
from . import feature_list
from .contents import Content
from .property_options import plain
from .source_files import file_of

if TYPE_CHECKING:
    from ..engine.control.performance import Performance
    from ..engine.control.performer import Placement
    from ..engine.matching.build import BuildSettings
    from ..engine.matching.database import Database
    from ..engine.matching.tags import TagRange
    from ..engine.motion.simulation_bone import SimulationBoneSettings
    from ..scene.root_target import RootTarget

_OF_THE_MOMENT = ("favour",)  # settings that no preset keeps
# settings of a performer that are taken over one by one
_TAKEN_OVER = tuple(
    f.name
    for f in fields(PerformerSettings)
    if f.name not in ("walk", "run", "turn_limit", "weights")
)


def armature_of(context: bpy.types.Context) -> bpy.types.Object | None:
    """The active armature object, or the one that belongs to the active object."""
    return armature_with(context.object)


def armature_with(obj: bpy.types.Object | None) -> bpy.types.Object | None:
    """An armature object itself, the one that deforms a mesh, or the one whose path an empty is."""
    if obj is None or obj.type == "ARMATURE":
        return obj
    performer = obj.motion_matching.performer if obj.type == "EMPTY" else None
    return performer if performer and performer.users_scene else obj.find_armature()


def held(uid: int) -> bpy.types.Object:
    """The armature object of that session_uid. SettingsError where it is gone."""
    for obj in bpy.data.objects:
        if obj.session_uid == uid and obj.type == "ARMATURE":
            return obj
    raise SettingsError("The armature is not there any more; start again with another one.")


# ---------------------------------------------------------------- building


def enabled_places(obj: bpy.types.Object) -> list[int]:
    """The places of the sources to build from: those that are on and have something to read. SettingsError without any."""
    enabled = [
        (place, source)
        for place, source in enumerate(obj.motion_matching.sources)
        if source.enabled
    ]
    if not enabled:
        raise SettingsError(
            f"Armature '{obj.name}' has no source to build from; add actions or files."
        )
    whole = [place for place, source in enabled if not problem_of(source)]
    if not whole:
        check_source(obj, enabled[0][1])
    return whole


def source_at(uid: int, place: int) -> tuple[bpy.types.Object, Any]:
    """The armature of that session_uid, and its source at a place. SettingsError where one of them is gone."""
    obj = held(uid)
    if place >= len(obj.motion_matching.sources):
        raise SettingsError("The sources changed meanwhile; start again.")
    return obj, obj.motion_matching.sources[place]


def problem_of(source: Any) -> str:
    """Why a source cannot be built from and what to do, as the end of a sentence; nothing where it can be."""
    if source.kind == "ACTION" and source.action is None:
        return "has lost its action; choose another, or remove the source"
    if source.kind == "FILE" and not source.filepath:
        return "has no file; choose one, or remove the source"
    file = file_of(source)
    if file and not file.is_file():
        return (
            f"is to be read from {file}, which is not there; correct its path, or remove the source"
        )
    if source.use_range and source.frame_end <= source.frame_start:
        return "ends before it starts; correct its range"
    if source.use_path and not path_is_there(source):
        return (
            "has lost the path that was edited by hand; undo that, or go back to the computed path"
        )
    return ""


def check_source(obj: bpy.types.Object, source: Any) -> None:
    """SettingsError where a source has nothing to read."""
    if problem := problem_of(source):
        raise SettingsError(f"The source '{source.name}' of armature '{obj.name}' {problem}.")


def path_is_there(source: Any) -> bool:
    """Whether the empty that a source takes its path from is in a scene: what is deleted may still be in the file."""
    return source.path is not None and bool(source.path.users_scene)


def tags_of(source: Any, first: int = 0) -> tuple[TagRange, ...]:
    """The tags of a source whose clip starts at a `first` frame: its gait, those that are listed, and its ranges.

    SettingsError for a range without a name, or one that ends before it starts.
    """
    from ..engine.matching.tags import PREFER, TagRange, names_in

    gait = [] if source.gait == "none" else [source.gait]
    tags = [TagRange(name) for name in dict.fromkeys((*gait, *names_in(source.tags)))]
    for tag in source.tag_ranges:
        name = tag.label.strip() if tag.kind == "FREE" else tag.kind
        what = f"The source '{source.name}' has a range of tags, {tag.frame_start} to {tag.frame_end}, that"
        if not name:
            raise SettingsError(f"{what} has no name; give it one, or remove it.")
        if tag.frame_end < tag.frame_start:
            raise SettingsError(f"{what} ends before it starts; correct it.")
        if tag.frame_end >= first:  # what lies before the clip is on none of its frames
            bias = plain(tag.bias) if name == PREFER else None
            tags.append(
                TagRange(name, max(tag.frame_start - first, 0), tag.frame_end + 1 - first, bias)
            )
    return tuple(tags)


def key(obj: bpy.types.Object) -> str:
    """The key of the database that an armature object's settings ask for. Errors as in building."""
    work = content_steps(obj.session_uid)
    while True:
        try:
            next(work)
        except StopIteration as done:
            return str(done.value.key)


def content_steps(uid: int) -> Generator[tuple[str, float], None, Content]:
    """Work that finds what that database is made of, with one source, or a part of it, looked at between two yields."""
    from ..scene import library
    from ..scene.bake import scene_fps

    obj = held(uid)
    choices = _build_choices(obj) | {"fps": scene_fps(bpy.context.scene)}
    made = library.KeyInMaking(choices)
    sources = obj.motion_matching.sources
    places, names = enabled_places(obj), []
    acts = any(sources[place].kind == "ACTION" for place in places)
    for number, place in enumerate(places, 1):
        obj, source = source_at(uid, place)  # what was held before a yield may be gone
        names.append(source.name)
        action = source.action if source.kind == "ACTION" else None
        for _ in made.add(library.Ingredient(action, file_of(source), _use(source, obj)), obj):
            yield "Looking at sources", (number - 1) / len(places)
        yield "Looking at sources", number / len(places)
    if acts:
        made.add_rig(held(uid))
    return Content(made.key, choices, dict(zip(names, made.sources, strict=True)), made.rig)


def _use(source: Any, obj: bpy.types.Object) -> dict[str, Any]:
    """What of a source's settings makes a difference to the database."""
    use = {name: getattr(source, name) for name in ("kind", "mirror", "loop", "gait", "tags")}
    limits = [source.frame_start, source.frame_end] if source.use_range else None
    if source.tag_ranges:
        use["tag_ranges"] = [
            [
                tag.kind,
                tag.label if tag.kind == "FREE" else "",
                tag.frame_start,
                tag.frame_end,
                plain(tag.bias),
            ]
            for tag in source.tag_ranges
        ]
    if source.use_path:
        from ..scene.hand_path import fingerprint

        use["path"] = fingerprint(source.path, obj)
    return use | {"range": limits, "speed": round(source.speed, 6)}


def _build_choices(obj: bpy.types.Object) -> dict[str, Any]:
    """What of the settings makes a difference to the database; weights and the order of features make none."""
    settings = obj.motion_matching
    chosen = {
        name: plain(getattr(settings, name))
        for name in ("bones", "speed", "contact_speed", "auto_tags")
    }
    if settings.auto_tags:
        chosen["thresholds"] = asdict(thresholds_of(settings.thresholds))
    if any(source.kind == "FILE" for source in settings.sources):
        chosen |= {name: plain(getattr(settings, name)) for name in ("up", "forward", "file_scale")}
    schema = feature_list.compared_by(feature_list.schema_of(settings.features))
    return chosen | {
        "simulation_bone": _simulation_bone(settings),
        "roles": roles_of(settings),
        "schema": schema,
    }


def _simulation_bone(settings: Any) -> dict[str, Any]:
    names = (
        "source",
        "position_window",
        "position_order",
        "direction_window",
        "direction_order",
        "heading",
        "standing",
    )
    return {name: plain(getattr(settings.simulation_bone, name)) for name in names}


def roles_of(settings: Any) -> dict[str, str]:
    """The bones by role that were given."""
    from .properties_sources import ROLES

    return {role: bone for role in ROLES if (bone := getattr(settings.roles, role))}


def set_roles(roles: Any, bones: Mapping[str, str], preset: str = "") -> None:
    """Give bones by role; those of other roles are found on their own."""
    from .properties_sources import ROLES

    for role in ROLES:
        setattr(roles, role, bones.get(role, ""))
    roles.preset = preset


def roles_in(obj: bpy.types.Object, data: Mapping[str, Any], preset: str) -> dict[str, str]:
    """The bones of an armature that a preset names by role, whatever their namespace.

    SettingsError where the preset names none, or one that the armature lacks but for head and toes.
    """
    from .properties_sources import ROLES

    names = data.get("roles")
    if (
        not isinstance(names, dict)
        or not names
        or not all(isinstance(name, str) for name in names.values())
    ):
        raise SettingsError(
            f"The preset '{preset}' has no 'roles'; give an object of bones by role."
        )
    prefix = _prefix(
        set(obj.data.bones.keys()), {name.rpartition(":")[2] for name in names.values()}
    )
    result = {}
    for role, name in names.items():
        if role not in ROLES:
            raise SettingsError(
                f"The preset '{preset}' names a role '{role}'; use {', '.join(ROLES)}."
            )
        bone = name if name in obj.data.bones else prefix + name.rpartition(":")[2]
        if bone in obj.data.bones:
            result[role] = bone
        elif not role.endswith(("head", "toe", "root")):
            raise SettingsError(
                f"Armature '{obj.name}' has no bone '{name}', which the preset '{preset}' names for "
                f"{role.replace('_', ' ')}; choose another preset, or leave the roles to be found."
            )
    return result


def _prefix(bones: Set[str], names: Set[str]) -> str:
    """What is written before most of these names among those of bones, as for a namespace; the shortest of several."""
    prefixes = {
        bone[: -len(name)] for bone in bones for name in names if name and bone.endswith(name)
    }
    return max(
        sorted(prefixes, key=len),
        key=lambda prefix: sum(prefix + name in bones for name in names),
        default="",
    )


def scene_rate() -> float:
    """Frames per second of the scene."""
    from ..scene.bake import scene_fps

    return scene_fps(bpy.context.scene)


def build_settings(obj: bpy.types.Object) -> BuildSettings:
    """How the database of an armature object is built. SettingsError for settings that make no sense."""
    from ..engine.matching.build import BuildSettings
    from ..engine.motion.contacts import ContactSettings
    from ..scene.bake import scene_fps

    settings = obj.motion_matching
    return BuildSettings(
        fps=scene_fps(bpy.context.scene),
        speed=plain(settings.speed),
        schema=feature_list.schema_of(settings.features),
        simulation_bone=simulation_bone_settings(obj),
        contacts=ContactSettings(speed=plain(settings.contact_speed)),
        roles=roles_of(settings),
        auto_tags=thresholds_of(settings.thresholds) if settings.auto_tags else None,
        up=settings.up,
        forward=settings.forward,
        scale=settings.file_scale or None,
    )


def thresholds_of(thresholds: Any) -> AutoTagSettings:
    """From when on motion is tagged as what. SettingsError for thresholds that make no sense."""
    return AutoTagSettings(
        **{field.name: plain(getattr(thresholds, field.name)) for field in fields(AutoTagSettings)}
    )


def simulation_bone_settings(obj: bpy.types.Object) -> SimulationBoneSettings:
    """How the simulation bone of an armature object is found."""
    from ..engine.motion.simulation_bone import SimulationBoneSettings

    return SimulationBoneSettings(**_simulation_bone(obj.motion_matching))


# ---------------------------------------------------------------- performing


def performer_settings(obj: bpy.types.Object, database: Database | None) -> PerformerSettings:
    """How the character answers, as set; with the speeds of the database where these are wanted and there is one."""
    from ..engine import takes

    settings = obj.motion_matching
    controller = settings.controller
    changes = {name: plain(getattr(controller, name)) for name in _TAKEN_OVER}
    if database:
        changes |= {"weights": feature_list.weights_of(settings.features, database.schema)}
    if database and controller.speeds_from_data:
        return takes.default_settings(database).changed(changes)
    walk, run = (Speeds(*(plain(v) for v in getattr(controller, gait))) for gait in ("walk", "run"))
    return PerformerSettings(walk=walk, run=run, turn_limit=plain(controller.turn_limit)).changed(
        changes
    )


def controller_data(controller: Any) -> dict[str, Any]:
    """What a preset keeps of the controller, all but speeds and what is of the moment, by the engine's names."""
    return {
        name: plain(getattr(controller, name)) for name in _TAKEN_OVER if name not in _OF_THE_MOMENT
    }


def set_controller(controller: Any, changes: Any, preset: str) -> None:
    """Take over a preset's settings; what it does not name gets its default, speeds stay. SettingsError, with nothing
    changed, where one is wrong."""
    if not isinstance(changes, dict):
        raise SettingsError(
            f"The preset '{preset}' has no 'settings'; give an object of settings by name."
        )
    wanted = PerformerSettings().changed(changes).to_dict()
    for name in controller_data(controller):
        setattr(controller, name, wanted[name])
    controller.preset = preset


def state_of(controller: Any) -> tuple[Any, ...]:
    """All of the controller's settings, to see cheaply whether one has changed."""
    speeds = controller.speeds_from_data, *controller.walk, *controller.run, controller.turn_limit
    return *speeds, *(getattr(controller, name) for name in _TAKEN_OVER)


def tuning(obj: bpy.types.Object) -> tuple[Any, ...]:
    """All that `performer_settings` looks at, to see cheaply whether it has changed."""
    settings = obj.motion_matching
    features = settings.features
    return (
        state_of(settings.controller),
        features.responsiveness,
        features.continuity,
        tuple(
            (item.weight, item.kind, item.bone, item.times, item.axes) for item in features.items
        ),
        features.normalization,
        features.beyond_range,
    )


def standing_place(obj: bpy.types.Object) -> Placement:
    """Where an armature stands and what it faces: its turn about Z, however it is tilted."""
    from ..engine.control.performer import Placement

    matrix = obj.matrix_world
    turn = matrix.to_quaternion()
    return Placement(matrix[0][3], matrix[1][3], 2.0 * math.atan2(turn.z, turn.w))


def root_of(obj: bpy.types.Object) -> tuple[RootTarget | None, str]:
    """What is to carry a character over the ground, None to have it found, and the bone that does where it is one."""
    from ..scene.root_target import RootTarget

    settings = obj.motion_matching
    root = None if settings.root == "AUTO" else RootTarget[settings.root]
    return root, settings.root_bone if root is RootTarget.BONE else ""


def on_ground_of(obj: bpy.types.Object, wanted: Performance) -> Performance:
    """A performance on the floor and among the walls that a character has now."""
    from ..scene.ground import ground_of, shown_triangles

    collection = obj.motion_matching.obstacles
    if not collection:
        return wanted
    floor, walls = ground_of(shown_triangles(collection))
    return replace(wanted, floor=floor, walls=walls)
