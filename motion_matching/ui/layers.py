"""What a live session draws into the view, layer by layer: on each character, and in the preferences for new ones."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty

# name, label, whether it is shown unless somebody says otherwise, and what it shows
LAYERS = (
    (
        "paths",
        "Paths",
        True,
        "Draw where the steering leads within the next second, and where the chosen motion does",
    ),
    (
        "object",
        "Simulation Object",
        True,
        "Draw what is steered, a ring with the direction that it faces",
    ),
    (
        "ground",
        "Moving Ground",
        True,
        "Draw metres on the ground, and walls, as they pass by a character on the spot",
    ),
    (
        "contacts",
        "Contacts",
        False,
        "Draw a ring around each toe while the motion has it stand, thick while it is held",
    ),
    (
        "recording",
        "Recording",
        True,
        "Write how long has been recorded into the corner of the view",
    ),
    (
        "warnings",
        "Warnings",
        True,
        "Say when a speed is asked for that the clips do not have, and when a tick takes longer than the preferences allow",
    ),
    (
        "map",
        "Map of Poses",
        False,
        "Draw all poses as a flat map into the corner of the view, and the way that the motion takes over it",
    ),
    (
        "ghosts",
        "Neighbours",
        False,
        "Draw where each neighbour of a motion field would lead, as skeletons over the character: the brighter, the more it "
        "counts; thick is the chosen one; the colour is that of the heading or the tag that is asked for",
    ),
    (
        "text",
        "Figures",
        False,
        "Write clip, frame, tags, cost or value, times and rate into the corner of the view",
    ),
)
PROPERTIES = tuple(f"show_{name}" for name, *_ in LAYERS)


def toggle(name: str, **options: Any) -> Any:
    """The property that shows a layer."""
    label, default, description = next(
        (label, default, says) for known, label, default, says in LAYERS if known == name
    )
    return BoolProperty(name=label, default=default, description=description, **options)


def fill_in(play: Any, chosen: Any) -> None:
    """Give a character the preferences' layers where it was not told otherwise."""
    for name in PROPERTIES:
        if not play.is_property_set(name):
            setattr(play, name, getattr(chosen, name))
