"""A take as a .blend file of its own: armature, body and action on a small stage."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np

from ..engine.control.ground import Box, Wall
from ..engine.errors import MotionMatchingError
from ..engine.files import replacing
from ..engine.motion.clip import Clip
from ..engine.silence import silent
from .armature import create_armature, standing_rest
from .bake import bake
from .body import create_body
from .fitting import keep_rest
from .mannequin import create_mannequin
from .mannequin_shape import fits
from .root_target import RootTarget
from .stage import add_obstacles, build_stage

Mark = Callable[[bpy.types.Action, int], None]
FIRST_FRAME = 1
SEEK_TABLE = 0x8F92EAB1  # the magic number at its end


def save_take(
    clip: Clip,
    path: str | Path,
    *,
    title: str,
    root: RootTarget | None = None,
    hips: str | None = None,
    fewer_keys: float = 0.0,
    obstacles: tuple[Sequence[Box], Sequence[Wall]] = ((), ()),
    mark: Mark | None = None,
) -> None:
    """Write a clip or take as a .blend file whose armature, body and action bear the title; options as for `bake`.

    `obstacles` are the boxes and the walls that stood in its way; `mark` is called with the action and its first frame,
    to put markers onto it.

    For use without a window: the file that is open is replaced by an empty one. The .blend is written beside its
    target and moved there when it is whole. MotionMatchingError, with nothing left behind, where that fails.
    """
    path = Path(path)
    with replacing(path, MotionMatchingError) as unfinished, silent():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        build_scene(clip, title, root, hips, fewer_keys, mark)
        add_obstacles(bpy.context.scene, *obstacles)
        unfinished.unlink()  # else Blender would keep it as a backup
        save_copy(unfinished)


def save_copy(path: Path) -> None:
    """Save the open file as a compressed copy; OSError where the file does not arrive whole."""
    try:
        bpy.ops.wm.save_as_mainfile(
            filepath=str(path.absolute()), compress=True, copy=True, check_existing=False
        )
    except RuntimeError as error:
        raise OSError(" ".join(str(error).removeprefix("Error:").split())) from error
    if not _is_whole(path):
        raise OSError("no space left, or a limit to the size of files")


def _is_whole(path: Path) -> bool:
    """Whether a compressed .blend has all its parts: Blender reports no error where they did not fit on the disk.

    The last part is zstd's seek table: 8 bytes of header, per part its sizes packed and unpacked, and a footer of 9
    bytes (number of parts, flags, magic number).
    """
    data = path.read_bytes()
    if len(data) < 17:
        return False
    count, flags, magic = struct.unpack("<IBI", data[-9:])
    fields = 3 if flags & 0x80 else 2  # a checksum may follow the sizes
    table = 4 * fields * count
    if magic != SEEK_TABLE or len(data) < 17 + table:
        return False
    packed = np.frombuffer(data, "<u4", fields * count, len(data) - 9 - table)[::fields]
    return int(packed.sum(dtype=np.int64)) + 17 + table == len(data)


def build_scene(
    clip: Clip,
    title: str,
    root: RootTarget | None = None,
    hips: str | None = None,
    fewer_keys: float = 0.0,
    mark: Mark | None = None,
) -> bpy.types.Object:
    """Fill the current, empty scene with the take and a stage for it; return the armature object."""
    armature = build_character(clip, title, root, hips, fewer_keys, mark)
    _, heads = (_in_place(clip) if root is RootTarget.IN_PLACE else clip).world()
    build_stage(bpy.context.scene, np.min(heads, axis=(0, 1)), np.max(heads, axis=(0, 1)))
    bpy.context.scene.frame_set(FIRST_FRAME)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    return armature


def build_character(
    clip: Clip,
    title: str,
    root: RootTarget | None = None,
    hips: str | None = None,
    fewer_keys: float = 0.0,
    mark: Mark | None = None,
) -> bpy.types.Object:
    """An armature with a body that performs the clip in the current scene, which gets its rate and range of frames.

    The demo's skeleton gets the mannequin and rests as that does; others rest as they stand, in a simple body.
    """
    scene = bpy.context.scene
    scene.render.fps = max(1, round(clip.fps))
    scene.render.fps_base = scene.render.fps / clip.fps
    scene.frame_start, scene.frame_end = FIRST_FRAME, FIRST_FRAME + clip.frame_count - 1
    scene.unit_settings.system = "METRIC"

    is_demo = fits(clip.skeleton)
    if not is_demo:
        clip = replace(clip, skeleton=standing_rest(clip))
    armature = create_armature(clip.skeleton, title)
    keep_rest(armature, clip.skeleton)
    armature.show_in_front = True
    armature.data.display_type = "STICK"
    (create_mannequin if is_demo else create_body)(armature, clip.skeleton, f"{title} body")
    action = bake(
        clip,
        armature,
        name=title,
        frame_start=FIRST_FRAME,
        root=root,
        hips=hips,
        fewer_keys=fewer_keys,
    )
    if mark:
        mark(action, FIRST_FRAME)
    return armature


def _in_place(clip: Clip) -> Clip:
    """A take without the motion of its bone 0."""
    still = replace(clip, rotations=clip.rotations.copy(), positions=clip.positions.copy())
    still.rotations[:, 0], still.positions[:, 0] = (
        clip.skeleton.rest_rotations[0],
        clip.skeleton.rest_positions[0],
    )
    return still
