"""Find frames of a database by their written names: CLIP:FRAME or CLIP:FRAME:mirrored."""

from __future__ import annotations

import difflib

from ..errors import SettingsError
from .database import Database

_MIRRORED = "mirrored"
_MOST_DIGITS = 18  # digits of a frame's number; Python refuses to read thousands


def find_frame(database: Database, text: str, which: int | None = None) -> int:
    """Return the frame of a database that shows CLIP:FRAME, or CLIP:FRAME:mirrored.

    Of several ranges of that clip the first with the frame counts, or only the range with index
    `which` among them. Raises SettingsError if there is none.
    """
    words = text.rsplit(":", 2)
    mirrored = len(words) == 3 and words[-1] == _MIRRORED
    clip, _, number = (text.removesuffix(f":{_MIRRORED}") if mirrored else text).rpartition(":")
    if not number.isdecimal() or len(number) > _MOST_DIGITS or not clip:
        raise SettingsError(
            f"'{text}' is not a frame of a clip; write CLIP:FRAME, such as walk_01:120, or "
            f"CLIP:FRAME:{_MIRRORED}."
        )
    named = clip, mirrored
    indices = [k for k, r in enumerate(database.ranges) if (r.label, r.mirrored) == named]
    if not indices:
        clips = sorted({r.label for r in database.ranges})
        near = difflib.get_close_matches(clip, clips, 3, 0.5) or clips[:3]
        raise SettingsError(
            f"The database has no{' mirrored' if mirrored else ''} clip '{clip}'; it has "
            f"{', '.join(near)}{' and others' if len(clips) > len(near) else ''}."
        )
    if which is not None:
        indices = indices[which : which + 1]
    spans = []
    for k in indices:
        origin = database.ranges[k]
        start = int(database.starts[k])
        stop = int(database.stops[k])
        offset = round((int(number) - origin.first_source_frame) / origin.source_frames_per_frame)
        if 0 <= offset < stop - start:
            return start + offset
        first, last = (database.get_frame_source(frame).frame for frame in (start, stop - 1))
        spans.append(f"{first} to {last}")
    raise SettingsError(
        f"The clip '{clip}' has no frame {number} in the database; it has "
        f"{' and '.join(spans) or 'none'}."
    )


def format_frame(database: Database, frame: int) -> str:
    """Return a frame as `find_frame` takes it."""
    source = database.get_frame_source(frame)
    return f"{source.clip}:{source.frame}{f':{_MIRRORED}' if source.mirrored else ''}"
