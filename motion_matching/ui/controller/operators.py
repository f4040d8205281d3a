"""Train a motion field, favour a neighbour, and edit labels."""

from __future__ import annotations

import bpy

from ... import app
from ...app.character.characters import get_active_armature, get_active_settings, get_armature
from ...app.property_access import ActiveItem, get_active
from ...app.runtime import runtime
from ...engine.database.tags.thresholds import PLANT_ANGLE
from ...engine.performance.published import PUBLISHED, find_published
from ..base.operator_base import (
    CHARACTER,
    CHARACTER_ALSO_LIVE,
    SOURCES,
    MoveOperator,
    NothingToDoError,
    Operator,
    SteppedOperator,
    n_,
)
from ..base.typed_properties import choice, integer

_KINDS = (
    ("EMPTY", "Label", "Tags of your choice, with the controller's settings to start from"),
    (
        "plant_and_turn",
        "Plant and Turn",
        "Sharp turns: the motion leads more, for quicker answers",
    ),
    (
        "start_and_stop",
        "Start and Stop",
        "Starts and stops: the motion leads, for less foot sliding",
    ),
    ("locomotion", "Locomotion", "Walking and running: follow the steering closely"),
    ("READY", "All Ready Labels", "Plant and Turn, Start and Stop, and Locomotion"),
)
_READY = tuple(kind for kind, *_ in _KINDS[1:-1])
_ARTICLES = tuple((each.name, each.label, f"As in '{each.article}'") for each in PUBLISHED.values())


class MOTION_MATCHING_OT_as_published(Operator, bpy.types.Operator):
    """Set simulation bone, features, controller and motion field as in one of the articles, and \
report what still differs from it"""

    bl_idname = "motion_matching.as_published"
    bl_label = "As Published"
    requires = CHARACTER

    article: str = choice(
        "motion_matching", "Article", "Article to take the settings from", _ARTICLES
    )

    def run(self, context: bpy.types.Context) -> str:
        obj = get_active_armature(context)
        message, partial = app.controller.as_published.apply(obj, find_published(self.article))
        if partial:
            self.tell("WARNING", partial)
        return message


class MOTION_MATCHING_OT_train(SteppedOperator, bpy.types.Operator):
    """Train the motion field to plan ahead, by finding the value of every pose for every goal. \
Builds the database if needed. Esc keeps the progress, and the next training continues from it"""

    bl_idname = "motion_matching.train"
    bl_label = "Train"
    requires = SOURCES

    def get_cancel_message(self) -> str:
        return runtime.stop_message

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        uid = obj.session_uid
        message = yield from app.controller.training.train_steps(obj)
        app.database.status.refresh(get_armature(uid))
        return message


class MOTION_MATCHING_OT_favour(Operator, bpy.types.Operator):
    """Always follow this neighbour, or let the motion field choose again; takes effect at once \
while live"""

    bl_idname = "motion_matching.favour"
    bl_label = "Favour Neighbour"
    bl_options = {"UNDO"}  # Adjust Last Operation would undo it first, which would end the session
    requires = CHARACTER_ALSO_LIVE

    number: int = integer(
        1, "Neighbour", "Number of the neighbour, 1 being the nearest", min=1, max=100
    )

    def run(self, context: bpy.types.Context) -> None:
        controller = get_active_settings(context).controller
        controller.favour = 0 if controller.favour == self.number else self.number


def has_label(context: bpy.types.Context) -> str:
    controller = get_active_settings(context).controller
    active = get_active(controller.labels, controller.label_index)
    return "" if active else n_("Add a label first")


def _get_label(context: bpy.types.Context) -> ActiveItem:
    controller = get_active_settings(context).controller
    name = controller.labels[controller.label_index].name
    return ActiveItem(controller, "labels", "label_index", f"The label '{name}'")


class MOTION_MATCHING_OT_add_label(Operator, bpy.types.Operator):
    """Add displacement settings for frames with certain tags. The built-in labels use the tags of \
Auto Tags; Plant and Turn also makes it tag sharp turns"""

    bl_idname = "motion_matching.add_label"
    bl_label = "Add Label"
    requires = CHARACTER_ALSO_LIVE

    kind: str = choice("EMPTY", "Kind", "Which label is added", _KINDS)

    def run(self, context: bpy.types.Context) -> None:
        settings = get_active_settings(context)
        controller = settings.controller
        names = [] if self.kind == "EMPTY" else [self.kind]
        if self.kind == "READY":
            names = app.controller.labels.list_missing(controller, _READY)
            if not names:
                raise NothingToDoError
        app.controller.labels.add_labels(controller, names)
        if "plant_and_turn" in names and not settings.thresholds.plant_angle:
            settings.thresholds.plant_angle = PLANT_ANGLE


class MOTION_MATCHING_OT_remove_label(Operator, bpy.types.Operator):
    """Remove the active label; its frames are displaced like all others"""

    bl_idname = "motion_matching.remove_label"
    bl_label = "Remove Label"
    requires = (*CHARACTER_ALSO_LIVE, has_label)

    def run(self, context: bpy.types.Context) -> None:
        _get_label(context).remove()


class MOTION_MATCHING_OT_move_label(MoveOperator, bpy.types.Operator):
    """Move the active label in the list. If the tags of a frame match several labels, the first \
one counts"""

    bl_idname = "motion_matching.move_label"
    bl_label = "Move Label"
    requires = (*CHARACTER_ALSO_LIVE, has_label)

    def get_item(self, context: bpy.types.Context) -> ActiveItem:
        return _get_label(context)
