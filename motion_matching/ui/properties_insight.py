"""Settings of what is looked at: coverage, frames and the map of poses."""

from __future__ import annotations

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatVectorProperty, PointerProperty

from . import status
from .properties_play import is_take
from .property_options import OVERRIDE


def _seen(self: object, context: bpy.types.Context) -> None:
    status.redraw("WINDOW")


def _asked(self: object, context: bpy.types.Context) -> None:
    from . import inspector

    inspector.look()


class MotionMatchingInsight(bpy.types.PropertyGroup):
    """What is shown of the data"""

    beside: EnumProperty(
        name="Beside",
        default="controller",
        description="What the data is measured against",
        **OVERRIDE,
        items=[
            (
                "controller",
                "Controller",
                "Where its speeds and halflives lead, in all scripts at both gaits",
            ),
            ("take", "Active Take", "Where the simulation object of the active take went"),
            (
                "recording",
                "Recording",
                "Where that of another recording went, such as one tuned without a character",
            ),
        ],
    )
    recording: PointerProperty(
        name="Recording",
        type=bpy.types.Action,
        poll=is_take,
        **OVERRIDE,
        description="Take or steered path that the data is measured against",
    )
    show_strands: BoolProperty(
        name="Data",
        default=True,
        update=_seen,
        **OVERRIDE,
        description="Draw where frames of the data lead within a second, around the character; dark strands stand, light "
        "ones run",
    )
    show_simulation: BoolProperty(
        name="Simulation Object",
        default=True,
        update=_seen,
        **OVERRIDE,
        description="Draw where the simulation object leads within a second, to the left of the data's strands: what it "
        "asks for and they do not have cannot be matched",
    )
    show_coverage: BoolProperty(
        name="Coverage Map",
        default=True,
        update=_seen,
        **OVERRIDE,
        description="Draw how many frames the data has by speed and turn rate into the corner of the view, while nothing is "
        "live; the lighter, the more, and a frame is around each hole",
    )
    show_histograms: BoolProperty(
        name="Histograms",
        default=True,
        update=_seen,
        **OVERRIDE,
        description="Draw how often the data, filled, and the simulation object, outlined, have which speed, acceleration "
        "and turn rate, above the coverage map",
    )
    inspect: EnumProperty(
        name="Inspect",
        default="source",
        update=_asked,
        description="Whose current frame is inspected",
        **OVERRIDE,
        items=[
            ("source", "Source", "The chosen source, at the frame of the timeline"),
            ("take", "Active Take", "The active take, with what was wanted there"),
        ],
    )
    use_wish: BoolProperty(
        name="Wish",
        default=False,
        update=_asked,
        **OVERRIDE,
        description="Search for another velocity than the clip's own",
    )
    wish: FloatVectorProperty(
        name="Wish",
        size=2,
        default=(1.0, 0.0),
        soft_min=-6.0,
        soft_max=6.0,
        precision=2,
        unit="VELOCITY",
        update=_asked,
        description="Velocity that is wished for, ahead and to the left",
        **OVERRIDE,
    )
    show_features: BoolProperty(
        name="Features",
        default=True,
        update=_seen,
        **OVERRIDE,
        description="Draw the pose that is inspected with its features: positions, velocities and the trajectory",
    )
    map: EnumProperty(
        name="By",
        default="mds",
        update=_seen,
        description="What makes poses lie near each other on the map",
        **OVERRIDE,
        items=[
            (
                "mds",
                "Dissimilarity",
                "How different the search finds them, by multidimensional scaling",
            ),
            (
                "pca",
                "Principal Components",
                "The two directions in which their features differ most",
            ),
        ],
    )
    show_map: BoolProperty(
        name="Map",
        default=True,
        update=_seen,
        **OVERRIDE,
        description="Draw the map into the corner of the view while nothing is live; the frame that is inspected is marked",
    )


CLASSES = (MotionMatchingInsight,)
