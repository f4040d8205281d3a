"""Write a take to a Blender file: a new one, or a copy of a user's file."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from .. import api
from ..api.performing import FloorAndWalls
from ..engine.errors import SettingsError
from ..engine.files.file_paths import describe_no_file
from .checks import check_number, name_option
from .loading import load_blender


def write_blend(
    take: api.Take,
    contacts: Sequence[api.ContactRange],
    database: api.Database,
    arguments: argparse.Namespace,
) -> None:
    """Write a take with its contacts as markers."""
    load_blender()
    given = {name: getattr(arguments, name) for name in ("onto", "armature", "root", "track")}
    api.write_blend(
        take,
        arguments.output,
        database,
        contacts=contacts,
        frame_start=arguments.frame,
        root_bone=arguments.root_bone or "",
        fewer_keys=arguments.fewer_keys or 0.0,
        **given,
    )


def read_ground(arguments: argparse.Namespace) -> FloorAndWalls | None:
    """Return the floor and the walls of a collection in the Blender file, if one is named."""
    if not arguments.ground_collection:
        return None
    load_blender()
    return api.read_ground(arguments.onto, arguments.ground_collection, frame_start=arguments.frame)


def check_blend(arguments: argparse.Namespace) -> None:
    """Check that options on the Blender file go together."""
    for option in ("onto", "root", "fewer_keys"):
        if getattr(arguments, option) is not None and not arguments.output:
            text = f"{name_option(option)} is about the Blender file"
            raise SettingsError(f"{text}; ask for it with -o FILE.blend.")
    for option in ("armature", "root_bone", "frame", "track", "ground_collection"):
        if getattr(arguments, option) is not None and not arguments.onto:
            text = f"{name_option(option)} needs --onto FILE.blend"
            raise SettingsError(f"{text}; add it, or leave the option out.")
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
