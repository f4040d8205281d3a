"""`build`: build a database from motion capture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from .. import scene
from ..engine import files
from ..engine.body import axes, rig
from ..engine.control.ground import FLAT
from ..engine.database import database as databases
from ..engine.database import postures, retagging
from ..engine.database import tags as tagging
from ..engine.database.build import BuildSettings, build
from ..engine.database.database import Database
from ..engine.database.features import load_schema
from ..engine.database.missing_motion import find_missing_motion
from ..engine.database.postures import OddPosture
from ..engine.database.published_build import build_as
from ..engine.database.sources import (
    BLEND,
    GroundObject,
    Source,
    choose_character,
    find_sources,
    get_ending,
)
from ..engine.database.thresholds import AutoTagSettings
from ..engine.errors import SettingsError
from ..engine.motion import contacts, simulation_bone
from ..engine.motion.demo_clips import load_standing
from . import published
from .checks import check_number, check_targets, name_paths
from .loading import check_blender, protect_blender_import
from .output import Output, say_warnings
from .values import parse_numbers
from .writing import write_together

_STANDING = (tagging.TagRange("idle"),)
_TARGETS = {"output": (".npz",), "save_tags": (".json",)}


def run(arguments: argparse.Namespace, out: Output) -> None:
    """Read the sources, build and write the database, and report what was left out."""
    check_number("--fps", arguments.fps, 1, 1000)
    check_number("--speed", arguments.speed, 0.1, 10)
    read = [("the build", path) for path in arguments.sources]
    read += name_paths(arguments, "rig", "tags", "features")
    check_targets(arguments, _TARGETS, read)
    settings = BuildSettings(
        fps=arguments.fps,
        speed=arguments.speed,
        mirror=arguments.mirror,
        tempo=arguments.tempo,
        roles=rig.read_roles(arguments.rig) if arguments.rig else {},
        auto_tags=_read_auto_tags(arguments),
        up=arguments.up,
        forward=arguments.forward,
        scale=arguments.scale,
        keep_frames=arguments.keep_frames,
        keep_floor=arguments.keep_floor,
    )
    settings = _choose_presets(settings, arguments)
    sources = find_sources(arguments.sources)
    if arguments.character:
        sources = choose_character(sources, arguments.character)
    read = [("the build", source.file) for source in sources]
    files.check_clashes(read, name_paths(arguments, *_TARGETS))
    sources, notes = _read_blend_sources(_give_grounds(sources, arguments), arguments, out)
    sources = _read_grounds(sources)
    if arguments.tags:
        sources = tagging.assign_tags(sources, tagging.load_tags(arguments.tags))
    tags = tagging.collect_tags(sources) if arguments.save_tags else {}
    if arguments.add_standing:
        standing = Source(clip=load_standing(), tags=_STANDING, built_in=True)
        sources.append(replace(standing, mirror=True, tempo=False))
    database, report = build(sources, settings, out.show_progress)
    unplayed = _list_left_out(database) if arguments.leave_out else []
    if unplayed:
        database = retagging.exclude(database, database.odd_frames)
    out.show_progress("Saving")
    with write_together(arguments, *_TARGETS) as written:
        if written.save_tags:
            all_tags = {
                clip: tags[clip] + report.proposed.get(clip, ()) + _tag_left_out(clip, unplayed)
                for clip in tags
            }
            tagging.save_tags(all_tags, written.save_tags)
        databases.save(database, written.output)
    for note in notes:
        out.say(note)
    for left_out in report.skipped:
        out.say(f"Left out {left_out.source}: {left_out.text}.")
    if count := len(report.mapped):
        parts = ", ".join(dict.fromkeys(note.text for note in report.mapped))
        noun = "source" if count == 1 else "sources"
        out.say(f"Retargeted {count} {noun} of other skeletons: {parts} parts of the body.")
    for fault in report.warnings:
        if fault.kind == "body":
            out.say(f"Needs help: {fault.text}")
    told = (
        note._replace(text=axes.add_options(note.text))
        for note in report.warnings
        if note.kind != "body"
    )
    say_warnings((*told, *find_missing_motion(database)), out)
    clips = sum(not r.mirrored and not r.is_copy for r in database.ranges)
    mirrored = ", mirrored too" if any(r.mirrored for r in database.ranges) else ""
    mirrored += ", at other tempos too" if any(r.is_copy for r in database.ranges) else ""
    out.say(
        f"{arguments.output}: {database.frame_count} frames ({database.seconds:.0f} s at "
        f"{database.fps:g} fps) of {clips} clip{'' if clips == 1 else 's'}{mirrored}, "
        f"{database.skeleton.bone_count} bones, {database.schema.dimensions} feature dimensions."
    )
    published.tell_differences(arguments, database, out)
    if unplayed:
        out.say(f"Left out odd postures: {postures.summarize(unplayed)}.")
    if odd := postures.find_odd_postures(database):
        out.say(postures.describe(odd))


def _list_left_out(database: Database) -> list[OddPosture]:
    """Return the odd postures of gaits that have others."""
    left = database.odd_frames
    return [
        each for each in postures.find_odd_postures(database) if left[each.start : each.stop].any()
    ]


def _tag_left_out(clip: str, odd: Sequence[OddPosture]) -> tuple[tagging.TagRange, ...]:
    """Return the tags of a clip that leave its odd postures out."""
    return tuple(
        tagging.TagRange(tagging.NO_USE, each.first, each.last) for each in odd if each.clip == clip
    )


def _choose_presets(settings: BuildSettings, arguments: argparse.Namespace) -> BuildSettings:
    """Return settings with the presets that the arguments name, before those of an article."""
    if chosen := published.find_set(arguments):
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


def _read_blend_sources(
    sources: list[Source], arguments: argparse.Namespace, out: Output
) -> tuple[list[Source], list[str]]:
    """Read the sources that Blender reads; return all sources, and notes for the user."""
    read = [source.file for source in sources if source.needs_blender]
    if not any(get_ending(file) == BLEND for file in read):
        for option in ("armature", "actions", "bones"):
            if getattr(arguments, option):
                text = f"--{option} belongs to .blend files, and none is given; leave it out."
                raise SettingsError(text)
    if not read:
        return sources, []
    check_blender(read[0], "build")
    with protect_blender_import():
        blend_sources = scene.reading.blend_sources
    return blend_sources.read_blend_sources(
        sources,
        armature=arguments.armature,
        chosen=[name for name in arguments.actions.split(",") if name],
        bones=arguments.bones,
        progress=out.show_progress,
    )


def _give_grounds(sources: list[Source], arguments: argparse.Namespace) -> list[Source]:
    """Return sources with the ground of the arguments, if they have none of their own."""
    name = arguments.ground_object
    if name is not None and arguments.level_ground:
        raise SettingsError(
            "--ground-object and --level-ground are two grounds for one clip; leave one out."
        )
    if name is None and not arguments.level_ground:
        return sources
    given = []
    for source in sources:
        is_in_blend = get_ending(source.file) == BLEND
        if name is not None and source.file and is_in_blend and source.ground is None:
            source = replace(source, ground=GroundObject(source.file, name))
        elif arguments.level_ground and source.ground is None:
            source = replace(source, ground=FLAT)
        given.append(source)
    if name is not None and not any(get_ending(source.file) == BLEND for source in sources):
        raise SettingsError(
            "--ground-object is in the .blend file of a clip, and no such file is given; name "
            "file and object in a source list."
        )
    return given


def _read_grounds(sources: list[Source]) -> list[Source]:
    """Return sources with the grounds that Blender has to read."""
    grounds = [one.ground for one in sources if isinstance(one.ground, GroundObject)]
    if not grounds:
        return sources
    check_blender(grounds[0].file, "build")
    with protect_blender_import():
        source_grounds = scene.staging.source_grounds
    return source_grounds.read_grounds(sources)


def _read_auto_tags(arguments: argparse.Namespace) -> AutoTagSettings | None:
    """Return the settings of automatic tags, if these are requested."""
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
