"""Remove blocks from a file if the extension made them and nothing else keeps or uses them.

Blocks come from files of anybody, and users do with them what they like. So a mark or an entry of a
list alone is no reason to remove a block.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import bpy

_EDITORS = (bpy.types.Screen, bpy.types.WindowManager, bpy.types.WorkSpace)  # that show a block
_PLACES = (bpy.types.Scene, bpy.types.Collection)  # where objects are


def is_needed(block: Any, besides: Collection[Any] = ()) -> bool:
    """Return whether a block has a shield, is an asset or linked, or is used by others."""
    if block.library or block.use_fake_user or block.asset_data:
        return True
    return _has_users(block, bpy.data.user_map(subset=[block])[block], besides)


def find_unneeded(blocks: Iterable[Any]) -> list[Any]:
    """Return the blocks that only others of them use, and scenes that hold nothing else.

    If no other scene is left, all stay.
    """
    unneeded = {block for block in blocks if not (block.library or block.use_fake_user)}
    if unneeded.issuperset(bpy.data.scenes):
        unneeded.clear()
    users = bpy.data.user_map(subset=unneeded) if unneeded else {}
    while needed := [block for block in unneeded if _is_used(block, users[block], unneeded)]:
        unneeded.difference_update(needed)
    return list(unneeded)


def _is_used(block: Any, users: Iterable[Any], unneeded: Collection[Any]) -> bool:
    if isinstance(block, bpy.types.Scene):
        return any(obj not in unneeded for obj in block.objects)
    if isinstance(block, bpy.types.Object):
        places = (*block.users_scene, *block.users_collection)
        own = [scene.collection for scene in bpy.data.scenes if scene in unneeded]
        if any(place not in unneeded and place not in own for place in places):
            return True
    return _has_users(block, users, unneeded)


def _has_users(block: Any, users: Iterable[Any], besides: Collection[Any]) -> bool:
    """Return whether anything but editors, and places of objects, uses a block."""
    ignored = (*_EDITORS, *_PLACES) if isinstance(block, bpy.types.Object) else _EDITORS
    return any(
        user != block and user not in besides and not isinstance(user, ignored) for user in users
    )
