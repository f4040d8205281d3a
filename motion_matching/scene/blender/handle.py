"""Blocks by name: they must not be held over ticks, undo or a file load; and how long names are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from ...engine.errors import MotionDataError, RigChangedError, RigError
from ...engine.names import shorten_to_bytes


@dataclass
class Handle:
    """An object, action or other block of the file; `find` follows it if it was renamed."""

    kind: str  # name of the collection in bpy.data
    name: str
    uid: int

    @classmethod
    def from_block(cls, block: Any, kind: str) -> Handle:
        return cls(kind, block.name, block.session_uid)

    def find(self) -> Any:
        """Return the block, or None if it is no longer in the file."""
        blocks = getattr(bpy.data, self.kind)
        block = blocks.get(self.name)
        if block is None or block.session_uid != self.uid:
            block = next((other for other in blocks if other.session_uid == self.uid), None)
            if block is not None:
                self.name = block.name
        return block

    def require(self) -> Any:
        """Return the block; raise RigChangedError if it is no longer in the file."""
        block = self.find()
        if block is None:
            raise RigChangedError(f"'{self.name}' was deleted; start again.")
        return block


def fit_name(name: str, reserved: int = 0) -> str:
    """Return the part of a name that fits a block's, but for bytes that are `reserved`.

    Blender cuts longer names off within the part that distinguishes them.
    """
    declared: Any = bpy.types.ID.bl_rna.properties["name"]
    return shorten_to_bytes(name, declared.length_max - 1 - reserved)  # one byte is Blender's own


def find_read_armature(armature: Handle) -> Any:
    """Return an armature whose motion is being read; raise RigChangedError if it was deleted."""
    obj = armature.find()
    if obj is None:
        raise RigChangedError(
            f"armature '{armature.name}' was deleted while its motion was read; start again."
        )
    return obj


def find_read_action(action: Handle) -> Any:
    """Return an action that is being read; raise MotionDataError if it was deleted."""
    found = action.find()
    if found is None:
        raise MotionDataError(f"action '{action.name}' was deleted while it was read; try again.")
    return found


def find_posable(armature: Handle) -> Any:
    """Return an armature or object; raise RigError if it was deleted or is in edit mode."""
    obj = armature.find()
    if obj is None:
        raise RigError(f"'{armature.name}' is no longer in the file; start again with another one.")
    if obj.mode == "EDIT":
        raise RigError(f"'{armature.name}' is in edit mode; leave it (Tab) and start again.")
    return obj
