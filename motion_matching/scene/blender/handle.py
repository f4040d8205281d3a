"""Blocks remembered by name: they must not be held over ticks, undo or a file load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from ...engine.errors import RigError


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


def find_posable(armature: Handle) -> Any:
    """Return the armature, or another object, ready to be posed.

    Raises RigError if it was deleted or is in edit mode.
    """
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
