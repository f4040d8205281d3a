"""Describe the layers that a live session draws, for characters and for the preferences."""

from __future__ import annotations

from ..base.typed_properties import switch


class Layers:
    """Switches of the layers; a mixin of the characters' settings and of the preferences."""

    show_paths: bool = switch(
        True,
        "Paths",
        "Draw the next second of the steering and of the chosen motion; small rings mark the "
        "compared times, with the facing at each",
    )
    show_object: bool = switch(
        True, "Simulation Object", "Draw the steered object as a ring with its facing"
    )
    show_ground: bool = switch(
        True, "Moving Ground", "Draw a metre grid and walls that move past a character on the spot"
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
        "Warn of speeds missing in the clips, and of ticks that exceed the budget in the "
        "preferences",
    )
    show_map: bool = switch(
        False,
        "Map of Poses",
        "Draw all poses on a flat map in the corner of the view, with the trail of the motion",
    )
    show_ghosts: bool = switch(
        False,
        "Neighbours",
        "Draw the outcome of each neighbour of a motion field as a skeleton over the character: "
        "brighter ones count more, the chosen one is thick. Colors show the heading or the "
        "requested tag",
    )
    show_ghost_row: bool = switch(
        False,
        "Neighbours in Rows",
        "Draw the neighbours beside the character instead of over it, in rows of five, the most "
        "important first. A bar on the ground shows the share of each",
    )
    show_handles: bool = switch(
        True,
        "Handles",
        "Show handles of the target, the curve points and obstacles, to drag them in the view, "
        "also while not live",
    )
    show_text: bool = switch(
        False, "Figures", "Show clip, frame, tags, cost or value, times and rate in the corner"
    )


PROPERTIES = tuple(Layers.__annotations__)
