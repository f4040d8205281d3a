"""Poses as Blender evaluates them, with constraints, drivers and NLA, on a copy in its own scene.

What the armature follows, such as parents and targets of constraints, is copied along. What only
follows it, such as its mesh, is left out, which is five times as fast. The user's objects are not
touched and their scene is not evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import bpy
import numpy as np

from ....engine.errors import RigError
from .. import id_properties, removal
from ..animation import actions, playback
from ..animation.curve_poses import read_object_channels
from ..handle import Handle
from ..transforms.transforms import REST, compute_local_poses

_CHUNK = 512  # frames whose matrices are in memory at a time
_NAME = "Sampling"
_MARK = "motion_matching_double"  # a property of all blocks made here
# reset with what they are relative to
_INVERSES = ("matrix_parent_inverse", "matrix_inverse", "inverse_matrix")
# of a scene, where drivers look
_SHOWN = ("frame_current", "frame_current_final", "frame_float", "frame_subframe")
_KINDS = ("scenes", "objects", "armatures", "actions")


class EvaluationCopyGone(Exception):  # noqa: N818  # nothing went wrong
    """The copy is no longer in the file."""


class EvaluationCopy:
    """A copy of an armature object and of all that it follows, visible in a scene of its own.

    It may stay while Blender goes on. It is in no saved file, and `remove_evaluation_copies`
    removes what undo brings back of it. If undo removed it, using it raises EvaluationCopyGone.
    """

    def __init__(self, obj: bpy.types.Object) -> None:
        self.name = obj.name
        self._handles: list[Handle] = []
        self._played: Handle | None = None
        try:
            scene = self._adopt(bpy.data.scenes.new(_NAME), "scenes")
            body = self._copy_with_followed(obj, scene)
            body.hide_viewport = False
            body.data.pose_position = "POSE"
            scene.collection.objects.link(body)
        except BaseException:
            self.remove()
            raise
        self._scene = Handle.from_block(scene, "scenes")
        self._armature = Handle.from_block(body, "objects")

    def __enter__(self) -> EvaluationCopy:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def scene(self) -> bpy.types.Scene:
        return self._find(self._scene)

    @property
    def armature(self) -> bpy.types.Object:
        """Return the copy of the armature object."""
        return self._find(self._armature)

    def find_evaluated(self) -> bpy.types.Object:
        """Return the copy of the armature object as it is evaluated now."""
        return self.armature.evaluated_get(self.scene.view_layers[0].depsgraph)

    def show_frame(self, frame: float) -> bpy.types.Object:
        """Go to a frame, and return the copy of the armature object as it is evaluated there."""
        whole = math.floor(frame)
        self.scene.frame_set(whole, subframe=frame - whole)
        return self.find_evaluated()

    def stop_playing(self) -> None:
        """Play nothing, not even the NLA; the pose stays."""
        data: Any = self.armature.animation_data or self.armature.animation_data_create()
        data.use_tweak_mode = False  # no other action can be assigned while a strip is tweaked
        data.use_nla = False
        data.action = None

    def clear_pose(self) -> None:
        """Play nothing with all bones at rest: only an action's keys count."""
        self.stop_playing()
        body = self.armature
        bones = self.armature.pose.bones
        for name, rest in REST.items():
            bones.foreach_set(name, np.tile(np.array(rest, dtype=np.float32), len(bones)))
        body.update_tag()

    def play(self, action: bpy.types.Action, slot: Any) -> None:
        """Play an action of the user's instead of what it plays."""
        if self._played:
            bpy.data.actions.remove(self._find(self._played))
            self._handles.remove(self._played)
            self._played = None
        played = playback.play(self.armature, action, slot)
        if played != action:
            self._adopt_played(played)

    def get_scratch_action(self) -> bpy.types.Action:
        """Play an action that belongs to the copy, empty at first, and return it."""
        if self._played is None:
            body = self.armature  # before anything is made: the copy may be gone
            action = bpy.data.actions.new(_NAME)
            data = body.animation_data or body.animation_data_create()
            actions.set_action(data, action, actions.ensure_slot(action))
            self._adopt_played(action)
        return self._find(self._played)

    def _adopt_played(self, action: bpy.types.Action) -> None:
        self._adopt(action, "actions")
        self._played = self._handles[-1]

    def remove(self) -> None:
        """Remove the copy, or what is left of it, from the file; may be called twice."""
        _remove(self._find_remaining())
        self._handles.clear()

    def evaluate(
        self, frames: Sequence[float], names: tuple[str, ...], parents: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Evaluate what the copy plays, for these bones.

        Returns local rotations (F, B, 4) and positions (F, B, 3), in the armature's units, and the
        object's world matrices (F, 4, 4). Raises RigError if its animation hides it.
        """
        rotations = np.empty((len(frames), len(names), 4), dtype=np.float32)
        positions = np.empty((len(frames), len(names), 3), dtype=np.float32)
        worlds = np.empty((len(frames), 4, 4))
        if len(self._find_remaining()) < len(self._handles):
            raise EvaluationCopyGone
        indices = {bone.name: index for index, bone in enumerate(self.armature.pose.bones)}
        order = [indices[name] for name in names]
        matrices = np.empty((min(_CHUNK, len(frames)), 16 * len(indices)), dtype=np.float32)
        for start in range(0, len(frames), _CHUNK):
            chunk = frames[start : start + _CHUNK]
            for row, frame in enumerate(chunk):
                evaluated = self.show_frame(frame)
                if evaluated.hide_viewport:  # Blender does not pose it then
                    raise RigError(
                        f"armature '{self.name}' is animated to be hidden in frame {frame:g}; mute "
                        "that animation."
                    )
                evaluated.pose.bones.foreach_get("matrix", matrices[row])
                worlds[start + row] = np.array(evaluated.matrix_world)
            # Blender's matrices come column by column
            by_bone = matrices[: len(chunk)].reshape(len(chunk), -1, 4, 4).swapaxes(-1, -2)
            part = slice(start, start + len(chunk))
            rotations[part], positions[part] = compute_local_poses(by_bone[:, order], parents)
        return rotations, positions, worlds

    def evaluate_world_matrices(self, frames: Sequence[float]) -> np.ndarray:
        """Return the object's world matrices (F, 4, 4) in frames."""
        worlds = [np.array(self.show_frame(frame).matrix_world, np.float64) for frame in frames]
        return np.array(worlds).reshape(-1, 4, 4)

    @staticmethod
    def _find(handle: Handle) -> Any:
        block = handle.find()
        if block is None:
            raise EvaluationCopyGone
        return block

    def _find_remaining(self) -> list[Any]:
        """Return what is left of the copy in the file, in one pass over thousands of blocks."""
        blocks = {block.session_uid: block for kind in _KINDS for block in getattr(bpy.data, kind)}
        return [blocks[handle.uid] for handle in self._handles if handle.uid in blocks]

    def _adopt(self, block: Any, kind: str) -> Any:
        """Mark a block as part of the copy, which no saved file has."""
        block.name = _NAME
        block.is_runtime_data = True
        block[_MARK] = True
        block.use_fake_user = False
        self._handles.append(Handle.from_block(block, kind))
        return block

    def _copy_with_followed(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> Any:
        """Copy the object with what it follows; drivers then read the frame of the copy's scene."""
        blocks = _find_followed(obj)
        copies = {block.session_uid: self._adopt(block.copy(), kind) for block, kind in blocks}
        for copy in copies.values():
            if getattr(copy, "data", None) and copy.data.session_uid in copies:
                copy.data = copies[copy.data.session_uid]
            for holder, name, followed in list(_iterate_links(copy)):
                if followed and followed.session_uid in copies:
                    present = [part for part in _INVERSES if hasattr(holder, part)]
                    inverses = {part: getattr(holder, part).copy() for part in present}
                    setattr(holder, name, copies[followed.session_uid])
                    for part, inverse in inverses.items():
                        setattr(holder, part, inverse)
                elif isinstance(followed, bpy.types.Scene) and holder.data_path in _SHOWN:
                    holder.id = scene
        return copies[obj.session_uid]


def remove_evaluation_copies() -> None:
    """Remove copies that undo or Blender's automatic saving brought back.

    What else is used stays, whatever its mark says: a file of a stranger may mark its own scenes.
    """
    blocks = (block for kind in _KINDS for block in getattr(bpy.data, kind))
    marked = [block for block in blocks if id_properties.has(block, _MARK)]
    _remove(removal.find_unneeded(marked))


def _remove(blocks: list[Any]) -> None:
    for scene in [block for block in blocks if isinstance(block, bpy.types.Scene)]:
        bpy.data.scenes.remove(scene)  # which gives windows that show it another one
        blocks.remove(scene)
    bpy.data.batch_remove(blocks)


def read_followed_transforms(obj: bpy.types.Object) -> dict[str, dict[str, tuple[float, ...]]]:
    """Return the unanimated transforms of the objects that an armature object follows, by name."""
    followed = (other for other, kind in _find_followed(obj) if kind == "objects" and other != obj)
    return {
        other.name: read_object_channels(other, actions.find_animated_paths(other))
        for other in followed
    }


def _find_followed(obj: bpy.types.Object) -> list[tuple[Any, str]]:
    """Return the object and all that decides its pose or position, with their kinds."""
    followed: dict[int, tuple[Any, str]] = {}
    waiting: list[Any] = [obj]
    while waiting:
        block = waiting.pop()
        kind = {"OBJECT": "objects", "ARMATURE": "armatures"}.get(getattr(block, "id_type", ""), "")
        if kind and block.session_uid not in followed:
            followed[block.session_uid] = block, kind
            waiting += [target for _, _, target in _iterate_links(block)]
            waiting.append(getattr(block, "data", None))
    return list(followed.values())


def _iterate_links(block: Any) -> Iterator[tuple[Any, str, Any]]:
    """Yield what points at what decides the block's pose or position: holder, name, and target."""
    for curve in actions.get_drivers(block):
        for variable in curve.driver.variables:
            yield from ((target, "id", target.id) for target in variable.targets)
    if not isinstance(block, bpy.types.Object):
        return
    yield block, "parent", block.parent
    bones = block.pose.bones if block.pose else ()
    of_bones = (constraint for bone in bones for constraint in bone.constraints)
    for holder in (*block.constraints, *block.modifiers, *of_bones):
        for name in _find_object_pointers(holder.bl_rna.identifier):
            yield holder, name, getattr(holder, name)
        yield from ((target, "target", target.target) for target in getattr(holder, "targets", ()))


@cache
def _find_object_pointers(kind: str) -> list[str]:
    """Return the names of the object pointers of a kind of constraint or modifier."""
    properties = getattr(bpy.types, kind).bl_rna.properties
    pointers = [prop for prop in properties if prop.type == "POINTER"]
    return [prop.identifier for prop in pointers if prop.fixed_type.identifier == "Object"]


def compute_world_matrix(obj: bpy.types.Object) -> np.ndarray:
    """Return an object's current world matrix (4, 4), which Blender does not update if hidden."""
    bpy.context.evaluated_depsgraph_get()
    if obj.visible_get():
        return np.array(obj.matrix_world, dtype=np.float64)
    scene = bpy.context.scene
    with EvaluationCopy(obj) as copy:
        return copy.evaluate_world_matrices([scene.frame_current + scene.frame_subframe])[0]
