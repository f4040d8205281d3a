"""Operators of the director: marks, and solving them into a take."""

from __future__ import annotations

import bpy

from ... import app, engine, scene
from ...app.character.characters import get_active_armature, get_active_settings, get_placement
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ..base import operator_base as base
from ..base.function_operators import operator, stepped_operator
from ..base.typed_properties import choice, integer, switch
from .properties import LIMBS, VARIATIONS

_TEMPO_SECONDS = 2.0
_RATES = {"SLOWER": 0.9, "FASTER": 1.1}
_PACES = (
    ("SLOWER", "Slower Here", "A tenth slower than the data"),
    ("FASTER", "Faster Here", "A tenth faster than the data"),
)
_WHERE = (
    ("CURSOR", "3D Cursor", "At the 3D cursor, with its rotation about Z"),
    ("CHARACTER", "Character", "At the character on this frame, with its facing"),
)


def has_marks(context: bpy.types.Context) -> str:
    """Require something to solve."""
    obj = get_active_armature(context)
    director = settings_of(obj).director
    is_any = director.path or app.marks.marks.list_leading(obj)
    return (
        ""
        if is_any
        else base.n_("Add a mark first: put the 3D cursor where the character should be")
    )


def has_active_mark(context: bpy.types.Context) -> str:
    found = app.marks.marks.get_active_mark(get_active_armature(context))
    return "" if found else base.n_("Choose a mark in the list first")


def has_shot(context: bpy.types.Context) -> str:
    """Require that the active take was directed."""
    action = base.get_active_take(context).action
    if action is not None and scene.direct.stored_shots.find_text(action):
        return ""
    return base.n_(
        "The active take was not directed: solve marks, or choose another take in the list"
    )


class MOTION_MATCHING_OT_add_mark(base.Operator, bpy.types.Operator):
    """Add a mark on the current frame, at the 3D cursor or the character. Its arrow shows place \
and facing. Move, rotate, key, copy or delete it like any object, and drag its timeline marker"""

    bl_label = "Add Mark Here"

    where: str = choice("CURSOR", "At", "Place and facing of the mark", _WHERE)

    def run(self, context: bpy.types.Context) -> str:
        obj = get_active_armature(context)
        cursor = context.scene.cursor
        frame = context.scene.frame_current
        make = engine.control.performer.Placement
        place = make(cursor.location.x, cursor.location.y, cursor.matrix.to_euler().z)
        if self.where == "CHARACTER":
            place = get_placement(obj, frame)
        mark = app.marks.marks.add_mark(obj, frame, place)
        app.marks.marks.mark_of(mark).use_facing = False  # an arrow nobody has turned asks nothing
        return f"Added '{mark.name}' at frame {frame}"


@stepped_operator("Keep Pose at This Frame", requires=base.SOURCES)
def keep_pose(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Store the current pose of the character, keyed or posed by hand, in the mark on this frame. \
Adds a mark at the character if there is none"""
    return app.marks.keeping_poses.keep_pose_steps(get_active_armature(context))


class MOTION_MATCHING_OT_add_pin(base.Operator, bpy.types.Operator):
    """Add a mark at the 3D cursor for a hand or foot alone, held for a second from the current \
frame; way and motion stay. Parent it to an object to make the limb follow that"""

    limb: str = choice("left_hand", "Limb", "Part of the body to bring to the mark", LIMBS)

    def run(self, context: bpy.types.Context) -> str:
        frame = context.scene.frame_current
        at = context.scene.cursor.location
        obj = get_active_armature(context)
        pin = app.marks.marks.add_pin(obj, self.limb, frame, (at.x, at.y, at.z))
        return f"Added '{pin.name}' at frame {frame}"


class MOTION_MATCHING_OT_add_tempo(base.Operator, bpy.types.Operator):
    """Play the motion slower or faster in the preview range, or for two seconds from the current \
frame. Marks are still met on their frames"""

    pace: str = choice("SLOWER", "Tempo", "How to play the motion there", _PACES)

    def run(self, context: bpy.types.Context) -> str:
        now = context.scene
        obj = get_active_armature(context)
        rate = scene.blender.animation.actions.get_scene_fps(now)
        frames = now.frame_current, now.frame_current + round(_TEMPO_SECONDS * rate)
        if now.use_preview_range:
            frames = now.frame_preview_start, now.frame_preview_end
        tempo = app.marks.marks.add_tempo(obj, _RATES[self.pace], frames)
        return f"Added '{tempo.name}' from frame {frames[0]} to {frames[1]}"


@operator(requires=(*base.CHARACTER, has_active_mark))
def remove_mark(context: bpy.types.Context) -> None:
    """Remove the active mark or tempo and its timeline marker"""
    obj = get_active_armature(context)
    app.marks.marks.remove_mark(obj, app.marks.marks.get_active_mark(obj))
    if context.object is None:  # the mark was active, and the panel would be gone with it
        context.view_layer.objects.active = obj


@stepped_operator("Solve", requires=(*base.PERFORMABLE, has_marks), keeps_best=True)
def direct(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Find the take that meets all marks, and bake it into a new action. Builds the database if \
needed, and computes its jump table once"""
    return app.direct.solving.solve_steps(get_active_armature(context))


class MOTION_MATCHING_OT_direct_variations(base.SteppedOperator, bpy.types.Operator):
    """Find clearly different takes that meet all marks, and bake each into a new action. Flip \
through them with the arrows below"""

    bl_label = "Variations"
    keeps_best = True
    requires = (*base.PERFORMABLE, has_marks)

    count: int = integer(3, "Variations", "How many takes to find", **VARIATIONS)

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        obj = get_active_armature(context)
        return app.direct.solving.solve_variations_steps(obj, self.count)


@stepped_operator("Preview", requires=base.SOURCES, options={"REGISTER"})
def preview_marks(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Show the way of the take while you move marks, without baking. Builds the database if \
needed, and computes its jump table once"""
    return app.direct.previewing.start_steps(get_active_armature(context))


def is_previewing(context: bpy.types.Context) -> str:
    return "" if runtime.mark_preview else base.n_("No preview of marks is shown")


@operator("End Preview", requires=(*base.CHARACTER, is_previewing), options={"REGISTER"})
def end_mark_preview(context: bpy.types.Context) -> None:
    """Stop showing the way of the take"""
    app.direct.previewing.stop()


def has_directed_takes(context: bpy.types.Context) -> str:
    is_any = app.direct.flipping.list_directed(get_active_armature(context))
    return "" if is_any else base.n_("Solve marks first: there is no directed take yet")


class MOTION_MATCHING_OT_flip_take(base.Operator, bpy.types.Operator):
    """Show the next or previous directed take on the same frame"""

    requires = (*base.CHARACTER, base.can_assign_action, has_directed_takes)

    backward: bool = switch(False, "Backward", "Show the previous take")

    def run(self, context: bpy.types.Context) -> str:
        obj = get_active_armature(context)
        action = app.direct.flipping.find_next(obj, -1 if self.backward else 1)
        app.direct.flipping.show(obj, action)
        return f"'{action.name}' is shown"


@stepped_operator(
    "Solve Again", requires=(*base.PERFORMABLE, base.has_take, has_shot), keeps_best=True
)
def direct_again(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Solve the shot stored in the active take with the current database and settings, and bake a \
new action"""
    action = base.get_active_take(context).action
    return app.direct.solving.solve_again_steps(get_active_armature(context), action)


def has_preview_range(context: bpy.types.Context) -> str:
    """Require frames that are to be solved anew."""
    if context.scene.use_preview_range:
        return ""
    return base.n_("Set a preview range in the timeline (P) over the frames to change")


def has_jumps(context: bpy.types.Context) -> str:
    jumps = app.direct.jumps.list_jumps(base.get_active_take(context).action)
    return (
        "" if jumps else base.n_("The jumps of the active take are not known: solve it again first")
    )


@stepped_operator(
    "Solve Range Again", requires=(*base.PERFORMABLE, base.has_take, has_shot, has_preview_range)
)
def direct_range(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Solve the preview range of the active take differently, and bake a new action. Nothing \
changes outside the range"""
    now = context.scene
    span = now.frame_preview_start, now.frame_preview_end
    action = base.get_active_take(context).action
    obj = get_active_armature(context)
    return app.direct.solving.solve_piece_steps(
        obj, action, lambda shot, frame: app.direct.jumps.vary(shot, action, frame, span)
    )


@operator("Keep Jump", requires=(*base.CHARACTER, base.has_take, has_jumps))
def pin_jump(context: bpy.types.Context) -> str:
    """Keep the jump at the playhead in everything solved from this take, or release it"""
    action = base.get_active_take(context).action
    jump = app.direct.jumps.find_jump(action, context.scene.frame_current)
    pinned = app.direct.jumps.pin(action, jump)
    return f"The jump at frame {jump.frame} is {'kept' if pinned else 'no longer kept'}"


@stepped_operator(requires=(*base.PERFORMABLE, base.has_take, has_shot, has_jumps))
def replace_jump(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Replace the jump at the playhead with another, solve the seconds around it, and bake a new \
action. The old jump may still occur elsewhere"""
    return _solve_without(context, only_here=True)


def _solve_without(context: bpy.types.Context, *, only_here: bool) -> app.steps.Steps[str]:
    action = base.get_active_take(context).action
    obj = get_active_armature(context)
    jump = app.direct.jumps.find_jump(action, context.scene.frame_current)
    return app.direct.solving.solve_piece_steps(
        obj,
        action,
        lambda shot, _: app.direct.jumps.forbid(shot, action, jump, only_here=only_here),
    )


@stepped_operator(requires=(*base.PERFORMABLE, base.has_take, has_shot, has_jumps))
def forbid_jump(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Solve the seconds around the playhead without this jump, and forbid it in everything solved \
from the new take. The rest of the take stays as it is"""
    return _solve_without(context, only_here=False)


class MOTION_MATCHING_OT_go_to_jump(base.Operator, bpy.types.Operator):
    """Go to the next or previous jump of the active take"""

    bl_label = "Go to Jump"
    requires = (*base.CHARACTER, base.has_take, has_jumps)

    backward: bool = switch(False, "Backward", "Go to the previous jump")

    def run(self, context: bpy.types.Context) -> None:
        action = base.get_active_take(context).action
        now = context.scene
        step = -1 if self.backward else 1
        frame = app.direct.jumps.find_next_frame(action, now.frame_current, step)
        if frame is None:
            raise base.NothingToDoError("There is no other jump on that side")
        now.frame_set(frame)


@stepped_operator(
    "Take to Marks", requires=(*base.PERFORMABLE, base.has_performed_take), keeps_best=True
)
def direct_take(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Replace all marks with marks along the active take, at its stops and turns, and solve them: \
the same way without the controller's delay"""
    action = get_active_settings(context).takes[get_active_settings(context).take_index].action
    return app.marks.tracing.direct_take_steps(get_active_armature(context), action)
