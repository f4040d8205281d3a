"""Performing with a database: a session whose character is an armature. Tuning does without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import bpy

from ...engine.control.method import Ideal, Method
from ...engine.control.performer import Placement
from ...engine.database.database import Database
from ...engine.errors import MotionMatchingError, RigError
from ...engine.field.field_controller import get_field_controller
from ...engine.ground.ground import Ground
from ...engine.performance.settings import PerformerSettings
from ...engine.progress import run_to_end
from ...engine.takes.performers import create_performer
from ...live.inputs.base import Input, Start
from ...live.inputs.devices.devices import Device
from ...live.inputs.devices.keyboard import Keyboard
from ...live.session import Session
from ...scene.blender.animation.actions import get_scene_fps
from ...scene.controls.live.control_writer import ControlWriter
from ...scene.reading.moving_pose import PoseReader, is_at_rest
from ...scene.rig.root_target import RootTarget
from ...scene.staging.marker_writer import MarkerWriter
from ...scene.writing.pose_writer import PoseWriter
from ..character import controls
from ..character.characters import get_armature, get_placement, get_root_target
from ..controller.training import ChosenMethod
from ..database.build import load_or_build_steps
from ..database.content import content_steps
from ..database.stored_databases import find_database
from ..insight.data_insight import map_database_steps
from ..property_access import settings_of
from ..settings import get_performer_settings, read_ground
from ..steps import Steps, run_in_background_steps
from . import host, steering

Source = Input | Callable[[Ground], Input]


def prepare_steps(obj: bpy.types.Object) -> Steps[tuple[Database, Method, PerformerSettings]]:
    """Return what a session plays: the database, built if need be, method and settings."""
    uid = obj.session_uid
    database = yield from load_or_build_steps(obj, trusts_status=not bpy.app.background)
    shown = settings_of(get_armature(uid))
    if shown.play.show_map:
        yield from map_database_steps(uid, shown.built_key, database)
    obj = get_armature(uid)
    settings = get_performer_settings(obj, database)
    chosen = ChosenMethod.from_object(obj)
    method = yield from run_in_background_steps(
        lambda _: chosen.create_method(database, settings), "Preparing"
    )
    return database, method, settings


def start(
    obj: bpy.types.Object,
    database: Database,
    method: Method,
    settings: PerformerSettings,
    keyboard: Keyboard,
    source: Source,
    now: float,
) -> host.LiveSession:
    """Begin a session on an armature that an input steers, or an input that is made for its ground.

    A session that runs is ended before. Errors leave all as it was.
    """

    def create() -> host.LiveSession:
        ground, walls = read_ground(obj)
        writer, reader = create_writer(obj, database)
        leader = source(ground) if callable(source) else source
        performer = create_performer(method, settings, ground)
        has_controls = isinstance(writer, ControlWriter)
        origin = read_origin(obj, reader, database.fps, has_controls=has_controls)
        session = Session(performer, leader, writer, walls=walls, origin=origin)
        live = host.LiveSession(obj, session, keyboard, database, walls, reader)
        live.field = get_field_controller(method)
        if live.field:
            session.adapt_intent = live.field.adapt_intent
            session.method_name = live.field.name
        return live

    return host.begin(obj, create, now)


def create_writer(
    obj: bpy.types.Object, database: Database
) -> tuple[PoseWriter | ControlWriter, PoseReader]:
    """Return what shows poses on an armature, on its controls if it has some, and reads them."""
    if rig := controls.find_rig(obj):
        writer = controls.create_writer(obj, rig, database.skeleton)
        return writer, PoseReader(obj, database, root=RootTarget.HIPS)
    root, root_bone = get_root_target(obj)
    poses = PoseWriter(
        obj,
        database.skeleton,
        root=root,
        root_bone=root_bone,
        hips=database.role_names["hips"],
        collection=settings_of(obj).play.collection,
    )
    return poses, PoseReader(obj, database, root=root, root_bone=root_bone)


def read_origin(
    obj: bpy.types.Object, reader: PoseReader, fps: float, *, has_controls: bool = False
) -> Start | None:
    """Return the pose, the place and the motion of an armature at the current frame.

    None for one at rest that plays nothing, or that its animation hides.
    """
    if is_at_rest(obj, has_controls=has_controls):
        return None
    scene = bpy.context.scene
    try:
        place, state = reader.read_start(obj, scene.frame_float, get_scene_fps(scene) / fps)
    except RigError:
        return None
    return Start(Placement(*place), state=state)


def start_tuning(
    obj: bpy.types.Object, keyboard: Keyboard, others: Sequence[Device], now: float
) -> host.LiveSession:
    """Begin a session of the simulation object alone, where an armature stands, with its settings.

    That is to feel speeds and halflives, without a database: an empty moves, and a recording leaves
    it as a path with its performance. Errors leave all as it was.
    """

    def create() -> host.LiveSession:
        fps = get_scene_fps(bpy.context.scene)
        database = None
        with suppress(MotionMatchingError):  # there is nothing to build one from
            database = find_database(obj, run_to_end(content_steps(obj.session_uid)))
        settings = get_performer_settings(obj, database)
        ground, walls = read_ground(obj)
        play = settings_of(obj).play
        source = steering.create_input(play, keyboard, others, settings, fps, ground)
        writer = MarkerWriter(host.PATH_NAME, get_placement(obj))
        performer = create_performer(Ideal(fps), settings, ground)
        session = Session(performer, source, writer, walls=walls)
        live = host.LiveSession(obj, session, keyboard, None, walls)
        live.speeds_database = database
        return live

    return host.begin(obj, create, now)
