"""Add Standing fits built-in standing to a character, and then its database stands by itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import bpy
import numpy as np
import pytest

from motion_matching.app.database import build, status
from motion_matching.app.strip import state
from motion_matching.engine.bvh import bvh
from motion_matching.engine.facts.idles import find_idle_runs, find_idles
from tests.demo import generate_clips
from tests.engine import animals
from tests.steps import run_steps
from tests.ui.characters import expect_refusal, read_state

ops = bpy.ops.motion_matching
BANDAI = ("dataset-2_walk_normal_003.bvh", "dataset-2_walk_normal_004.bvh")


def import_files(files: list[Path]) -> bpy.types.Object:
    """Import files into an empty scene, and build the database of their character."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    bpy.context.scene.render.fps = 30
    names = [{"name": file.name} for file in files]
    assert ops.add_files(directory=str(files[0].parent), files=names) == {"FINISHED"}
    assert ops.build() == {"FINISHED"}
    return bpy.context.object


def write_walk(folder: Path) -> list[Path]:
    """Write a walk of a smaller body with other names, which never stands."""
    clip = next(clip for clip in generate_clips() if clip.name == "walk_curves")
    clip = clip.crop(60, clip.frame_count - 90)
    names = tuple(f"mixamorig:{name}" for name in clip.skeleton.names)
    body = replace(clip.skeleton, names=names, rest_positions=0.6 * clip.skeleton.rest_positions)
    bvh.save(replace(clip, skeleton=body, positions=0.6 * clip.positions), folder / "walk.bvh")
    return [folder / "walk.bvh"]


def find_warning(obj):
    status.refresh(obj)
    return next((item for item in state.get_warnings(obj) if item.kind == "standing"), None)


def load(obj):
    return run_steps(build.load_or_build_steps(obj))


@pytest.mark.slow
@pytest.mark.parametrize("own", ["renamed", "bandai"])
def test_a_foreign_character_stands_with_idle_motion(own, tmp_path, request):
    if own == "bandai":
        folder = request.getfixturevalue("mocap") / "bandai-namco"
        files = [folder / name for name in BANDAI]
    else:
        files = write_walk(tmp_path)
    obj = import_files(files)
    assert load(obj).derive(find_idles).holds
    assert "Add Standing" in [button.label for button in find_warning(obj).buttons]
    assert ops.add_standing() == {"FINISHED"}
    source = obj.motion_matching.sources[-1]
    assert source.action.name.startswith("Standing")
    assert source.gait == "idle"
    assert ops.build() == {"FINISHED"}
    database = load(obj)
    assert not database.derive(find_idles).holds
    assert np.ptp(database.derive(find_idle_runs), axis=1).max() > 10 * database.fps
    assert find_warning(obj) is None


def test_what_plays_and_what_is_selected_stay(tmp_path):
    obj = import_files(write_walk(tmp_path))
    played = bpy.data.actions.new("Mine")
    obj.animation_data_create().action = played
    bpy.context.scene.frame_set(7)
    bone = obj.pose.bones[0]
    bone.location = (0.1, 0.2, 0.3)
    assert ops.add_standing() == {"FINISHED"}
    assert obj.animation_data.action == played
    assert bpy.context.scene.frame_current == 7
    np.testing.assert_allclose(bone.location, (0.1, 0.2, 0.3), atol=1e-6)
    assert bpy.context.view_layer.objects.active == obj
    assert ops.add_standing() == {"FINISHED"}, "again, under another name"
    assert len({source.action for source in obj.motion_matching.sources[-2:]}) == 2


def test_it_is_one_undo_step_with_a_tooltip_and_needs_sources(tmp_path):
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    assert not ops.add_standing.poll()
    obj = import_files(write_walk(tmp_path))
    assert ops.add_standing.poll()
    assert "UNDO" in bpy.types.MOTION_MATCHING_OT_add_standing.bl_options
    assert "breathes" in ops.add_standing.get_rna_type().description
    obj.motion_matching.sources.clear()
    assert not ops.add_standing.poll()


def test_four_legs_are_refused_and_not_offered_it(tmp_path):
    clip = animals.make_dog_motions(fps=30.0)[0].clip
    bvh.save(replace(clip, name="dog"), tmp_path / "dog.bvh")
    obj = import_files([tmp_path / "dog.bvh"])
    if (warning := find_warning(obj)) is not None:
        assert "Add Standing" not in [button.label for button in warning.buttons]
    before = read_state()
    expect_refusal(ops.add_standing, obj.name, "four legs", "add a clip")
    assert read_state() == before
