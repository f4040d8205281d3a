"""Insight: measure coverage, inspect frames of sources and takes, map poses, and save pictures."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import bpy
import numpy as np
import pytest

from motion_matching.app.database import status
from motion_matching.app.database.library import get_library
from motion_matching.app.insight import data_insight, inspector
from motion_matching.app.live import host, performing
from motion_matching.app.runtime import runtime
from motion_matching.app.settings import get_performer_settings
from motion_matching.engine.insight.coverage import coverage
from motion_matching.engine.insight.frames import feature_strokes
from motion_matching.engine.performance import scripts
from motion_matching.live.inputs.devices.keyboard import Keyboard
from motion_matching.live.inputs.leaders.replay import ReplayInput
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.writing import recording
from motion_matching.ui.database.operators_sources import add_source
from motion_matching.ui.insight import drawing as insight_drawing
from motion_matching.ui.insight import panel
from motion_matching.ui.insight.operators import MOTION_MATCHING_OT_save_pictures as Save
from tests.steps import run_steps
from tests.ui.characters import create_character, expect_refusal, read_state
from tests.ui.drawn import RecordingLayout, draw_panels, override_region

ops = bpy.ops.motion_matching


def load_database(settings):
    return get_library().load(settings.built_key)


def to_world(points, place):
    x, y, z, yaw = place
    c, s = np.cos(yaw), np.sin(yaw)
    return np.asarray(points) @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]) + [x, y, z]


def get_hips(obj):
    bpy.context.view_layer.update()
    return np.array(obj.matrix_world @ obj.pose.bones["Hips"].head)


def get_inspected_hips():
    seen = runtime.inspector
    positions = feature_strokes.compute_bone_positions(seen.database, seen.inspected.frame)
    return to_world(positions[seen.database.roles.hips], seen.inspected.position)


def add_ramp():
    """Add a ramp that leads up a metre."""
    mesh = bpy.data.meshes.new("Ramp")
    corners = [(-1, -2, 0), (1, -2, 0), (1, -5, 1), (-1, -5, 1)]
    mesh.from_pydata(corners, [], [(0, 3, 2, 1)])
    mesh.update()
    collection = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(bpy.data.objects.new("Ramp", mesh))
    return collection


@pytest.fixture(autouse=True)
def obj():
    obj = create_character()
    ops.add_actions(mirror=False)
    return obj


@pytest.mark.slow
def test_coverage_is_measured_listed_and_marked_stale(obj):
    settings = obj.motion_matching
    uid = obj.session_uid
    shown = settings.insight

    assert not runtime.coverage_reports
    before = read_state()
    assert ops.measure_coverage() == {"FINISHED"}
    found = runtime.coverage_reports[uid]
    assert read_state() | {"keys": 0} == before | {"keys": 0}, "other data than the key has changed"

    # the list equals the engine's, with the panel's settings
    data = load_database(settings)
    tuned = get_performer_settings(obj, data)
    tracks = coverage.simulate_tracks(tuned, data.fps)
    demand = coverage.measure_tracks(tracks, data.fps)
    covered = coverage.measure_coverage(coverage.measure_database(data), demand)
    assert list(found.to_capture) == coverage.suggest_captures(data, tuned, covered)
    assert found.to_capture
    assert f"{int(covered.holes.sum())} hole" in found.summary[1]

    # a strand of the data goes where its frame leads; the simulation object's lie beside them
    paths = found.strands.paths
    points, colours = insight_drawing.build_strand_segments(found.strands)
    assert points.shape == (2 * 10 * len(paths), 3)
    assert colours.shape == (len(points), 4)
    np.testing.assert_allclose(points[2 * 9 + 1, :2] * [1, -1], paths[0, -1], atol=1e-6)
    assert found.simulation_offset + found.simulation.paths[..., 0].min() > paths[..., 0].max()
    assert len(found.simulation.paths) > 100

    # or on top of them, in a colour that no speed has
    def place():
        return [(name, matrix) for name, _, matrix, _ in insight_drawing._place_strands(obj)]

    (_, data_place), (_, beside) = place()
    assert beside.translation.x > data_place.translation.x + 1.0
    shown.lay_over = True
    (_, data_place), (name, on_top) = place()
    assert name.startswith("On Top")
    np.testing.assert_allclose(on_top.translation[:2], data_place.translation[:2], atol=1e-6)
    assert draw_panels() > 5
    shown.show_strands = False  # there is nothing to lie on
    [(name, alone)] = place()
    np.testing.assert_allclose(alone.translation, beside.translation, atol=1e-6)
    shown.lay_over, shown.show_strands = False, True

    # stale when the database or the controller changes, current when the change is reverted
    status.refresh(obj)
    assert not data_insight.explain_staleness(obj, found)
    settings.controller.velocity_halflife += 0.1
    assert "controller" in data_insight.explain_staleness(obj, found)
    settings.controller.velocity_halflife -= 0.1
    settings.sources[0].enabled = False
    status.refresh(obj)
    assert "database" in data_insight.explain_staleness(obj, found)
    settings.sources[0].enabled = True
    status.refresh(obj)
    assert not data_insight.explain_staleness(obj, found)

    # a ground that rises asks for clips that climb
    settings.obstacles = add_ramp()
    assert ops.measure_coverage() == {"FINISHED"}
    first, *others = runtime.coverage_reports[uid].to_capture
    assert first.startswith("The ground rises by 1.0 m, and no clip climbs")
    assert others == list(found.to_capture)
    settings.obstacles = None

    # compared with a take: only where its simulation object went
    shown.beside = "take"
    expect_refusal(ops.measure_coverage, "poll()", "Bake a take first")
    ops.bake_script(script="square", seconds=8.0, gait="walk")
    assert ops.measure_coverage() == {"FINISHED"}
    beside = runtime.coverage_reports[uid]
    assert len(beside.strands.paths) == len(found.strands.paths)
    assert (
        beside.simulation.speeds.max()
        < 1.1 * tuned.steering.walk.forward
        < found.simulation.speeds.max()
    )
    assert len(beside.to_capture) < len(found.to_capture)
    settings.controller.velocity_halflife += 0.1
    assert not data_insight.explain_staleness(obj, beside), (
        "a take's motion does not depend on the controller"
    )
    take = settings.takes[0].action
    ops.bake_script(script="square", seconds=4.0, gait="run")
    assert "something else" in data_insight.explain_staleness(obj, beside), (
        "measured for something else than the active take"
    )
    shown.beside = "controller"
    assert "something else" in data_insight.explain_staleness(obj, beside)

    # compared with any recording, here the earlier take
    shown.beside = "recording"
    expect_refusal(ops.measure_coverage, "poll()", "Choose a recording")
    shown.recording = take
    assert not data_insight.explain_staleness(obj, beside), "this recording was measured"
    assert ops.measure_coverage() == {"FINISHED"}
    assert runtime.coverage_reports[uid].to_capture == beside.to_capture
    beside = runtime.coverage_reports[uid]
    shown.recording = settings.sources[0].action
    expect_refusal(ops.measure_coverage, settings.sources[0].action.name, "choose a take")

    # compared with the controller, then with a recording that is not chosen yet
    shown.beside = "controller"
    assert ops.measure_coverage() == {"FINISHED"}
    shown.beside, shown.recording = "recording", None
    assert "something else" in data_insight.explain_staleness(obj, runtime.coverage_reports[uid])

    # after recording into a take again, its motion differs
    shown.recording = take
    assert not data_insight.explain_staleness(obj, beside)
    [part] = recording.read_recorded_parts(take)
    rest = part["ticks"], part["fps"], part["lead_in"]
    recording.store_performance(take, part["performance"], 10.0, *rest)
    assert "recording has changed" in data_insight.explain_staleness(obj, beside)

    # another file does not have it
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not runtime.coverage_reports


def test_frames_of_a_source_are_inspected_at_the_armature(obj):
    settings = obj.motion_matching
    scene = bpy.context.scene
    shown = settings.insight

    names = [source.action.name for source in settings.sources]
    settings.source_index = names.index("walk_curves")
    action = settings.sources[settings.source_index].action
    actions.assign(obj, action)
    scene.frame_set(40)
    assert not ops.stop_inspecting.poll()
    assert ops.inspect_frame() == {"FINISHED"}
    seen = runtime.inspector
    assert load_database(settings).get_frame_source(seen.inspected.frame).clip == "walk_curves"
    assert load_database(settings).get_frame_source(seen.inspected.frame).frame == 39
    assert seen.inspection.frame == seen.inspection.chosen == seen.inspected.frame
    assert abs(seen.inspection.continuing.cost) < 1e-3
    assert seen.inspection.continuing.verdict == "played on"
    assert len(seen.inspection.candidates) == 5
    assert all(other.verdict for other in seen.inspection.candidates)
    assert len(seen.lines) == 3

    # the drawing lies on the armature that plays the source, and moves with it
    for frame in (40, 97, 151):
        scene.frame_set(frame)
        both = get_hips(obj), get_inspected_hips()
        assert np.abs(both[0] - both[1]).max() < 2e-3, (frame, *both)
        assert seen.strokes

    # search for a desired velocity
    scene.frame_set(40)
    shown.use_wish, shown.wish = True, (-0.8, 0.0)
    assert seen.inspection.continuing.cost > 1.0
    assert seen.inspection.chosen != seen.inspected.frame
    assert seen.goal_strokes
    shown.use_wish = False
    assert abs(seen.inspection.continuing.cost) < 1e-3
    assert not seen.goal_strokes

    # beyond the end an error is shown; another source is another clip
    scene.frame_set(100_000)
    inspector.refresh()
    assert seen.inspected is None
    assert not seen.strokes
    assert "walk_curves" in seen.problem
    assert "has no frame" in seen.problem
    scene.frame_set(60)
    settings.source_index = names.index("run_curves")
    assert not seen.problem
    assert load_database(settings).get_frame_source(seen.inspected.frame).clip == "run_curves"

    # part of an action, and a deleted armature
    source = settings.sources[settings.source_index]
    source.use_range, source.frame_start, source.frame_end = True, 31, 200
    ops.inspect_frame()
    actions.assign(obj, source.action)
    for frame in (31, 90):
        scene.frame_set(frame)
        assert np.abs(get_hips(obj) - get_inspected_hips()).max() < 2e-3
    assert ops.stop_inspecting() == {"FINISHED"}
    assert runtime.inspector is None
    scene.frame_set(12)
    ops.inspect_frame()
    bpy.data.objects.remove(obj)
    scene.frame_set(13)
    assert runtime.inspector is None, "the armature is gone"


def test_sources_that_share_an_action_are_told_apart(obj):
    settings = obj.motion_matching
    scene = bpy.context.scene

    settings.sources.clear()
    long = bpy.data.actions["walk_curves"]
    for first, last in ((1, 150), (200, 400)):
        part = {"use_range": True, "frame_start": first, "frame_end": last}
        add_source(obj, long.name, kind="ACTION", action=long, **part)
    early, _late = settings.sources
    assert settings.source_index == 1
    actions.assign(obj, long)
    scene.frame_set(230)
    assert ops.inspect_frame() == {"FINISHED"}
    seen, data = runtime.inspector, load_database(settings)
    assert [r.clip for r in data.ranges] == [long.name] * 4, "with their mirror images"
    assert seen.inspected.frame == data.starts[1] + 30
    assert np.abs(get_hips(obj) - get_inspected_hips()).max() < 2e-3
    scene.frame_set(390)
    assert seen.inspected.frame == data.starts[1] + 190

    # the other one shows only its own frames
    settings.source_index = 0
    assert seen.inspected is None, seen.problem
    assert "has no frame 389" in seen.problem, seen.problem
    assert "200" not in seen.problem, seen.problem
    scene.frame_set(31)
    assert seen.inspected.frame == 30

    # a source missing from the database is reported, instead of showing another one
    early.enabled = False
    inspector.refresh()
    assert seen.inspected is None, seen.problem
    assert early.name in seen.problem, seen.problem
    assert "switch it on" in seen.problem, seen.problem
    settings.source_index = 1
    scene.frame_set(230)
    assert seen.inspected is None
    assert "inspect again" in seen.problem, "the database is older than the sources"
    assert ops.inspect_frame() == {"FINISHED"}
    seen = runtime.inspector
    assert seen.inspected.frame == 30
    assert np.abs(get_hips(obj) - get_inspected_hips()).max() < 2e-3
    early.enabled, early.frame_end = True, 5
    expect_refusal(ops.inspect_frame, long.name, "left out")
    early.frame_end = 0
    assert ops.inspect_frame() == {"FINISHED"}
    assert runtime.inspector.inspected.frame == 30, "unreadable sources are not counted"
    settings.source_index = 0
    assert runtime.inspector.inspected is None
    assert "ends before it starts" in runtime.inspector.problem

    # the sources are matched again when an action takes the clip's name, not at every frame
    settings.source_index = 1
    assert runtime.inspector.inspected.frame == 30
    kept = runtime.inspector.namesakes
    scene.frame_set(scene.frame_current + 1)
    assert runtime.inspector.inspected.frame == 31
    assert runtime.inspector.namesakes is kept
    long.name = "another clip"
    scene.frame_set(scene.frame_current + 1)
    assert runtime.inspector.inspected is None, runtime.inspector.problem
    assert "another clip" in runtime.inspector.problem, runtime.inspector.problem


@pytest.mark.slow
def test_frames_of_a_take_are_inspected_with_their_goals(obj):
    settings = obj.motion_matching
    scene = bpy.context.scene
    shown = settings.insight

    shown.inspect = "take"
    expect_refusal(ops.inspect_frame, "poll()", "Bake a take first")
    scene.frame_set(20)
    ops.bake_script(script="flips", seconds=7.0)
    take = settings.takes[0].action
    actions.assign(obj, take)
    assert ops.inspect_frame() == {"FINISHED"}
    seen = runtime.inspector

    # the inspected frame matches the body, except for blending and foot locks
    first, last = map(int, take.frame_range)
    apart, verdicts, prices = [], [], []
    for frame in range(first, last, 3):
        scene.frame_set(frame)
        inspector.refresh()
        assert not seen.problem, seen.problem
        apart.append(np.linalg.norm(get_hips(obj) - get_inspected_hips()))
        verdicts.append(seen.inspection.continuing.verdict)
        prices += [line for line in seen.lines if line.startswith("Jumps next, price ")]
        assert seen.goal_strokes
    assert np.median(apart) < 0.05, (np.median(apart), max(apart))
    assert max(apart) < 0.5, (np.median(apart), max(apart))
    assert "played on" in verdicts, set(verdicts)
    assert any(verdict.startswith("left") for verdict in verdicts), set(verdicts)
    assert 0 < len(prices) < len(verdicts)
    told = RecordingLayout()
    with override_region():
        panel._draw_costs(told, seen, seen.inspection)
        panel._draw_candidates(told, seen, seen.inspection)
    drawn, best = " ".join(filter(None, told.texts)), seen.inspection.candidates[0]
    assert "Jump Price  cm·s" in drawn
    assert f"{100 * best.price:.2f}" in told.texts
    assert drawn.count(" cm·s") == 1 + len(seen.inspection.candidates)
    assert draw_panels() > 5
    assert all(0.0 < float(line.split()[3]) < 50.0 for line in prices), prices

    scene.frame_set(last + 50)
    inspector.refresh()
    assert seen.inspected is None
    assert "has no frame" in seen.problem

    # another take is inspected only on request
    scene.frame_set(first)
    ops.bake_script(script="square", seconds=4.0)
    settings.take_index = 1
    assert "inspect again" in seen.problem
    ops.inspect_frame()
    assert not runtime.inspector.problem
    shown.inspect = "source"
    assert "inspect again" in runtime.inspector.problem


@pytest.mark.slow
def test_pictures_are_saved_and_poses_are_mapped(tmp_path: Path, obj):
    settings = obj.motion_matching
    uid = obj.session_uid

    folder = tmp_path
    expect_refusal(ops.save_pictures, "need a file name that ends in .svg")
    expect_refusal(
        ops.save_pictures, "does not exist", filepath=str(folder / "nowhere" / "hero.svg")
    )
    assert ops.save_pictures(filepath=str(folder / "hero")) == {"FINISHED"}
    assert sorted(file.name for file in folder.glob("hero*")) == ["hero.svg"]
    root = ElementTree.parse(folder / "hero.svg").getroot()
    groups = {group.get("id") for group in root.iter("{http://www.w3.org/2000/svg}g")}
    assert {"strands", "coverage", "poses mds", "poses pca", "histogram speed"} <= groups
    assert uid in runtime.coverage_reports
    assert uid in runtime.pose_maps, "results made for the pictures are shown"

    # a picture never replaces what is open, whatever it is called
    assert bpy.ops.wm.save_as_mainfile(filepath=str(folder / "open.blend")) == {"FINISHED"}
    (folder / "other.svg").hardlink_to(folder / "open.blend")
    expect_refusal(ops.save_pictures, "which Blender reads", filepath=str(folder / "other.svg"))

    # the file browser marks existing files by their name with the extension
    names = {"hero": "hero.svg", "hero.svg": "hero.svg", "hero.SVG": "hero.SVG", "": ""}
    for typed, named in {**names, "hero.v2": "hero.v2.svg"}.items():
        browser = SimpleNamespace(filepath=f"{folder}/{typed}")
        assert Save.check(browser, bpy.context) is (typed != named), typed
        assert browser.filepath == f"{folder}/{named}"
        assert not Save.check(browser, bpy.context)

    # the map: all frames in a square, computed once
    mapped = runtime.pose_maps[uid]
    for kind in ("mds", "pca"):
        places = insight_drawing.get_map_positions(mapped, kind)
        assert places.shape == (load_database(settings).frame_count, 2)
        assert places.min() >= 0.049
        assert places.max() <= 0.951
        assert insight_drawing.get_map_positions(mapped, kind) is places
    assert ops.map_poses() == {"FINISHED"}
    assert runtime.pose_maps[uid] is mapped, "it is there already"
    settings.sources[0].enabled = False
    assert ops.map_poses() == {"FINISHED"}
    assert runtime.pose_maps[uid] is not mapped
    assert not data_insight.explain_staleness(obj, runtime.pose_maps[uid])


def test_mapping_says_how_many_poses_it_has_mapped(obj, capfd):
    assert ops.map_poses() == {"FINISHED"}
    count = load_database(obj.motion_matching).frame_count
    assert f"Mapped {count} poses" in capfd.readouterr().out


def test_the_map_follows_a_live_session(obj):
    settings = obj.motion_matching
    uid = obj.session_uid

    settings.play.show_map = True
    data, method, tuned = run_steps(performing.prepare_steps(obj))
    assert runtime.pose_maps[uid].key == settings.built_key, "there before the session starts"
    walk = scripts.build_script("square", 5.0, data.fps, tuned.steering.walk, tuned.steering.run)
    live = performing.start(
        obj, data, method, tuned, Keyboard(), ReplayInput(walk, data.fps), 100.0
    )
    frames = []
    for tick in range(90):
        live.tick(100.0 + (tick + 1) / data.fps, 0.0)
        frames.append(live.session._frame.frame)
    assert list(runtime.trail.frames) == frames[-60:], "the map shows the last second or so"
    assert runtime.trail.uid == uid
    assert runtime.trail.placement[:2] == live.position
    mapped, marked = runtime.pose_maps[uid], insight_drawing.get_marked_frames
    assert marked(obj, mapped) == (frames[-60:], ())
    assert marked(obj, mapped._replace(key="of other data"))[0] == [], (
        "another database has other frames"
    )
    assert marked(obj, mapped._replace(edition=-1))[0] == [], "an earlier build has other frames"
    assert not ops.inspect_frame.poll()
    host.end()
    assert runtime.trail is None


@pytest.mark.slow
def test_the_map_shows_the_states_of_a_motion_field(obj):
    """They are mapped once for each similarity, turn with the view, and fade by their share."""
    settings = obj.motion_matching
    uid, insight_settings = obj.session_uid, settings.insight
    assert ops.map_poses() == {"FINISHED"}
    assert runtime.pose_maps[uid].states is None, "nobody looks at it yet"
    insight_settings.map = "field"
    assert insight_drawing._get_shown_map(obj) is None, "there is nothing to draw yet"
    assert ops.map_poses() == {"FINISHED"}
    mapped = runtime.pose_maps[uid]
    assert mapped.states.positions.shape == (load_database(settings).frame_count, 3)
    assert insight_drawing._get_shown_map(obj) is mapped
    assert ops.map_poses() == {"FINISHED"}
    assert runtime.pose_maps[uid] is mapped, "it is there already"

    front, side = np.eye(3)[:2], np.eye(3)[1:]
    seen = insight_drawing.turn_states(mapped, front)
    assert seen.min() >= 0.049
    assert seen.max() <= 0.951
    assert insight_drawing.turn_states(mapped, front) is seen, "computed once"
    turned = insight_drawing.turn_states(mapped, side)
    np.testing.assert_array_equal(turned[:, 0], seen[:, 1])

    settings.training.metric = "notebook"
    assert ops.map_poses() == {"FINISHED"}
    assert runtime.pose_maps[uid].metric == "notebook"
    assert runtime.pose_maps[uid].poses is mapped.poses, "the map of poses stays"
    assert set(mapped.colours) == {"speed", "gait", "clip"}
    assert insight_drawing.fade_by_share((1.0, 0.8, 0.2, 0.9), 3).shape == (3, 4)
