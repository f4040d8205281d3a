"""Settings of what is shown of the data: coverage, frames and the map of poses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy

from ... import app
from ..base.property_updates import redraw_views
from ..base.typed_properties import (
    choice,
    number,
    numbers,
    pointer,
    settings_group,
    switch,
    updates,
)
from ..play.properties import is_take

_REFERENCES = (
    (
        "controller",
        "Controller",
        "The paths of its speeds and halflives, in all scripts at both gaits",
    ),
    ("take", "Active Take", "The path of the simulation object of the active take"),
    (
        "recording",
        "Recording",
        "The path of the simulation object of another recording, such as one tuned without a "
        "character",
    ),
)
_INSPECTED = (
    ("source", "Source", "The active source"),
    ("take", "Active Take", "The active take, with its goal there"),
    (
        "screen",
        "On Screen",
        "The playing take with its goal there, or else the active source. With any other action, "
        "the frames most similar to the pose",
    ),
)
_MAPS = (
    ("mds", "Dissimilarity", "Dissimilarity in the search, by multidimensional scaling"),
    (
        "pca",
        "Principal Components",
        "The two directions of the largest differences between features",
    ),
    (
        "field",
        "Motion Field",
        "Similarity in a motion field, by the graph of neighbours, in three dimensions: the map "
        "turns with the view",
    ),
)
_MAP_COLOURS = (
    ("speed", "Speed", "Dark poses stand, light ones run"),
    ("gait", "Gait", "Blue poses stand, green ones walk, orange ones run"),
    ("clip", "Clip", "Each clip has its own color"),
)
_VELOCITY: Any = {"soft_min": -6.0, "soft_max": 6.0, "precision": 2, "unit": "VELOCITY"}


def _inspect_again(self: MotionMatchingInsight, context: bpy.types.Context) -> None:
    app.insight.inspector.refresh()


@settings_group
@updates(redraw_views)
class MotionMatchingInsight(bpy.types.PropertyGroup):
    """What to show of the data"""

    keep: float = number(
        0.2,
        "Keep",
        "Share of the motion to keep; lower: fewer frames to choose from, and rarely played motion "
        "is lost",
        min=0.01,
        max=0.99,
        subtype="FACTOR",
    )
    beside: str = choice(
        "controller", "Compare With", "Motion to measure the data against", _REFERENCES
    )
    recording: bpy.types.Action = pointer(
        bpy.types.Action,
        "Recording",
        "Take or steered path to measure the data against",
        poll=is_take,
    )
    show_strands: bool = switch(
        True,
        "Data",
        "Draw the next second of many frames of the data around the character; dark strands stand, "
        "light ones run",
    )
    show_simulation: bool = switch(
        True,
        "Simulation Object",
        "Draw the next second of the simulation object, to the left of the data's strands: the "
        "data cannot match strands it does not have",
    )
    lay_over: bool = switch(
        False,
        "On Top",
        "Draw the strands of the simulation object on those of the data, in one color",
    )
    show_coverage: bool = switch(
        True,
        "Coverage Map",
        "Draw the number of frames by speed and turn rate in the corner of the view, while nothing "
        "is live. Lighter: more frames, framed: a hole",
    )
    show_histograms: bool = switch(
        True,
        "Histograms",
        "Draw histograms of speed, acceleration and turn rate above the coverage map; filled: the "
        "data, outlined: the simulation object",
    )
    inspect: str = choice(
        "source",
        "Inspect",
        "What to inspect at the current frame",
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
    map: str = choice("mds", "By", "Measure that puts poses close together on the map", _MAPS)
    map_colours: str = choice("speed", "Color", "Meaning of the colors of the map", _MAP_COLOURS)
    show_map: bool = switch(
        True,
        "Map",
        "Draw the map in the corner of the view while nothing is live, with the inspected frame "
        "marked",
    )
