"""The installed extension builds a database and a take with its operators, also after a restart."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import IN_EXTENSION, Host

pytestmark = pytest.mark.timeout(600)  # each test starts Blender several times

FIRST_SESSION = (
    IN_EXTENSION
    + """
zipped, file = arguments
bpy.ops.extensions.package_install_files(filepath=zipped, repo="user_default", enable_on_install=True)
check_enabled()
bpy.ops.wm.read_homefile(use_empty=True)
ops = bpy.ops.motion_matching

assert ops.add_demo_performer() == {"FINISHED"}
performer = bpy.context.object
assert len(performer.motion_matching.sources) > 10
assert ops.build() == {"FINISHED"}
databases = [path for path in user.rglob("*.npz") if "wheels" not in path.parts and "site-packages" not in path.parts]
assert databases, "the database lies in the extension's own folder of the user's"
assert "motion_matching" in str(databases[0])

assert ops.bake_script(script="figure_eight", seconds=3.0) == {"FINISHED"}
action = performer.animation_data.action
assert action == performer.motion_matching.takes[0].action
length = action.frame_range[1] - action.frame_range[0] + 1
assert length == round(3 * bpy.context.scene.render.fps), length
check_modules()
bpy.ops.wm.save_as_mainfile(filepath=file)
bpy.ops.wm.save_userpref()
bpy.ops.preferences.addon_disable(module=PACKAGE)
assert not hasattr(bpy.types.Object, "motion_matching")
bpy.ops.preferences.addon_enable(module=PACKAGE)
assert performer.motion_matching.takes[0].action == action, "the file keeps its settings while the extension is away"
assert ops.bake_script(script="square", seconds=2.0) == {"FINISHED"}
bpy.ops.preferences.addon_disable(module=PACKAGE)
print("DONE")
"""
)

LATER_SESSION = (
    IN_EXTENSION
    + """
(file,) = arguments
if PACKAGE not in bpy.context.preferences.addons:  # the bpy module starts without the user's preferences
    bpy.ops.preferences.addon_enable(module=PACKAGE)
check_enabled()
bpy.ops.wm.open_mainfile(filepath=file)
performer = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
bpy.context.view_layer.objects.active = performer
assert len(performer.motion_matching.takes) == 1
assert bpy.ops.motion_matching.bake_script(script="flips", seconds=3.0) == {"FINISHED"}
assert len(performer.motion_matching.takes) == 2
check_modules()
bpy.ops.preferences.addon_disable(module=PACKAGE)
remove_extension()
assert not [path for path in user.rglob("*.py") if "motion_matching" in str(path) or "scipy" in str(path)]
print("DONE")
"""
)


def test_operators_work_when_installed_and_after_a_restart(host: Host, extension_zip: Path):
    file = host.folder / "performer.blend"
    assert "DONE" in host.run(FIRST_SESSION, extension_zip, file)
    assert "DONE" in host.run(LATER_SESSION, file)
