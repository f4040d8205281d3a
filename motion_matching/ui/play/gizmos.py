"""Show the handles of grips in the 3D views, along with Blender's gizmos."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from mathutils import Matrix

from ...app.character.characters import get_active_armature
from ...app.property_access import settings_of
from ..base import colors
from ..base.panel_base import set_options
from . import grips

_MODES = {"OBJECT", "POSE"}
# an octahedron and an arrow along -Y, as triangles
_TOPS = ((0, 0, 1), (0, 0, -1))
_WAIST = ((1, 0, 0), (0, 1, 0), (-1, 0, 0), (0, -1, 0), (1, 0, 0))
_DIAMOND = [corner for top in _TOPS for k in range(4) for corner in (top, _WAIST[k], _WAIST[k + 1])]
_SIZES = {"target": 0.16, "facing": 0.1, "point": 0.11, "obstacle": 0.13}
_ROLES = {"target": "desired", "facing": "desired", "point": "desired", "obstacle": "contact"}
_ALPHA = 0.85


class MOTION_MATCHING_GT_grip(bpy.types.Gizmo):
    """A handle that keeps its size on the screen"""

    bl_idname = "MOTION_MATCHING_GT_grip"

    def setup(self) -> None:
        if not hasattr(self, "shape"):
            self.shape = self.new_custom_shape("TRIS", _DIAMOND)

    def draw(self, context: bpy.types.Context) -> None:
        self.draw_custom_shape(self.shape)

    def draw_select(self, context: bpy.types.Context, select_id: int) -> None:
        self.draw_custom_shape(self.shape, select_id=select_id)


class MOTION_MATCHING_GGT_grips(bpy.types.GizmoGroup):
    """Handles of what the character goes to, follows and avoids"""

    bl_idname = "MOTION_MATCHING_GGT_grips"
    bl_label = "Motion Matching Handles"
    bl_space_type = "VIEW_3D"
    bl_region_type = "WINDOW"
    bl_options = {"3D", "PERSISTENT", "SHOW_MODAL_ALL"}

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        space: Any = context.space_data
        if not space.overlay.show_overlays or context.mode not in _MODES:
            return False
        obj = get_active_armature(context)
        return obj is not None and settings_of(obj).play.show_handles

    def setup(self, context: bpy.types.Context) -> None:
        self.held: list[tuple[str, str, int]] = []  # what the gizmos move, in their order

    def draw_prepare(self, context: bpy.types.Context) -> None:
        """Place a gizmo at each grip, as things may have moved since the last redraw."""
        obj = get_active_armature(context)
        found = grips.find_grips(obj) if obj else []
        self._bind(found)
        palette = {role: colors.get_color(role)[:3] for role in set(_ROLES.values()) if found}
        for number, gizmo in enumerate(self.gizmos):
            gizmo.hide = number >= len(found)
            if not gizmo.hide:
                _place(gizmo, found[number], palette[_ROLES[found[number].kind]])

    def _bind(self, found: Sequence[grips.Grip]) -> None:
        """Let each gizmo move its grip; gizmos are added, and hidden rather than removed."""
        for number, grip in enumerate(found):
            if number < len(self.held) and self.held[number] == grip[:3]:
                continue
            if number == len(self.gizmos):
                self.gizmos.new(MOTION_MATCHING_GT_grip.bl_idname)
            gizmo = self.gizmos[number]
            options = gizmo.target_set_operator(grips.MOTION_MATCHING_OT_move_grip.bl_idname)
            set_options(options, kind=grip.kind, name=grip.name, index=grip.number)
            self.held[number : number + 1] = [grip[:3]]


def _place(gizmo: Any, grip: grips.Grip, color: Sequence[float]) -> None:
    gizmo.matrix_basis = Matrix.Translation(grip.position)
    gizmo.color = color
    gizmo.alpha = _ALPHA
    gizmo.color_highlight = color
    gizmo.alpha_highlight = 1.0
    gizmo.scale_basis = _SIZES[grip.kind]
    gizmo.use_draw_modal = True
