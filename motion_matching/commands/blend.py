"""The Blender file that a take is written to, of its own or a copy of somebody's."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..engine.errors import SettingsError
from .checks import check_number
from .loading import blender_loading

if TYPE_CHECKING:
    from ..engine.control.contact_ranges import ContactRange
    from ..engine.control.take import Take
    from ..engine.matching.database import Database


def write_blend(
    take: Take, ranges: list[ContactRange], database: Database, arguments: argparse.Namespace
) -> None:
    """Write a take with its contacts as markers."""
    with blender_loading():
        from ..scene import blend_file, contact_markers, onto
        from ..scene.root_target import RootTarget
    root = RootTarget(arguments.root) if arguments.root else None
    hips, fewer_keys = database.role_names["hips"], arguments.fewer_keys or 0.0
    mark = contact_markers.marker(ranges, database.roles.leg_names, take.fps)
    if arguments.onto is None:
        blend_file.save_take(
            take.clip(),
            arguments.output,
            title=take.name,
            root=root,
            hips=hips,
            fewer_keys=fewer_keys,
            obstacles=(take.performance.obstacles, take.performance.walls),
            mark=mark,
        )
        return
    onto.save_onto(
        take.clip(),
        arguments.onto,
        arguments.armature,
        arguments.output,
        title=take.name,
        frame_start=arguments.frame,
        root=root,
        root_bone=arguments.root_bone or "",
        hips=hips,
        fewer_keys=fewer_keys,
        track=arguments.track,
        mark=mark,
    )


def check_blend(arguments: argparse.Namespace) -> None:
    """Say which options on the Blender file do not go together."""
    for option in ("onto", "root", "fewer_keys"):
        if getattr(arguments, option) is not None and not arguments.output:
            raise SettingsError(
                f"--{option.replace('_', '-')} is about the Blender file; ask for it with -o FILE.blend."
            )
    for option in ("armature", "root_bone", "frame", "track", "ground_collection"):
        if getattr(arguments, option) is not None and not arguments.onto:
            raise SettingsError(
                f"--{option.replace('_', '-')} needs --onto FILE.blend; add it, or leave the option out."
            )
    if arguments.root_bone is not None and arguments.root != "bone":
        raise SettingsError(
            "--root-bone names the bone for --root bone; add that, or leave it out."
        )
    if arguments.onto and not arguments.onto.is_file():
        raise SettingsError(
            f"{arguments.onto} does not exist; give the Blender file to put the take onto."
        )
    if arguments.onto and arguments.output.exists() and arguments.output.samefile(arguments.onto):
        raise SettingsError(
            f"-o would replace {arguments.onto}, which --onto only copies; choose another name."
        )
    check_number("--fewer-keys", arguments.fewer_keys, 1e-5, 1.0)
    check_number("--frame", arguments.frame, -1_000_000, 1_000_000)
