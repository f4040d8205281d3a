"""What a live session draws, by layer: on each character, and in the preferences for new ones."""

from __future__ import annotations

from ..typed_properties import switch


class Layers:
    """Which layers are shown; a mixin of the characters' settings and of the preferences."""

    show_paths: bool = switch(
        True,
        "Paths",
        "Draw where the steering and the chosen motion lead within the next second; small rings "
        "mark the times that features compare, with the direction faced then",
    )
    show_object: bool = switch(
        True, "Simulation Object", "Draw what is steered: a ring with the direction that it faces"
    )
    show_ground: bool = switch(
        True,
        "Moving Ground",
        "Draw a metre grid and walls that move past a character on the spot",
    )
    show_contacts: bool = switch(
        False, "Contacts", "Draw a ring around each planted toe, thick while it is locked"
    )
    show_recording: bool = switch(
        True, "Recording", "Show the length of the recording in the corner of the view"
    )
    show_warnings: bool = switch(
        True,
        "Warnings",
        "Warn of a speed that the clips do not have, and of a tick that takes longer than the "
        "preferences allow",
    )
    show_map: bool = switch(
        False,
        "Map of Poses",
        "Draw all poses on a flat map in the corner of the view, with the trail of the motion",
    )
    show_ghosts: bool = switch(
        False,
        "Neighbours",
        "Draw where each neighbour of a motion field would lead, as skeletons over the character: "
        "brighter ones count more, the chosen one is thick; the color is that of the heading or of "
        "the requested tag",
    )
    show_ghost_row: bool = switch(
        False,
        "Neighbours in Rows",
        "Draw the neighbours beside the character instead of over it, in rows of five, the one "
        "that counts most first; a bar on the ground before each is as long as its share",
    )
    show_handles: bool = switch(
        True,
        "Handles",
        "Show what can be dragged in the view, also while not live: the target, the points of the "
        "curve, and obstacles",
    )
    show_text: bool = switch(
        False, "Figures", "Show clip, frame, tags, cost or value, times and rate in the corner"
    )


PROPERTIES = tuple(Layers.__annotations__)
