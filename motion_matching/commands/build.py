"""`build`: motion capture into a database."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from ..engine.errors import SettingsError
from .checks import check_number, check_target
from .loading import blender_loading, check_blender
from .values import numbers_of

if TYPE_CHECKING:
    from ..engine.matching.sources import Source
    from ..engine.matching.thresholds import AutoTagSettings
    from .output import Output

_MOST_WARNINGS = 8


def build_command(arguments: argparse.Namespace, out: Output) -> None:
    """Read the sources, build and write the database, and say what was left out."""
    from ..engine.matching import database as databases
    from ..engine.matching.build import BuildSettings, build
    from ..engine.matching.features import load_schema
    from ..engine.matching.sources import find_sources
    from ..engine.matching.tags import load_tags, save_tags, tags_by_clip, with_tags
    from ..engine.motion import contacts, simulation_bone

    check_number("--fps", arguments.fps, 1, 1000)
    check_number("--speed", arguments.speed, 0.1, 10)
    check_target(arguments.output, ".npz")
    check_target(arguments.save_tags, ".json")
    bone = simulation_bone.PRESETS.get(arguments.simulation_bone)
    settings = BuildSettings(
        fps=arguments.fps,
        speed=arguments.speed,
        mirror=arguments.mirror,
        schema=load_schema(arguments.features),
        simulation_bone=bone or simulation_bone.SimulationBoneSettings(source="root"),
        contacts=contacts.PRESETS[arguments.contacts],
        roles=_roles(arguments.rig),
        auto_tags=_auto_tags(arguments),
        up=arguments.up,
        forward=arguments.forward,
        scale=arguments.scale,
    )
    sources, notes = _read_in_blender(find_sources(arguments.sources), arguments, out)
    if arguments.tags:
        sources = with_tags(sources, load_tags(arguments.tags))
    tags = tags_by_clip(sources) if arguments.save_tags else {}
    database, report = build(sources, settings, out.progress)
    out.progress("Saving")
    if arguments.save_tags:
        save_tags(
            {clip: tags[clip] + report.proposed.get(clip, ()) for clip in tags}, arguments.save_tags
        )
    databases.save(database, arguments.output)
    for note in notes:
        out.say(note)
    for name, reason in report.skipped:
        out.say(f"Left out {name}: {reason}.")
    for warning in report.warnings[:_MOST_WARNINGS]:
        out.say(f"Warning: {warning}{'' if warning.endswith('.') else '.'}")
    if len(report.warnings) > _MOST_WARNINGS:
        out.say(
            f"Warning: there are {len(report.warnings) - _MOST_WARNINGS} more warnings like these."
        )
    clips = sum(not r.mirrored for r in database.ranges)
    mirrored = ", mirrored too" if len(database.ranges) > clips else ""
    out.say(
        f"{arguments.output}: {database.frame_count} frames ({database.seconds:.0f} s at {database.fps:g} fps) of "
        f"{clips} clip{'' if clips == 1 else 's'}{mirrored}, {database.skeleton.bone_count} bones, "
        f"{database.schema.dimensions} feature dimensions."
    )


def _read_in_blender(
    sources: list[Source], arguments: argparse.Namespace, out: Output
) -> tuple[list[Source], list[str]]:
    """The sources with those in Blender files read, and what there is to say about these."""
    files = [source.file for source in sources if source.in_blender]
    if not files:
        for option in ("armature", "actions", "bones"):
            if getattr(arguments, option):
                raise SettingsError(
                    f"--{option} belongs to .blend files, and none is given; leave it out."
                )
        return sources, []
    check_blender(files[0], "build")
    with blender_loading():
        from ..scene import blend_sources
    return blend_sources.read_blend_sources(
        sources,
        armature=arguments.armature,
        chosen=[name for name in arguments.actions.split(",") if name],
        bones=arguments.bones,
        progress=out.progress,
    )


def _auto_tags(arguments: argparse.Namespace) -> AutoTagSettings | None:
    """When frames are tagged as what, where that is asked for."""
    from ..engine.matching.thresholds import AutoTagSettings

    if not arguments.auto_tags:
        if arguments.thresholds:
            raise SettingsError(
                f"--set {arguments.thresholds[0]} changes --auto-tags; add it, or leave this out."
            )
        return None
    changes = {}
    for text in arguments.thresholds:
        name, _, value = text.partition("=")
        changes[name], *more = numbers_of(text, value)
        if more:
            raise SettingsError(f"--set {name} takes one number, not {len(more) + 1}; give one.")
    return AutoTagSettings().changed(changes)


def _roles(path: Path | None) -> dict[str, str]:
    """Bone names by role from a JSON file."""
    if path is None:
        return {}
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as cause:
        raise SettingsError(
            f"The rig file {path} cannot be read ({cause.strerror}); check its name."
        ) from cause
    except ValueError as cause:
        raise SettingsError(f"The rig file {path} is not JSON ({cause}); correct it.") from cause
    if not isinstance(data, dict) or not all(isinstance(bone, str) for bone in data.values()):
        raise SettingsError(
            f'The rig file {path} must hold bone names by role, such as {{"hips": "Pelvis"}}.'
        )
    return data
