"""Find what a build would mend in a database from an earlier version."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..body.toe_ends import measure_leg_lengths
from ..database.database import Database
from ..mending.mending import describe_unmended
from ..motion.clip import Clip
from ..sources.climbs import is_off_zero
from ..sources.reel import BuildNote
from .numbers import NUMBERS

EXAMINED = "examined"  # settings of a database that was mended, or keeps its faults


def find_unmended(database: Database) -> tuple[BuildNote, ...]:
    """Return what a build would mend, a note for each clip and kind; none if it was asked not to.

    It reads all frames, which takes some seconds for an hour of motion.
    """
    if database.settings.get(EXAMINED):
        return ()
    notes = list(_find_frames(database))
    if (note := _find_floor(database)) is not None:
        notes.append(note)
    return tuple(notes)


def _find_frames(database: Database) -> Iterator[BuildNote]:
    """Yield notes on the frames of clips as built, without loops, copies and mirror images."""
    for origin, start, stop in zip(
        database.ranges, database.starts.tolist(), database.stops.tolist(), strict=True
    ):
        if origin.mirrored or origin.loop or origin.is_copy:
            continue
        poses = np.asarray(database.poses[start:stop])
        local = poses[:, :3].transpose(0, 2, 1), poses[:, 3:].transpose(0, 2, 1)
        clip = Clip(origin.clip, database.skeleton, *local, database.fps)
        yield from describe_unmended(
            clip, origin.first_source_frame, origin.source_frames_per_frame
        )


def _find_floor(database: Database) -> BuildNote | None:
    """Return a note on feet that stand far above or below zero in most of their contacts."""
    bones = [leg.toe for leg in database.roles.legs]
    contacts = np.asarray(database.contacts, bool)
    frames = np.flatnonzero(contacts.any(axis=1))
    if not len(frames):
        return None
    frames = frames[:: max(len(frames) // NUMBERS.unmended_frames, 1)]
    poses = np.asarray(database.poses[frames])
    heights = database.skeleton.compute_bone_positions(bones, poses)[..., 2][contacts[frames]]
    lengths = measure_leg_lengths(database.skeleton.compute_rest_world()[1][None], database.roles)
    height = float(np.median(heights))
    if not is_off_zero(height, float(np.mean(lengths))):
        return None
    side = "above" if height > 0 else "below"
    text = f"Feet stand {abs(height):.2f} m {side} zero; build again to move them onto the ground."
    return BuildNote(database.ranges[0].clip, text, "floor")
