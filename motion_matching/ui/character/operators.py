"""Operators on the character: fix its armature, and add the demo performer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from ... import app, engine, scene
from ...app.character.characters import get_active_armature, get_armature
from ...app.property_access import settings_of
from ...engine.errors import SettingsError
from ..base import operator_base as base
from ..base.function_operators import operator
from ..base.typed_properties import choice, switch
from ..database.operators_sources import add_source

_FIX_ITEMS = [(name, *words) for name, words in app.strip.warnings.FIXES.items()]
_CLIPS_AT_ONCE = 7  # added between two redraws, which take longer
_GAITS = {"idle": "idle", "run": "run", "fast": "run"}  # by a clip's first word; others walk


class MOTION_MATCHING_OT_fix_rig(base.Operator, bpy.types.Operator):
    """Fix the armature, and keep all its animation in place"""

    fix: str = choice("scale", "Fix", "What is fixed", _FIX_ITEMS, options={"SKIP_SAVE"})

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return app.strip.warnings.FIXES[properties.fix][1]

    def run(self, context: bpy.types.Context) -> str:
        obj = get_active_armature(context)
        settings = settings_of(obj)
        problem = next(
            (p for p in app.character.rig_status.refresh(obj).problems if p.fix == self.fix), None
        )
        if problem is None:
            raise SettingsError(f"Armature '{obj.name}' has no such problem.")
        if self.fix == "scale":
            scene.rig.problems.apply_scale(obj)
        elif self.fix == "front":
            scene.rig.problems.turn_front(obj, problem.quarters)
        elif self.fix == "deform":
            settings.bones = "DEFORM"
        else:
            app.settings.set_roles(settings.roles, {})
        app.database.status.invalidate()
        app.character.rig_status.refresh(obj)
        return f"Fixed: {problem.label}"


@operator("Switch Off IK Stretch", requires=base.CHARACTER)
def switch_off_ik_stretch(context: bpy.types.Context) -> str:
    """Set IK Stretch to zero on this rig's IK chains, so that knees and elbows match the motion"""
    names = app.character.controls.switch_stretch_off(get_active_armature(context))
    if not names:
        raise base.NothingToDoError("No bone of an IK chain stretches")
    return f"Switched IK Stretch off for {len(names)} bones"


class MOTION_MATCHING_OT_add_demo_performer(base.SteppedOperator, bpy.types.Operator):
    """Add a character with generated walking, running, turning and strafing, ready to build and \
bake"""

    requires = (*base.IDLE, base.in_object_mode)

    climbs: bool = switch(
        False,
        "Ramps and Stairs",
        "Add walks up and down ramps and stairs, which play where the ground rises and falls",
        options={"HIDDEN", "SKIP_SAVE"},  # Adjust Last Operation would undo what follows
    )

    def steps(self, context: bpy.types.Context) -> app.steps.Steps[str]:
        clips = engine.building.demo_clips.load_demo_clips(self.climbs)
        with _all_or_nothing(context) as made:
            with _note_new(made):
                obj = scene.staging.demo.add_performer()
                uid = obj.session_uid
            _hide_children(obj, True)  # or each update deforms its body
            for first in range(0, len(clips), _CLIPS_AT_ONCE):
                some = clips[first : first + _CLIPS_AT_ONCE]
                yield f"Adding {some[0].name}", first / len(clips)
                obj = get_armature(uid)
                moved = [scene.staging.demo.start_from(clip, obj) for clip in some]
                with _note_new(made):
                    actions = scene.staging.demo.add_demo_actions(obj, moved)
                for clip, action in zip(some, actions, strict=True):
                    gait = _GAITS.get(clip.name.partition("_")[0], "walk")
                    add_source(obj, action.name, kind="ACTION", action=action, gait=gait)
            _hide_children(obj, False)
        settings_of(obj).source_index = 0
        app.database.status.invalidate()
        return f"Added '{obj.name}' with {len(clips)} clips: build its database next"


def _hide_children(obj: bpy.types.Object, hide: bool) -> None:
    for child in obj.children:
        child.hide_viewport = hide


@contextmanager
def _all_or_nothing(context: bpy.types.Context) -> Iterator[set[int]]:
    """Yield a set for the session_uids of new data, which is removed if the block fails.

    The selection is restored then.
    """
    layer = context.view_layer
    made = set[int]()
    selected = [obj.session_uid for obj in context.selected_objects]
    active_uid = layer.objects.active.session_uid if layer.objects.active else None
    try:
        yield made
    except BaseException:
        scene.reading.imports.remove_blocks(made)
        layer = context.view_layer
        layer.update()  # until then it lists what is gone
        objects = {obj.session_uid: obj for obj in layer.objects}
        layer.objects.active = objects.get(active_uid)
        for uid, obj in objects.items():
            obj.select_set(uid in selected)
        raise


@contextmanager
def _note_new(made: set[int]) -> Iterator[None]:
    """Add what the block makes; not what scripts and other add-ons make between two steps."""
    present = scene.reading.imports.collect_uids()
    try:
        yield
    finally:
        made |= scene.reading.imports.collect_uids() - present
