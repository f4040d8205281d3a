"""Write a take to a Blender file: a new one, or a copy of a user's file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .. import scene
from ..engine.control.contact_ranges import ContactRange
from ..engine.control.ground import Ground, Wall
from ..engine.control.take import Take
from ..engine.database.database import Database
from ..engine.errors import SettingsError
from ..engine.files import describe_no_file
from .checks import check_number
from .loading import protect_blender_import


def write_blend(
    take: Take, ranges: Sequence[ContactRange], database: Database, arguments: argparse.Namespace
) -> None:
    """Write a take with its contacts as markers."""
    with protect_blender_import():
        take_file, root_target = scene.staging.take_file, scene.rig.root_target
    take_file.write_take(
        take,
        ranges,
        database,
        arguments.output,
        onto=arguments.onto,
        armature=arguments.armature,
        frame_start=arguments.frame,
        root=root_target.RootTarget(arguments.root) if arguments.root else None,
        root_bone=arguments.root_bone or "",
        fewer_keys=arguments.fewer_keys or 0.0,
        track=arguments.track,
    )


def read_ground(arguments: argparse.Namespace) -> tuple[Ground, tuple[Wall, ...]]:
    """Return the floor and the walls of a collection in the Blender file."""
    with protect_blender_import():
        ground = scene.staging.ground
    return ground.read_ground(arguments.onto, arguments.ground_collection, arguments.frame)


def check_blend(arguments: argparse.Namespace) -> None:
    """Check that options on the Blender file go together."""
    for option in ("onto", "root", "fewer_keys"):
        if getattr(arguments, option) is not None and not arguments.output:
            name = option.replace("_", "-")
            raise SettingsError(
                f"--{name} is about the Blender file; ask for it with -o FILE.blend."
            )
    for option in ("armature", "root_bone", "frame", "track", "ground_collection"):
        if getattr(arguments, option) is not None and not arguments.onto:
            name = option.replace("_", "-")
            raise SettingsError(
                f"--{name} needs --onto FILE.blend; add it, or leave the option out."
            )
    if arguments.root_bone is not None and arguments.root != "bone":
        raise SettingsError(
            "--root-bone names the bone for --root bone; add that, or leave it out."
        )
    if arguments.onto and not arguments.onto.is_file():
        raise SettingsError(
            f"{describe_no_file(arguments.onto)}; give the Blender file to put the take onto."
        )
    check_number("--fewer-keys", arguments.fewer_keys, 1e-5, 1.0)
    check_number("--frame", arguments.frame, -1_000_000, 1_000_000)
