"""Create a character from files: its armature, its rest pose, and a body around it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import bpy

from ...engine.body.limbs import Limbs
from ...engine.body.stance import Stance, find_stance
from ...engine.bvh import bvh
from ...engine.errors import MotionDataError
from ...engine.motion.clip import Clip
from ...engine.skeleton.skeleton import Skeleton
from ..rig.armature import compute_standing_rest, create_armature
from ..rig.fitting import store_rest
from .body import create_body
from .fitted import create_fitted_mannequin
from .mannequin import create_mannequin, is_demo_skeleton

_MOST_BYTES = 16_000_000  # of files that are read for a rest pose: about a second
# words in the names of files that may hold a pose to rest in, the likeliest first
_RESTING = ("tpose", "apose", "bind", "calib", "rest", "stand", "idle")


def create_character(clips: Sequence[Clip], name: str) -> bpy.types.Object:
    """Create an armature with the first clip's skeleton and a body, in the active collection.

    It rests at the origin as `find_rest` says, in a mannequin of its measures, or in a simple body
    if it is not built as a human one.
    """
    return create_standing_character(find_rest(clips), name)


def find_rest(clips: Sequence[Clip]) -> Stance:
    """Return how the first clip's skeleton stands: in its most upright pose if nothing decides."""
    return find_stance(clips) or Stance(compute_standing_rest(clips[0]), None)


def create_standing_character(stance: Stance, name: str) -> bpy.types.Object:
    """Create an armature that rests in a stance, with a body, in the active collection."""
    skeleton, limbs = stance
    obj = create_armature(skeleton, name)
    try:
        store_rest(obj, skeleton)
        create_character_body(obj, skeleton, limbs, f"{name} body")
    except BaseException:
        bpy.data.batch_remove([obj.data, obj])
        raise
    return obj


def create_character_body(
    obj: bpy.types.Object, skeleton: Skeleton, limbs: Limbs | None, name: str
) -> bpy.types.Object:
    """Create a mannequin for an armature, or a simple body if it is not built as a human one."""
    if is_demo_skeleton(skeleton):
        return create_mannequin(obj, skeleton, name)
    if limbs:
        return create_fitted_mannequin(obj, skeleton, limbs, name)
    return create_body(obj, skeleton, name)


def load_for_character(paths: Sequence[Path], root: str | None = None) -> list[Clip]:
    """Load the first BVH file, and others that may hold a rest pose for its character.

    `root` is that of the character, if the first file holds several. Raises MotionDataError if it
    cannot be read; others are left out then.
    """
    clips = [bvh.load(paths[0], root=root)]
    size = paths[0].stat().st_size
    for path in sorted(paths[1:], key=_rank_by_name):
        with suppress(MotionDataError, OSError):
            size += path.stat().st_size
            if size > _MOST_BYTES:
                break
            clips.append(bvh.load(path))
    return clips


def _rank_by_name(path: Path) -> int:
    """Return how likely a file holds a pose to rest in; less is likelier."""
    name = "".join(filter(str.isalpha, path.stem.lower()))
    return next((rank for rank, word in enumerate(_RESTING) if word in name), len(_RESTING))
