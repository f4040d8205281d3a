"""The ground of a source: seen in its preview, told in its panel, and corrected by an animator."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from building.locomotion.climbs import find_climb
from motion_matching.app.controller import features
from motion_matching.app.database import build, status
from motion_matching.app.database.library import get_library
from motion_matching.app.runtime import runtime
from motion_matching.app.sources import source_preview
from motion_matching.app.strip.warnings import parse_notes
from motion_matching.engine.bvh import bvh
from motion_matching.engine.progress import run_to_end
from motion_matching.ui.database import panel, preview_drawing
from tests.ui.characters import create_character, expect_refusal
from tests.ui.climbing import add_ground_of
from tests.ui.drawn import RecordingLayout, draw_panels

ops = bpy.ops.motion_matching
CLIP = "stairs_up_17"


@pytest.fixture
def obj():
    obj = create_character(clips=("walk_curves", CLIP))
    assert ops.add_actions(mirror=False) == {"FINISHED"}
    choose(obj, CLIP)
    return obj


def choose(obj, name):
    sources = obj.motion_matching.sources
    obj.motion_matching.source_index = [(s.action or s).name for s in sources].index(name)
    return sources[obj.motion_matching.source_index]


def get_database(obj):
    assert ops.build() == {"FINISHED"}
    return get_library().load(obj.motion_matching.built_key)


def refresh(obj):
    bpy.context.view_layer.update()
    return status.refresh(obj)


def measure_off(name, path):
    """Return how far a path (F, 3) is off the true ground of a clip."""
    return np.abs(path[:, 2] - find_climb(name).compute_height(path[:, :2]))


def test_the_ground_is_drawn_below_the_path_with_its_footing(obj):
    assert ops.preview_source() == {"FINISHED"}
    ground = runtime.source_preview.shown.ground
    off = measure_off(CLIP, ground.path)
    assert off.mean() < 0.03
    assert off.max() < 0.18, "a slope through the treads"
    assert measure_off(CLIP, ground.feet[:, :3]).max() < 0.001
    treads = np.unique(np.round(ground.feet[:, 2] / 0.175))
    assert len(treads) == len(find_climb(CLIP).ground.heights)
    source = choose(obj, CLIP)
    drawn = preview_drawing.build_paths(runtime.source_preview, source, 120)
    assert all(len(points) and points.flags.c_contiguous for points, *_ in drawn)
    level, posts, profile, strokes = (points for points, *_ in drawn)
    assert np.ptp(level[:, 2]) == 0.0
    assert profile[:, :2] == pytest.approx(level[:, :2])
    assert np.ptp(profile[:, 2]) > 0.8
    assert 6 < len(strokes) / 2 < len(ground.feet), "those of six seconds around the frame"
    assert np.abs(np.linalg.norm(strokes[1::2] - strokes[::2], axis=1) - 0.22).max() < 1e-5
    assert posts[1::2] == pytest.approx(0.5 * (strokes[1::2] + strokes[::2]), abs=1e-5)
    draw_panels()

    ops.stop_preview()
    ops.preview_source(mirrored=True)
    image = runtime.source_preview
    assert image.shown.ground.path[:, 2] == pytest.approx(ground.path[:, 2])
    toes = image.body.positions[:, :, :2]
    nearest = np.linalg.norm(toes[:, :, None] - image.shown.ground.feet[:, :2], axis=-1).min(
        axis=(0, 1)
    )
    assert nearest.max() < 0.05, "feet of the image stand where it has footing"

    choose(obj, "walk_curves")
    ops.preview_source()
    assert runtime.source_preview.shown.ground is None


def test_a_file_has_its_ground_where_the_character_stands(obj, tmp_path):
    bvh.save(find_climb("ramp_up_20").pose(30.0), tmp_path / "ramp.bvh")
    ops.add_files(filepath=str(tmp_path / "ramp.bvh"))
    obj.location, obj.rotation_euler = (2.0, 1.0, 0.5), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    choose(obj, "ramp")
    ops.preview_source()
    preview = runtime.source_preview
    hips = preview.body.positions[:, preview.body.hips]
    assert np.linalg.norm(hips[:, :2] - preview.shown.ground.path[:, :2], axis=1).max() < 0.15
    assert preview.shown.ground.path[0, 2] == pytest.approx(0.5, abs=0.01)
    assert np.ptp(preview.shown.ground.path[:, 2]) == pytest.approx(0.96, abs=0.05)
    assert preview.shown.ground.told == "a slope of 20°, 1.0 m up"


def read_panel(obj, monkeypatch):
    layout = RecordingLayout()
    monkeypatch.setattr(
        panel.base, "draw_wrapped_text", lambda _, text, icon, **__: layout.texts.append(text)
    )
    drawn = panel.MOTION_MATCHING_PT_source
    type("Drawn", (), {"layout": layout, "draw_settings": drawn.draw_settings})().draw_settings(
        obj, obj.motion_matching
    )
    return layout.texts


def test_the_panel_says_in_a_line_what_is_climbed(obj, monkeypatch):
    assert not any("cm a step" in text for text in read_panel(obj, monkeypatch))
    ops.preview_source()
    assert "Stairs: 17.5 cm a step, 1.2 m up" in read_panel(obj, monkeypatch)
    ops.stop_preview()
    get_database(obj)
    assert "Stairs: 17.5 cm a step, 1.2 m up" in read_panel(obj, monkeypatch)
    obj.motion_matching.sources[obj.motion_matching.source_index].ground = "LEVEL"
    assert refresh(obj).kind == "stale"
    assert not any("cm a step" in text for text in read_panel(obj, monkeypatch))


def test_level_ground_asks_for_a_build_and_undo_takes_it_back(obj):
    found = get_database(obj)
    key = obj.motion_matching.built_key
    assert found.ground is not None
    bpy.ops.ed.undo_push(message="Built")
    ops.edit_named_sources(edit="level_ground", names=f'["{choose(obj, CLIP).name}"]')
    bpy.ops.ed.undo_push(message="Level")
    shown = refresh(obj)
    assert shown.kind == "stale"
    assert shown.stale_reason == f"Changed since the build: '{CLIP}'"
    level = get_database(obj)
    assert level.ground is None
    assert obj.motion_matching.built_key != key
    bpy.ops.ed.undo_push(message="Built Level")
    for _ in range(2):
        bpy.ops.ed.undo()
    obj = bpy.data.objects["Hero"]
    assert choose(obj, CLIP).ground == "FOUND"
    assert refresh(obj).kind == "fresh"
    assert obj.motion_matching.built_key == key


def test_an_object_is_the_ground_where_it_lies(obj):
    found = get_database(obj)
    source = choose(obj, CLIP)
    source.ground, source.ground_object = "OBJECT", add_ground_of(CLIP)
    given = get_database(obj)
    assert np.abs(found.ground - given.ground).max() < 0.02
    assert refresh(obj).kind == "fresh"
    assert [kind for kind in read_kinds(obj) if kind in ("ground", "slope")] == ["slope"]

    ops.preview_source()
    assert measure_off(CLIP, runtime.source_preview.shown.ground.feet[:, :3]).max() < 0.001
    source.ground_object.location.y = 2.0
    assert refresh(obj).kind == "stale"
    source_preview.follow_ground()
    aside = runtime.source_preview.shown.ground
    assert measure_off(CLIP, aside.feet[:, :3]).max() > 0.1, "the ground of the preview follows"
    get_database(obj)
    assert "ground" in read_kinds(obj), "it is told that feet are beside it"
    source.ground_object.location.y = 0.0
    obj.location.x = 0.5
    assert refresh(obj).kind == "stale", "the motion goes along with the character"


def read_kinds(obj):
    return [note.kind for note in parse_notes(obj.motion_matching.built_notes)]


def test_changes_of_the_object_are_noticed(obj):
    source = choose(obj, CLIP)
    ground = add_ground_of(CLIP)
    source.ground, source.ground_object = "OBJECT", ground
    get_database(obj)
    for change in (
        lambda: setattr(ground, "location", (0.0, 0.0, 0.2)),
        lambda: ground.data.vertices[0].co.__setitem__(2, 0.3) or ground.data.update_tag(),
    ):
        refresh(obj)
        assert obj.session_uid not in runtime.statuses.stale
        change()
        bpy.context.view_layer.update()
        assert obj.session_uid in runtime.statuses.stale


def test_a_ground_that_cannot_be_read_is_named(obj):
    source = choose(obj, CLIP)
    source.ground = "OBJECT"
    assert refresh(obj).problems[0].kind == "no ground"
    draw_panels()
    expect_refusal(ops.preview_source, CLIP, "has no object for its ground; choose one")
    source.ground_object = ground = add_ground_of(CLIP)
    assert not refresh(obj).problems
    ground.hide_set(True)
    assert "shows no mesh in this scene; unhide it" in refresh(obj).problem
    expect_refusal(ops.build, CLIP, ground.name, "shows no mesh")
    bpy.data.objects.remove(ground)
    assert refresh(obj).problems[0].kind == "no ground"
    ops.edit_named_sources(edit="find_ground", names=f'["{source.name}"]')
    assert not refresh(obj).problems


def test_the_weight_of_the_height_can_be_changed(obj):
    get_database(obj)
    draw_panels()
    settings = obj.motion_matching
    ops.apply_preset(kind="features", filepath="default")
    assert status.refresh(obj).has_heights
    draw_panels()
    assert ops.add_feature(kind="trajectory_height") == {"FINISHED"}
    item = next(item for item in settings.features.items if item.kind == "trajectory_height")
    item.weight = 2.5
    schema = get_database(obj).schema
    assert [each.kind for each in schema.features].count("trajectory_height") == 1
    weights = dict(
        zip(schema.features, features.compute_weights(settings.features, schema), strict=True)
    )
    [weight] = [w for each, w in weights.items() if each.kind == "trajectory_height"]
    assert weight == pytest.approx(2.5)


def test_an_object_is_kept_in_the_file(obj, tmp_path):
    source = choose(obj, CLIP)
    source.ground, source.ground_object = "OBJECT", add_ground_of(CLIP)
    get_database(obj)
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "hero.blend"))
    bpy.ops.wm.open_mainfile(filepath=str(tmp_path / "hero.blend"))
    obj = bpy.data.objects["Hero"]
    assert choose(obj, CLIP).ground_object.name == f"Ground of {CLIP}"
    assert refresh(obj).kind == "fresh"


def test_a_source_for_the_engine_has_its_ground(obj):
    source = choose(obj, CLIP)
    source.ground, source.ground_object = "OBJECT", add_ground_of(CLIP)
    listed = run_to_end(build.read_sources_steps(obj.session_uid))
    read = next(one for one, _ in listed if one.name == CLIP)
    edges = find_climb(CLIP).ground.edges
    assert read.get_floor().height(0.3, -edges[0] - 0.1) == pytest.approx(0.175)
