"""A Blender object remembered by name: objects themselves must not be held over ticks, undo or a file load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from ..engine.errors import RigError


@dataclass
class Handle:
    """An object, action or other block of the file; `find` follows it where it was renamed."""

    kind: str  # name of the collection in bpy.data
    name: str
    uid: int

    @classmethod
    def of(cls, block: Any, kind: str) -> Handle:
        return cls(kind, block.name, block.session_uid)

    def find(self) -> Any:
        """The block, or None where it is no longer in the file."""
        blocks = getattr(bpy.data, self.kind)
        block = blocks.get(self.name)
        if block is None or block.session_uid != self.uid:
            block = next((other for other in blocks if other.session_uid == self.uid), None)
            if block is not None:
                self.name = block.name
        return block


def posable(armature: Handle) -> Any:
    """The armature, or another object, ready to be posed; RigError where it is gone or in edit mode."""
    obj = armature.find()
    if obj is None:
        raise RigError(
            f"the object '{armature.name}' is no longer in the file; start again with another one."
        )
    if obj.mode == "EDIT":
        raise RigError(
            f"armature '{armature.name}' is in edit mode; leave it (Tab) and start again."
        )
    return obj
