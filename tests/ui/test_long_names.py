"""Names longer than Blender's, in any script: shortened between letters, and still told apart."""

from __future__ import annotations

import bpy
import pytest

from motion_matching.app.takes import take_list
from motion_matching.engine.bvh import bvh
from motion_matching.scene.blender.handle import fit_name
from motion_matching.scene.writing import recording
from tests.demo import generate_clips
from tests.ui.characters import create_character

ops = bpy.ops.motion_matching
LONGEST = bpy.types.ID.bl_rna.properties["name"].length_max - 1
SCRIPTS = {
    "latin": "a long name ",
    "cjk": "\u52d5\u4f5c\u306e\u540d\u524d",
    "emoji": "\U0001f3c3\U0001f57a",
}


@pytest.fixture(params=SCRIPTS)
def long_name(request):
    """A name that does not fit, and whose letters do not end where Blender's names do."""
    return "x" + SCRIPTS[request.param] * 80


def count_bytes(name):
    return len(name.encode("utf-8"))


def add_curve(name):
    curve = bpy.data.curves.new(name, "CURVE")
    curve.dimensions = "3D"
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.0, -4.0, 0.0, 1.0)
    obj = bpy.data.objects.new(name, curve)
    bpy.context.scene.collection.objects.link(obj)
    return obj


def test_a_name_is_shortened_between_letters(long_name):
    for reserved in (0, 4, 25):
        fitting = fit_name(long_name, reserved)
        assert long_name.startswith(fitting)
        assert LONGEST - reserved - 4 < count_bytes(fitting) <= LONGEST - reserved
        assert not fitting.endswith(" ")
    assert fit_name("short ") == "short "


def test_long_names_of_takes_are_numbered(long_name):
    names = []
    for _ in range(3):
        names.append(take_list.find_free_name(long_name))
        assert bpy.data.actions.new(names[-1]).name == names[-1], "Blender keeps it as it is"
    assert names[1:] == [f"{names[0]} 02", f"{names[0]} 03"]


def test_takes_along_a_curve_with_a_long_name_are_told_apart_and_go_with_their_texts(long_name):
    obj = create_character(clips=("walk_curves",))
    ops.add_actions()
    settings = obj.motion_matching
    obj.name = obj.data.name = settings.sources[0].action.name = long_name
    settings.play.curve = add_curve(long_name)
    for _ in range(2):
        assert ops.bake_along(along="curve", seconds=1.0) == {"FINISHED"}
    settings.play.take = settings.takes[0].action
    assert ops.bake_along(along="take", seconds=1.0) == {"FINISHED"}
    assert ops.bake_again() == {"FINISHED"}
    made = [take.action for take in settings.takes]
    assert made[1].name == f"{made[0].name} 02"
    assert len({take.name for take in settings.takes}) == len(made) == 4
    assert all(recording.has_performance(action) for action in made)
    settings.takes[0].whole_name = long_name + "!"  # by hand
    while settings.takes:
        take_list.discard_take(obj, 0)
    assert not bpy.data.texts, "nothing is left of them"


def test_a_folder_with_a_long_name_becomes_a_character(tmp_path, long_name):
    clip = next(c for c in generate_clips(fps=24.0) if c.name == "walk_curves")
    folder = tmp_path / fit_name(long_name, LONGEST - 200)  # as long as file systems allow
    folder.mkdir()
    file = folder / f"{fit_name(long_name, LONGEST - 200)}.bvh"
    bvh.save(clip, file)
    assert ops.import_motion(directory=f"{folder}/", files=[{"name": file.name}]) == {"FINISHED"}
    obj = bpy.context.object
    assert obj.type == "ARMATURE"
    assert folder.name.startswith(obj.name)
    assert ops.build() == {"FINISHED"}
