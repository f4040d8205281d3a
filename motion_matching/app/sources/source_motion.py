"""Read motion in steps: that of a source, or of any action of an armature."""

from __future__ import annotations

from collections.abc import Mapping

import bpy

from ...engine.body import rig
from ...engine.bvh import bvh
from ...engine.errors import RigError
from ...engine.motion.clip import Clip
from ...engine.progress import map_steps
from ...scene.reading import sampling
from ..character.characters import get_bone_choice
from ..steps import Steps, run_in_background_steps
from .source_files import find_file, get_reading
from .source_list import get_source


def sample_steps(
    obj: bpy.types.Object,
    action: bpy.types.Action,
    stage: str,
    frames: tuple[int, int] | None = None,
) -> Steps[sampling.SampledClip]:
    """Sample an action of an armature, or its `frames`, both ends inclusive."""
    steps = sampling.sample_steps(obj, action, bones=get_bone_choice(obj), frames=frames)
    finish = yield from map_steps(steps, lambda _: (stage, 0.0))
    return (yield from run_in_background_steps(lambda _: finish(), stage))


def read_steps(uid: int, index: int, stage: str) -> Steps[tuple[int, Clip]]:
    """Return the frame at which the motion of a source begins without its range, and the motion."""
    obj, source = get_source(uid, index)
    if source.kind == "FILE":
        file = find_file(source) or ""
        reading = get_reading(source)
        clip = yield from run_in_background_steps(lambda _: bvh.load(file, **reading), stage)
        return 0, clip
    sampled = yield from sample_steps(source.performer or obj, source.action, stage)
    return sampled.first, sampled.clip


def find_hips(clip: Clip, roles: Mapping[str, str]) -> int:
    """Return the bone that the body hangs from; the root if the skeleton is none that is known."""
    try:
        return rig.find_roles(clip.skeleton, [clip], roles).hips
    except RigError:
        return 0
