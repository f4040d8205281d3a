"""A proxy skeleton that shows poses in place of a rig that evaluates too slowly.

The rig keeps its pose and is hidden, so that Blender does not evaluate it. Recordings go to its
controls.
"""

from __future__ import annotations

from collections.abc import Sequence

import bpy
import numpy as np

from ...engine.motion.skeleton import Skeleton
from ..blender import id_properties, removal
from ..blender.handle import Handle, find_posable, fit_name
from ..rig.armature import create_armature
from ..rig.root_target import RootTarget
from ..writing.pose_writer import PoseWriter
from .bake_controls import ControlSettings
from .control_rig import ControlRig
from .control_writer import ControlWriter

_MARK = "motion_matching_proxy"  # a property of a proxy
_NAME = " Proxy"  # after that of its rig


class ProxyWriter(ControlWriter):
    """Shows poses on a proxy instead of the controls, whose channels a recording gets all the same.

    The proxy exists from `take_over` to `restore`; in the meantime the armature and its meshes are
    hidden. `rig_rate` is how many poses a second the rig shows, in Hz; 0 if that was not measured.
    """

    shows_keys = False  # they would evaluate the rig

    def __init__(
        self,
        obj: bpy.types.Object,
        rig: ControlRig,
        skeleton: Skeleton,
        settings: ControlSettings | None = None,
        rig_rate: float = 0.0,
    ) -> None:
        super().__init__(obj, rig, skeleton, settings)
        self.rig_rate, self._skeleton = rig_rate, skeleton
        self._bones: Handle | None = None  # the data of the proxy

    @property
    def shown(self) -> Handle:
        """The proxy, while there is one."""
        return self._poses.armature

    def take_over(self) -> None:
        """Save pose and action, and show the proxy in place of the armature."""
        skeleton, rig = self._skeleton, find_posable(self.armature)
        proxy = create_proxy(skeleton, rig.name)
        self._bones = Handle.from_block(proxy.data, "armatures")
        _enter_local_views(proxy)
        root = proxy.data.bones[0].name
        self._poses = PoseWriter(proxy, skeleton, root=RootTarget.BONE, root_bone=root)
        super().take_over()

    def restore(self, *, keep_action: bool = False) -> None:
        """Remove the proxy, show the armature, and restore what `take_over` saved, once."""
        handle, self._bones = self._bones, None
        if bones := handle.find() if handle else None:
            bpy.data.armatures.remove(bones)  # takes the object with it
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
        """Return what is visible of the armature and the meshes that go with it."""
        bodies = {child for child in obj.children_recursive if child.type == "MESH"}
        return [
            other
            for other in bpy.context.view_layer.objects
            if (other == obj or other in bodies or other.find_armature() == obj)
            and other.visible_get()
        ]


def create_proxy(skeleton: Skeleton, name: str) -> bpy.types.Object:
    """Create an armature that stands for the one of this name, which no saved file has."""
    obj = create_armature(skeleton, fit_name(name, len(_NAME)) + _NAME)
    obj[_MARK] = True
    obj.is_runtime_data = obj.data.is_runtime_data = True
    obj.show_in_front = obj.hide_select = True
    obj.data.bones[0].hide = True  # it only says where the character is
    return obj


def _enter_local_views(proxy: bpy.types.Object) -> None:
    """Show a proxy in local views, too."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            space = area.spaces.active
            if isinstance(space, bpy.types.SpaceView3D) and space.local_view:
                proxy.local_view_set(space, True)


def remove_proxies() -> None:
    """Remove proxies that undo or Blender's automatic saving brought back, unless they are used."""
    for obj in list(bpy.data.objects):
        if id_properties.has(obj, _MARK) and not removal.is_needed(obj):
            data = obj.data
            bpy.data.objects.remove(obj)
            if isinstance(data, bpy.types.Armature) and not data.users:
                bpy.data.armatures.remove(data)
