"""What a database is built from, out of Blender files: the actions of an armature as clips."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import bpy

from ..engine.errors import MotionDataError, SettingsError
from ..engine.matching.sources import Source
from ..engine.silence import silent
from . import actions
from .sampling import Sampled, sample
from .tag_markers import tags_of_clip


def read_blend_sources(
    sources: Sequence[Source],
    *,
    armature: str | None = None,
    chosen: Sequence[str] = (),
    bones: str | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> tuple[list[Source], list[str]]:
    """Sources in which each Blender file is replaced by one source per action, and a sentence on each file.

    Markers of tags on an action are tags of its source.

    `armature` and the `chosen` actions are meant where a source names none itself; without any, the file's only
    armature, and all actions that animate it. `bones` as for `armature.skeleton_of`. The file that is open gives way
    to those that are read. SettingsError where an armature or action is not there or has to be named and where markers of
    tags do not pair up, MotionDataError where a file cannot be opened, and what sampling raises.
    """
    found: dict[int, list[Source]] = {}
    notes = []
    files = list(dict.fromkeys(source.file for source in sources if source.in_blender))
    for number, file in enumerate(files):
        if progress:
            progress("Reading Blender files", number / len(files))
        open_blend(file)
        for index, source in enumerate(sources):
            if source.in_blender and source.file == file:
                obj = armature_in(file, source.armature or armature)
                wanted = (source.action,) if source.action else tuple(chosen)
                taken = _actions(file, obj, wanted)
                samples = sample(obj, taken, bones=bones)
                found[index] = [
                    replace(
                        source,
                        clip=s.clip,
                        loop=source.loop or s.cyclic,
                        tags=source.tags + tags_of_clip(action, s.first),
                    )
                    for action, s in zip(taken, samples, strict=True)
                ]
                notes.append(_note(file, obj.name, samples))
    replaced = [found.get(index, [source]) for index, source in enumerate(sources)]
    return [source for several in replaced for source in several], notes


def open_blend(file: Path) -> None:
    """Open a Blender file in place of the one that is open. MotionDataError where that fails."""
    with silent():
        try:
            bpy.ops.wm.open_mainfile(filepath=str(file.absolute()), load_ui=False)
        except RuntimeError as error:
            raise MotionDataError(
                f"{file} cannot be opened by this Blender; give a Blender file of its version or an "
                "older one."
            ) from error


def armature_in(file: Path, name: str | None) -> bpy.types.Object:
    """The open file's armature object of that name, or its only one. SettingsError where there is none or a choice."""
    armatures = [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]
    if not armatures:
        raise SettingsError(f"{file} has no armature; give a Blender file with a character.")
    named = [obj for obj in armatures if name in (obj.name, None)]
    if not named:
        raise SettingsError(f"{file} has no armature '{name}'; it has {_listed(armatures)}.")
    if len(named) > 1:
        raise SettingsError(
            f"{file} has {len(named)} armatures{' of that name' if name else ''}, {_listed(named)}; "
            "choose one with --armature, or with 'armature' in a list of sources."
        )
    return named[0]


def _actions(file: Path, obj: bpy.types.Object, names: Sequence[str]) -> list[bpy.types.Action]:
    """The actions of these names, or all that animate the armature."""
    if not names:
        every = actions.actions_of(obj)
        if not every:
            raise SettingsError(
                f"{file} has no action that moves the bones of armature '{obj.name}'; "
                "choose another armature."
            )
        return every
    missing = [name for name in names if name not in bpy.data.actions]
    if missing:
        theirs = actions.actions_of(obj)
        raise SettingsError(
            f"{file} has no action '{missing[0]}'; "
            + (f"armature '{obj.name}' has {_listed(theirs)}." if theirs else "check its name.")
        )
    return [bpy.data.actions[name] for name in names]


def _listed(blocks: Iterable[bpy.types.ID], most: int = 8) -> str:
    names = [f"'{block.name}'" for block in blocks]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _note(file: Path, armature: str, samples: Sequence[Sampled]) -> str:
    """Which actions were read, and how: those that had to be evaluated, with the first one's reason."""
    evaluated = [s for s in samples if s.evaluated_because]
    count = f"{len(samples)} action{'' if len(samples) == 1 else 's'}"
    way = "read from curves"
    if evaluated:
        which = (
            "evaluated" if len(evaluated) == len(samples) else f"{len(evaluated)} of them evaluated"
        )
        way = f"{which}, for {evaluated[0].evaluated_because}"
    cycles = sum(s.cyclic for s in samples)
    return f"{file}: {count} of armature '{armature}', {way}{f', {cycles} as loops' if cycles else ''}."
