"""In a window: the first hour of a user who comes with motion capture of their own, in clicks.

The steps to the first take are clicked as a user would, and counted. If SCREEN_FILE names the
screen, as for `record.py`, a film of them is in the folder `first_hour` beside the other results,
one picture a step, and goes on with what other scenarios test.
"""

from __future__ import annotations

import os
import shutil
import sys

import bpy
import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    FOLDER,
    PACKAGE,
    Scenario,
    alive,
    call,
    choose_option,
    click,
    confirm_files,
    empty_file,
    event,
    find_browser,
    find_motion_capture,
    load_module,
    recorded,
    redrawn,
    region_of,
    run,
    select_files,
    started,
    tap,
    ticked,
    until,
    view,
    worked,
)
from grasp import check_near, drag_handle, link, project, send
from keys import get_user_item
from preview import FORBID, GO
from screen import SCREEN, read_screen, save_png
from strip import unfold_warnings, use_whole_range

MOST_CLICKS = 8  # from an empty file to a take
PANELS = ("database", "tags", "play", "takes", "insight", "frame_inspector")  # that are open
MIDDLE = 120  # frame of the take at which it is recorded over
NEAR = 0.8  # metres that a character goes within the first ticks of a session, at most
AROUND = 6  # frames before and after a seam that are looked at
FILM = FOLDER / "first_hour"

clicks: list[str] = []


def count(what: str) -> None:
    clicks.append(what)
    print(f"click {len(clicks)}: {what}")


def press(operator: str, part: float = 1 / 3) -> Scenario:
    """Click the button of an operator in the sidebar, at a part of its width, and count it."""
    yield from click(operator, at=round(part * region_of(view()[1], "UI").width))
    count(operator)


def take_picture(name: str) -> Scenario:
    """Save what the window shows."""
    yield from redrawn()
    yield from redrawn("UI")
    yield 0.3
    if SCREEN:
        save_png(read_screen(), FILM / f"{len(clicks):02}_{name}.png")


def import_own_motion():
    yield from empty_file(*PANELS)
    yield from take_picture("empty")
    _, files = find_motion_capture()
    yield from press("motion_matching.import_motion")
    folder = FOLDER / "captures"
    folder.mkdir()
    for file in files:
        shutil.copy(file, folder)
    yield from select_files(folder, files[0], count)
    yield from take_picture("files")
    confirm_files()
    count("Import Motion Capture")
    yield from until(lambda: bpy.context.object and not find_browser())
    yield from worked()
    obj = bpy.context.object
    assert obj.type == "ARMATURE"
    assert len(obj.motion_matching.sources) >= len(files)
    yield from take_picture("imported")
    return obj


def measure_heights(obj):
    """Return the lowest and the highest point of the bones, in metres."""
    points = np.array(
        [obj.matrix_world @ point for b in obj.pose.bones for point in (b.head, b.tail)]
    )
    return points[:, 2].min(), points[:, 2].max()


def read_bones(obj, frame):
    """Return where the bones (B, 3) are at a frame, in metres."""
    bpy.context.scene.frame_set(frame)
    return np.array([(obj.matrix_world @ bone.head)[:] for bone in obj.pose.bones])


def read_hips(obj, frames):
    """Return where the hips (F, 3) are at frames, in metres."""
    hips = obj.motion_matching.roles.hips or obj.pose.bones[0].name
    index = obj.pose.bones.find(hips)
    return np.array([read_bones(obj, frame)[index] for frame in frames])


def measure_way(obj):
    """Return how far the hips go over the ground within the scene's frame range, in metres."""
    scene = bpy.context.scene
    places = read_hips(obj, range(scene.frame_start, scene.frame_end + 1, 5))[:, :2]
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def measure_acceleration(joints, fps):
    """Return the largest acceleration in m/s² of joints (F, J, 3)."""
    return float(np.linalg.norm(np.diff(joints, 2, axis=0), axis=-1).max()) * fps**2


def measure_hardest(database):
    """Return the largest acceleration of any joint of the clips, in m/s²."""
    bodies, _ = load_module("engine.takes.takes").make_source_bodies(database)
    return max(body.acceleration.max() for body in bodies if len(body.positions) > 2)


def check_seam(obj, frame, hardest):
    """Check that no bone moves harder around a frame of the take than the hardest of the clips."""
    seen = np.array([read_bones(obj, near) for near in range(frame - AROUND, frame + AROUND + 1)])
    found = measure_acceleration(seen, bpy.context.scene.render.fps)
    print(f"at most {found:.0f} m/s² at frame {frame}, {hardest:.0f} in the clips")
    assert found < hardest


def look_at(position, distance):
    seen = view()[1].spaces.active.region_3d
    seen.view_location, seen.view_distance = position, distance


def build_and_bake(obj):
    """Build and bake with the buttons of the strip."""
    settings = obj.motion_matching
    yield from press("motion_matching.build")
    yield from until(lambda: settings.built_key, 300.0)
    yield from worked()
    yield from take_picture("built")
    yield from press("motion_matching.bake_script", part=2 / 3)
    yield from until(lambda: settings.takes, 300.0)
    yield from worked()
    yield from take_picture("baked")


# ---------------------------------------------------------------- into the take


def record_into(letter, mode, picture):
    """Choose how to record, go live, record with a key held, and stop.

    Return where it began, and the database.
    """
    play = bpy.context.object.motion_matching.play
    if SCREEN:  # finding the menu takes its time
        yield from choose_option("motion_matching.play.mode", letter)
        assert play.mode == mode, play.mode
    play.mode = mode
    live = yield from started()
    begun = live.position
    yield from take_picture(f"{picture}_live")
    event("A", unicode="a")
    yield from recorded(live, 40)
    yield from take_picture(picture)
    event("A", "RELEASE")
    tap("SPACE", unicode=" ")
    yield from until(lambda: not live.session.is_recording)
    tap("ESC")
    yield from until(lambda: alive().live is None)
    yield from redrawn()
    return begun, live.database


def record_over_the_middle(obj):
    """A session begins where the take is, and its recording replaces what comes after."""
    action, [take] = obj.animation_data.action, obj.motion_matching.takes
    last = int(action.frame_range[1])
    before = read_hips(obj, range(1, last + 1))
    bpy.context.scene.frame_set(MIDDLE)
    begun, database = yield from record_into("O", "overwrite", "overwrite")
    check_near(begun, before[MIDDLE - 1], NEAR)
    after = read_hips(obj, range(1, last + 1))
    assert obj.animation_data.action == action == take.action
    assert np.allclose(after[: MIDDLE - 2], before[: MIDDLE - 2], atol=1e-3)
    assert np.linalg.norm(after[MIDDLE + 30 :] - before[MIDDLE + 30 :], axis=1).min() > 0.1
    check_seam(obj, MIDDLE, measure_hardest(database))


def append(obj):
    """A session goes on from the end of the take, in the pose that the character has there."""
    [take] = obj.motion_matching.takes
    last = int(take.action.frame_range[1])
    [end] = read_hips(obj, [last])
    begun, database = yield from record_into("A", "append", "append")
    check_near(begun, end, NEAR)
    assert int(take.action.frame_range[1]) >= last + 30
    check_seam(obj, last, measure_hardest(database))


# ---------------------------------------------------------------- what other scenarios test


def read_names(obj):
    """A take is called by what it is."""
    assert obj.motion_matching.takes[0].whole_name == "Figure Eight Walk"
    yield from click("motion_matching.play_take", at=region_of(view()[1], "UI").width - 45)
    yield from until(lambda: view()[0].screen.is_animation_playing)
    yield from take_picture("names")
    bpy.ops.screen.animation_cancel(restore_frame=False)


def bake_along_a_curve(obj):
    settings, data = obj.motion_matching, bpy.data.curves.new("Path", "CURVE")
    spline = data.splines.new("POLY")
    spline.points.add(2)
    spline.points[1].co, spline.points[2].co = (3.0, 0.0, 0.0, 1.0), (4.0, 3.0, 0.0, 1.0)
    settings.play.curve = link("Path", data)
    look_at((2.0, 1.0, 0.5), 14.0)
    yield from choose_option("motion_matching.script.along", "C")
    yield from press("motion_matching.bake_along", part=2 / 3)
    yield from until(lambda: len(settings.takes) == 2)
    yield from worked()
    take = settings.takes[1]
    assert take.name.startswith("Along Path"), take.name
    check_near(read_hips(obj, [int(take.action.frame_range[1])])[0], (4.0, 3.0), 0.5)
    yield from take_picture("along_curve")


def lead_back(obj):
    """What is recorded over is led back to its old place, where the take ends as before."""
    [*_, take] = obj.motion_matching.takes
    play, last = obj.motion_matching.play, int(take.action.frame_range[1])
    before = read_hips(obj, [last - 10, last])
    play.lead_back = 2.0
    bpy.context.scene.frame_set(20)
    yield from record_into("O", "overwrite", "lead_back")
    assert np.allclose(read_hips(obj, [last - 10, last]), before, atol=0.01)
    play.lead_back = 0.0


def bake_two_characters(obj):
    """One press bakes onto all selected characters."""
    call(bpy.ops.object.duplicate)
    other = bpy.context.object
    other.location.x += 1.5
    for each in (obj, other):
        each.motion_matching.script.along = "script"
        each.select_set(True)
    bpy.context.view_layer.objects.active = obj
    counts = [len(each.motion_matching.takes) for each in (obj, other)]
    look_at((0.8, 0.0, 0.9), 9.0)
    yield from press("motion_matching.bake_script", part=2 / 3)
    yield from until(
        lambda: (
            [len(each.motion_matching.takes) for each in (obj, other)]
            == [count + 1 for count in counts]
        )
    )
    yield from worked()
    yield from take_picture("two_characters")
    bpy.data.objects.remove(other)


def add_what_does_not_fit(obj):
    """A file of another skeleton is told as soon as it is there, where the character is."""
    folder, _ = find_motion_capture()
    settings, standing = obj.motion_matching, load_module("app.strip.state")
    [other, *_] = sorted(folder.parent.glob("lafan1/*.bvh"))
    call(bpy.ops.motion_matching.add_files, filepath=str(other))
    yield from until(lambda: standing.get_character_state(obj)[0] == "ERROR")
    yield from take_picture("mismatch")
    settings.source_index = len(settings.sources) - 1
    call(bpy.ops.motion_matching.remove_source)
    yield from until(lambda: standing.get_character_state(obj)[0] != "ERROR")


def mend_a_warning(obj):
    source = yield from unfold_warnings(obj.motion_matching)
    yield from take_picture("warnings")
    yield from use_whole_range(source)


def preview_and_tag(obj):
    settings, scene = obj.motion_matching, bpy.context.scene
    settings.source_index = 0
    scene.frame_set(2000)
    yield from click("motion_matching.preview_source", at=region_of(view()[1], "UI").width - 45)
    yield from until(lambda: alive().source_preview)
    yield from worked()
    assert scene.frame_current < 2000, "the preview begins within the source"
    scene.frame_set(scene.frame_current + 10)
    yield from click("motion_matching.add_tag", at=region_of(view()[1], "UI").width - 45)
    [tag] = settings.sources[0].tag_ranges
    assert tag.frame_start < tag.frame_end
    yield from take_picture("preview_and_tag")
    event("MOUSEMOVE", "NOTHING")
    tap("ESC")
    yield from until(lambda: alive().source_preview is None)
    assert scene.frame_current == 2000


def count_ranges(obj):
    return sum(len(source.tag_ranges) for source in obj.motion_matching.sources)


def inspect_a_candidate(obj):
    bpy.context.scene.frame_set(40)
    yield from click("motion_matching.inspect_frame")
    yield from until(lambda: alive().inspector and alive().inspector.inspection)
    yield from worked()
    assert alive().inspector.subject == "take"
    yield from take_picture("inspect_frame")
    yield from click("motion_matching.go_to_candidate", at=GO)
    yield from until(lambda: alive().source_preview)
    yield from worked()
    yield from take_picture("candidate")
    event("MOUSEMOVE", "NOTHING")
    tap("ESC")
    yield from until(lambda: alive().source_preview is None)
    before = count_ranges(obj)
    yield from click("motion_matching.forbid_candidate", at=FORBID)
    yield from until(lambda: count_ranges(obj) == before + 1)
    yield from take_picture("forbidden")
    call(bpy.ops.motion_matching.stop_inspecting)


def drag_and_click_in_the_view(obj):
    play, goal = obj.motion_matching.play, link("Goal", None, (1.0, 0.0, 0.0))
    bpy.context.scene.frame_set(1)
    look_at((0.5, -1.0, 0.5), 9.0)
    play.target, play.mode = goal, "new"
    yield from choose_option("motion_matching.play.steer", "T")
    yield from take_picture("handle")
    yield from drag_handle(goal.location, (2.0, -1.0, 0.0))
    check_near(goal.location, (2.0, -1.0))
    yield from take_picture("handle_dragged")
    yield from choose_option("motion_matching.play.steer", "G")
    assert play.steer == "click", play.steer
    live = yield from started()
    begun = live.position
    for value in ("PRESS", "RELEASE"):
        send("LEFTMOUSE", value, project((1.0, -2.0, 0.0)))
        yield 0.1
    yield from until(lambda: live.display.goal)
    yield from ticked(live, 30)
    assert np.hypot(live.position[0] - begun[0], live.position[1] - begun[1]) > 0.3
    yield from take_picture("click_to_go")
    tap("ESC")
    yield from until(lambda: alive().live is None)


def bake_what_blender_imported():
    """An armature of Blender's importer takes its action and a file, and stays in one piece."""
    folder, files = find_motion_capture()
    scale = 0.01 if folder.name == "bandai-namco" else 1.0
    bpy.ops.import_anim.bvh(filepath=str(files[0]), global_scale=scale)
    obj = bpy.context.object
    yield from redrawn("UI")
    yield from take_picture("imported_by_blender")
    call(bpy.ops.motion_matching.add_actions, which="ACTIVE")
    call(bpy.ops.motion_matching.add_files, filepath=str(files[1]))
    kinds = {source.kind for source in obj.motion_matching.sources}
    assert kinds == {"ACTION", "FILE"}, kinds
    lengths = measure_lengths(obj)
    yield from build_and_bake(obj)
    for frame in (1, 50, 150):
        bpy.context.scene.frame_set(frame)
        assert np.allclose(measure_lengths(obj), lengths, rtol=0.02, atol=1e-3)
        assert measure_heights(obj)[1] > 1.2, "it does not stand"
    look_at(read_hips(obj, [150])[0], 6.0)
    yield from take_picture("baked_on_the_import")


def measure_lengths(obj):
    """Return how far each bone below the hips is from its parent, in metres."""
    bones = [bone for bone in obj.pose.bones if bone.parent and bone.parent.parent]
    return [(bone.head - bone.parent.head).length for bone in bones]


def change_a_key():
    """The preferences show the keys of live sessions, and the status bar those that were chosen."""
    preferences = load_module("ui.preferences")
    bpy.context.window_manager.addon_search = "Motion Matching"
    bpy.ops.screen.userpref_show(section="ADDONS")
    bpy.ops.preferences.addon_expand(module=PACKAGE)
    yield 1.0
    get_user_item("run").type = "J"
    yield from take_picture("preferences")
    assert "J: run" in preferences.describe_keys(), preferences.describe_keys()


def film_the_rest(obj):
    for part in (
        read_names,
        bake_along_a_curve,
        lead_back,
        bake_two_characters,
        add_what_does_not_fit,
        mend_a_warning,
        preview_and_tag,
        inspect_a_candidate,
        drag_and_click_in_the_view,
    ):
        print(part.__name__, flush=True)
        yield from part(obj)
    yield from bake_what_blender_imported()
    yield from change_a_key()


def scenario():
    FILM.mkdir(exist_ok=True)
    obj = yield from import_own_motion()
    lowest, highest = measure_heights(obj)
    print(f"rests from {lowest:.3f} to {highest:.3f} m")
    assert abs(lowest) < 0.05 * highest, "it does not stand on the ground"
    look_at((0.0, 0.0, 0.9), 6.0)
    yield from take_picture("at_rest")
    yield from build_and_bake(obj)
    way = measure_way(obj)
    print(f"goes {way:.2f} m in {len(clicks)} clicks")
    assert way > 2.0
    assert len(clicks) <= MOST_CLICKS, clicks
    yield from record_over_the_middle(obj)
    yield from append(obj)
    if SCREEN:
        yield from film_the_rest(obj)


run(scenario)
