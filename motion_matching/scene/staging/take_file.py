"""Write a take as a Blender file: on a small stage, or in a copy of a user's file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack

import bpy
import numpy as np

from ...engine.body.stance import Stance
from ...engine.control.rollout import Take
from ...engine.database.database import Database
from ...engine.feet.contact_ranges import ContactRange
from ...engine.files.file_paths import check_clashes
from ...engine.ground.ground import Box, Wall
from ...engine.motion.clip import Clip
from ..blender.files import check_background, find_armature, open_blend, save_after
from ..reading import markers
from ..rig.root_target import RootTarget
from ..writing.bake import BakeOptions, Mark, bake
from .character import create_standing_character, find_rest
from .mannequin import is_demo_skeleton
from .stage import add_obstacles, build_stage

FIRST_FRAME = 1


def write_take(
    take: Take,
    ranges: Sequence[ContactRange],
    database: Database,
    path: Path,
    *,
    onto: Path | None = None,
    armature: str | None = None,
    frame_start: int | None = None,
    **options: Unpack[BakeOptions],
) -> None:
    """Write a take with its contacts as markers; in a copy of the file `onto` if one is given.

    The open file gives way to it. `armature` (by default the only one), `frame_start` (where its
    scene starts), and of the options `root_bone` and `track` are about a copy. Raises what opening,
    baking and saving raise.
    """
    check_clashes([("'onto'", onto)], [("'path'", path)])
    clip = take.to_clip()
    legs = database.roles.leg_names
    mark = markers.make_marker_writer(ranges, legs, take.fps)
    options["hips"] = database.role_names["hips"]
    if onto is None:
        options["root_bone"] = ""
        options["track"] = None
        obstacles = take.performance.obstacles, take.performance.walls
        save_take(clip, path, title=take.name, obstacles=obstacles, mark=mark, **options)
        return
    open_blend(onto)
    obj = find_armature(onto, armature, takes_keys=True)
    start = bpy.context.scene.frame_start if frame_start is None else frame_start
    with save_after(path):
        mark(bake(clip, obj, name=take.name, frame_start=start, **options), start)


def save_take(
    clip: Clip,
    path: str | Path,
    *,
    title: str,
    obstacles: tuple[Sequence[Box], Sequence[Wall]] = ((), ()),
    mark: Mark | None = None,
    **options: Unpack[BakeOptions],
) -> None:
    """Write a clip or take as a .blend file whose armature, body and action bear the title.

    Options are as for `bake`. `obstacles` are boxes and walls; `mark` is called with the action
    and its first frame. For use without a window: an empty file replaces the one that is open.
    Raises MotionMatchingError, with nothing left behind, if that fails.
    """
    path = Path(path)
    check_background(path)
    with save_after(path):
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        build_scene(clip, title, mark, **options)
        add_obstacles(bpy.context.scene, *obstacles)


def build_scene(
    clip: Clip, title: str, mark: Mark | None = None, **options: Unpack[BakeOptions]
) -> bpy.types.Object:
    """Fill the current, empty scene with the take and a stage; return the armature object.

    The scene gets the clip's rate and frames. The demo's skeleton rests as its mannequin does, and
    others as a character of files does.
    """
    scene = bpy.context.scene
    scene.render.fps = max(1, round(clip.fps))
    scene.render.fps_base = scene.render.fps / clip.fps
    scene.frame_start = FIRST_FRAME
    scene.frame_end = FIRST_FRAME + clip.frame_count - 1
    scene.unit_settings.system = "METRIC"

    is_demo = is_demo_skeleton(clip.skeleton)
    stance = Stance(clip.skeleton, None) if is_demo else find_rest([clip])
    moving = replace(clip, skeleton=stance.skeleton)
    armature = create_standing_character(stance, title)
    armature.show_in_front = True
    armature.data.display_type = "STICK"
    action = bake(moving, armature, name=title, frame_start=FIRST_FRAME, **options)
    if mark:
        mark(action, FIRST_FRAME)
    in_place = options.get("root") is RootTarget.IN_PLACE
    _, heads = (_remove_root_motion(clip) if in_place else clip).compute_world()
    build_stage(scene, np.min(heads, axis=(0, 1)), np.max(heads, axis=(0, 1)))
    scene.frame_set(FIRST_FRAME)
    bpy.context.view_layer.objects.active = armature
    armature.select_set(True)
    return armature


def _remove_root_motion(clip: Clip) -> Clip:
    """Return a take without the motion of its bone 0."""
    still = replace(clip, rotations=clip.rotations.copy(), positions=clip.positions.copy())
    still.rotations[:, 0] = clip.skeleton.rest_rotations[0]
    still.positions[:, 0] = clip.skeleton.rest_positions[0]
    return still
