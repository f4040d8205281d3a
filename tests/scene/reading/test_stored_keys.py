"""Keys of Blender, FBX and USD files: the same motion has one digest, and a change is named."""

from __future__ import annotations

from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching import api
from motion_matching.scene.reading import imports
from tests.command_line import run, run_with_errors
from tests.scene.retargeting.armatures import add_walker, select

FRAMES = 5


def write_fbx(path: Path) -> None:
    bpy.ops.export_scene.fbx(filepath=str(path), add_leaf_bones=False, bake_anim_simplify_factor=0)


def write_usd(path: Path) -> None:
    bpy.ops.wm.usd_export(filepath=str(path), export_animation=True, export_armatures=True)


def write_blend(path: Path) -> None:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), copy=True, compress=path.stem == "again")


WRITERS = {".blend": write_blend, ".fbx": write_fbx, ".usdc": write_usd}


@pytest.fixture(params=WRITERS)
def files(request: pytest.FixtureRequest, tmp_path: Path) -> list[Path]:
    """One animation written twice, and again with a key changed."""
    ending = request.param
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, FRAMES
    scene.render.fps = 30
    walker, action = add_walker(frames=FRAMES)
    select(walker)
    paths = [tmp_path / f"{name}{ending}" for name in ("first", "again", "changed")]
    for path in paths[:2]:
        WRITERS[ending](path)
    moving = (curve for curve in find_curves(action) if len(curve.keyframe_points) == FRAMES)
    curve = [curve for curve in moving if "rotation" in curve.data_path][-1]
    curve.keyframe_points[2].co[1] += 0.25
    WRITERS[ending](paths[2])
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return paths


def find_curves(action: bpy.types.Action) -> list[bpy.types.FCurve]:
    return list(imports.actions.get_channelbags(action)[0].fcurves)


def test_the_same_motion_has_one_digest_and_a_change_is_named(files, capsys):
    first, again, changed = files
    blocks = imports.collect_uids()
    bpy.context.scene.render.fps = 12
    assert api.compare(first, again) == ""
    assert run("digest", *files) == 0
    digests = [line.split("  ")[0] for line in capsys.readouterr().out.splitlines()]
    assert digests[0] == digests[1] == api.digest(first) != digests[2]
    assert run("digest", "--compare", first, again) == 0
    code, said = run_with_errors("digest", "--compare", first, changed)
    assert code == 1
    assert said.count("\n") == 1
    assert f"{first} and {changed} differ: action '" in said
    assert "bone '" in said
    assert ", frame 3: " in said
    # nothing stays of what was read
    assert imports.collect_uids() == blocks
    assert bpy.context.scene.render.fps == 12


@pytest.mark.parametrize("ending", WRITERS)
def test_a_file_without_keys_or_of_another_kind_is_refused(ending, tmp_path):
    empty, other = tmp_path / f"empty{ending}", tmp_path / f"other{ending}"
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    WRITERS[ending](empty)
    other.write_bytes(b"no such file")
    for path, words in (
        (empty, "has no keys"),
        (other, "cannot be"),
        (tmp_path / "n", "not exist"),
    ):
        code, said = run_with_errors("digest", path)
        assert (code, said.count("\n")) == (1, 1), said
        assert words in said
        assert path.name in said


def test_handles_count_where_they_shape_a_curve():
    action = bpy.data.actions.new("a")
    bag = imports.actions.get_channelbag(action) if not imports.actions.HAS_SLOTS else None
    if bag is None:
        bag = (
            action.layers.new("a")
            .strips.new(type="KEYFRAME")
            .channelbag(action.slots.new("OBJECT", "a"), ensure=True)
        )
    curve = bag.fcurves.new("location", index=0)
    for frame, kind in ((1, "LINEAR"), (5, "BEZIER"), (9, "LINEAR")):
        key = curve.keyframe_points.insert(frame, 2.0 * frame)
        key.interpolation = kind
    curve.update()
    keys, kinds = imports.curves.read_shape(curve)
    assert kinds.tolist() == [1, 2, 1]
    is_at_key = np.all(keys[:, 2:].reshape(3, 2, 2) == keys[:, None, :2], axis=2)
    assert is_at_key.tolist() == [[True, True], [True, False], [False, True]]
