"""Show poses on a proxy in place of a rig that evaluates too slowly.

It is a mannequin of the rig's measures on a plain skeleton. The rig keeps its pose and is hidden,
so that Blender does not evaluate it. Recordings go to its controls.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from typing import Any

import bpy
import numpy as np

from ....engine.body.limbs import Limbs, find_limbs
from ....engine.body.rig import find_roles
from ....engine.errors import RigError
from ....engine.skeleton.skeleton import Skeleton
from ...blender import id_properties, removal
from ...blender.handle import Handle, find_posable, fit_name
from ...rig.armature import create_armature
from ...rig.root_target import RootTarget
from ...staging.character import create_character_body
from ...writing.hidden_objects import has_animated_visibility
from ...writing.pose_writer import PoseWriter
from .control_writer import ControlWriter

_MARK = "motion_matching_proxy"  # a property of all that makes a proxy
# after those of its rig, and of the proxy
_NAME = " Proxy"
_BODY = " Body"
_BODY_TYPES = ("MESH", "CURVE", "CURVES", "SURFACE", "META", "POINTCLOUD", "VOLUME")  # of a rig
_KINDS = ("armatures", "meshes", "materials")  # of what makes one, users first


class ProxyWriter(ControlWriter):
    """Shows poses on a proxy instead of the controls, whose channels a recording gets all the same.

    The proxy exists from `take_over` to `restore`; in the meantime the armature and its meshes are
    hidden. `rig_rate` is how many poses a second the rig shows, in Hz; 0 if that was not measured.
    """

    shows_keys = False  # they would evaluate the rig

    def __init__(self, writer: ControlWriter, skeleton: Skeleton, rig_rate: float = 0.0) -> None:
        vars(self).update(vars(writer))  # reading a large rig again takes a second
        self._updates = 0
        self._last_channels = self.at_rest
        self.rig_rate = rig_rate
        self._skeleton = skeleton
        self._parts: list[Handle] = []  # all that makes the proxy

    @property
    def shown(self) -> Handle:
        """Return the proxy, while there is one."""
        return self._poses.armature

    def take_over(self) -> None:
        """Save pose and action, and show the proxy in place of the armature."""
        skeleton = self._skeleton
        rig = find_posable(self.armature)
        proxy = create_proxy(skeleton, rig.name)
        self._parts = [Handle.from_block(*part) for part in _list_parts(proxy)]
        _enter_local_views([proxy, *proxy.children])
        root = proxy.data.bones[0].name
        self._poses = PoseWriter(proxy, skeleton, root=RootTarget.BONE, root_bone=root)
        super().take_over()

    def restore(self, *, keep_action: bool = False) -> None:
        """Remove the proxy, show the armature, and restore what `take_over` saved, once."""
        parts = self._parts
        self._parts = []
        bpy.data.batch_remove([part for handle in parts if (part := handle.find())])
        super().restore(keep_action=keep_action)

    def show(self, pose: np.ndarray, *, update: bool = True) -> None:
        """Put the proxy into a pose (7, B). Raises RigError as `ControlWriter` does."""
        self._find_unchanged()
        self._poses.show(pose, update=update)

    def show_again(self, *, update: bool = True) -> None:
        """Put the proxy into the last pose again, after a frame change."""
        self._find_unchanged()
        self._poses.show_again(update=update)

    def _list_hidden(self, obj: bpy.types.Object) -> Sequence[bpy.types.Object]:
        """Return what is visible of the armature and its body, or what animation may show."""
        objects = bpy.context.view_layer.objects
        bound = {other for other in objects if other == obj or other.find_armature() == obj}
        return [
            other
            for other in objects
            if (other in bound or (other.type in _BODY_TYPES and _is_carried(other, bound)))
            and (other.visible_get() or (has_animated_visibility(other) and not other.hide_get()))
        ]


def create_proxy(skeleton: Skeleton, name: str) -> bpy.types.Object:
    """Create an armature in a body that stands for the one of this name; no saved file has it."""
    name = fit_name(name, len(_NAME + _BODY)) + _NAME
    known = set(bpy.data.materials)
    obj = create_armature(skeleton, name)
    armature: Any = obj.data
    try:
        body = create_character_body(obj, skeleton, find_human_limbs(skeleton), name + _BODY)
    except BaseException:
        bpy.data.armatures.remove(armature)  # takes the object with it
        raise
    for material in set(body.data.materials) - known:
        # a demo performer does not share it then
        material.name = name
        material[_MARK] = True
    for block, _ in _list_parts(obj):
        block[_MARK] = block.is_runtime_data = True
    obj.hide_select = body.hide_select = True
    hidden = armature.collections.new("Bones")  # the body shows them
    for bone in armature.bones:
        hidden.assign(bone)
    hidden.is_visible = False
    return obj


def find_human_limbs(skeleton: Skeleton) -> Limbs | None:
    """Return the limbs of a human body; None of an animal, or of what is built in another way."""
    try:
        return find_limbs(skeleton, find_roles(skeleton))
    except RigError:
        return None


def _is_carried(obj: bpy.types.Object, bound: Container[bpy.types.Object]) -> bool:
    """Return whether an object is parented to one of these, or to what is."""
    parent = obj.parent
    while parent is not None and parent not in bound:
        parent = parent.parent
    return parent is not None


def _list_parts(proxy: bpy.types.Object) -> list[tuple[Any, str]]:
    """Return the blocks that make a proxy, each with its kind."""
    bodies = proxy.children
    materials = {m for body in bodies for m in body.data.materials if id_properties.has(m, _MARK)}
    return [
        *((obj, "objects") for obj in (proxy, *bodies)),
        (proxy.data, "armatures"),
        *((body.data, "meshes") for body in bodies),
        *((material, "materials") for material in materials),
    ]


def _enter_local_views(objects: Iterable[bpy.types.Object]) -> None:
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            space = area.spaces.active
            if isinstance(space, bpy.types.SpaceView3D) and space.local_view:
                for obj in objects:
                    obj.local_view_set(space, True)


def remove_proxies() -> None:
    """Remove proxies that undo or Blender's automatic saving brought back, unless they are used."""
    marked = [obj for obj in bpy.data.objects if id_properties.has(obj, _MARK)]
    bpy.data.batch_remove([obj for obj in marked if not removal.is_needed(obj, besides=marked)])
    for kind in _KINDS:
        blocks = [block for block in getattr(bpy.data, kind) if id_properties.has(block, _MARK)]
        bpy.data.batch_remove([block for block in blocks if not block.users])
