"""Detect whether a body lies or stands on its head because of wrong axes.

A body may lie, crawl or stand on its hands. The axes are wrong if the rest pose lies like the
motion, or if the feet walk on something other than the ground while nothing rests on that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..bvh.bvh import compute_blender_axes
from ..bvh.bvh_text import AXES
from ..errors import RigError
from ..maths.along_time import count_frames
from ..maths.rotations import quat
from ..motion.clip import Clip
from . import rig
from .numbers import NUMBERS
from .rig import Roles

_FOUND = re.compile(r"(-?[XYZ]) up and (-?[XYZ]) forward")


class FileAxes(NamedTuple):
    """The signed axes of a file for up and for the facing of characters, such as 'Y' and '-Z'."""

    up: str = "Y"
    forward: str = "Z"

    def __str__(self) -> str:
        return f"{self.up} up and {self.forward} forward"

    @classmethod
    def from_text(cls, text: str) -> FileAxes | None:
        """Return the axes that a sentence names as `str` does, or None."""
        found = _FOUND.search(text)
        return cls(*found.groups()) if found else None

    def get_items(self) -> list[tuple[str, str]]:
        """Return their names and values."""
        return list(self._asdict().items())

    @property
    def options(self) -> str:
        """Their options of the command line."""
        return f"--up {self.up} --forward {self.forward}"


def describe_mistake(name: str, axes: FileAxes | None) -> str:
    """Say that a clip lies or stands on its head, and what to do; it has no axes without a file."""
    advice = f"read its file with {axes}" if axes else "turn its armature upright"
    return f"'{name}' lies or stands on its head; if it should not, {advice}."


def add_options(text: str) -> str:
    """Return a sentence with the options of the command line for the axes that it names, if any."""
    sentence = text.rstrip(".")
    found = FileAxes.from_text(text)
    return f"{sentence} ({found.options})." if found else f"{sentence}."


def find_all_better_axes(
    clips: Sequence[Clip], read_with: FileAxes, given: Mapping[str, str] | None = None
) -> list[FileAxes | None]:
    """Return the result of `find_better_axes` for each clip.

    `given` are bones by role of a skeleton that has all of them.
    """
    known: dict[tuple[tuple[str, ...], bytes], Roles | None] = {}
    result = []
    for clip in clips:
        key = clip.skeleton.names, clip.skeleton.parents.tobytes()
        if key not in known:
            known[key] = _find_roles(clip, given or {})
        roles = known[key]
        result.append(find_better_axes(clip, read_with, roles) if roles else None)
    return result


def _find_roles(clip: Clip, given: Mapping[str, str]) -> Roles | None:
    fits = set(clip.skeleton.names).issuperset(given.values())
    try:
        return rig.find_roles(clip.skeleton, [clip], given if fits else None)
    except RigError:
        return None


def find_better_axes(clip: Clip, read_with: FileAxes, roles: Roles) -> FileAxes | None:
    """Return the axes of its file under which a clip stands, if its own are wrong.

    None if it stands, or may lie on purpose.
    """
    up = _find_mistaken_up(clip, roles)
    if up is None:
        return None
    heads = clip.skeleton.compute_rest_world()[1].astype(np.float64)[None]
    if not _stands_along(heads[0], roles, up):  # then only its motion shows its facing
        heads = _compute_heads(clip, _choose_frames(clip)[0])
    return _name_axes(up, _find_ahead(heads, roles, up), read_with)


def _find_mistaken_up(clip: Clip, roles: Roles) -> np.ndarray | None:
    """Return the axis (3,) along which the body of a clip is up, if it is not Z by mistake."""
    if clip.frame_count < 2:
        return None
    frames, later = _choose_frames(clip)
    heads, moved = (_compute_heads(clip, chosen) for chosen in (frames, later))
    ways = np.mean([heads[:, leg.thigh] - heads[:, leg.foot] for leg in roles.legs], axis=0)
    way = quat.normalize_vectors(ways).mean(axis=0)
    up = _snap(way)
    if way @ up < NUMBERS.along or up[2] > 0.5:
        return None
    rest = clip.skeleton.compute_rest_world()[1].astype(np.float64)
    if _stands_along(rest, roles, up):
        return up
    speeds = np.linalg.norm(moved - heads, axis=-1) * clip.fps / count_frames(clip.fps)
    feet = [bone for leg in roles.legs for bone in (leg.foot, leg.toe)]
    body = [roles.hips, *clip.skeleton.get_descendants(roles.hips)]
    leg = _measure_leg(rest, roles)
    goes = speeds[:, roles.hips] >= NUMBERS.floor_slow * leg
    if goes.mean() < NUMBERS.goes:
        return None
    walks, rests = (
        _find_support(heads @ axis, speeds, leg, body, supporting)[goes].mean()
        for axis, supporting in ((up, feet), (np.eye(3)[2], body))
    )
    return up if walks >= NUMBERS.walks and rests <= NUMBERS.floats * walks else None


def _stands_along(rest: np.ndarray, roles: Roles, up: np.ndarray) -> bool:
    """Return whether a body with heads (B, 3) of a rest pose stands along an axis."""
    ways = [quat.normalize_vectors(rest[leg.thigh] - rest[leg.foot]) for leg in roles.legs]
    if (
        min(float(way @ up) for way in ways) < NUMBERS.along
        or np.mean(ways, axis=0) @ up < NUMBERS.rest_along
    ):
        return False
    if roles.head is None:
        return True
    return float(quat.normalize_vectors(rest[roles.head] - rest[roles.hips]) @ up) > NUMBERS.hangs


def _choose_frames(clip: Clip) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames (F,) of a clip to examine, and the frames a moment later."""
    step = count_frames(clip.fps)
    last = max(0, clip.frame_count - 1 - step)
    frames = np.unique(np.linspace(0, last, NUMBERS.axes_frames).astype(int))
    return frames, np.minimum(frames + step, clip.frame_count - 1)


def _compute_heads(clip: Clip, frames: np.ndarray) -> np.ndarray:
    """Return the heads (F, B, 3) of bones in some frames."""
    local = clip.rotations[frames].astype(np.float64), clip.positions[frames].astype(np.float64)
    return quat.fk(*local, clip.skeleton.parents)[1]


def _snap(way: np.ndarray) -> np.ndarray:
    """Return the signed axis (3,) nearest to a vector (3,)."""
    index = int(np.argmax(np.abs(way)))
    return np.sign(way[index]) * np.eye(3)[index]


def _measure_leg(rest: np.ndarray, roles: Roles) -> float:
    joints = [rest[[leg.thigh, leg.shin, leg.foot]] for leg in roles.legs]
    return float(np.mean([np.linalg.norm(np.diff(each, axis=0), axis=-1).sum() for each in joints]))


def _find_support(
    heights: np.ndarray, speeds: np.ndarray, leg: float, body: list[int], supporting: list[int]
) -> np.ndarray:
    """Return the frames (F,) in which a bone of a body rests; heights and speeds are (F, B)."""
    floor = np.percentile(heights[:, body].min(axis=1), NUMBERS.floor_height)
    near = np.abs(heights[:, supporting] - floor) < NUMBERS.floor_near * leg
    return (near & (speeds[:, supporting] < NUMBERS.floor_slow * leg)).any(axis=1)


def _find_ahead(heads: np.ndarray, roles: Roles, up: np.ndarray) -> np.ndarray:
    """Return the mean facing (3,) in heads (F, B, 3), also of toes behind; zero if unknown."""
    feet = [heads[:, leg.toe] - heads[:, leg.foot] for leg in roles.legs if leg.has_toe]
    pointing = np.mean(feet, axis=0) if feet else np.zeros((len(heads), 3))
    pointing = pointing - (pointing @ up)[:, None] * up
    left, right = (roles.get_thighs(side) for side in "LR")
    if not (left and right):
        return np.asarray(pointing.mean(axis=0))
    across = heads[:, left].mean(axis=1) - heads[:, right].mean(axis=1)
    ahead = np.cross(quat.normalize_vectors(across), up)
    clearly = NUMBERS.clearly_behind * float(np.linalg.norm(pointing, axis=-1).mean())
    forward = float(np.sum(ahead * pointing, axis=-1).mean())
    return np.asarray(ahead.mean(axis=0) * (-1.0 if forward < -clearly else 1.0))


def _name_axes(up: np.ndarray, ahead: np.ndarray, read_with: FileAxes) -> FileAxes:
    """Name the axes of a file that are up (3,) and ahead (3,) in the scene as it was read."""
    ahead = ahead - (ahead @ up) * up
    if np.abs(ahead).max() < 1e-6:  # unknown
        ahead = np.cross(np.eye(3)[int(np.argmin(np.abs(up)))], up)
    to_file = compute_blender_axes(*read_with).T
    names = []
    for way in (to_file @ up, to_file @ _snap(ahead)):
        index = int(np.argmax(np.abs(way)))
        names.append(f"{'-' if way[index] < 0 else ''}{AXES[index]}")
    return FileAxes(*names)
