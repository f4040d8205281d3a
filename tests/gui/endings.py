"""In a window: undo, redo, modes, renaming, deletion, errors and disabling while a character is
live.
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
    create_performer,
    event,
    load_module,
    read_traces,
    recorded,
    run,
    started,
    tap,
    ticked,
    until,
)


def find_hero():
    return bpy.data.objects["Performer"]


def get_pose(obj):
    return [value for bone in obj.pose.bones for row in bone.matrix_basis for value in row] + [
        *obj.location
    ]


def get_action(obj):
    return obj.animation_data and obj.animation_data.action


def check_ended(live, before, *words):
    """Check that the session is over, the user was told why, and nothing of it is left."""
    yield from check_left_nothing(live, before)
    said = alive().end_message
    print("   ", said or "(by the user)", flush=True)
    assert all(word in said for word in words), said
    assert bool(words) == bool(said), said


def check_restored(cause, *words):
    """Check that `cause`, a generator that ends a session, restores the character."""
    before, own = read_traces(), get_pose(find_hero())
    live = yield from started()
    event("W", unicode="w")
    yield from ticked(live, 20)
    event("W", "RELEASE")
    assert get_pose(find_hero()) != own
    yield from cause(live)
    yield from check_ended(live, before, *words)
    assert get_action(find_hero()) is None
    assert all(abs(a - b) < 1e-4 for a, b in zip(own, get_pose(find_hero()), strict=True))


def check_take_kept(cause, *words):
    """Check that a recording ended by `cause` becomes a take that the armature plays."""
    before = read_traces()
    live = yield from started()
    yield from recorded(live, 30)
    yield from cause(live)
    yield from check_ended(live, before, *words)
    obj = find_hero()
    [take] = obj.motion_matching.takes
    assert get_action(obj) == take.action
    assert take.action.frame_range[1] - take.action.frame_range[0] >= 28
    # remove the take for the next cause
    bpy.data.actions.remove(take.action)
    obj.motion_matching.takes.clear()
    for bone in obj.pose.bones:
        bone.matrix_basis.identity()
    obj.matrix_basis.identity()
    call(bpy.ops.ed.undo_push, message="the take is removed")
    yield 0.5


# ---------------------------------------------------------------- endings


def press_escape(live):
    tap("ESC")
    yield 0.0


def choose_undo(live):
    yield from choose("TOPBAR_MT_edit", "U")


def choose_redo(live):
    yield from choose("TOPBAR_MT_edit", "R")


def enter_edit_mode(live):
    tap("TAB")
    yield from until(lambda: alive().live is None)
    call(bpy.ops.object.mode_set, mode="OBJECT")
    yield 0.2


def rename_bone(live):
    find_hero().data.bones["Head"].name = "Skull"
    yield from until(lambda: alive().live is None)
    find_hero().data.bones["Skull"].name = "Head"


def break_tick(live):
    def raise_error(*_):
        raise ValueError("an error on purpose")

    live.session.performer.step = raise_error
    yield 0.0


def disable(live):
    bpy.ops.preferences.addon_disable(module=PACKAGE)
    assert not hasattr(bpy.types.Object, "motion_matching")
    assert alive().live is None
    yield 0.5
    bpy.ops.preferences.addon_enable(module=PACKAGE)
    # wait until it has looked for interrupted recordings
    yield from until(
        lambda: not bpy.app.timers.is_registered(load_module("app.handlers")._look_at_start)
    )


CAUSES = (
    (press_escape, ()),
    (choose_undo, ("Undo",)),
    (enter_edit_mode, ("edit mode",)),
    (rename_bone, ("'Head'", "'Skull'")),
    (break_tick, ("An error",)),
    (disable, ("disabled",)),
)


# ---------------------------------------------------------------- other events


def redo_ends_a_session():
    """Redo after an undo also ends a session."""
    call(bpy.ops.ed.undo_push, message="one more")
    call(bpy.ops.ed.undo)
    yield 0.3
    yield from check_restored(choose_redo, "Undo")


def undo_steps_made_while_live():
    """Undo after a session goes to a step made while live, with the restored character."""
    before, own = read_traces(), get_pose(find_hero())
    live = yield from started()
    event("W", unicode="w")
    yield from ticked(live, 20)
    call(bpy.ops.ed.undo_push, message="a slider")
    yield from ticked(live, 20)
    event("W", "RELEASE")
    yield from press_escape(live)
    yield from check_ended(live, before)
    for step in (choose_undo, choose_redo):
        yield from step(live)
        yield 0.3
        assert all(abs(a - b) < 1e-4 for a, b in zip(own, get_pose(find_hero()), strict=True)), (
            step.__name__
        )
        assert get_action(find_hero()) is None
        assert not find_hero().get("motion_matching_found")


def keep_session():
    """Renaming the object and its data, pose mode and frame changes do not end a session."""
    before = read_traces()
    live = yield from started()
    yield from recorded(live, 10)
    obj = find_hero()
    obj.name, obj.data.name = "Held", "Bones of a Hero"
    yield from ticked(live, 10)
    tap("TAB", ctrl=True)
    yield from until(lambda: obj.mode == "POSE")
    yield from ticked(live, 10)
    call(bpy.ops.screen.frame_jump, end=True)
    yield from ticked(live, 10)
    assert alive().live is live, alive().end_message
    tap("ESC")
    yield from check_ended(live, before)
    assert [take.action for take in obj.motion_matching.takes] == [get_action(obj)]
    obj.name = "Performer"
    bpy.data.actions.remove(get_action(obj))
    obj.motion_matching.takes.clear()
    call(bpy.ops.object.mode_set, mode="OBJECT")
    bpy.context.scene.frame_set(1)
    yield 0.3


def delete_bone():
    """Deleting a bone needs edit mode, which ends the session first."""
    before = read_traces()
    live = yield from started()
    tap("TAB")
    yield from until(lambda: alive().live is None)
    bones = find_hero().data.edit_bones
    bones.remove(bones["Head"])
    call(bpy.ops.object.mode_set, mode="OBJECT")
    yield from check_ended(live, before, "edit mode")
    call(bpy.ops.ed.undo_push, message="a bone is deleted")


def delete_armature(remove):
    """A recording of a deleted armature waits for recovery."""
    before = read_traces()
    live = yield from started()
    yield from recorded(live, 40)
    remove()
    yield from check_ended(live, before, "'Performer'")
    assert "Performer" not in bpy.data.objects
    assert len(alive().interrupted) == 1
    assert call(bpy.ops.motion_matching.discard_recording) == {"FINISHED"}
    assert not alive().interrupted


def scenario():
    yield from create_performer()
    call(bpy.ops.ed.undo_push, message="the performer")
    for ending in (check_restored, check_take_kept):
        for cause, words in CAUSES:
            print(ending.__name__, cause.__name__, flush=True)
            call(bpy.ops.ed.undo_push, message="something to undo")
            yield from ending(cause, *words)
    for part in (redo_ends_a_session, undo_steps_made_while_live, keep_session, delete_bone):
        print(part.__name__, flush=True)
        yield from part()
    for remove in (
        lambda: call(bpy.ops.object.delete),
        lambda: bpy.data.armatures.remove(find_hero().data),
    ):
        print("deleted", flush=True)
        for obj in list(bpy.data.objects):
            bpy.data.objects.remove(obj)
        call(bpy.ops.motion_matching.add_demo_performer)
        yield 0.5
        yield from delete_armature(remove)


run(scenario)
