"""Draw a take as a picture of all of it, or as a film that follows the character.

The desired path is the desired velocity summed up from where the take starts. It knows nothing of
the character, so what is lost in a turn stays lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import bpy
import numpy as np
from mathutils import Vector

from ...engine.control.take import Take
from ...engine.silence import silence_output
from ..blender import actions
from . import render, stage
from .blend_file import FIRST_FRAME, build_character
from .stage import Colour

SIZES = {render.STILL: (1280, 720), render.FILM: (640, 360)}
# dark: what stands on it is not
GROUND: tuple[Colour, Colour] = ((0.15, 0.16, 0.17), (0.115, 0.122, 0.13))
DESIRED: Colour = (1.0, 0.5, 0.0)
ACTUAL: Colour = (0.05, 0.75, 0.62)
OTHER: Colour = (0.5, 0.3, 0.95)  # of the actual path of a second take
TINT = 0.45  # of the body of a second take, by that colour
EXPOSURE = 0.8  # stops: Workbench lights what faces the camera more than the ground
SUN = 1.9  # W/m², which looks alike with Cycles
GLOW = 0.57  # which the exposure makes 1
FADE = 0.65  # of the first ghost towards the ground

STILL_ELEVATION, FILM_ELEVATION = np.radians(36.0), np.radians(28.0)
# from the front, 3/4 preferred
AZIMUTHS = np.radians(sorted(range(-75, 90, 15), key=lambda angle: abs(angle - 30)))
MOST_GHOSTS = 22
NEAREST_GHOSTS = 0.5  # in heights of the character
# width of the desired path in widths of the picture; the actual one is a narrower line on it
BAND = 0.012
CORNERS = 12  # of the discs that make a path round
AHEAD = (1 / 3, 2 / 3, 1.0)  # seconds at which dots show where the character should be
FOLLOW = 0.35  # seconds: standard deviation of what smooths the camera's way
APART = 0.8  # in heights of the character: room between two takes
FOOT, TEXT = 0.05, 0.04  # room for the legend and size of its letters, in heights of the picture


class BesideTake(NamedTuple):
    """A take that is shown beside another one, and what to call the first and the second."""

    take: Take
    names: tuple[str, str]


class _ShownTake(NamedTuple):
    """A take in the scene: its armature, the colour of its path, and what to call that."""

    take: Take
    armature: bpy.types.Object
    colour: Colour
    label: str

    @property
    def desired(self) -> np.ndarray:
        return compute_desired_path(self.take)

    @property
    def actual(self) -> np.ndarray:
        return self.take.character[:, :2]


def save_preview(
    take: Take,
    path: Path,
    size: tuple[int, int] | None = None,
    progress: render.Progress | None = None,
    engines: tuple[str, ...] = (render.WORKBENCH, render.CYCLES),
    beside: BesideTake | None = None,
) -> str:
    """Write a .png of the whole take or a .mp4 of it moving; return the engine that rendered it.

    `beside` is shown as well, moved aside. For use without a window: an empty file replaces the one
    that is open. Raises MotionMatchingError, with nothing left behind, if it cannot be made.
    """
    render.check_format(path)
    kind = path.suffix.lower()
    size = size or SIZES[kind]
    with silence_output():
        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        shown = _add_takes(take, beside, is_still=kind == render.STILL)
        (_build_still if kind == render.STILL else _build_film)(shown, size)
        return render.render(path, progress, engines)


def _add_takes(take: Take, beside: BesideTake | None, is_still: bool) -> list[_ShownTake]:
    """Add the characters of a take and of one beside it, each with its obstacles."""
    first = take.name if beside is None else beside.names[0]
    takes = [(take, ACTUAL, "actual path" if beside is None else first)]
    if beside is not None:
        frames = min(take.frame_count, beside.take.frame_count)
        other = beside.take.crop(0, frames)
        aside = _compute_aside(take, other, is_still)
        takes = [(take.crop(0, frames), ACTUAL, first)]
        takes.append((_move_aside(other, aside), OTHER, beside.names[1]))
    result = []
    for number, (each, colour, label) in enumerate(takes):
        armature = build_character(each.to_clip(), f"{each.name} beside" if number else each.name)
        stage.add_obstacles(bpy.context.scene, each.performance.obstacles, each.performance.walls)
        if number:
            _tint(armature, colour)
        result.append(_ShownTake(each, armature, colour, label))
    return result


def _compute_aside(take: Take, other: Take, is_still: bool) -> np.ndarray:
    """Return how far (2,) to move a take for it to stand beside another one.

    In a still, neither way crosses the other; in a film, both characters are near each other.
    """
    room = APART * max(_measure_height(take), _measure_height(other))
    if not is_still:
        yaw = take.character[0, 2]
        start = take.character[0, :2] - other.character[0, :2]
        return start + 1.5 * room * np.array([np.cos(yaw), np.sin(yaw)])
    ways = [np.concatenate([compute_desired_path(t), t.character[:, :2]]) for t in (take, other)]
    axis = int(np.argmin(np.ptp(np.concatenate(ways), axis=0)))  # so the picture is compact
    aside = np.zeros(2)
    aside[axis] = ways[0][:, axis].max() - ways[1][:, axis].min() + room
    return aside


def _move_aside(take: Take, aside: np.ndarray) -> Take:
    """Return what is shown of a take, elsewhere on the ground; obstacles move with it."""
    poses, character = take.poses.copy(), take.character.copy()
    poses[:, :2, 0] += aside
    character[:, :2] += aside
    x, y = aside.tolist()
    performance = replace(
        take.performance,
        obstacles=tuple(
            box._replace(center=(box.center[0] + x, box.center[1] + y))
            for box in take.performance.obstacles
        ),
        walls=tuple(
            ((ax + x, ay + y), (bx + x, by + y)) for (ax, ay), (bx, by) in take.performance.walls
        ),
    )
    return replace(take, poses=poses, character=character, performance=performance)


def _tint(armature: bpy.types.Object, colour: Colour) -> None:
    """Tint the body of a character."""
    [body] = armature.children
    for slot, shown in enumerate(body.data.materials):
        mixed = (1.0 - TINT) * np.array(shown.diffuse_color[:3]) + TINT * np.array(colour)
        body.data.materials[slot] = stage.create_material(
            f"{shown.name} beside", tuple(mixed.tolist())
        )


def compute_desired_path(take: Take) -> np.ndarray:
    """Return where the desired velocity alone would lead (T + 1, 2), in metres, from the start."""
    steps = take.desired_velocity / take.fps
    return take.character[0, :2] + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def _build_still(shown: Sequence[_ShownTake], size: tuple[int, int]) -> None:
    scene = bpy.context.scene
    height = max(_measure_height(each.take) for each in shown)
    seen, ghosts = [], []
    for each in shown:
        frames = choose_ghost_frames(each.take.character, NEAREST_GHOSTS * height)
        _, heads = each.take.to_clip().compute_world()
        seen += [*map(_to_ground_points, (each.desired, each.actual)), heads[frames].reshape(-1, 3)]
        ghosts.append(frames)
    points = np.concatenate(seen)
    views = (_compute_view(azimuth, STILL_ELEVATION) for azimuth in AZIMUTHS)
    view = min(views, key=lambda view: _measure_camera_distance(points, view, size))
    # a head is higher than its bone
    points = np.concatenate([points, points + np.array([0.0, 0.0, 0.1 * height])])
    _add_light(scene, view)
    camera = stage.add_camera(scene, points, view, size, FOOT)

    for each, frames in zip(shown, ghosts, strict=True):
        _add_ghosts(each.armature, frames)
    tile = stage.choose_tile_size(float(np.max(np.ptp(points[:, :2], axis=0))))
    stage.add_ground(scene, *_compute_visible_ground(camera, size), tile, GROUND)
    _add_paths(shown, points, view, size)
    take = shown[0].take
    seconds = take.frame_count / take.fps
    about = f"{take.name.replace('_', ' ')}, {seconds:.3g} s, tiles of {tile:g} m"
    _add_legend(camera, size, "desired path", shown, about)


def _add_paths(
    shown: Sequence[_ShownTake], points: np.ndarray, view: np.ndarray, size: tuple[int, int]
) -> float:
    """Add the paths of takes, as wide as suits a picture of some points; return the width."""
    distance = _measure_camera_distance(points, view, size)
    width = BAND * stage.SENSOR_MM / stage.LENS_MM * distance
    for each in shown:
        _add_path("Desired path", each.desired, width, 0.004, DESIRED)
        _add_path("Actual path", each.actual, 0.45 * width, 0.008, each.colour)
    return width


def choose_ghost_frames(character: np.ndarray, nearest: float) -> np.ndarray:
    """Choose frames, in order, at which to show the body of a character (T, 3) as x, y, yaw.

    They are the last one, and from the first on every one that is far enough from all before it.
    Those with another heading may be nearer. `nearest` grows until there are few enough.
    """
    while True:
        frames = [len(character) - 1]
        free = np.ones(len(character), dtype=bool)
        while True:
            offset = character - character[frames[-1]]
            turn = np.abs(np.arctan2(np.sin(offset[:, 2]), np.cos(offset[:, 2]))) / np.pi
            free &= np.hypot(np.hypot(offset[:, 0], offset[:, 1]), 0.95 * nearest * turn) >= nearest
            if not free.any() or len(frames) > MOST_GHOSTS:
                break
            frames.append(int(np.argmax(free)))
        if len(frames) <= MOST_GHOSTS:
            return np.sort(frames)
        nearest *= 1.1


def _add_ghosts(armature: bpy.types.Object, frames: np.ndarray) -> None:
    """Add copies of the body at some frames, the first ones paler, in place of the moving one."""
    scene = bpy.context.scene
    [body] = armature.children
    for number, frame in enumerate(frames):
        scene.frame_set(FIRST_FRAME + int(frame))
        graph = bpy.context.evaluated_depsgraph_get()
        mesh = bpy.data.meshes.new_from_object(body.evaluated_get(graph), depsgraph=graph)
        fade = FADE * (1.0 - number / max(len(frames) - 1, 1))
        for slot, shown in enumerate(body.data.materials):
            colour = (1.0 - fade) * np.array(shown.diffuse_color[:3]) + fade * np.array(GROUND[0])
            pale = stage.create_material(f"{shown.name} {number}", tuple(colour.tolist()))
            mesh.materials[slot] = pale
        scene.collection.objects.link(bpy.data.objects.new(f"Frame {frame + FIRST_FRAME}", mesh))
    body.hide_render = True


def _build_film(shown: Sequence[_ShownTake], size: tuple[int, int]) -> None:
    from scipy.ndimage import gaussian_filter1d  # loads in 0.15 s

    scene, take = bpy.context.scene, shown[0].take
    actual = np.mean([each.actual for each in shown], axis=0)
    height = max(_measure_height(each.take) for each in shown)
    speed = float(np.percentile(np.linalg.norm(take.desired_velocity, axis=1), 90))
    apart = max(np.linalg.norm(each.actual - actual, axis=1).max() for each in shown)
    radius = max(0.55 * height, 0.55 * speed) + apart
    around = _to_ground_points(radius * _compute_circle(24))
    around = np.concatenate([around, [[0.0, 0.0, 1.2 * height]]])
    view = _compute_view(AZIMUTHS[0], FILM_ELEVATION)
    _add_light(scene, view)
    camera = stage.add_camera(scene, around, view, size, FOOT)

    way = gaussian_filter1d(actual, FOLLOW * take.fps, axis=0, mode="nearest")
    low, high = _compute_visible_ground(camera, size)
    tile = stage.choose_tile_size(float(np.max(np.ptp(actual, axis=0))))
    stage.add_ground(scene, low + np.min(way, axis=0), high + np.max(way, axis=0), tile, GROUND)
    width = _add_paths(shown, around, view, size)
    _animate(camera, np.array(camera.location) + _to_ground_points(way))
    for each in shown:
        ahead = _compute_desired_ahead(each.take, each.desired)
        for seconds, positions in zip(AHEAD, ahead, strict=True):
            name = f"Desired {seconds:.2f} s ahead"
            dot = _add_path(name, np.zeros((1, 2)), 2.2 * width, 0.0, DESIRED)
            _animate(dot, _to_ground_points(positions, 0.012))
    _add_legend(camera, size, "desired path, dots: next second", shown, f"tiles of {tile:g} m")


def _compute_desired_ahead(take: Take, desired: np.ndarray) -> list[np.ndarray]:
    """Return where the character should be some time ahead (T, 2), for each time of AHEAD."""
    ticks = np.arange(take.frame_count)
    return [
        take.character[:, :2]
        + desired[np.minimum(ticks + round(time * take.fps), take.frame_count)]
        - desired[:-1]
        for time in AHEAD
    ]


def _animate(obj: bpy.types.Object, positions: np.ndarray) -> None:
    """Key an object's location (T, 3) at every frame."""
    with actions.create_action(obj.name, obj) as action:
        frames = FIRST_FRAME + np.arange(len(positions))
        actions.write_channel(action, "location", frames, positions.T, "Location")


def _add_light(scene: bpy.types.Scene, view: np.ndarray) -> None:
    """Add light from above over the camera's left shoulder, so that shadows fall away from it."""
    left = np.cross(view, [0.0, 0.0, 1.0])
    x, y, z = (0.4 * view + 0.3 * left) * [1.0, 1.0, 0.0] + [0.0, 0.0, 0.8]
    turn = Vector((x, y, z)).to_track_quat("Z", "Y")
    stage.add_light(scene, SUN).rotation_euler = turn.to_euler()
    scene.display.light_direction = Vector((x, z, -y)).normalized()  # Workbench has other axes here
    scene.display.shading.shadow_intensity = 0.4
    scene.view_settings.exposure = EXPOSURE


def _compute_view(azimuth: float, elevation: float) -> np.ndarray:
    """Return the direction to the camera, by its angles from the front to the left, and above."""
    flat = np.cos(elevation)
    return np.array([flat * np.sin(azimuth), -flat * np.cos(azimuth), np.sin(elevation)])


def _measure_camera_distance(points: np.ndarray, view: np.ndarray, size: tuple[int, int]) -> float:
    """Return the distance of a camera from the middle of its subject."""
    axes, position = stage.compute_camera_pose(points, view, size, FOOT)
    return float((position - np.mean(points, axis=0)) @ axes[2])


def _measure_height(take: Take) -> float:
    """Return the character's height in metres, measured from its bones."""
    _, heads = take.to_clip().compute_world()
    return max(float(np.median(np.ptp(heads[..., 2], axis=1))), 0.01)


def _to_ground_points(positions: np.ndarray, height: float = 0.0) -> np.ndarray:
    """Return points (N, 3) of positions (N, 2)."""
    return np.column_stack([positions, np.full(len(positions), height)])


def _compute_visible_ground(
    camera: bpy.types.Object, size: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return corners of what a camera that looks down far enough sees of the ground."""
    matrix, unit = np.array(camera.matrix_world), stage.SENSOR_MM / stage.LENS_MM
    position = matrix[:3, 3]
    (x, y), shift = 0.5 * unit * np.array(size) / max(size), unit * camera.data.shift_y
    rays = np.array([[a, b + shift, -1.0] for a in (-x, x) for b in (-y, y)]) @ matrix[:3, :3].T
    corners = position + rays * (position[2] / -rays[:, 2:])
    return np.min(corners[:, :2], axis=0), np.max(corners[:, :2], axis=0)


def _compute_circle(corners: int) -> np.ndarray:
    """Return points (N, 2) on a circle of radius 1."""
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def _add_path(
    name: str, track: np.ndarray, width: float, height: float, colour: Colour
) -> bpy.types.Object:
    """Add a flat band along a track (T, 2): a disc at every position and a strip between two."""
    apart = np.linalg.norm(np.diff(track, axis=0), axis=1)
    walked = np.concatenate([[0.0], np.cumsum(apart)])
    # positions that are far enough apart
    _, steps = np.unique(np.floor(walked / (0.5 * width)), return_index=True)
    track = track[np.union1d(steps, [len(track) - 1])] if len(track) > 1 else track
    discs = track[:, None] + 0.5 * width * _compute_circle(CORNERS)
    along = np.diff(track, axis=0)
    across = 0.5 * width * np.stack([-along[:, 1], along[:, 0]], axis=-1)
    across /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    ends = [track[:-1] - across, track[1:] - across, track[1:] + across, track[:-1] + across]
    points = np.concatenate([discs.reshape(-1, 2), np.stack(ends, axis=1).reshape(-1, 2)])
    first, second = np.split(np.arange(len(points)), [discs.size // 2])
    faces = [*first.reshape(-1, CORNERS).tolist(), *second.reshape(-1, 4).tolist()]
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(_to_ground_points(points, height).tolist(), [], faces)
    mesh.materials.append(stage.create_material(name, colour))
    obj = bpy.data.objects.new(name, mesh)
    # for Cycles, its parts must not shade each other
    obj.display.show_shadows = obj.visible_shadow = obj.visible_diffuse = False
    bpy.context.scene.collection.objects.link(obj)
    return obj


def _add_legend(
    camera: bpy.types.Object,
    size: tuple[int, int],
    desired: str,
    shown: Sequence[_ShownTake],
    about: str,
) -> None:
    """Add a line of text at the foot of the picture, right before the camera, with colours."""
    actual = [(each.label, each.colour) for each in shown]
    items: list[tuple[str, Colour | None]] = [(desired, DESIRED), *actual, (about, None)]
    depth = 2.0 * camera.data.clip_start
    wide, high = depth * stage.SENSOR_MM / stage.LENS_MM * np.array(size) / max(size)
    letters, shift = TEXT * high, depth * stage.SENSOR_MM / stage.LENS_MM * camera.data.shift_y
    x, y = -0.48 * wide, -0.47 * high + shift
    white = stage.create_material("Legend", (0.9, 0.9, 0.9), glow=GLOW)
    for text, colour in items:
        if colour:
            sample: Any = bpy.data.meshes.new(text)
            corners = np.array([[0, 0.25], [1.2, 0.25], [1.2, 0.5], [0, 0.5]]) * letters + [x, y]
            sample.from_pydata(_to_ground_points(corners, -depth).tolist(), [], [[0, 1, 2, 3]])
            sample.materials.append(stage.create_material(text, colour, glow=GLOW))
            _attach_to_camera(camera, bpy.data.objects.new(text, sample))
            x += 1.6 * letters
        words: Any = bpy.data.curves.new(text, "FONT")
        words.body, words.size = text, letters
        words.materials.append(white)
        obj = bpy.data.objects.new(text, words)
        _attach_to_camera(camera, obj)
        obj.location = (x, y, -depth)
        bpy.context.view_layer.update()
        x += obj.dimensions.x + 1.6 * letters


def _attach_to_camera(camera: bpy.types.Object, obj: bpy.types.Object) -> None:
    """Hang an object to the camera."""
    bpy.context.scene.collection.objects.link(obj)
    obj.parent = camera
    obj.display.show_shadows = obj.visible_shadow = False
