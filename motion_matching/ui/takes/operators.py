"""Operators on takes: bake a script, bake a take again, play, discard and compare takes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import bpy

from ... import app, scene
from ...app.character.characters import (
    get_active_armature,
    get_active_settings,
    get_armature,
    get_selected_armatures,
)
from ...app.property_access import settings_of
from ...app.runtime import runtime
from ...engine.errors import MotionMatchingError, SettingsError
from ..base import operator_base as base
from ..base.function_operators import operator, stepped_operator
from ..base.panel_base import format_count
from ..base.typed_properties import choice, integer, switch, text
from .properties import ALONGS, Script

if TYPE_CHECKING:
    from ...engine.database.database import Database
    from ...engine.performance.settings import PerformerSettings


def find_bake_problem(obj: bpy.types.Object) -> str:
    """Return what to do before a take of an armature can be baked, or an empty string."""
    return (
        base.find_armature_problem(obj)
        or base.find_sources_problem(obj)
        or base.find_action_problem(obj)
    )


def can_bake(context: bpy.types.Context) -> str:
    """Require that a take of a selected armature can be baked."""
    problems = list(map(find_bake_problem, get_selected_armatures(context)))
    return "" if not all(problems) else problems[0]


class _BakeOperator(Script, base.SteppedOperator):
    """Base class of operators that bake performances of the active armature, and maybe others."""

    requires = (*base.IDLE, base.has_active_armature, can_bake)
    along = "script"  # what leads the active character

    frame_start: int = integer(
        1,
        "Start",
        "First frame of the take; by default, the start of the scene",
        options={"SKIP_SAVE"},
    )
    all_selected: bool = switch(
        False,
        "All Selected",
        "Bake a take of each selected character, each with its own settings",
        options={"SKIP_SAVE"},
    )

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        """Bake what the panel Takes shows, where a button does not say otherwise."""
        shown = settings_of(get_active_armature(context)).script
        for name in self.list_shown_options(shown):
            if not self.properties.is_property_set(name):
                setattr(self, name, getattr(shown, name))
        return super().invoke(context, event)

    def list_shown_options(self, shown: Any) -> list[str]:
        """Return the options that the panel shows and that this operator has."""
        names = set(Script.__annotations__)
        return sorted(names if shown.use_frame_start else names - {"frame_start"})

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        start = context.scene.frame_start
        given = self.frame_start if self.properties.is_property_set("frame_start") else start
        active, *others = get_selected_armatures(context)
        jobs = [(active, make_plan(self, given))]
        for obj in others if self.all_selected else ():
            script = settings_of(obj).script
            own = script.frame_start if script.use_frame_start else start
            jobs.append((obj, make_plan(script, own)))
        problems = [find_bake_problem(obj) if self.all_selected else "" for obj, _ in jobs]
        for (obj, _), problem in zip(jobs, problems, strict=True):
            if problem:
                self.tell("WARNING", f"'{obj.name}' was left out: {problem}")
        ready = [job for job, problem in zip(jobs, problems, strict=True) if not problem]
        message, refused = yield from app.takes.baking.bake_steps(ready)
        for sentence in refused:
            self.tell("WARNING", sentence)
        return message


def make_plan(script: Any, frame: int) -> app.takes.baking.BakePlan:
    """Return what a script, or an operator's options, asks for from a frame on."""
    how = script.gait, script.seconds, script.seed, script.tags
    return app.takes.baking.BakePlan(script.along, script.script, *how, frame)


class MOTION_MATCHING_OT_bake_script(_BakeOperator, bpy.types.Operator):
    """Perform a script, and bake it into a new action. Builds the database if needed"""


class MOTION_MATCHING_OT_bake_along(_BakeOperator, bpy.types.Operator):
    """Follow the curve, go to the target, or repeat the recording like a live session, and bake a \
new action without going live"""

    along: str = choice("curve", "Along", "What leads the character", ALONGS[1:])

    def list_shown_options(self, shown: Any) -> list[str]:
        names = super().list_shown_options(shown)
        return names if shown.along == "script" else [*names, "along"]


_FOLLOW = (
    "Solve the path of the active take with the director, which knows all of it, and bake a new "
    "action: the same path with fewer jumps"
)
_METHODS = (
    (
        "CONTROLLER",
        "Controller",
        "The method of the panel Controller, without knowledge of what comes",
    ),
    ("DIRECTOR", "Director", "The director, which knows the whole path, and jumps less"),
)


class MOTION_MATCHING_OT_bake_again(base.SteppedOperator, bpy.types.Operator):
    """Perform the active take again with the current database and settings, and bake a new \
action. Contact markers set when feet are planted; move them in the Action Editor"""

    requires = (*base.PERFORMABLE, base.has_performed_take)

    use_markers: bool = switch(
        True,
        "Contacts from Markers",
        "Plant feet from each plant marker to the next lift marker, instead of finding contacts "
        "again. Only useful if the same frames are played",
    )

    method: str = choice(
        "CONTROLLER", "Method", "What finds the motion", _METHODS, options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return _FOLLOW if properties.method == "DIRECTOR" else f"{cls.__doc__}"

    @property
    def keeps_best(self) -> bool:
        return self.method == "DIRECTOR"

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        action = base.get_active_take(context).action
        if self.method == "DIRECTOR":
            return app.direct.solving.follow_steps(get_active_armature(context), action)
        take = scene.blender.handle.Handle.from_block(action, "actions")

        def build_request_steps(
            uid: int, database: Database, settings: PerformerSettings
        ) -> app.steps.Steps[app.takes.take_actions.BakeRequest]:
            yield "Performing", 0.0
            obj = get_armature(uid)
            action = app.takes.take_actions.find_take_action(take)
            # the present settings replace those that it was performed with
            parts = tuple(
                part._replace(performance=replace(part.performance, settings={}, changes=()))
                for part in app.takes.take_actions.read_parts_on_ground(obj, action)
            )
            again = app.takes.take_actions.BakeRequest(action.name, parts, beside=action.name)
            if not self.use_markers:
                return again
            markers = scene.reading.markers
            legs = database.roles.leg_names
            ranges = markers.read_in_scene(action, legs, again.frame, database.fps)
            return again._replace(ranges=ranges or None)

        return app.takes.take_actions.bake_steps(get_active_armature(context), build_request_steps)


class MOTION_MATCHING_OT_play_take(base.Operator, bpy.types.Operator):
    """Assign the active take to its armature, go to its first frame, and play"""

    requires = (*base.CHARACTER, base.can_assign_action, base.has_take, base.has_action)

    def run(self, context: bpy.types.Context) -> None:
        action = base.get_active_take(context).action
        scene.blender.animation.actions.assign(get_active_armature(context), action)
        context.scene.frame_set(math.ceil(action.frame_range[0]))

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[Any]:
        result = self.execute(context)
        if result == {"FINISHED"} and context.screen and not context.screen.is_animation_playing:
            bpy.ops.screen.animation_play()
        return result


def is_not_kept(context: bpy.types.Context) -> str:
    message = base.n_("This take is locked: unlock it first, with the shield in the list")
    return message if base.get_active_take(context).is_kept else ""


@operator("Delete Take", requires=(*base.TAKE, is_not_kept, base.can_assign_action))
def remove_take(context: bpy.types.Context) -> str:
    """Delete the active take with its action and its NLA strips. Undo restores it"""
    obj = get_active_armature(context)
    return app.takes.take_list.discard_take(obj, settings_of(obj).take_index)


def has_loose_takes(context: bpy.types.Context) -> str:
    takes = get_active_settings(context).takes
    if not takes:
        return base.n_("Bake or record a take first")
    message = base.n_("All takes are locked: unlock one first, with the shield in the list")
    return message if all(take.is_kept for take in takes) else ""


class MOTION_MATCHING_OT_discard_takes(base.ConfirmedOperator, bpy.types.Operator):
    """Delete all unlocked takes with their actions and NLA strips. Undo restores them"""

    bl_label = "Delete Unlocked Takes"
    requires = (*base.CHARACTER, base.can_assign_action, has_loose_takes)

    def run(self, context: bpy.types.Context) -> str:
        obj = get_active_armature(context)
        loose = [index for index, take in enumerate(settings_of(obj).takes) if not take.is_kept]
        refused = []
        notes = []
        for index in reversed(loose):
            try:
                notes.append(app.takes.take_list.discard_take(obj, index))
            except MotionMatchingError as error:  # it comes with a linked file
                refused.append(str(error))
        for note in filter(None, (*refused[-1:], *notes)):
            self.tell("WARNING", note)
        report = f"Deleted {format_count(len(loose) - len(refused), 'take')}"
        if len(refused) == len(loose):
            raise base.NothingToDoError(report)
        return report


def has_something_to_compare_with(context: bpy.types.Context) -> str:
    """Require a choice of what to compare the active take with."""
    settings = get_active_settings(context)
    if settings.compare_by == "DATABASE":
        message = base.n_("Choose the database (.npz) to compare with")
        return "" if settings.compare_database else message
    if settings.compare_by == "PRESET":
        message = base.n_("Choose the controller preset to compare with")
        return "" if settings.compare_preset else message
    if settings.compare_by != "TAKE":
        return ""
    other = settings.compare_with
    is_other = other is not None and other != base.get_active_take(context).action
    return "" if is_other else base.n_("Choose another take to compare the active one with")


def is_take_played(context: bpy.types.Context) -> str:
    """Require that the character plays the active take."""
    obj = get_active_armature(context)
    action = base.get_active_take(context).action
    message = base.n_("Play the active take first, with the arrow beside the list")
    return "" if app.takes.playing_beside.is_played(obj, action) else message


def is_beside(context: bpy.types.Context) -> str:
    return "" if runtime.beside else base.n_("Nothing plays beside a character")


class MOTION_MATCHING_OT_select_take(base.Operator, bpy.types.Operator):
    """Make the take of this warning active"""

    requires = base.CHARACTER

    name: str = text("", "Name", "Name of the take's action", options={"SKIP_SAVE"})

    def run(self, context: bpy.types.Context) -> str:
        settings = get_active_settings(context)
        for index, take in enumerate(settings.takes):
            if take.action and take.action.name == self.name:
                settings.take_index = index
                return f"Selected '{self.name}'"
        raise SettingsError(f"The take '{self.name}' no longer exists; compare again.")


@stepped_operator(
    "Compare",
    requires=(*base.SOURCES, base.has_performed_take, has_something_to_compare_with),
    options={"REGISTER"},
)
def compare_takes(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Measure the active take beside another take or a variant of it: foot sliding, how well it \
follows the steering, and how fast it responds"""
    obj = get_active_armature(context)
    settings = get_active_settings(context)
    uid = obj.session_uid
    given = (settings.compare_with, settings.compare_by)
    comparing = app.takes.comparing.compare_steps(obj, base.get_active_take(context).action, *given)
    runtime.comparisons[uid] = yield from comparing
    app.callbacks.redraw()
    one, other = runtime.comparisons[uid].names
    return f"Compared '{one}' with '{other}'"


@stepped_operator(
    requires=(
        *base.SOURCES,
        base.has_performed_take,
        has_something_to_compare_with,
        is_take_played,
    ),
    options={"REGISTER"},
)
def play_beside(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Show the other take or a variant of the active one beside the character, following the \
timeline. It is only drawn: nothing is added to the file. Esc hides it"""
    obj = get_active_armature(context)
    settings = get_active_settings(context)
    given = settings.compare_by, settings.compare_with
    return app.takes.playing_beside.play_beside_steps(
        obj, base.get_active_take(context).action, *given
    )


@operator("Hide", requires=(*base.CHARACTER, is_beside), options={"REGISTER"})
def hide_beside(context: bpy.types.Context) -> None:
    """Hide the take beside the character"""
    app.takes.playing_beside.stop()
