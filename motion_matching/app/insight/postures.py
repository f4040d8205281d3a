"""Odd postures in the data of a character, as panels list them: by source and by its frames."""

from __future__ import annotations

import math
from typing import NamedTuple

import bpy

from ...engine.database.database import Database
from ...engine.facts import postures
from ..database.content import Content
from ..property_access import settings_of
from ..sources.source_list import find_first_frame, get_label
from ..strip.warnings import Button, WarningItem

KIND = "odd postures"
TAG = "motion_matching.tag_odd_postures"
_TOLD = 0.01  # share of a gait that deserves a warning: takes will show them


class OddMoment(NamedTuple):
    """A moment with an odd posture: frames `first` to `last` of a source, as its tags count.

    The source is called by its name in the list, and shown by its label. In `lead` frames before it
    there is still time to go elsewhere.
    """

    source: str
    label: str
    first: int
    last: int
    lead: int
    text: str


class OddMoments(NamedTuple):
    """The odd postures of a database, the oddest first; and the gaits that they are in.

    Their share is that of the gait with most.
    """

    moments: tuple[OddMoment, ...]
    summary: str
    share: float


NO_ODD_MOMENTS = OddMoments((), "", 0.0)


def list_odd_moments(obj: bpy.types.Object, content: Content, database: Database) -> OddMoments:
    """List the odd postures of an armature's database; none for a database without its sources."""
    sources = settings_of(obj).sources
    found = postures.find_odd_postures(database)
    keys = content.find_indices(len(sources))
    firsts: dict[int, int] = {}
    moments = []
    for one in sorted(found, key=lambda one: -one.deviation):
        if database.range_sources is None:
            break
        index = keys.get(database.range_sources[one.range_index].key)
        if index is None:
            continue
        if index not in firsts:
            firsts[index] = find_first_frame(obj, sources[index])
        first = firsts[index]
        step = database.ranges[one.range_index].source_frames_per_frame
        moments.append(
            OddMoment(
                sources[index].name,
                get_label(sources[index]),
                first + one.first,
                first + one.last - 1,
                math.ceil(postures.LEAD * database.fps * step),
                f"{one.what.capitalize()} while {one.gait}",
            )
        )
    if not moments:
        return NO_ODD_MOMENTS
    share = max(postures.measure_shares(found).values())
    return OddMoments(tuple(moments), postures.summarize(found), share)


def describe_odd_moments(odd: OddMoments) -> tuple[WarningItem, ...]:
    """Return a warning if a gait has many odd postures."""
    if odd.share < _TOLD:
        return ()
    names = tuple(sorted({moment.source for moment in odd.moments}))
    return (WarningItem(KIND, f"Odd postures: {odd.summary}", "insight", names, BUTTONS),)


BUTTONS = (
    Button("Exclude All", TAG, "CANCEL", (("kind", "no_use"),)),
    Button("Avoid All", TAG, "SOLO_OFF", (("kind", "prefer"),)),
)
PLAY_ALL = Button("Play All", TAG, "PLAY", (("kind", "play"),))
