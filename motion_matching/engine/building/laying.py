"""Lay clips on the reel of a database: fill its arrays, some ranges at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from ..body import mirror, rig
from ..body.toe_ends import measure_leg_lengths
from ..database.features.features import Feature, Schema, fill_features
from ..database.features.motion_table import MotionTable, compute_angular_velocity, differentiate
from ..motion.clip import Clip, join_clips
from ..motion.contacts import ContactSettings, find_contacts
from ..motion.simulation_bone import GroundTrack, attach
from ..progress import ReportShare
from ..sources.climbs import OwnGround, lower_feet
from .memory import give_back
from .numbers import NUMBERS


class ReelBody(NamedTuple):
    """What parts share: roles, the hips' `forward` axis (3,), and the symmetry of mirror images."""

    roles: rig.Roles
    forward: np.ndarray
    symmetry: mirror.Symmetry | None


@dataclass(frozen=True)
class Reel:
    """The arrays of a database, of which `table` has the poses, before and while they are filled.

    poses (N, 7, B), velocities (N, 6, B), features (D, N) and contacts (N, L) as there.
    """

    table: MotionTable
    schema: Schema
    poses: np.ndarray
    velocities: np.ndarray
    features: np.ndarray

    @classmethod
    def from_table(cls, table: MotionTable, schema: Schema) -> Reel:
        """Return the empty arrays of a table without poses and contacts."""
        count = len(table.track)
        bones = table.skeleton.bone_count
        poses = np.empty((count, 7, bones), np.float32)
        local = poses.transpose(0, 2, 1)
        contacts = np.empty((count, len(table.roles.legs)), bool)
        table = replace(
            table, positions=local[..., :3], rotations=local[..., 3:], contacts=contacts
        )
        velocities = np.empty((count, 6, bones), np.float32)
        features = np.empty((schema.dimensions, count), np.float32)
        return cls(table, schema, poses, velocities, features)

    def fill(
        self,
        clips: deque[tuple[Clip, bool]],
        body: ReelBody,
        ground: OwnGround | None,
        contacts: ContactSettings,
        notify: ReportShare,
    ) -> None:
        """Fill all arrays from the clips of all ranges, and whether each is mirrored.

        The queue is emptied: each clip is let go once it is laid. The `body` is that of the clips.
        """
        features = self.schema.features
        # first, while the others take no memory yet; times are added to the number of a frame,
        # and rounded, so that they are of the whole reel
        self._fill_features(self.table, slice(None), [f for f in features if f.definition.is_path])
        own = [f for f in features if not f.definition.is_path]
        local = [f for f in own if not f.definition.is_of_all_frames]
        before = None
        for first, stop in _group(self.table, whole=ground is not None):
            part = self.table.crop(first, stop)
            joined = _join([clips.popleft() for _ in range(first, stop)], body.symmetry)
            clip = attach(joined, GroundTrack.from_rows(part.track), body.roles.hips, before)
            if ground:
                clip = lower_feet(clip, part.roles, ground.footing, ground.tilts)
            before = clip.rotations[-1]
            frames = slice(self.table.starts[first], self.table.stops[stop - 1])
            part = replace(part, positions=clip.positions, rotations=clip.rotations)
            part.contacts[:] = _find_toe_contacts(part, contacts)
            _stack_component_first(self.poses[frames], clip.positions, clip.rotations)
            _stack_component_first(self.velocities[frames], *_compute_velocities(part))
            self._fill_features(part, frames, local)
            del joined, clip, part
            give_back()
            notify(frames.stop / len(self.poses))
        self._fill_features(
            self.table, slice(None), [f for f in own if f.definition.is_of_all_frames]
        )

    def _fill_features(self, table: MotionTable, frames: slice, chosen: Sequence[Feature]) -> None:
        fill_features(self.features[:, frames], self.schema, table, chosen)


def _group(table: MotionTable, whole: bool) -> Iterator[tuple[int, int]]:
    """Yield the first and last ranges, first <= r < stop, that are laid together.

    The `whole` reel is laid at once where clips climb: legs are measured in all frames then.
    """
    count = len(table.starts)
    first = 0
    while first < count:
        end = table.starts[first] + NUMBERS.frames_at_once
        stop = count if whole else max(int(np.searchsorted(table.stops, end)), first + 1)
        yield first, stop
        first = stop


def _join(clips: Sequence[tuple[Clip, bool]], symmetry: mirror.Symmetry | None) -> Clip:
    """Join clips end to end, and mirror those marked so."""
    runs = []
    for mirrored, run in groupby(clips, itemgetter(1)):
        joined = join_clips([clip for clip, _ in run])
        runs.append(mirror.mirror(joined, symmetry=symmetry) if mirrored else joined)
    return runs[0] if len(runs) == 1 else join_clips(runs)


def _stack_component_first(into: np.ndarray, *arrays: np.ndarray) -> None:
    """Write arrays (N, B, k) to one (N, sum of k, B), so that a frame is one read."""
    first = 0
    for array in arrays:
        into[:, first : first + array.shape[2]] = array.transpose(0, 2, 1)
        first += array.shape[2]


def _compute_velocities(table: MotionTable) -> tuple[np.ndarray, np.ndarray]:
    """Return linear and angular velocities (N, B, 3); loops close, except the simulation bone."""
    linear = differentiate(table.positions, table)
    angular = compute_angular_velocity(table.rotations, table)
    linear[:, 0] = differentiate(table.positions[:, 0], table, cyclic=False)
    angular[:, 0] = compute_angular_velocity(table.rotations[:, 0], table, cyclic=False)
    return linear, angular


def _find_toe_contacts(table: MotionTable, settings: ContactSettings) -> np.ndarray:
    """Find the contacts (N, L) of every leg's toe, range by range."""
    skeleton = table.skeleton
    local = table.rotations, table.positions
    legs = table.roles.legs
    toes = np.stack([skeleton.compute_bone_position(leg.toe, *local) for leg in legs], axis=1)
    lengths = measure_leg_lengths(skeleton.compute_rest_world()[1][None], table.roles)
    spans = zip(table.starts, table.stops, strict=True)
    found = [find_contacts(toes[a:b], table.fps, settings, lengths) for a, b in spans]
    return np.concatenate(found)
