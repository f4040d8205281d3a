"""Operators on jobs: export one for other machines, and submit it."""

from __future__ import annotations

import bpy

from ... import app, scene
from ...app.character.characters import get_active_armature
from ...app.preferences import get_preferences
from ...app.property_access import settings_of
from ..base import operator_base as base
from ..base.function_operators import stepped_operator
from ..base.panel_base import format_count
from ..takes.operators import can_bake, make_plan
from .properties import FORMATS


def has_submit_command(context: bpy.types.Context) -> str:
    """Require a program that submits jobs."""
    message = base.n_("Set 'Submit Command' in the preferences of the extension first")
    preferences = get_preferences()
    return "" if preferences and preferences.submit_command.strip() else message


@stepped_operator(requires=(*base.SOURCES, can_bake), options={"REGISTER"})
def export_job(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Export what this character should perform as a folder that runs on other machines: a file \
of rows, the database, the character, and a job bundle for farms. This file stays as it is"""
    obj = get_active_armature(context)
    settings = settings_of(obj)
    job, script = settings.job, settings.script
    start = script.frame_start if script.use_frame_start else context.scene.frame_start
    handle = scene.blender.handle.Handle
    plan = app.jobs.exporting.ExportPlan(
        job.kind,
        job.count,
        make_plan(script, start),
        [handle.from_block(take.action, "actions") for take in settings.takes if take.action],
        [option for option, name in FORMATS.items() if getattr(job, name)],
        job.chunk,
    )
    folder = app.jobs.exporting.get_folder(obj)
    exported = yield from app.jobs.exporting.export_steps(obj, plan)
    report = f"Exported {format_count(len(exported.rows), 'take')} to {folder}"
    return ". ".join((report, *exported.left_out))


@stepped_operator(requires=(*base.CHARACTER, has_submit_command), options={"REGISTER"})
def submit_job(context: bpy.types.Context) -> app.steps.Steps[str]:
    """Submit the exported job with the program that the preferences name"""
    obj = get_active_armature(context)
    return app.jobs.submitting.submit_steps(obj, get_preferences().submit_command)
