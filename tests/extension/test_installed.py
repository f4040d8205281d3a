"""The packaged extension, installed as users do: it works, and it leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

import pytest
from hosts import IN_EXTENSION, Host
from traces import TRACES

from tests.conftest import CHECKOUT

pytestmark = pytest.mark.timeout(600)  # each test starts Blender several times

TAKE = """
def take_by_command_line(folder):
    command = sys.modules[PACKAGE + ".registration"]._run_command
    for line in TAKE:
        assert command(line.format(folder=folder).split("|")) == 0

TAKE = (
    "demo-clips|{folder}/clips",
    "build|{folder}/clips|-o|{folder}/walk.npz|--mirror",
    "take|{folder}/walk.npz|--script|figure_eight|--seconds|3|-o|{folder}/take.blend|--bvh|{folder}/take.bvh",
)
"""

FIND_API = (CHECKOUT / "examples" / "find_api.py").read_text(encoding="utf-8")
FROM_START_TO_END = (
    TRACES
    + IN_EXTENSION
    + TAKE
    + f"FIND_API = {FIND_API!r}"
    + """
zipped, folder = arguments
bpy.ops.extensions.package_install_files(filepath=zipped, repo="user_default", enable_on_install=True)
check_enabled()
check_wheels()
take_by_command_line(folder)
scope = {}
exec(FIND_API, scope)
assert scope["find_api"]() is sys.modules[PACKAGE + ".api"]
assert scope["find_api"]().open(folder + "/walk.npz").frame_count > 1000
check_modules()
assert len(modules()) > 30

bpy.ops.wm.open_mainfile(filepath=folder + "/take.blend")
(action,) = bpy.data.actions
assert action.frame_range[1] - action.frame_range[0] > 60
assert PACKAGE in bpy.context.preferences.addons, "a file that is opened does not disable it"

bpy.ops.preferences.addon_disable(module=PACKAGE)
assert PACKAGE not in bpy.context.preferences.addons
before = traces()
bpy.ops.preferences.addon_enable(module=PACKAGE)
assert PACKAGE in bpy.context.preferences.addons
bpy.ops.preferences.addon_disable(module=PACKAGE)
left = differences(before, traces())
assert set(left) <= {"paths"}, left  # Blender itself keeps the folder of all extensions' wheels in Python's path

remove_extension()
left = [path for path in user.rglob("*") if path.is_file() and ("motion_matching" in str(path) or "scipy" in str(path))]
assert not left, left[:5]
print("DONE")
"""
)

CHECK_INSTALLED = (
    IN_EXTENSION
    + """
check_enabled()
check_wheels()
check_modules()
print("DONE")
"""
)

CHECK_GONE = (
    IN_EXTENSION
    + """
assert PACKAGE not in bpy.context.preferences.addons
assert not modules()
print("DONE")
"""
)


def test_one_session_installs_uses_disables_and_removes_the_zip(host: Host, extension_zip: Path):
    printed = host.run(FROM_START_TO_END, extension_zip, host.folder)
    assert "DONE" in printed
    assert (host.folder / "take.bvh").read_text().startswith("HIERARCHY")


def test_the_command_line_installs_uses_and_removes_the_zip(host: Host, extension_zip: Path):
    """Each command starts Blender again, so the extension must be found and enabled each time."""
    if not host.program:
        pytest.skip("no --blender-program is given")
    host.command("extension", "install-file", "-r", "user_default", "--enable", extension_zip)
    assert "DONE" in host.run(CHECK_INSTALLED)
    host.command("motion_matching", "demo-clips", host.folder / "clips")
    host.command(
        "motion_matching",
        "build",
        host.folder / "clips",
        "-o",
        host.folder / "walk.npz",
        "--mirror",
    )
    printed = host.command(
        "motion_matching",
        "take",
        host.folder / "walk.npz",
        "--script",
        "flips",
        "--seconds",
        "3",
        "-o",
        host.folder / "take.blend",
    )
    assert "take.blend" in printed
    assert (host.folder / "take.blend").stat().st_size > 100_000
    host.command("extension", "remove", "motion_matching")
    assert "DONE" in host.run(CHECK_GONE)
