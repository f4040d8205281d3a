"""Read the skeletons of sources, and compare them with the character's. Files are read up to their
motion.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np

from ...engine.body import rig
from ...engine.bvh import bvh
from ...engine.errors import RigError
from ...engine.skeleton.skeleton import Skeleton
from ...scene.rig.armature import (
    compute_rest_frame,
    read_rest_bytes,
    read_skeleton,
    to_blender_names,
)
from ...scene.rig.bone_choice import choose_bones
from ...scene.rig.fitting import ArmatureState, find_misfit
from ..character.characters import get_bone_choice, get_roles
from ..property_access import armature_of, settings_of
from ..runtime import runtime
from ..sources.source_files import find_file, get_reading
from ..strip.warnings import format_names


def read_file_skeleton(source: Any) -> Skeleton:
    """Read the skeleton of a source in a BVH file, once for each version of it."""
    known: dict[Any, Skeleton] = runtime.known["skeletons"]
    file = find_file(source) or Path()
    reading = get_reading(source)
    stat = file.stat()
    version = str(file), stat.st_size, stat.st_mtime_ns, *reading.values()
    if version not in known:
        known[version] = bvh.load_skeleton(file, **reading)
    return known[version]


def read_source_skeleton(obj: bpy.types.Object, source: Any) -> Skeleton:
    """Read the skeleton of a source: of its file, or of the armature that its action moves."""
    if source.kind == "FILE":
        return read_file_skeleton(source)
    return read_own_skeleton(source.performer or obj)


def read_own_skeleton(obj: bpy.types.Object) -> Skeleton:
    """Read the skeleton of a character. Raises RigError as `read_skeleton` does."""
    return read_skeleton(obj, get_bone_choice(obj))


def read_own_hierarchy(obj: bpy.types.Object) -> frozenset[tuple[str, str]]:
    """Return the bones that actions are read with, as `get_hierarchy` does; none if it has none.

    Nothing is evaluated, which Blender would report as a change.
    """
    try:
        names, parents = choose_bones(obj, get_bone_choice(obj))
    except RigError:  # which the panel Character reports
        return frozenset()
    above = (names[parent] if parent >= 0 else "" for parent in parents.tolist())
    return frozenset(zip(names, above, strict=True))


def find_difference(obj: bpy.types.Object, source: Any) -> tuple[str, str]:
    """Return how the skeleton of a file among the sources differs from the armature's, and in what.

    It is 'bones', 'size' or 'rest'; nothing if it plays on the armature as it is.
    """
    skeleton = read_file_skeleton(source)
    if missing := _find_missing_bones(obj, skeleton):
        return "bones", format_names([f"'{name}'" for name in missing], 1)
    return _find_misfit(obj, skeleton.with_names(to_blender_names(skeleton.names)))


def _find_missing_bones(obj: bpy.types.Object, skeleton: Skeleton) -> list[str]:
    """Return the bones that an armature lacks; bones that only carry others may be missing."""
    bones = armature_of(obj).bones
    names = to_blender_names(skeleton.names)
    carrier = 0
    parents = skeleton.parents.tolist()
    while parents.count(carrier) == 1 and names[carrier] not in bones:
        carrier = parents.index(carrier)
    return [name for name in names[carrier:] if name not in bones]


def _find_misfit(obj: bpy.types.Object, skeleton: Skeleton) -> tuple[str, str]:
    """Return 'size' or 'rest' if a skeleton has another than the armature, and why.

    Failures to compare them are reported elsewhere.
    """
    known: dict[Any, tuple[str, str]] = runtime.known["misfits"]
    roles = get_roles(settings_of(obj))
    shape = skeleton.names, skeleton.parents.tobytes(), skeleton.rest_positions.tobytes()
    try:
        key = *get_identity(obj), *roles.items(), *shape
        if key not in known:
            carriers = skeleton.get_ancestors(rig.find_roles(skeleton, (), roles).hips)
            kind, reason = find_misfit(obj, ArmatureState.from_object(obj), skeleton, carriers)
            known[key] = kind, reason.rstrip(".")
        return known[key]
    except RigError:
        return "", ""


def get_identity(obj: bpy.types.Object) -> tuple[Any, ...]:
    """Return what the skeleton of an armature depends on. RigError if it is scaled unevenly."""
    turn, scale = compute_rest_frame(obj)
    bones = tuple(armature_of(obj).bones.keys())
    stands = (*np.round(turn, 5).tolist(), round(scale, 6))
    return bones, get_bone_choice(obj), read_rest_bytes(obj), *stands
