"""Actions of armatures in files that Blender reads, as clips that a database is built from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import bpy

from ...engine.errors import SettingsError
from ...engine.sources.sources import BLEND, Source, get_ending
from ..blender.animation import actions
from ..blender.files import find_armature, find_named, format_names, open_blend
from .imports import choose_if_several, import_clips
from .markers import read_clip_tags
from .sampling import SampledClip, sample


def read_blend_sources(
    sources: Sequence[Source],
    *,
    armature: str | None = None,
    chosen: Sequence[str] = (),
    bones: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> tuple[list[Source], list[str]]:
    """Replace each source that Blender reads by one source per action, with its tag markers.

    Returns the sources, and a sentence about each file. A Blender file is opened in place of the
    one that is open. `armature` and the `chosen` actions count where a source names none itself; by
    default they are the file's only armature, and all actions that animate it. `bones` is as for
    `read_skeleton`. Raises SettingsError if an armature or action is missing or has to be named, or
    if tag markers do not pair up; MotionDataError if a file cannot be opened or imported; and what
    sampling raises.
    """
    replacements: dict[int, list[Source]] = {}
    notes = []
    files = list(dict.fromkeys(source.file for source in sources if source.needs_blender))
    for number, file in enumerate(files):
        if progress:
            progress("Reading Blender files", number / len(files))
        if get_ending(file) == BLEND:
            open_blend(file)
        for index, source in enumerate(sources):
            if not (source.needs_blender and source.file == file):
                continue
            if get_ending(file) == BLEND:
                obj = find_armature(file, source.armature or armature)
                names = (source.action,) if source.action else tuple(chosen)
                found = find_chosen_actions(file, obj, names)
                samples = sample(obj, found, bones=bones)
                replacements[index] = list(map(partial(_fill_source, source), found, samples))
                notes.append(_summarize(file, obj.name, samples))
            else:
                choose = partial(choose_if_several, file, source.character or "")
                clips = import_clips(file, choose)
                replacements[index] = [replace(source, clip=clip) for clip in clips]
                notes.append(f"{file}: {_format_count(len(clips))}, imported.")
    lists = [replacements.get(index, [source]) for index, source in enumerate(sources)]
    return [source for several in lists for source in several], notes


def _fill_source(source: Source, action: bpy.types.Action, sampled: SampledClip) -> Source:
    tags = source.tags + read_clip_tags(action, sampled.first)
    return replace(source, clip=sampled.clip, loop=source.loop or sampled.cyclic, tags=tags)


def find_chosen_actions(
    file: Path, obj: bpy.types.Object, names: Sequence[str]
) -> list[bpy.types.Action]:
    """Return the actions of these names, or all that animate the armature.

    Raises SettingsError, which names the file, if there are none.
    """
    animating = actions.find_actions(obj)
    # of several actions of one name, as linked ones may have it, one that moves the armature
    found = {n: find_named(animating, n) or find_named(bpy.data.actions, n) for n in names}
    missing = next((name for name in names if not found[name]), None)
    if names and missing is None:
        return [found[name][0] for name in names]
    if missing is not None:
        has = f"armature '{obj.name}' has {format_names(animating)}" if animating else ""
        raise SettingsError(f"{file} has no action '{missing}'; {has or 'check its name'}.")
    if not animating:
        raise SettingsError(
            f"{file} has no action that moves bones of armature '{obj.name}'; choose another."
        )
    return animating


def _summarize(file: Path, armature: str, samples: Sequence[SampledClip]) -> str:
    """Say which actions were read, and how; if some were evaluated, with the first reason."""
    evaluated = [s.evaluated_because for s in samples if s.evaluated_because]
    way = "read from curves"
    if evaluated:
        part = "" if len(evaluated) == len(samples) else f"{len(evaluated)} of them "
        way = f"{part}evaluated, for {evaluated[0]}"
    count = _format_count(len(samples))
    cycles = sum(s.cyclic for s in samples)
    loops = f", {cycles} as loops" if cycles else ""
    return f"{file}: {count} of armature '{armature}', {way}{loops}."


def _format_count(actions: int) -> str:
    return f"{actions} action{'' if actions == 1 else 's'}"
