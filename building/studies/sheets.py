"""Contact sheets of stick figures: a source above its targets, on the same frames, as PNG files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from building.locomotion import locomotion
from motion_matching.engine.body.body_roles import find_body_roles
from motion_matching.engine.insight.raster import draw_line, make_paper, write_png
from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.retargeting.anatomy import Anatomy
from motion_matching.engine.retargeting.bodies import RetargetBody
from motion_matching.engine.skeleton.skeleton import Skeleton
from tests.engine import animals

from .bodies import TARGETS, load_target, save_rigify

_MARGIN = 10
COLOURS = {"left": (31, 105, 180), "right": (205, 60, 50), "": (60, 60, 60)}
_GROUND = (150, 175, 150)


class Sheet(NamedTuple):
    """What a picture shows: characters, and frames of a generated clip.

    `cell` is the width and height of a figure in pixels.
    """

    targets: tuple[str, ...]
    animal: bool
    clip: int
    frames: range
    cell: tuple[int, int]


SHEETS = {
    "retargeting_human": Sheet(("Rigify human", "child"), False, 3, range(120, 156, 4), (132, 168)),
    "retargeting_animal": Sheet(("Rigify wolf",), True, 5, range(90, 108, 3), (200, 150)),
}


def draw_sheet(name: str, folder: Path, output: Path) -> Path:
    """Draw a sheet into the folder `output`; Rigify's rigs are generated in `folder`."""
    sheet = SHEETS[name]
    clips = (
        [motion.clip for motion in animals.make_dog_motions()]
        if sheet.animal
        else locomotion.generate()
    )
    rows = [_find_lines(clips[sheet.clip], clips, sheet.frames)]
    for target in sheet.targets:
        if TARGETS[target].rigify:
            save_rigify(TARGETS[target].rigify, folder)
        skeleton = load_target(target, folder).skeleton
        source = RetargetBody(clips[0].skeleton, clips)
        moved = source.make_retargeter(RetargetBody(skeleton)).retarget(clips[sheet.clip])
        rows.append(_find_lines(moved, [], sheet.frames))
    path = output / f"{name}.png"
    write_png(path, draw(rows, sheet.cell))
    return path


class Figures(NamedTuple):
    """A body on frames: ends (F, L, 2, 2) of lines, ahead and up, and the side of each."""

    ends: np.ndarray
    sides: list[str]


def _find_lines(clip: Clip, clips: Sequence[Clip], frames: range) -> Figures:
    """Return the lines between the bones of a body, seen from its left side."""
    roles = find_body_roles(clip.skeleton, clips)
    sides = {
        bone: role.split("_")[0] if "_" in role else ""
        for role, chain in roles.chains.items()
        if role != "root"
        for bone in chain
    }
    rotations, positions = (
        part[frames.start : frames.stop : frames.step].astype(np.float64)
        for part in clip.compute_world()
    )
    starts, ends, kinds = [], [], []
    for bone, side in sides.items():
        above = next((a for a in clip.skeleton.get_ancestors(bone) if a in sides), None)
        if above is not None:
            starts.append(positions[:, above])
            ends.append(positions[:, bone])
            kinds.append(side)
    for bone, site in _list_tips(clip.skeleton, sides, roles.chains["head"][-1]):
        starts.append(positions[:, bone])
        ends.append(positions[:, bone] + quat.mul_vec(rotations[:, bone], np.array(site)))
        kinds.append(sides[bone])
    middle = positions[:, roles.chains["hips"][0]]
    ahead = _find_ahead(positions, Anatomy.from_clips(clip.skeleton, roles, clips))
    points = np.stack([np.stack(starts, axis=1), np.stack(ends, axis=1)], axis=2)
    along = np.einsum("flex,fx->fle", points - middle[:, None, None], ahead)
    return Figures(np.stack([along, points[..., 2]], axis=-1), kinds)


def _list_tips(
    skeleton: Skeleton, shown: Collection[int], head: int
) -> list[tuple[int, tuple[float, ...]]]:
    """Return end sites of bones that are shown; a head with a face ends at its farthest bone."""
    tips: list[tuple[int, tuple[float, ...]]] = [
        (bone, site) for bone, site in skeleton.end_sites if bone in shown
    ]
    below = skeleton.get_descendants(head)
    if below:
        turns, places = (part.astype(np.float64) for part in skeleton.compute_rest_world())
        ways = places[below] - places[head]
        far = ways[int(np.argmax(np.linalg.norm(ways, axis=-1)))]
        tips.append((head, tuple(quat.inv_mul_vec(turns[head], far))))
    return tips


def _find_ahead(positions: np.ndarray, anatomy: Anatomy) -> np.ndarray:
    """Return unit ways (F, 3) over the ground to where a body faces, from its hip joints."""
    left, right = (anatomy.limbs[f"{side}_leg"].bones.upper for side in ("left", "right"))
    across = positions[:, left] - positions[:, right]
    ahead = np.cross(across, [0.0, 0.0, 1.0])
    return quat.normalize_vectors(ahead)


def draw(rows: Sequence[Figures], cell: tuple[int, int]) -> np.ndarray:
    """Return a picture (H, W, 3) of figures, each row as large as its cells."""
    width, height = cell
    count = len(rows[0].ends)
    picture = make_paper(count * width, len(rows) * height)
    for line, row in enumerate(rows):
        size = np.ptp(row.ends.reshape(-1, 2), axis=0)
        scale = min((width - 2 * _MARGIN) / size[0], (height - 2 * _MARGIN) / size[1])
        centre = 0.5 * (row.ends[..., 0].max() + row.ends[..., 0].min())
        floor = (line + 1) * height - _MARGIN
        picture[floor + 1 : floor + 3] = _GROUND
        for number in range(count):
            lines = scale * (row.ends[number] - [centre, 0.0]) * [-1.0, -1.0]
            lines += [(number + 0.5) * width, floor]
            order = sorted(
                range(len(row.sides)), key=lambda k: ("right", "", "left").index(row.sides[k])
            )
            for index in order:
                draw_line(picture, *lines[index], COLOURS[row.sides[index]])
    return np.round(picture).astype(np.uint8)
