"""What has to be there before an operator can run, and the sentence that says what to do where it is not."""

from __future__ import annotations

from typing import Any

import bpy

from . import performing, work
from .request import armature_of

SELECT = "Select an armature first, or add the demo performer"


def is_idle(cls: Any) -> bool:
    """Whether nothing is going on, long work or live."""
    if performing.current and not work.running:
        cls.poll_message_set("Stop the live session first, with Esc")
        return False
    return _no_work(cls)


def _no_work(cls: Any) -> bool:
    if work.running:
        cls.poll_message_set("Wait for what is going on, or cancel it with Esc")
    return not work.running


def has_armature(cls: Any, context: bpy.types.Context) -> bool:
    """Whether there is an armature whose settings can be changed, and nothing is going on, long work or live."""
    return is_idle(cls) and _has_own_armature(cls, context)


def has_armature_also_live(cls: Any, context: bpy.types.Context) -> bool:
    """Whether there is an armature whose settings can be changed, and nothing long is going on."""
    return _no_work(cls) and _has_own_armature(cls, context)


def _has_own_armature(cls: Any, context: bpy.types.Context) -> bool:
    obj = armature_of(context)
    if obj is None:
        cls.poll_message_set(SELECT)
        return False
    if obj.library and not obj.override_library:
        cls.poll_message_set(
            "This armature is linked from another file: make a library override first"
        )
        return False
    if obj.mode == "EDIT":
        cls.poll_message_set("Leave Edit Mode first")
        return False
    return True


def has_sources(cls: Any, context: bpy.types.Context) -> bool:
    """Whether there is an armature with a source that is switched on."""
    if not has_armature(cls, context):
        return False
    sources = armature_of(context).motion_matching.sources
    if not sources:
        cls.poll_message_set("Add actions or files to build from first")
    elif not any(source.enabled for source in sources):
        cls.poll_message_set("Switch on at least one source first")
    else:
        return True
    return False


def may_perform(cls: Any, context: bpy.types.Context) -> bool:
    """Whether there are sources to perform with, and an action may be assigned."""
    return has_sources(cls, context) and may_assign(cls, context)


def may_assign(cls: Any, context: bpy.types.Context) -> bool:
    """Whether there is an armature that an action may be assigned to."""
    if not has_armature(cls, context):
        return False
    data = armature_of(context).animation_data
    if data and data.use_tweak_mode:
        cls.poll_message_set("Leave the tweak mode of the NLA first (Tab in the NLA editor)")
        return False
    return True


def active(owner: Any, items: str, index: str) -> Any:
    """The active item of a list, or None."""
    found, number = getattr(owner, items), getattr(owner, index)
    return found[number] if 0 <= number < len(found) else None


def has_active(owner: Any, items: str, index: str) -> bool:
    """Whether there is one: to get it, Blender goes through all those before it."""
    return bool(0 <= getattr(owner, index) < len(getattr(owner, items)))


def chosen_take(cls: Any, context: bpy.types.Context) -> Any:
    """The active take, or None with what to do said."""
    if not has_armature(cls, context):
        return None
    take = active(armature_of(context).motion_matching, "takes", "take_index")
    if take is None:
        cls.poll_message_set("Bake a take first, and choose it in the list")
    return take


def plays(cls: Any, take: Any) -> bool:
    """Whether a take, if any, still has its action."""
    if take and not take.action:
        cls.poll_message_set("The action of this take was deleted: discard the take")
    return bool(take and take.action)


def knows_performance(cls: Any, take: Any) -> bool:
    """Whether a take, if any, knows what was performed."""
    if not plays(cls, take):
        return False
    from ..scene import recording  # registering does without it

    known = recording.knows_performance(take.action)
    if not known:
        cls.poll_message_set("This take does not know what was performed: bake or record another")
    return known
