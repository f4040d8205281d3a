"""Build a database from FBX files with Blender's importer, and perform a take with it.

    blender --background --python examples/database_from_fbx.py -- walk.fbx run.fbx -o walk.npz

It also runs with Blender's Python module: python examples/database_from_fbx.py -o walk.npz. Without
FBX files, it first exports one of the demo performer with some of the built-in clips.
"""

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from types import ModuleType

import bpy


def find_api() -> ModuleType:
    """Import the API of the enabled extension; without Blender or the extension, the checkout's."""
    addons = sys.modules["bpy"].context.preferences.addons.keys() if "bpy" in sys.modules else []
    enabled = [name for name in addons if name.endswith(".motion_matching")]
    if not enabled:
        sys.path.append(str(Path(__file__).resolve().parents[1]))
    return import_module(f"{enabled[0] if enabled else 'motion_matching'}.api")


api = find_api()
# the built-in clips that are exported
CLIPS = ("idle", "walk_speeds", "walk_starts_and_stops")


def export_fbx(path: Path, folder: Path) -> None:
    """Write an FBX file of built-in clips, each an action of one armature."""
    clips = [clip for clip in api.make_demo_clips() if clip.name in CLIPS]
    database = api.build(clips)
    api.write_blend(api.perform(database, seconds=1), folder / "performer.blend", database)
    bpy.ops.wm.open_mainfile(filepath=str(folder / "performer.blend"))
    armature = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    bpy.data.actions.remove(armature.animation_data.action)
    for clip in clips:
        api.write_action(clip, armature)
    bpy.ops.export_scene.fbx(
        filepath=str(path),
        object_types={"ARMATURE"},
        add_leaf_bones=False,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="*", metavar="FILE.fbx")
    parser.add_argument("-o", "--output", type=Path, default=Path("walk.npz"))
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    arguments = parser.parse_args(given)

    with tempfile.TemporaryDirectory() as folder:
        if not arguments.files:
            arguments.files = [Path(folder) / "performer.fbx"]
            export_fbx(arguments.files[0], Path(folder))
        clips = api.load(arguments.files)
    for clip in clips:
        bones = clip.skeleton.bone_count
        print(f"{clip.name}: {clip.frame_count} frames at {clip.fps:g} fps, {bones} bones")
    database = api.build(clips, api.BuildSettings(mirror=True))
    api.save(database, arguments.output)
    take = api.perform(database, "stop_and_go", seconds=5)
    print(api.summarize(api.measure(take, database)))
    print(f"Written: {arguments.output}.")


if __name__ == "__main__":
    main()
