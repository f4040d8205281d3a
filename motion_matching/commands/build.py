"""`build`: build a database from motion capture."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ..api.databases import Built, build_with_report
from ..api.directing import open_director
from ..api.motion import list_sources
from ..engine.body import axes, rig
from ..engine.building.build import BuildSettings
from ..engine.building.missing_motion import find_missing_motion
from ..engine.building.published_build import build_as
from ..engine.database import database as databases
from ..engine.database.database import Database
from ..engine.database.features.features import load_schema
from ..engine.database.tags import tags as tagging
from ..engine.database.tags.tags import parse_names
from ..engine.database.tags.thresholds import AutoTagSettings
from ..engine.direct.footage.jump_table import can_keep_table, get_table_path
from ..engine.errors import SettingsError
from ..engine.facts import postures
from ..engine.files import file_paths
from ..engine.ground.ground import FLAT
from ..engine.motion import contacts, simulation_bone
from ..engine.sources.sources import (
    BLEND,
    GroundObject,
    Source,
    assign_tags,
    collect_tags,
    find_sources,
    get_ending,
)
from .checks import check_number, check_targets, name_paths, write_together
from .loading import check_blender, find_set, load_blender, tell_differences
from .output import Output, say_warnings
from .values import parse_numbers

_SETTINGS = (
    *("fps", "speed", "mirror", "tempo", "up", "forward", "scale", "keep_frames", "keep_floor"),
)
_TARGETS = {"output": ".npz", "save_tags": ".json"}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Read the sources, build and write the database, and report omissions."""
    check(arguments)
    settings = _make_settings(arguments)
    listed = find_sources(arguments.sources)
    read = [("the build", source.file) for source in listed]
    file_paths.check_clashes(read, name_paths(arguments, *_TARGETS))
    listed = _give_grounds(listed, arguments)
    _check_blender(listed, arguments)
    sources, notes = list_sources(
        listed,
        armature=arguments.armature,
        actions=parse_names(arguments.actions),
        bones=arguments.bones,
        character=arguments.character,
        progress=out.show_progress,
    )
    if arguments.tags:
        sources = assign_tags(sources, tagging.load_tags(arguments.tags))
    tags = collect_tags(sources) if arguments.save_tags else {}
    built = build_with_report(
        sources,
        settings,
        add_standing=arguments.add_standing,
        leave_out=arguments.leave_out,
        progress=out.show_progress,
    )
    out.show_progress("Saving")
    with write_together(arguments, *_TARGETS) as written:
        if written.save_tags:
            all_tags = {
                clip: own + built.report.proposed.get(clip, ()) + _tag_left_out(clip, built)
                for clip, own in tags.items()
            }
            tagging.save_tags(all_tags, written.save_tags)
        if arguments.jumps:
            open_director(
                built.database, get_table_path(arguments.output), progress=out.show_progress
            )
        databases.save(built.database, written.output)
    for note in notes:
        out.say(note)
    _say_report(built, out)
    out.say(f"{arguments.output}: {_summarize(built.database)}")
    tell_differences(arguments, built.database, out)
    if built.left_out:
        out.say(f"Left out odd postures: {postures.summarize(built.left_out)}.")
    if odd := postures.find_odd_postures(built.database):
        out.say(postures.describe(odd))


def check(arguments: argparse.Namespace) -> None:
    """Raise SettingsError for arguments that are wrong without a look at the data."""
    check_number("--fps", arguments.fps, 1, 1000)
    check_number("--speed", arguments.speed, 0.1, 10)
    read = [("the build", path) for path in arguments.sources]
    read += name_paths(arguments, "rig", "tags", "features")
    check_targets(arguments, _TARGETS, read)
    if arguments.jumps and not can_keep_table(path := get_table_path(arguments.output)):
        raise SettingsError(f"{path} is no table of jumps, and would be replaced; rename it.")
    _make_settings(arguments)


def _make_settings(arguments: argparse.Namespace) -> BuildSettings:
    """Return the settings of the build; presets come before those of an article."""
    given = {name: getattr(arguments, name) for name in _SETTINGS}
    roles = rig.read_roles(arguments.rig) if arguments.rig else {}
    settings = BuildSettings(roles=roles, auto_tags=_read_auto_tags(arguments), **given)
    if chosen := find_set(arguments):
        settings = build_as(settings, chosen)
    if arguments.features:
        settings = replace(settings, schema=load_schema(arguments.features))
    if arguments.simulation_bone:
        bone = simulation_bone.PRESETS.get(arguments.simulation_bone)
        by_root = simulation_bone.SimulationBoneSettings(source="root")
        settings = replace(settings, simulation_bone=bone or by_root)
    if arguments.contacts:
        settings = replace(settings, contacts=contacts.PRESETS[arguments.contacts])
    return settings


def _say_report(built: Built, out: Output) -> None:
    """Print omitted and retargeted sources, and possible flaws of the database."""
    report = built.report
    for left_out in report.skipped:
        out.say(f"Left out {left_out.source}: {left_out.text}.")
    if count := len(report.mapped):
        parts = ", ".join(dict.fromkeys(note.text for note in report.mapped))
        noun = "source" if count == 1 else "sources"
        out.say(f"Retargeted {count} {noun} of other skeletons: {parts} parts of the body.")
    for fault in report.warnings:
        if fault.kind == "body":
            out.say(f"Needs help: {fault.text}")
    others = [
        note._replace(text=axes.add_options(note.text))
        for note in report.warnings
        if note.kind != "body"
    ]
    say_warnings((*others, *find_missing_motion(built.database)), out)


def _summarize(database: Database) -> str:
    clips = sum(not r.mirrored and not r.is_copy for r in database.ranges)
    also = ", mirrored too" if any(r.mirrored for r in database.ranges) else ""
    also += ", at other tempos too" if any(r.is_copy for r in database.ranges) else ""
    return (
        f"{database.frame_count} frames ({database.seconds:.0f} s at {database.fps:g} fps) of "
        f"{clips} clip{'' if clips == 1 else 's'}{also}, {database.skeleton.bone_count} bones, "
        f"{database.schema.dimensions} feature dimensions."
    )


def _tag_left_out(clip: str, built: Built) -> tuple[tagging.TagRange, ...]:
    """Return the tags of a clip that leave its odd postures out."""
    odd = (posture for posture in built.left_out if posture.clip == clip)
    return tuple(tagging.TagRange(tagging.NO_USE, each.first, each.last) for each in odd)


def _give_grounds(sources: Sequence[Source], arguments: argparse.Namespace) -> list[Source]:
    """Return sources, giving the ground of the arguments to sources without any."""
    name = arguments.ground_object
    if name is None:
        ground = FLAT if arguments.level_ground else None
        return [replace(source, ground=source.ground or ground) for source in sources]
    if arguments.level_ground:
        raise SettingsError(
            "--ground-object and --level-ground are two grounds for one clip; leave one out."
        )
    if not _has_blend(sources):
        raise SettingsError(
            "--ground-object is in the .blend file of a clip, and no such file is given; name "
            "file and object in a source list."
        )
    return [
        replace(source, ground=GroundObject(source.file, name))
        if source.file and source.ground is None and get_ending(source.file) == BLEND
        else source
        for source in sources
    ]


def _check_blender(sources: Sequence[Source], arguments: argparse.Namespace) -> None:
    """Check options on Blender files, and load Blender if sources or their grounds need it."""
    if not _has_blend(sources):
        for option in ("armature", "actions", "bones"):
            if getattr(arguments, option):
                text = f"--{option} belongs to .blend files, and none is given; leave it out."
                raise SettingsError(text)
    needed = [source.file for source in sources if source.needs_blender]
    needed += [one.ground.file for one in sources if isinstance(one.ground, GroundObject)]
    if needed:
        check_blender(needed[0], "build")
        load_blender()


def _has_blend(sources: Iterable[Source]) -> bool:
    return any(get_ending(source.file) == BLEND for source in sources)


def _read_auto_tags(arguments: argparse.Namespace) -> AutoTagSettings | None:
    if not arguments.auto_tags:
        if arguments.changes:
            text = f"--set {arguments.changes[0]} changes --auto-tags; add it, or leave this out."
            raise SettingsError(text)
        return None
    changes = {}
    for text in arguments.changes:
        name, _, value = text.partition("=")
        changes[name], *more = parse_numbers(text, value)
        if more:
            raise SettingsError(f"--set {name} takes one number, not {len(more) + 1}; give one.")
    return AutoTagSettings().with_changes(changes)
