"""In a window: undo, redo, modes, renaming, deletion, errors and disabling, each while a character
is live.
"""

from __future__ import annotations

import os
import sys

import bpy

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    PACKAGE,
    alive,
    call,
    check_left_nothing,
    choose,
    event,
    module,
    performer,
    recorded,
    run,
    started,
    tap,
    ticked,
    traces,
    until,
)


def hero():
    return bpy.data.objects["Performer"]


def pose(obj):
    return [value for bone in obj.pose.bones for row in bone.matrix_basis for value in row] + [
        *obj.location
    ]


def playing(obj):
    return obj.animation_data and obj.animation_data.action


def ended(live, before, *words):
    """It is over, the user was told why, and nothing of it is left."""
    yield from check_left_nothing(live, before)
    said = alive().end_message
    print("   ", said or "(by the user)", flush=True)
    assert all(word in said for word in words), said
    assert bool(words) == bool(said), said


def given_back(cause, *words):
    """What was there before comes back. `cause` is a generator that ends a session."""
    before, own = traces(), pose(hero())
    live = yield from started()
    event("W", unicode="w")
    yield from ticked(live, 20)
    event("W", "RELEASE")
    assert pose(hero()) != own
    yield from cause(live)
    yield from ended(live, before, *words)
    assert playing(hero()) is None
    assert all(abs(a - b) < 1e-4 for a, b in zip(own, pose(hero()), strict=True))


def take_kept(cause, *words):
    """A recording that it ends is a take afterwards, which the armature plays."""
    before = traces()
    live = yield from started()
    yield from recorded(live, 30)
    yield from cause(live)
    yield from ended(live, before, *words)
    obj = hero()
    [take] = obj.motion_matching.takes
    assert playing(obj) == take.action
    assert take.action.frame_range[1] - take.action.frame_range[0] >= 28
    # away with it, for the next
    bpy.data.actions.remove(take.action)
    obj.motion_matching.takes.clear()
    for bone in obj.pose.bones:
        bone.matrix_basis.identity()
    obj.matrix_basis.identity()
    call(bpy.ops.ed.undo_push, message="the take is removed")
    yield 0.5


# ---------------------------------------------------------------- what ends it


def escape(live):
    tap("ESC")
    yield 0.0


def undo(live):
    yield from choose("TOPBAR_MT_edit", "U")


def redo(live):
    yield from choose("TOPBAR_MT_edit", "R")


def edit_mode(live):
    tap("TAB")
    yield from until(lambda: alive().live is None)
    call(bpy.ops.object.mode_set, mode="OBJECT")
    yield 0.2


def bone_renamed(live):
    hero().data.bones["Head"].name = "Skull"
    yield from until(lambda: alive().live is None)
    hero().data.bones["Skull"].name = "Head"


def broken_tick(live):
    def broken(*_):
        raise ValueError("an error on purpose")

    live.session.performer.step = broken
    yield 0.0


def disabled(live):
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    assert not hasattr(bpy.types.Object, "motion_matching")
    assert alive().live is None
    yield 0.5
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    # it looks once for recordings that were cut off
    yield from until(
        lambda: not bpy.app.timers.is_registered(module("app.handlers")._refresh_recordings)
    )


CAUSES = (
    (escape, ()),
    (undo, ("Undo",)),
    (edit_mode, ("edit mode",)),
    (bone_renamed, ("'Head'", "'Skull'")),
    (broken_tick, ("An error",)),
    (disabled, ("disabled",)),
)


# ---------------------------------------------------------------- what else may happen


def redone():
    """Redo, which the menu offers after an undo, ends a session too."""
    call(bpy.ops.ed.undo_push, message="one more")
    call(bpy.ops.ed.undo)
    yield 0.3
    yield from given_back(redo, "Undo")


def changed_while_live():
    """Undo after an ending goes to a step that was made while live, where the character is as it
    was before.
    """
    before, own = traces(), pose(hero())
    live = yield from started()
    event("W", unicode="w")
    yield from ticked(live, 20)
    call(bpy.ops.ed.undo_push, message="a slider")
    yield from ticked(live, 20)
    event("W", "RELEASE")
    yield from escape(live)
    yield from ended(live, before)
    for step in (undo, redo):
        yield from step(live)
        yield 0.3
        assert all(abs(a - b) < 1e-4 for a, b in zip(own, pose(hero()), strict=True)), step.__name__
        assert playing(hero()) is None
        assert not hero().get("motion_matching_found")


def goes_on():
    """New names of the object and its data, pose mode, and another frame are no reason to end."""
    before = traces()
    live = yield from started()
    yield from recorded(live, 10)
    obj = hero()
    obj.name, obj.data.name = "Held", "Bones of a Hero"
    yield from ticked(live, 10)
    tap("TAB", ctrl=True)
    yield from until(lambda: obj.mode == "POSE")
    yield from ticked(live, 10)
    call(bpy.ops.screen.frame_jump, end=True)
    yield from ticked(live, 10)
    assert alive().live is live, alive().end_message
    tap("ESC")
    yield from ended(live, before)
    assert [take.action for take in obj.motion_matching.takes] == [playing(obj)]
    obj.name = "Performer"
    bpy.data.actions.remove(playing(obj))
    obj.motion_matching.takes.clear()
    call(bpy.ops.object.mode_set, mode="OBJECT")
    bpy.context.scene.frame_set(1)
    yield 0.3


def bones_deleted():
    """A bone goes in edit mode, which ends a session first."""
    before = traces()
    live = yield from started()
    tap("TAB")
    yield from until(lambda: alive().live is None)
    bones = hero().data.edit_bones
    bones.remove(bones["Head"])
    call(bpy.ops.object.mode_set, mode="OBJECT")
    yield from ended(live, before, "edit mode")
    call(bpy.ops.ed.undo_push, message="a bone is deleted")


def deleted(remove):
    """Without its armature, a recording waits to be recovered."""
    before = traces()
    live = yield from started()
    yield from recorded(live, 40)
    remove()
    yield from ended(live, before, "'Performer'")
    assert "Performer" not in bpy.data.objects
    assert len(alive().interrupted) == 1
    assert call(bpy.ops.motion_matching.discard_recording) == {"FINISHED"}
    assert not alive().interrupted


def scenario():
    yield from performer()
    call(bpy.ops.ed.undo_push, message="the performer")
    for ending in (given_back, take_kept):
        for cause, words in CAUSES:
            print(ending.__name__, cause.__name__, flush=True)
            call(bpy.ops.ed.undo_push, message="something to undo")
            yield from ending(cause, *words)
    for part in (redone, changed_while_live, goes_on, bones_deleted):
        print(part.__name__, flush=True)
        yield from part()
    for remove in (
        lambda: call(bpy.ops.object.delete),
        lambda: bpy.data.armatures.remove(hero().data),
    ):
        print("deleted", flush=True)
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        call(bpy.ops.motion_matching.add_demo_performer)
        yield 0.5
        yield from deleted(remove)


run(scenario)
