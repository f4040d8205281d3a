"""Bring clips onto the reel's rate, floor and tracks: the parts that a database is made of."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..body import rig, toe_ends
from ..database.database import HIGHEST_RATE, LOWEST_RATE
from ..errors import DatabaseError, SettingsError
from ..motion import simulation_bone
from ..motion.clip import Clip, find_common_rate, join_chains, resample
from ..motion.simulation_bone import GroundTrack
from ..retargeting import loose_hips
from ..skeleton.bone_names import swap_sides
from ..sources.floors import level_floors
from ..sources.reel import BuildNote, ReelPart
from ..sources.sources import TEMPOS, Source
from .numbers import NUMBERS

if TYPE_CHECKING:
    from .build import BuildSettings

_NO_TRACK = GroundTrack(np.empty((0, 2)), np.empty(0))


def make_parts(
    sources: deque[tuple[Source, Clip, bool]], settings: BuildSettings
) -> tuple[list[ReelPart], list[BuildNote]]:
    """Resample sources to the database's rate; return notes on sources that are too short.

    Each is given with its clip, and whether it is a cycle. Copies at other tempos follow their
    original, unless too short. The queue is emptied, so that no clip is kept at two rates.
    """
    fps = settings.fps or find_common_rate(clip.fps for _, clip, _ in sources)
    if not LOWEST_RATE <= fps <= HIGHEST_RATE:
        raise SettingsError(
            f"The database would have {fps:g} frames per second; choose a frame rate from "
            f"{LOWEST_RATE} to {HIGHEST_RATE}, or correct the frame times of the sources."
        )
    horizon = round((settings.schema.past + settings.schema.future) * fps)
    parts = []
    skipped = []
    while sources:
        source, clip, cycle = sources.popleft()
        needed = NUMBERS.least_loop_frames if source.loop else max(horizon, NUMBERS.least_frames)
        copies = settings.tempo if source.tempo is None else source.tempo
        for tempo in (1.0, *TEMPOS) if copies else (1.0,):
            step = _compute_step(source, clip, fps, settings.speed * tempo)
            resampled = resample(clip, fps, step * fps / clip.fps)
            count = resampled.frame_count
            if count >= needed:
                known = step, _NO_TRACK, clip.frame_count, cycle
                own = ReelPart(source, resampled, *known, tempo=tempo, floor=source.get_floor())
                parts.append(own)
            elif tempo == 1.0:
                loop = f" in its loop from frame {source.start or 0}" if source.loop else ""
                reason = f"it has {count} frames{loop} and needs at least {needed}"
                skipped.append(BuildNote(source.name, reason, "short"))
    if not parts:
        needed = max(horizon, NUMBERS.least_frames)
        raise DatabaseError(
            f"Every source is shorter than {needed} frames ({needed / fps:.2g} s), the least that "
            "can be used; add longer clips."
        )
    return parts, skipped


def _compute_step(source: Source, clip: Clip, fps: float, speed: float) -> float:
    """Return the source frames per frame; a loop's lap is a whole number of frames."""
    step = clip.fps / fps * source.speed * speed
    lap = clip.frame_count - 1
    return lap / max(round(lap / step), 1) if source.loop and lap > 0 else step


def list_mirrored(parts: Sequence[ReelPart], by_default: bool, roles: rig.Roles) -> list[ReelPart]:
    """Return the requested mirror images, which still have the clips of their originals."""
    to_mirror = [p for p in parts if (by_default if p.source.mirror is None else p.source.mirror)]
    legs = roles.leg_names
    twins = [legs.index(swap_sides(name)) for name in legs] if any(p.ground for p in parts) else []
    return [
        replace(
            part,
            track=part.track.mirrored(),
            mirrored=True,
            ground=part.ground and part.ground.mirrored(twins),
        )
        for part in to_mirror
    ]


def add_tracks(
    parts: Sequence[ReelPart], settings: BuildSettings
) -> tuple[list[ReelPart], rig.Roles, np.ndarray, list[BuildNote]]:
    """Return the parts with their tracks, smoothed clip by clip; roles; the hips' forward axis.

    The clips get bones at the ends of legs that stand on these, and are put on one floor. The last
    value are notes on moved clips.
    """
    clips = [part.clip for part in parts]
    bone = settings.simulation_bone
    roles = rig.find_roles(clips[0].skeleton, clips, settings.roles)
    forward = rig.find_hips_forward(loose_hips.stiffen_hips(clips, roles), roles)
    ends = toe_ends.find_toe_ends(clips[0].skeleton, clips, roles)
    clips = [toe_ends.add_toe_ends(clip, ends) for clip in clips]
    roles = toe_ends.use_toe_ends(roles, clips[0].skeleton)
    parts = [replace(part, clip=clip) for part, clip in zip(parts, clips, strict=True)]
    parts, moved = level_floors(parts, roles, settings.contacts, settings.keep_floor)
    if any(part.is_copy for part in parts):  # notes on a source also hold for its copies
        moved = list({(note.source, note.kind): note for note in reversed(moved)}.values())[::-1]
    bones = [roles.hips, roles.spine, *([] if roles.root is None else [roles.root])]
    stiff = loose_hips.stiffen_hips([part.clip for part in parts], roles)
    joined, (hips, spine, *root) = join_chains(stiff, bones)
    del stiff, clips
    raw = simulation_bone.compute_raw_track(
        joined, hips, spine, forward, source=bone.source, root=root[0] if root else None
    )
    result = []
    start = 0
    for part in parts:
        stop = start + part.clip.frame_count
        track = raw.crop(start, stop)
        if part.source.track is not None:
            track = _resample_track(part.source.track, part)
        else:
            track = simulation_bone.smooth_track(track, part.clip.fps, bone, part.source.loop)
        result.append(replace(part, track=track))
        start = stop
    return result, roles, forward, moved


def _resample_track(track: GroundTrack, part: ReelPart) -> GroundTrack:
    """Return a track in frames of the source, interpolated at the frames of the database."""
    times = np.arange(part.clip.frame_count) * part.step
    frames = np.arange(track.frame_count)
    columns = [np.interp(times, frames, column) for column in track.rows.T]
    return GroundTrack.from_rows(np.column_stack(columns))


def open_loop(part: ReelPart) -> ReelPart:
    """Drop the last frame of a loop: it repeats the first, which follows it in a database."""
    if not part.source.loop:
        return part
    last = part.clip.frame_count - 1
    x, y, yaw = part.track.rows[last].tolist()
    clip = part.clip.crop(0, last)
    track = part.track.crop(0, last)
    ground = part.ground and part.ground.crop(0, last)
    return replace(part, clip=clip, track=track, closing=(x, y, yaw), ground=ground)
