"""Settings of what a motion field is trained for."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty

from . import status
from .asking import suggested
from .property_options import OVERRIDE, suggesting


def _seen(self: Any, context: bpy.types.Context) -> None:
    status.redraw("WINDOW")


class MotionMatchingTraining(bpy.types.PropertyGroup):
    """What a motion field is trained for"""

    quality: IntProperty(
        name="Quality",
        min=1,
        max=5,
        default=3,
        **OVERRIDE,
        description="How well it is trained, and for how long: from a draft to try out, to all poses of the database, more "
        "of them blended, and more directions",
    )
    metric: EnumProperty(
        name="Alike By",
        default="default",
        description="What makes poses alike, trained or not",
        **OVERRIDE,
        items=[
            (
                "default",
                "Body and Path",
                "How the bones are and move, and how the character goes and turns",
            ),
            (
                "notebook",
                "Body",
                "How the bones are and move, wherever the character goes: the metric of the notebook",
            ),
        ],
    )
    speed: BoolProperty(
        name="Speed",
        default=True,
        **OVERRIDE,
        description="Train for how fast to go beside where to; without it and without tags, the character may as well stand",
    )
    tags: StringProperty(
        name="Tags",
        **suggesting(suggested),
        **OVERRIDE,
        description="Tags that can be asked for afterwards, separated by commas, each by itself; a field that knows walk "
        "and run but no speeds walks and runs as the gait says",
    )
    show_residuals: BoolProperty(
        name="Learning Curve",
        default=False,
        update=_seen,
        **OVERRIDE,
        description="Draw how much each sweep of the training changed the values into the corner of the view, on a "
        "logarithmic scale, beside what the discount promises of the largest change",
    )
    trained_key: StringProperty(
        name="Trained Key",
        options={"HIDDEN"},
        description="Content that the last training was of",
        **OVERRIDE,
    )


CLASSES = (MotionMatchingTraining,)
