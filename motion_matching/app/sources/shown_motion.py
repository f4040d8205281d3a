"""The motion of a source as it is shown: bodies and ground, where a stage puts them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...engine.body import mirror, rig
from ...engine.control.performer import Placement
from ...engine.ground.ground import FLAT, Ground
from ...engine.motion.clip import Clip
from ...engine.motion.contacts import ContactSettings
from ...engine.motion.simulation_bone import SimulationBoneSettings
from ...engine.sources.skeletons import Character, measure_travel, retarget_clips, scale_floor
from ..character.characters import get_placement, get_roles
from ..property_access import settings_of, to_plain_value
from ..settings import get_simulation_bone_settings
from . import source_grounds
from .source_grounds import ShownGround, ShownPlace, find_shown_ground
from .source_motion import find_hips

_ROOM = 0.75  # of its height, by which another body stands aside


class ShownBody(NamedTuple):
    """Positions (F, B, 3) of bones in the world, their parents (B,), the hips, and those below."""

    positions: np.ndarray
    parents: np.ndarray
    hips: int
    bones: np.ndarray

    def interpolate(self, row: float) -> np.ndarray:
        """Return the positions of bones (B, 3) at a row or between two; the ends go on."""
        last = len(self.positions) - 1
        row = min(max(row, 0.0), float(last))
        before = int(row)
        here = self.positions[before]
        there = self.positions[min(before + 1, last)]
        return here + np.float32(row - before) * (there - here)

    def compute_segments(self, row: float) -> np.ndarray:
        """Return the bones below the hips at a row (N, 2, 3), from end to end."""
        positions = self.interpolate(row)
        return np.stack([positions[self.parents[self.bones]], positions[self.bones]], axis=1)


class PreviewedMotion(NamedTuple):
    """The clip that is shown, and that of another skeleton it comes from, if it does.

    The character goes as far as `travel` (3,) for each metre of that one.
    """

    clip: Clip
    original: Clip | None = None
    travel: np.ndarray = np.ones(3)

    @classmethod
    def from_clip(cls, clip: Clip, character: Character | None) -> PreviewedMotion:
        """Return a clip as it is, or as the motion of a character of another skeleton."""
        if character is None:
            return cls(clip)
        [retargeted] = retarget_clips([clip], character)[0]
        return cls(retargeted, clip, measure_travel(clip, character))


class ShownMotion(NamedTuple):
    """The body of a character, that of the skeleton its motion comes from, and where it climbs."""

    body: ShownBody
    original: ShownBody | None
    ground: ShownGround | None


class Stage(NamedTuple):
    """The place of shown motion: from frame `start` on, at the place of a character if there is
    one.

    On an object of the scene it is where it lies. `problem` is why that cannot be read.
    """

    start: int
    mirrored: bool
    placement: Placement | None
    height: float
    roles: Mapping[str, str]
    settings: tuple[ContactSettings, SimulationBoneSettings]
    floor: Ground | None
    lies_on_object: bool

    @classmethod
    def from_source(
        cls, source: Any, first: int, clip: Clip, mirrored: bool, character: Character | None
    ) -> Stage:
        """Read where a source is shown, whose clip begins at frame `first`, and on what.

        SettingsError for a ground without a mesh.
        """
        obj = source.id_data
        start = max(source.frame_start - first, 0) if source.use_range else 0
        lies = source.ground == source_grounds.OBJECT
        is_placed = character is not None or (source.kind == "FILE" and not lies)
        settings = settings_of(obj)
        floor = FLAT if source.keep_floor else source_grounds.read_floor(source)
        contacts = ContactSettings(speed=to_plain_value(settings.contact_speed))
        return cls(
            min(start, clip.frame_count - 1),
            mirrored,
            get_placement(obj) if is_placed else None,
            float(obj.matrix_world[2][3]),
            get_roles(settings),
            (contacts, get_simulation_bone_settings(obj)),
            floor,
            lies,
        )

    def show(self, motion: PreviewedMotion) -> ShownMotion:
        """Return the bodies and the ground of a motion."""
        hips = find_hips(motion.clip, self.roles)
        body, move = self._place(motion.clip, hips, self.roles)
        floor = scale_floor(self.floor, motion.travel)
        ground = find_shown_ground(motion.clip, self.roles, self.settings, floor, move)
        if motion.original is None:
            return ShownMotion(body, None, ground)
        beside = self._replace(placement=None) if self.lies_on_object else self
        hips = find_hips(motion.original, {})
        aside = _ROOM * float(np.ptp(body.positions[0, :, 2]))
        original, _ = beside._place(motion.original, hips, {}, aside)
        return ShownMotion(body, original, ground)

    def _place(
        self, clip: Clip, hips: int, roles: Mapping[str, str], aside: float = 0.0
    ) -> tuple[ShownBody, ShownPlace]:
        """Return a clip as it is shown, `aside` (metres) to the left of the character, and how."""
        begin = clip.skeleton.compute_bone_position(
            hips, clip.rotations[[self.start]], clip.positions[[self.start]]
        )[0].astype(np.float64)
        own = clip
        if self.mirrored:
            own = mirror.mirror(clip, rig.find_roles(clip.skeleton, [clip], roles))
        mirrored = begin * [-1.0 if self.mirrored else 1.0, 1.0, 1.0]
        x, y, _ = begin - mirrored  # it begins at the same place
        move = ShownPlace(self.mirrored, (x, y, 0.0))
        if self.placement is not None:
            first = aside - float(mirrored[0]), -float(mirrored[1]), 0.0
            last = self.placement.x, self.placement.y, self.height
            move = ShownPlace(self.mirrored, first, self.placement.yaw, last)
        shown = own.compute_world()[1].astype(np.float64)
        skeleton = clip.skeleton
        below = np.array(skeleton.get_descendants(hips), int)
        return ShownBody(move.carry_mirrored(shown), skeleton.parents, hips, below), move
