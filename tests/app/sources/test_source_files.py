"""Source files are found after their Blender file is saved elsewhere, moved, linked or appended."""

from __future__ import annotations

import shutil

import bpy

from motion_matching.app.database import status
from motion_matching.app.sources import source_files
from motion_matching.app.sources.source_list import find_source_problem
from motion_matching.engine.bvh import bvh
from tests.demo import generate_clips


def test_source_files_are_found_after_the_blender_file_moves(tmp_path):
    folder, ops = tmp_path, bpy.ops.motion_matching
    project, elsewhere = folder / "project", folder / "elsewhere"
    (project / "clips").mkdir(parents=True)
    elsewhere.mkdir()
    clip = next(clip for clip in generate_clips() if clip.name == "walk_curves")
    for name in ("walk", "typed"):
        bvh.save(clip, project / "clips" / f"{name}.bvh")

    def find_source_files():
        hero = next(obj for obj in bpy.data.objects if obj.motion_matching.sources)
        return [source_files.find_file(source) for source in hero.motion_matching.sources]

    def reopen(path):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.ops.wm.open_mainfile(filepath=str(path))
        return find_source_files()

    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    ops.add_files(filepath=str(project / "clips" / "walk.bvh"))
    obj = bpy.context.object
    there = [project / "clips" / "walk.bvh"]
    bpy.ops.wm.save_as_mainfile(filepath=str(project / "hero.blend"))

    # a relative path finds the same file, also after saving elsewhere
    ops.add_files(filepath=str(project / "clips" / "typed.bvh"))
    obj.motion_matching.sources[1].filepath = "//clips/typed.bvh"
    there.append(project / "clips" / "typed.bvh")
    assert find_source_files() == there
    bpy.ops.wm.save_mainfile()
    assert reopen(project / "hero.blend") == there
    bpy.ops.wm.save_as_mainfile(filepath=str(elsewhere / "hero.blend"))
    assert reopen(elsewhere / "hero.blend") == there

    # a wrong path is reported, and the earlier file is not used in its place
    source = next(
        obj for obj in bpy.data.objects if obj.motion_matching.sources
    ).motion_matching.sources[0]
    assert source.beside
    source.filepath = str(project / "clips" / "mistyped.bvh")
    assert "mistyped.bvh" in find_source_problem(source), find_source_problem(source)
    source.filepath = str(there[0])
    assert find_source_files() == there

    # paths saved on Windows are resolved relative to the Blender file
    source.filepath, source.beside = (
        "Z:\\project\\clips\\walk.bvh",
        "//..\\project\\clips\\walk.bvh",
    )
    assert find_source_files() == there
    source.filepath = str(there[0])

    # linked, overridden and appended from another folder
    def load_hero(link):
        bpy.ops.wm.read_homefile(use_empty=True)
        bpy.ops.wm.save_as_mainfile(filepath=str(elsewhere / "shot.blend"))
        with bpy.data.libraries.load(str(project / "hero.blend"), link=link) as (there, target):
            target.objects = [name for name in there.objects if "body" not in name]
        return target.objects[0]

    assert load_hero(False)
    assert find_source_files() == there
    assert load_hero(True)
    assert find_source_files() == there
    # files that moved together with the Blender file are found
    shutil.move(project, folder / "moved")
    there = [folder / "moved" / file.relative_to(project) for file in there]
    project = folder / "moved"
    for link in (False, True):
        hero = load_hero(link)
        if link:
            assert find_source_files() == there
            bpy.context.scene.collection.objects.link(hero)
            hero = hero.override_create(remap_local_usages=True)
            bpy.context.view_layer.objects.active = hero
            assert [
                source_files.find_file(source) for source in hero.motion_matching.sources
            ] == there
            assert ops.build() == {"FINISHED"}
            assert status.refresh(hero).kind == "fresh"
    assert reopen(project / "hero.blend") == there
    hero = next(obj for obj in bpy.data.objects if obj.motion_matching.sources)
    assert status.refresh(hero).kind == "fresh", status.refresh(hero)

    # saved and moved once more
    bpy.ops.wm.save_mainfile()
    shutil.move(project, folder / "again")
    assert reopen(folder / "again" / "hero.blend") == [
        folder / "again" / file.relative_to(project) for file in there
    ]

    # a missing file is reported with the path that was given
    shutil.rmtree(folder / "again" / "clips")
    hero = next(obj for obj in bpy.data.objects if obj.motion_matching.sources)
    assert "walk.bvh" in find_source_problem(hero.motion_matching.sources[0])
