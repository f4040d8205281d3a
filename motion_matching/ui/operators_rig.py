"""The operator that mends what the panel Character points at."""

from __future__ import annotations

import bpy
from bpy.props import EnumProperty

from ..engine.errors import MotionMatchingError
from . import polls, request, rig_status, status

# by fix: the button, and what it does
FIXES = {
    "scale": (
        "Apply Scale",
        "Have the bones take over the object's scale, and so the keys of their locations in all its actions",
    ),
    "front": (
        "Turn to the Front",
        "Turn the rest pose until it faces -Y, and the object back; all that plays stays where it is",
    ),
    "deform": ("Take Deform Bones", "Take only the bones that deform"),
    "roles": (
        "Find Roles",
        "Forget the bones that were given by role, which are then found on their own",
    ),
}


class MOTION_MATCHING_OT_fix_rig(bpy.types.Operator):
    """Mend the armature, so that all that plays on it stays where it is"""

    bl_idname = "motion_matching.fix_rig"
    bl_label = "Fix Rig"
    bl_options = {"REGISTER", "UNDO"}

    fix: EnumProperty(
        name="Fix",
        description="What is mended",
        options={"SKIP_SAVE"},
        items=[(name, label, says) for name, (label, says) in FIXES.items()],
    )

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        return polls.has_armature(cls, context)

    @classmethod
    def description(
        cls, context: bpy.types.Context, properties: bpy.types.OperatorProperties
    ) -> str:
        return FIXES[properties.fix][1]

    def execute(self, context: bpy.types.Context) -> set[str]:
        from ..scene import rig_fix

        obj = request.armature_of(context)
        settings = obj.motion_matching
        problem = next((p for p in rig_status.refresh(obj).problems if p.fix == self.fix), None)
        if problem is None:
            self.report(
                {"ERROR"}, f"There is nothing of that kind to mend on armature '{obj.name}'."
            )
            return {"CANCELLED"}
        try:
            if self.fix == "scale":
                rig_fix.apply_scale(obj)
            elif self.fix == "front":
                rig_fix.turn_front(obj, problem.quarters)
            elif self.fix == "deform":
                settings.bones = "DEFORM"
            else:
                request.set_roles(settings.roles, {})
        except MotionMatchingError as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        status.forget()
        rig_status.refresh(obj)
        self.report({"INFO"}, f"Mended: {problem.label}")
        return {"FINISHED"}


CLASSES = (MOTION_MATCHING_OT_fix_rig,)
