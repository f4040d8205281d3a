"""Insight: coverage is measured and told, frames of sources and takes are inspected, poses are mapped, pictures saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

HEAD = """
import motion_matching
motion_matching.register()
from pathlib import Path
import sys
import numpy as np
from tests.ui.characters import *
from motion_matching.engine.matching import coverage
from motion_matching.scene import actions, recording
from motion_matching.ui import insight, insight_drawing, inspector, request, status, trail
from motion_matching.ui.preferences import library
ops, obj = bpy.ops.motion_matching, character()
ops.add_actions(mirror=False)
settings, scene, uid = obj.motion_matching, bpy.context.scene, obj.session_uid
shown = settings.insight

def database():
    return library().load(settings.built_key)

def in_world(points, place):
    x, y, z, yaw = place
    c, s = np.cos(yaw), np.sin(yaw)
    return np.asarray(points) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + [x, y, z]

def hips():
    bpy.context.view_layer.update()
    return np.array(obj.matrix_world @ obj.pose.bones["Hips"].head)

def hips_inspected():
    from motion_matching.engine.matching.feature_strokes import bones_at
    seen = inspector.current
    bone = seen.database.roles.hips
    return in_world(bones_at(seen.database, seen.spot.frame)[bone], seen.spot.place)
"""

COVERAGE = (
    HEAD
    + """
assert not insight.measured
before = traces()
assert ops.measure_coverage() == {"FINISHED"}
found = insight.measured[uid]
assert traces() | {"keys": 0} == before | {"keys": 0}, "measuring changes nothing but what is built"

# the list is the engine's, for the controller as the panel has it
tuned = request.performer_settings(obj, database())
wanted = coverage.motion_of_tracks(coverage.wanted_tracks(tuned, database().fps), database().fps)
covered = coverage.cover(database(), wanted)
assert list(found.to_capture) == coverage.to_capture(database(), tuned, covered) and found.to_capture
assert f"{int(covered.holes.sum())} hole" in found.summary[1]

# a strand of the data goes where its frame leads; what the simulation object asks for lies beside it
points, colours = insight_drawing.strand_segments(found.strands)
assert points.shape == (2 * 10 * len(found.strands.ways), 3) and colours.shape == (len(points), 4)
np.testing.assert_allclose(points[2 * 9 + 1, :2] * [1, -1], found.strands.ways[0, -1], atol=1e-6)
assert found.apart + found.simulation.ways[..., 0].min() > found.strands.ways[..., 0].max()
assert len(found.simulation.ways) > 100

# stale once the database or the controller is another, and fresh again when that is taken back
status.refresh(obj)
assert not insight.outdated(obj, found)
settings.controller.velocity_halflife += 0.1
assert "controller" in insight.outdated(obj, found)
settings.controller.velocity_halflife -= 0.1
settings.sources[0].enabled = False
status.refresh(obj)
assert "database" in insight.outdated(obj, found)
settings.sources[0].enabled = True
status.refresh(obj)
assert not insight.outdated(obj, found)

# beside a take: where its simulation object went, and nowhere else
shown.beside = "take"
refused(ops.measure_coverage, "poll()", "Bake a take first")
ops.bake_script(script="square", seconds=8.0, gait="walk")
assert ops.measure_coverage() == {"FINISHED"}
beside = insight.measured[uid]
assert len(beside.strands.ways) == len(found.strands.ways)
assert beside.simulation.speeds.max() < 1.1 * tuned.walk.forward < found.simulation.speeds.max()
assert len(beside.to_capture) < len(found.to_capture)
settings.controller.velocity_halflife += 0.1
assert not insight.outdated(obj, beside), "a take went where it went"
take = settings.takes[0].action
ops.bake_script(script="square", seconds=4.0, gait="run")
assert "something else" in insight.outdated(obj, beside), "another take is the active one"
shown.beside = "controller"
assert "something else" in insight.outdated(obj, beside)

# beside any recording, such as a steered path: that of the take from before
shown.beside = "recording"
refused(ops.measure_coverage, "poll()", "Choose a recording")
shown.recording = take
assert not insight.outdated(obj, beside), "that is what was measured"
assert ops.measure_coverage() == {"FINISHED"} and insight.measured[uid].to_capture == beside.to_capture
beside = insight.measured[uid]
shown.recording = settings.sources[0].action
refused(ops.measure_coverage, settings.sources[0].action.name, "choose a take")

# beside the controller, and then beside a recording that is still to be chosen
shown.beside = "controller"
assert ops.measure_coverage() == {"FINISHED"}
shown.beside, shown.recording = "recording", None
assert "something else" in insight.outdated(obj, insight.measured[uid])

# recorded into again, a take goes elsewhere
shown.recording = take
assert not insight.outdated(obj, beside)
[part] = recording.recorded_parts(take)
recording.keep_performance(take, part["performance"], 10.0, part["ticks"], part["fps"], part["lead_in"])
assert "recorded into" in insight.outdated(obj, beside)

# another file has nothing of it
bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
assert not insight.measured
"""
)


def test_coverage_is_measured_told_and_told_to_be_stale(run_in_blender: Callable[..., str]):
    run_in_blender(COVERAGE)


SOURCE = (
    HEAD
    + """
names = [source.action.name for source in settings.sources]
settings.source_index = names.index("walk_curves")
action = settings.sources[settings.source_index].action
actions.assign(obj, action)
scene.frame_set(40)
assert not ops.stop_inspecting.poll()
assert ops.inspect_frame() == {"FINISHED"}
seen = inspector.current
assert database().source_of(seen.spot.frame).clip == "walk_curves" and database().source_of(seen.spot.frame).frame == 39
assert seen.found.frame == seen.found.chosen == seen.spot.frame and abs(seen.found.continuing.cost) < 1e-3
assert seen.found.continuing.verdict == "played on" and len(seen.found.candidates) == 5
assert all(other.verdict for other in seen.found.candidates) and len(seen.lines) == 3

# what is drawn lies on the armature that plays the source, and goes along with it
for frame in (40, 97, 151):
    scene.frame_set(frame)
    assert np.abs(hips() - hips_inspected()).max() < 2e-3, (frame, hips(), hips_inspected())
    assert seen.strokes

# a wish is searched for
scene.frame_set(40)
shown.use_wish, shown.wish = True, (-0.8, 0.0)
assert seen.found.continuing.cost > 1.0 and seen.found.chosen != seen.spot.frame and seen.wished
shown.use_wish = False
assert abs(seen.found.continuing.cost) < 1e-3 and not seen.wished

# beyond its end there is nothing, which is said; another source is another clip
scene.frame_set(100_000)
inspector.look()
assert seen.spot is None and not seen.strokes and "walk_curves" in seen.problem and "has no frame" in seen.problem
scene.frame_set(60)
settings.source_index = names.index("run_curves")
assert not seen.problem and database().source_of(seen.spot.frame).clip == "run_curves"

# part of an action, and another armature's going
source = settings.sources[settings.source_index]
source.use_range, source.frame_start, source.frame_end = True, 31, 200
ops.inspect_frame()
actions.assign(obj, source.action)
for frame in (31, 90):
    scene.frame_set(frame)
    assert np.abs(hips() - hips_inspected()).max() < 2e-3
assert ops.stop_inspecting() == {"FINISHED"} and inspector.current is None
scene.frame_set(12)
ops.inspect_frame()
bpy.data.objects.remove(obj)
scene.frame_set(13)
assert inspector.current is None, "the armature is gone"
"""
)


def test_frames_of_a_source_are_inspected_where_the_armature_plays_them(
    run_in_blender: Callable[..., str],
):
    run_in_blender(SOURCE)


TWICE = (
    HEAD
    + """
from motion_matching.ui.operators_sources import add_source
settings.sources.clear()
long = bpy.data.actions["walk_curves"]
for first, last in ((1, 150), (200, 400)):
    add_source(obj, long.name, kind="ACTION", action=long, use_range=True, frame_start=first, frame_end=last)
early, late = settings.sources
assert settings.source_index == 1
actions.assign(obj, long)
scene.frame_set(230)
assert ops.inspect_frame() == {"FINISHED"}
seen, data = inspector.current, database()
assert [r.clip for r in data.ranges] == [long.name] * 4, "with their mirror images"
assert seen.spot.frame == data.starts[1] + 30 and np.abs(hips() - hips_inspected()).max() < 2e-3
scene.frame_set(390)
assert seen.spot.frame == data.starts[1] + 190

# the other one has what is its own, and no more
settings.source_index = 0
assert seen.spot is None and "has no frame 389" in seen.problem and "200" not in seen.problem, seen.problem
scene.frame_set(31)
assert seen.spot.frame == 30

# what is not in the database is said, not another source shown
early.enabled = False
inspector.look()
assert seen.spot is None and early.name in seen.problem and "switch it on" in seen.problem, seen.problem
settings.source_index = 1
scene.frame_set(230)
assert seen.spot is None and "inspect again" in seen.problem, "the database is from before"
assert ops.inspect_frame() == {"FINISHED"}
seen = inspector.current
assert seen.spot.frame == 30 and np.abs(hips() - hips_inspected()).max() < 2e-3
early.enabled, early.frame_end = True, 5
refused(ops.inspect_frame, long.name, "left out")
early.frame_end = 0
assert ops.inspect_frame() == {"FINISHED"} and inspector.current.spot.frame == 30, "what cannot be read is not counted"
settings.source_index = 0
assert inspector.current.spot is None and "ends before it starts" in inspector.current.problem

# which of them it is, is found again where an action takes the clip's name, and not at every frame
settings.source_index = 1
assert inspector.current.spot.frame == 30
kept = inspector.current.namesakes
scene.frame_set(scene.frame_current + 1)
assert inspector.current.spot.frame == 31 and inspector.current.namesakes is kept
long.name = "another clip"
scene.frame_set(scene.frame_current + 1)
assert inspector.current.spot is None and "another clip" in inspector.current.problem, inspector.current.problem
"""
)


def test_sources_of_one_action_are_told_apart(run_in_blender: Callable[..., str]):
    run_in_blender(TWICE)


TAKE = (
    HEAD
    + """
shown.inspect = "take"
refused(ops.inspect_frame, "poll()", "Bake a take first")
scene.frame_set(20)
ops.bake_script(script="flips", seconds=7.0)
take = settings.takes[0].action
actions.assign(obj, take)
assert ops.inspect_frame() == {"FINISHED"}
seen = inspector.current

# the frame that is inspected is where the body is, but for what a jump fades and feet need
first, last = map(int, take.frame_range)
apart, verdicts = [], []
for frame in range(first, last, 3):
    scene.frame_set(frame)
    inspector.look()
    assert not seen.problem, seen.problem
    apart.append(np.linalg.norm(hips() - hips_inspected()))
    verdicts.append(seen.found.continuing.verdict)
    assert seen.wished
assert np.median(apart) < 0.05 and max(apart) < 0.5, (np.median(apart), max(apart))
assert "played on" in verdicts and any(verdict.startswith("left") for verdict in verdicts), set(verdicts)

scene.frame_set(last + 50)
inspector.look()
assert seen.spot is None and "has no frame" in seen.problem

# another take is not inspected by itself
scene.frame_set(first)
ops.bake_script(script="square", seconds=4.0)
settings.take_index = 1
assert "inspect again" in seen.problem
ops.inspect_frame()
assert not inspector.current.problem
shown.inspect = "source"
assert "inspect again" in inspector.current.problem
"""
)


def test_frames_of_a_take_are_inspected_with_what_was_wanted_there(
    run_in_blender: Callable[..., str],
):
    run_in_blender(TAKE)


PICTURES = (
    HEAD
    + """
import xml.etree.ElementTree as ElementTree
folder = Path(sys.argv[1])
refused(ops.save_pictures, "No file")
refused(ops.save_pictures, "is not there", filepath=str(folder / "nowhere" / "hero.svg"))
assert ops.save_pictures(filepath=str(folder / "hero")) == {"FINISHED"}
assert sorted(file.name for file in folder.glob("hero*")) == ["hero.svg"]
root = ElementTree.parse(folder / "hero.svg").getroot()
groups = {group.get("id") for group in root.iter("{http://www.w3.org/2000/svg}g")}
assert {"strands", "coverage", "poses mds", "poses pca", "histogram speed"} <= groups
assert uid in insight.measured and uid in insight.mapped, "what was found for the pictures is shown"

# the file browser marks in red what is there already: by the name that the ending makes of what is typed
from types import SimpleNamespace
from motion_matching.ui.operators_insight import MOTION_MATCHING_OT_save_pictures as Save
for typed, named in (("hero", "hero.svg"), ("hero.svg", "hero.svg"), ("hero.SVG", "hero.SVG"), ("hero.v2", "hero.v2.svg"),
                     ("", "")):
    browser = SimpleNamespace(filepath=f"{folder}/{typed}")
    assert Save.check(browser, bpy.context) is (typed != named), typed
    assert browser.filepath == f"{folder}/{named}" and not Save.check(browser, bpy.context)

# the map: all frames in a square, each place made once
mapped = insight.mapped[uid]
for kind in ("mds", "pca"):
    places = insight_drawing.places_of(mapped, kind)
    assert places.shape == (database().frame_count, 2) and places.min() >= 0.049 and places.max() <= 0.951
    assert insight_drawing.places_of(mapped, kind) is places
assert ops.map_poses() == {"FINISHED"} and insight.mapped[uid] is mapped, "it is there already"
settings.sources[0].enabled = False
assert ops.map_poses() == {"FINISHED"} and insight.mapped[uid] is not mapped
assert not insight.outdated(obj, insight.mapped[uid])
"""
)


def test_pictures_are_saved_and_poses_mapped(run_in_blender: Callable[..., str], tmp_path: Path):
    run_in_blender(PICTURES, tmp_path)


LIVE = (
    HEAD
    + """
from motion_matching.engine.matching.method import MotionMatching
from motion_matching.live.inputs.keyboard import Keyboard
from motion_matching.live.inputs.replay import Replay
from motion_matching.engine.control import scripts
from motion_matching.ui import performing

settings.play.show_map = True
work = performing.prepared(obj)
try:
    while True:
        next(work)
except StopIteration as done:
    data, method, tuned = done.value
assert insight.mapped[uid].key == settings.built_key, "the map is there before the session starts"
walk = scripts.script("square", 5.0, data.fps, tuned.walk, tuned.run)
live = performing.start(obj, data, method, tuned, Keyboard(), Replay(walk, data.fps), 100.0)
frames = []
for tick in range(90):
    live.tick(100.0 + (tick + 1) / data.fps, 0.0)
    frames.append(live.session._frame.frame)
assert list(trail.frames) == frames[-60:], "the map shows the last second or so"
assert trail.live.uid == uid and trail.live.place[:2] == live.place
assert insight_drawing._played(insight.mapped[uid]) == frames[-60:]
assert insight_drawing._played(insight.mapped[uid]._replace(key="of other data")) == [], "its frames are other ones"
assert insight_drawing._played(insight.mapped[uid]._replace(edition=-1)) == [], "so are those of what was built before"
inspector_poll = ops.inspect_frame.poll()
assert not inspector_poll
performing.end()
assert trail.live is None and not trail.frames
"""
)


def test_the_map_follows_a_live_session(run_in_blender: Callable[..., str]):
    run_in_blender(LIVE)
