"""Poses as Blender evaluates them: with constraints, drivers and NLA, of a copy in a scene of its own.

What the armature follows, such as parents and targets of constraints, is copied along; what only follows it, such as its
mesh, is left out, which is five times as fast. The user's objects are not touched and their scene is not evaluated, so
its frame, selection, visibility and the poses it shows stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import bpy
import numpy as np

from ..engine.errors import RigError
from . import actions
from .curve_poses import own_values
from .handle import Handle
from .kept_pose import CHANNELS
from .matrices import local_poses

_CHUNK = 512  # frames whose matrices are held at a time
_NAME = "Sampling"
_MARK = "motion_matching_double"  # a property of all that is made here
_INVERSES = (
    "matrix_parent_inverse",
    "matrix_inverse",
    "inverse_matrix",
)  # that are reset with what they are relative to
_SHOWN = (
    "frame_current",
    "frame_current_final",
    "frame_float",
    "frame_subframe",
)  # of a scene, where drivers look
_KINDS = ("scenes", "objects", "armatures", "actions")


class Gone(Exception):  # noqa: N818  # nothing went wrong
    """A double is not in the file any more."""


class Double:
    """A copy of an armature object and of all that it follows, in a scene of its own, seen also where the user hides it.

    It may stay over pauses in which Blender goes on: it is in no file that is saved, and `remove_doubles` takes away what
    undo brings back of one. Undo may also have taken it: Gone where it is used after that.
    """

    def __init__(self, obj: bpy.types.Object) -> None:
        self.name = obj.name
        self._made: list[Handle] = []
        self._played: Handle | None = None
        try:
            scene = self._own(bpy.data.scenes.new(_NAME), "scenes")
            body = self._copied(obj, scene)
            body.hide_viewport, body.data.pose_position = False, "POSE"
            scene.collection.objects.link(body)
        except BaseException:
            self.remove()
            raise
        self._scene, self._body = Handle.of(scene, "scenes"), Handle.of(body, "objects")

    def __enter__(self) -> Double:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    @property
    def scene(self) -> bpy.types.Scene:
        return self._there(self._scene)

    @property
    def body(self) -> bpy.types.Object:
        """The copy of the armature object."""
        return self._there(self._body)

    def rest(self) -> None:
        """Play nothing, not even NLA, with all bones at rest: what an action does not key comes from nowhere else then."""
        body = self.body
        data: Any = body.animation_data or body.animation_data_create()
        data.use_tweak_mode = False  # no other action can be assigned while a strip is tweaked
        data.use_nla, data.action = False, None
        for name, rest in CHANNELS.items():
            body.pose.bones.foreach_set(
                name, np.tile(np.array(rest, dtype=np.float32), len(body.pose.bones))
            )
        body.update_tag()

    def play(self, action: bpy.types.Action, slot: Any) -> None:
        """Play an action of the user's instead of what it plays."""
        self._drop_played()
        played = actions.play(self.body, action, slot)
        if played != action:
            self._own(played, "actions")
            self._played = self._made[-1]

    def own_action(self) -> bpy.types.Action:
        """Play an action that goes with the double, empty at first. To be used by itself."""
        if self._played is None:
            self._own(actions.play_empty(self.body), "actions")
            self._played = self._made[-1]
        return self._there(self._played)

    def remove(self) -> None:
        """Take it out of the file, or what is left of it; may be called twice."""
        _remove(self._left())
        self._made.clear()

    def evaluate(
        self, frames: range, names: tuple[str, ...], parents: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What it plays: local rotations (F, B, 4) and positions (F, B, 3) of these bones, in units of the armature, and
        the object's world matrices (F, 4, 4). RigError where its animation hides it.
        """
        rotations = np.empty((len(frames), len(names), 4), dtype=np.float32)
        positions = np.empty((len(frames), len(names), 3), dtype=np.float32)
        worlds = np.empty((len(frames), 4, 4))
        if len(self._left()) < len(self._made):
            raise Gone
        scene, body = self.scene, self.body
        places = {bone.name: place for place, bone in enumerate(body.pose.bones)}
        numbers = [places[name] for name in names]
        matrices = np.empty((min(_CHUNK, len(frames)), 16 * len(body.pose.bones)), dtype=np.float32)
        layer = scene.view_layers[0]
        for start in range(0, len(frames), _CHUNK):
            chunk = frames[start : start + _CHUNK]
            for row, frame in enumerate(chunk):
                scene.frame_set(frame)
                evaluated = body.evaluated_get(layer.depsgraph)
                if evaluated.hide_viewport:  # then Blender leaves its pose as it was
                    raise RigError(
                        f"armature '{self.name}' is animated to be hidden in frame {frame}; mute that animation."
                    )
                evaluated.pose.bones.foreach_get("matrix", matrices[row])
                worlds[start + row] = np.array(evaluated.matrix_world)
            # Blender's matrices come column by column
            by_bone = (
                matrices[: len(chunk)].reshape(len(chunk), -1, 4, 4).swapaxes(-1, -2)[:, numbers]
            )
            there = slice(start, start + len(chunk))
            rotations[there], positions[there] = local_poses(by_bone, parents)
        return rotations, positions, worlds

    def world_matrix(self, frame: int, subframe: float) -> np.ndarray:
        """The object's world matrix (4, 4) in a frame."""
        scene = self.scene
        scene.frame_set(frame, subframe=subframe)
        return np.array(
            self.body.evaluated_get(scene.view_layers[0].depsgraph).matrix_world, dtype=np.float64
        )

    @staticmethod
    def _there(made: Handle) -> Any:
        block = made.find()
        if block is None:
            raise Gone
        return block

    def _left(self) -> list[Any]:
        """What is left of it in the file, found in one go: there may be thousands of blocks, and a piece takes little."""
        there = {block.session_uid: block for kind in _KINDS for block in getattr(bpy.data, kind)}
        return [there[made.uid] for made in self._made if made.uid in there]

    def _drop_played(self) -> None:
        """Take an action that goes with the double out of the file."""
        if self._played:
            bpy.data.actions.remove(self._there(self._played))
            self._made.remove(self._played)
            self._played = None

    def _own(self, block: Any, kind: str) -> Any:
        """A block that goes with the double, and into no file."""
        block.name, block.is_runtime_data, block[_MARK] = _NAME, True, True
        self._made.append(Handle.of(block, kind))
        return block

    def _copied(self, obj: bpy.types.Object, scene: bpy.types.Scene) -> bpy.types.Object:
        """A copy of the object that follows copies of what the object follows, and the frame that the scene shows."""
        copies = {
            block.session_uid: self._own(block.copy(), kind) for block, kind in _followed(obj)
        }
        for copy in copies.values():
            if getattr(copy, "data", None) and copy.data.session_uid in copies:
                copy.data = copies[copy.data.session_uid]
            for holder, name, followed in list(_links(copy)):
                if followed and followed.session_uid in copies:
                    inverses = {
                        part: getattr(holder, part).copy()
                        for part in _INVERSES
                        if hasattr(holder, part)
                    }
                    setattr(holder, name, copies[followed.session_uid])
                    for part, inverse in inverses.items():
                        setattr(holder, part, inverse)
                elif isinstance(followed, bpy.types.Scene) and holder.data_path in _SHOWN:
                    holder.id = scene
        return copies[obj.session_uid]


def remove_doubles() -> None:
    """Take what is left of doubles out of the file: undo, and files that Blender saved on its own, bring them back."""
    _remove(
        [block for kind in _KINDS for block in getattr(bpy.data, kind) if _MARK in block.keys()]
    )  # noqa: SIM118


def _remove(blocks: list[Any]) -> None:
    for scene in [block for block in blocks if isinstance(block, bpy.types.Scene)]:
        bpy.data.scenes.remove(scene)  # which gives windows that show it another one
        blocks.remove(scene)
    bpy.data.batch_remove(blocks)


def places_followed(obj: bpy.types.Object) -> dict[str, dict[str, tuple[float, ...]]]:
    """Where the objects that an armature object follows are by what nothing animates, by name."""
    places = {}
    for other, kind in _followed(obj):
        if kind == "objects" and other != obj:
            played = (
                curve
                for action, slot in actions.played_by(other)
                for curve in actions.curves_of(action, slot)
            )
            driven = other.animation_data.drivers if other.animation_data else ()
            moved = {curve.data_path for curve in (*played, *driven)}
            own = own_values(other)
            places[other.name] = {name: own[name] for name in own if name not in moved}
    return places


def _followed(obj: bpy.types.Object) -> list[tuple[Any, str]]:
    """The object and all objects and armatures that decide on its pose or place, each with its kind."""
    found: dict[int, tuple[Any, str]] = {}
    left: list[Any] = [obj]
    while left:
        block = left.pop()
        kind = {"OBJECT": "objects", "ARMATURE": "armatures"}.get(getattr(block, "id_type", ""), "")
        if kind and block.session_uid not in found:
            found[block.session_uid] = block, kind
            left += [followed for _, _, followed in _links(block)]
            left.append(getattr(block, "data", None))
    return list(found.values())


def _links(block: Any) -> Iterator[tuple[Any, str, Any]]:
    """Where an object or armature points at what decides on its pose or place: what holds the pointer, its name, and what
    it points at."""
    for curve in block.animation_data.drivers if block.animation_data else ():
        for variable in curve.driver.variables:
            yield from ((target, "id", target.id) for target in variable.targets)
    if not isinstance(block, bpy.types.Object):
        return
    yield block, "parent", block.parent
    bones = block.pose.bones if block.pose else ()
    for holder in (
        *block.constraints,
        *block.modifiers,
        *(held for bone in bones for held in bone.constraints),
    ):
        for name in _object_pointers(holder.bl_rna.identifier):
            yield holder, name, getattr(holder, name)
        yield from ((target, "target", target.target) for target in getattr(holder, "targets", ()))


@cache
def _object_pointers(kind: str) -> list[str]:
    """The names of the properties that point at objects, of a kind of constraint or modifier."""
    return [
        prop.identifier
        for prop in getattr(bpy.types, kind).bl_rna.properties
        if prop.type == "POINTER" and prop.fixed_type.identifier == "Object"
    ]


def world_matrix(obj: bpy.types.Object) -> np.ndarray:
    """An armature object's world matrix (4, 4) now, which Blender does not keep up to date where it is not shown."""
    bpy.context.evaluated_depsgraph_get()
    if obj.visible_get():
        return np.array(obj.matrix_world, dtype=np.float64)
    with Double(obj) as double:
        return double.world_matrix(
            bpy.context.scene.frame_current, bpy.context.scene.frame_subframe
        )
