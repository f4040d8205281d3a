"""Settings of what is shown of the data: coverage, frames and the map of poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ... import app
from ..play.properties import is_take
from ..property_updates import redraw_views
from ..typed_properties import choice, number, numbers, pointer, settings_group, switch, updates

_REFERENCES = (
    (
        "controller",
        "Controller",
        "Where its speeds and halflives lead, in all scripts at both gaits",
    ),
    ("take", "Active Take", "Where the simulation object of the active take went"),
    (
        "recording",
        "Recording",
        "Where the simulation object of another recording went, for example one that was tuned "
        "without a character",
    ),
)
_INSPECTED = (
    ("source", "Source", "The active source"),
    ("take", "Active Take", "The active take, with its goal there"),
    (
        "screen",
        "On Screen",
        "The take that plays, with its goal there, or else the active source; while any other "
        "action plays, the frames that are most like the pose",
    ),
)
_MAPS = (
    ("mds", "Dissimilarity", "How different the search finds them, by multidimensional scaling"),
    ("pca", "Principal Components", "The two directions in which their features differ most"),
    (
        "field",
        "Motion Field",
        "How alike a motion field finds them, by the graph of their neighbours, in three "
        "dimensions: the map turns with the view",
    ),
)
_MAP_COLOURS = (
    ("speed", "Speed", "Dark poses stand, light ones run"),
    ("gait", "Gait", "Blue poses stand, green ones walk, orange ones run"),
    ("clip", "Clip", "Each clip has its own colour"),
)
_VELOCITY: Any = {"soft_min": -6.0, "soft_max": 6.0, "precision": 2, "unit": "VELOCITY"}


def _inspect_again(self: MotionMatchingInsight, context: bpy.types.Context) -> None:
    app.inspector.refresh()


@settings_group
@updates(redraw_views)
class MotionMatchingInsight(bpy.types.PropertyGroup):
    """What is shown of the data"""

    keep: float = number(
        0.2,
        "Keep",
        "How much of the motion stays; lower: a smaller choice for the search, and motion that is "
        "rarely played is lost",
        min=0.01,
        max=0.99,
        subtype="FACTOR",
    )
    beside: str = choice(
        "controller", "Compare With", "What the data is measured against", _REFERENCES
    )
    recording: bpy.types.Action = pointer(
        bpy.types.Action,
        "Recording",
        "Take or steered path that the data is measured against",
        poll=is_take,
    )
    show_strands: bool = switch(
        True,
        "Data",
        "Draw where frames of the data lead within a second, around the character; dark strands "
        "stand, light ones run",
    )
    show_simulation: bool = switch(
        True,
        "Simulation Object",
        "Draw where the simulation object leads within a second, to the left of the data's "
        "strands: where it goes and they do not, nothing can be matched",
    )
    lay_over: bool = switch(
        False,
        "On Top",
        "Draw the strands of the simulation object on those of the data, in one colour",
    )
    show_coverage: bool = switch(
        True,
        "Coverage Map",
        "Draw in the corner of the view how many frames the data has by speed and turn rate, while "
        "nothing is live; lighter: more frames, framed: a hole",
    )
    show_histograms: bool = switch(
        True,
        "Histograms",
        "Draw how often the data (filled) and the simulation object (outlined) have each speed, "
        "acceleration and turn rate, above the coverage map",
    )
    inspect: str = choice(
        "source",
        "Inspect",
        "What is inspected at the current frame",
        _INSPECTED,
        update=_inspect_again,
    )
    use_wish: bool = switch(
        False,
        "Desired Velocity",
        "Search for this velocity instead of the clip's own",
        update=_inspect_again,
    )
    wish: Sequence[float] = numbers(
        (1.0, 0.0),
        "Desired Velocity",
        "Velocity to search for, ahead and to the left",
        update=_inspect_again,
        **_VELOCITY,
    )
    show_features: bool = switch(
        True,
        "Features",
        "Draw the inspected pose with its features: positions, velocities and the path",
    )
    map: str = choice("mds", "By", "What makes poses lie near each other on the map", _MAPS)
    map_colours: str = choice("speed", "Colour", "What the colours of the map show", _MAP_COLOURS)
    show_map: bool = switch(
        True,
        "Map",
        "Draw the map in the corner of the view while nothing is live, with the inspected frame "
        "marked",
    )
