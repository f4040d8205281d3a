"""Draw a sheet of pictures of a take: its way from above, and the body at even intervals.

The desired path is the desired velocity summed up from where the take starts. It ignores the
character, so distance lost in a turn stays lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from ..control.rollout import Take
from ..maths.rotations import quat
from .coverage.strands import select_evenly
from .numbers import NUMBERS
from .raster import Colour, draw_line, make_paper, write_png

Array = np.ndarray
SIZE = (1280, 720)
DESIRED: Colour = (240, 140, 30)
ACTUAL: Colour = (0, 150, 130)
OTHER: Colour = (120, 80, 210)  # of a second take
OBSTACLE: Colour = (120, 130, 145)
_RIGHT = np.array([np.cos(NUMBERS.azimuth), np.sin(NUMBERS.azimuth), 0.0])
_BACK = np.array(
    [
        np.cos(NUMBERS.elevation) * np.sin(NUMBERS.azimuth),
        -np.cos(NUMBERS.elevation) * np.cos(NUMBERS.azimuth),
        np.sin(NUMBERS.elevation),
    ]
)
_UP = np.cross(_BACK, _RIGHT)


def save_sheet(takes: Sequence[Take], path: Path, size: tuple[int, int] = SIZE) -> None:
    """Write a .png of a take, or of two. Raises SettingsError if that fails."""
    write_png(path, draw_sheet(takes, size))


def draw_sheet(takes: Sequence[Take], size: tuple[int, int]) -> Array:
    """Return a picture (H, W, 3) of a take, or of two: their ways together, bodies in turn."""
    width, height = size
    picture = make_paper(width, height)
    plan = round(NUMBERS.plan_width * width)
    rows = 3 if len(takes) == 1 else 2
    edges = np.linspace(0, height, len(takes) * rows + 1).round().astype(int)
    columns = max(1, round((width - plan) / (_measure_shape(takes[0]) * edges[1])))
    sides = np.linspace(plan, width, columns + 1).round().astype(int)
    frames = [select_evenly(take.frame_count, rows * columns) for take in takes]
    _draw_plan(picture[:, :plan], takes, frames)
    for number, (take, chosen) in enumerate(zip(takes, frames, strict=True)):
        cells = [
            picture[top:bottom, left:right]
            for top, bottom in zip(edges[number * rows :], edges[number * rows + 1 :], strict=False)
            for left, right in pairwise(sides)
        ]
        _draw_bodies(cells[: len(chosen)], take, chosen, (ACTUAL, OTHER)[number])
    return picture


def compute_desired_path(take: Take) -> Array:
    """Return where the desired velocity alone would lead (T + 1, 2), in metres, from the start."""
    steps = take.desired_velocity / take.fps
    return take.character[0, :2] + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def _measure_shape(take: Take) -> float:
    """Return the width of a picture of the body relative to its height."""
    lines = _find_lines(take, select_evenly(take.frame_count, NUMBERS.shape_frames))
    lines = lines - lines.mean(axis=(1, 2), keepdims=True)
    across = np.abs(lines @ _RIGHT).max()
    up = np.abs(lines @ _UP).max()
    return float(np.clip(across / up, NUMBERS.slim, NUMBERS.broad))


def _draw_plan(picture: Array, takes: Sequence[Take], frames: Sequence[Array]) -> None:
    """Draw ways from above, y up, with a dot at each of the frames, and obstacles near them."""
    desired = [compute_desired_path(take) for take in takes]
    actual = [take.character[:, :2] for take in takes]
    points = np.concatenate([*desired, *actual])
    room = np.array(picture.shape[1::-1]) * (1.0 - 4.0 * NUMBERS.sheet_margin)
    scale = float((room / np.maximum(np.ptp(points, axis=0), 0.5)).min())
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))

    def place(track: Array) -> Array:
        return 0.5 * np.array(picture.shape[1::-1]) + scale * (track - middle) * (1.0, -1.0)

    performance = takes[0].performance
    walls = [*performance.walls, *(side for box in performance.obstacles for side in box.sides)]
    for wall in walls:
        _draw_track(picture, place(np.array(wall)), OBSTACLE)
    for track in desired:
        _draw_track(picture, place(track), DESIRED, 2.5)
    for track, chosen, colour in zip(actual, frames, (ACTUAL, OTHER), strict=False):
        _draw_track(picture, place(track), colour)
        for dot in place(track[chosen]):
            draw_line(picture, dot, dot, colour, 4.0)


def _draw_track(picture: Array, points: Array, colour: Colour, half: float = 1.3) -> None:
    """Draw a line through points (N, 2) in pixels."""
    points = points[:: max(len(points) // NUMBERS.path_lines, 1)]
    for start, end in pairwise(points):
        draw_line(picture, start, end, colour, half)


def _draw_bodies(cells: Sequence[Array], take: Take, frames: Array, colour: Colour) -> None:
    """Draw the body at each frame into its cell, on the way around it; near parts are darker."""
    lines = _find_lines(take, frames)
    ground = take.character[frames] * (1.0, 1.0, 0.0)
    ground[:, 2] = lines[..., 2].min(axis=(1, 2))
    lines -= ground[:, None, None]
    across = lines @ _RIGHT
    up = lines @ _UP
    depth = (lines @ _BACK).mean(axis=-1)
    height, width, _ = cells[0].shape
    margin = NUMBERS.sheet_margin * height
    tall = up.max() - min(up.min(), 0.0)
    wide = 2.0 * np.abs(across).max()
    scale = min((height - 3.0 * margin) / tall, (width - 2.0 * margin) / wide)
    foot = np.array([0.5 * width, height - 1.5 * margin + scale * min(up.min(), 0.0)])
    ways = (compute_desired_path(take), DESIRED, 2.5), (take.character[:, :2], colour, 1.3)
    begin, end = (round(seconds * take.fps) for seconds in NUMBERS.way_seen)
    shades = np.interp(
        depth, (depth.min(), depth.max()), (NUMBERS.far_grey, NUMBERS.near_grey)
    ).astype(int)
    for number, (cell, frame) in enumerate(zip(cells, frames.tolist(), strict=True)):
        for way, shade, half in ways:
            near = way[max(frame + begin, 0) : frame + end] - ground[number, :2]
            seen = np.stack([near @ _RIGHT[:2], -near @ _UP[:2]], axis=-1)
            _draw_track(cell, foot + scale * seen, shade, half)
        ends = foot + scale * np.stack([across[number], -up[number]], axis=-1)
        for line in np.argsort(depth[number]):
            grey = int(shades[number, line])
            (top, tip) = ends[line]
            draw_line(cell, top, tip, (grey, grey, grey + 20))


def _find_lines(take: Take, frames: Array) -> Array:
    """Return both ends (F, L, 2, 3) of the body's bones, in the world, in metres."""
    clip = take.to_clip()
    skeleton = clip.skeleton
    poses = (clip.rotations[frames], clip.positions[frames])
    rotations, heads = quat.fk(*poses, skeleton.parents)
    above = [(int(parent), bone) for bone, parent in enumerate(skeleton.parents) if parent > 0]
    lines = [heads[:, pair] for pair in above]
    for bone, offset in skeleton.end_sites:
        tip = heads[:, bone] + quat.mul_vec(rotations[:, bone], np.array(offset))
        lines.append(np.stack([heads[:, bone], tip], axis=1))
    return np.stack(lines, axis=1).astype(np.float64)
