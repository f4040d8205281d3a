"""Marks for a limb that do not lead, beside those that do, and the pins of earlier files."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from motion_matching.app.direct import previewing
from motion_matching.app.marks import keeping_poses, marks, outcomes, shots
from motion_matching.app.runtime import runtime
from motion_matching.engine.progress import run_to_end
from motion_matching.scene.direct import stored_shots
from motion_matching.ui.director import drawing
from tests.ui.director.marked import FRAMES, PLACES, add_mark, read_place
from tests.ui.drawn import draw_panels

ops = bpy.ops.motion_matching
AT = FRAMES[0]


def add_pin(frame=AT, point=(0.4, -1.8, 1.1), limb="left_hand"):
    bpy.context.scene.frame_set(frame)
    bpy.context.scene.cursor.location = point
    assert ops.add_pin(limb=limb) == {"FINISHED"}
    bpy.context.view_layer.update()
    return marks.get_active_mark(bpy.data.objects["Hero"])


def make_earlier(empty, limb, frames):
    """Have an empty hold what a pin of an earlier version held: limb, first and last frame."""
    mark = marks.mark_of(empty)
    for name in ("leads", "part", "hold", "use_facing", "use_height", "marker_name"):
        mark.property_unset(name)
    mark.character.motion_matching.director.marker_names = "[]"
    mark.kind, mark.limb, mark.stored_frame, mark.frame_end = "PIN", limb, *frames
    for marker in [m for m in bpy.context.scene.timeline_markers if m.name == empty.name]:
        bpy.context.scene.timeline_markers.remove(marker)


def test_it_is_listed_with_the_others_and_decides_on_nothing_but_its_limb(obj):
    listed = marks.list_marks(obj)
    pin = add_pin()
    assert marks.list_marks(obj) == [pin, *listed]  # by frame, then by name
    assert marks.list_leading(obj) == listed
    assert marks.describe(pin) == "Left Hand, 1.0 s"
    assert len(drawing.build_arrows(obj)) == 6 * len(listed)
    assert not marks.is_stand(obj, AT + 5)
    assert bpy.context.scene.timeline_markers["Left Hand"].frame == AT
    draw_panels()
    marks.mark_of(pin).use_pose = True
    draw_panels()
    marks.mark_of(pin).use_pose = False

    request = shots.build_request(obj, None)
    [brought] = [mark for mark in request.shot.marks if not mark.leads]
    assert (brought.part, brought.hold, brought.height) == ("left_hand", 1.0, pytest.approx(1.1))
    assert brought.facing is brought.gait is brought.tags is None
    assert len(request.marks) == len(request.shot.marks) == 4

    marks.set_frame(pin, 1)  # where marks that lead say where the character starts
    before = request.shot
    now = shots.build_request(obj, None).shot
    assert (now.position, now.facing) == (before.position, before.facing)


def test_a_mark_may_be_added_on_its_frame_and_poses_are_kept_there(obj):
    pin = add_pin(frame=20)
    mark = add_mark(20, (0.0, -0.4, 0.0))
    assert marks.get_frame(mark) == marks.get_frame(pin) == 20
    run_to_end(keeping_poses.keep_pose_steps(obj))
    assert marks.mark_of(mark).use_pose
    assert not marks.mark_of(pin).use_pose


def test_a_marker_of_the_animator_is_left_alone(obj):
    bpy.context.scene.timeline_markers.new("Left Hand", frame=5)
    first, second = add_pin(), add_pin(frame=AT + 40)
    assert "Left Hand" not in (first.name, second.name)
    assert [marks.get_frame(each) for each in (first, second)] == [AT, AT + 40]
    assert bpy.context.scene.timeline_markers["Left Hand"].frame == 5


@pytest.mark.slow
def test_a_mark_can_stop_leading_and_lead_again(obj):
    """The character goes past the place of its hand, or to it."""
    place, begins = (PLACES[1][0] + 0.25, PLACES[1][1], 1.0), obj.matrix_world.copy()
    assert ops.direct() == {"FINISHED"}
    alone = [read_place(obj, frame) for frame in range(1, 205, 12)]
    pin = add_pin(frame=FRAMES[1], point=place)
    marks.mark_of(pin).hold = 0.0
    obj.animation_data.action, obj.matrix_world = None, begins
    assert ops.direct() == {"FINISHED"}
    assert np.array_equal(alone, [read_place(obj, frame) for frame in range(1, 205, 12)])
    assert outcomes.get_outcome(pin) == "met", marks.mark_of(pin).reason
    marks.mark_of(pin).leads = True
    assert outcomes.get_outcome(pin) == "changed"
    assert [mark.leads for mark in shots.build_request(obj, None).shot.marks] == [True] * 4


def test_a_preview_follows_it_without_another_way(obj):
    pin = add_pin(point=(9.0, 9.0, 1.0))
    marks.mark_of(pin).hold = 0.0
    assert ops.preview_marks() == {"FINISHED"}

    def settle():
        bpy.context.view_layer.update()
        previewing.follow()
        while runtime.mark_preview.work:
            previewing.follow()
        return runtime.mark_preview

    shown = settle()
    assert shown.describe() == "3 of 4 Met"
    assert "left hand stays" in previewing.get_reason(obj, pin)
    places = shown.way.places
    pin.location = 0.4, -1.8, 1.1
    assert settle().describe() == "4 of 4 Met", shown.way.reasons
    assert np.array_equal(shown.way.places, places)


# ---------------------------------------------------------------- pins of earlier versions


def test_pins_of_earlier_files_are_such_marks(obj, tmp_path):
    """By kind, limb, first and last frame, whatever markers on the timeline are named."""
    pins = add_pin(), add_pin(limb="right_foot", point=(0.0, -1.7, 0.2))
    make_earlier(pins[0], "left_hand", (AT, AT + 36))
    make_earlier(pins[1], "right_foot", (AT + 12, AT + 18))
    bpy.context.scene.timeline_markers.new("Right Foot", frame=7)
    places = [tuple(pin.location) for pin in pins]
    path = str(tmp_path / "earlier.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)

    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Hero"]
    read = [each for each in marks.list_marks(obj) if not marks.mark_of(each).leads]
    wanted = [("left_hand", AT, 1.5), ("right_foot", AT + 12, 0.25)]
    found = [(marks.mark_of(each), marks.get_frame(each)) for each in read]
    assert [(mark.part, frame, mark.hold) for mark, frame in found] == wanted
    assert [tuple(each.location) for each in read] == places
    assert len(marks.list_leading(obj)) == 3
    brought = [mark for mark in shots.build_request(obj, None).shot.marks if not mark.leads]
    assert [(m.part, m.position, m.height) for m in brought] == [
        (limb, pytest.approx(place[:2]), pytest.approx(place[2]))
        for (limb, *_), place in zip(wanted, places, strict=True)
    ]
    assert [m.time for m in brought] == pytest.approx([(AT - 1) / 24, (AT + 11) / 24])
    marks.refresh_markers(obj)
    assert bpy.context.scene.timeline_markers["Right Foot"].frame == 7
    draw_panels()


@pytest.mark.skipif(not hasattr(bpy.app.handlers, "blend_import_post"), reason="Blender 4.2")
@pytest.mark.parametrize("link", [False, True])
def test_pins_of_earlier_files_are_such_marks_where_they_are_brought_in(obj, tmp_path, link):
    make_earlier(add_pin(), "left_hand", (AT, AT + 36))
    path = str(tmp_path / "earlier.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.read_homefile(use_empty=True)
    folder = f"{path}/Collection/"
    assert bpy.ops.wm.append(
        filepath=f"{folder}Marks of Hero", directory=folder, filename="Marks of Hero", link=link
    ) == {"FINISHED"}
    obj = bpy.data.objects["Hero"]
    [mark] = [
        marks.mark_of(each) for each in marks.list_marks(obj) if not marks.mark_of(each).leads
    ]
    assert (mark.part, mark.hold) == ("left_hand", 1.5)


def test_what_became_of_marks_and_pins_of_earlier_files_still_counts(obj, tmp_path):
    """Their requests are stored as texts."""
    pin = add_pin()
    make_earlier(pin, "left_hand", (AT, AT + 24))
    listed = [*marks.list_marks(obj), pin]
    for empty in listed:
        marks.mark_of(empty).asked = outcomes.describe_request(empty)
    marks.mark_of(pin).reason = "The hand stays away."
    stored = "'PIN', True, True, 0.0, '', 'SAME', False, '', 0.009999999776482582,"
    assert stored in marks.mark_of(pin).asked
    path = str(tmp_path / "earlier.blend")
    bpy.ops.wm.save_as_mainfile(filepath=path)
    bpy.ops.wm.open_mainfile(filepath=path)
    obj = bpy.data.objects["Hero"]
    bpy.context.view_layer.update()
    found = {each.name: outcomes.get_outcome(each) for each in marks.list_marks(obj)}
    assert found == {"Left Hand": "missed", "Mark": "met", "Mark.001": "met", "Mark.002": "met"}
    pin = bpy.data.objects["Left Hand"]
    pin.location.x += 0.1
    bpy.context.view_layer.update()
    assert outcomes.get_outcome(pin) == "changed"


@pytest.mark.slow
def test_a_stored_shot_with_pins_is_solved_again(obj):
    assert ops.direct() == {"FINISHED"}
    action = obj.animation_data.action
    text = stored_shots.find_text(action)
    [first, *_] = PLACES
    pin = '{"limb": "left_hand", "start": 2.4, "stop": 2.5, "position": [%g, %g, 1.0]}'
    pin %= (first[0] + 0.3, first[1] - 0.1)
    text.from_string(text.as_string().replace('"forbid"', f'"pins": [{pin}], "forbid"'))
    assert ops.direct_again() == {"FINISHED"}
    shot, _ = stored_shots.read_shot(obj.animation_data.action)
    assert [mark.leads for mark in shot.marks] == [True] * 3 + [False]
    assert '"pins"' not in stored_shots.find_text(obj.animation_data.action).as_string()
