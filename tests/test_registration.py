"""Unregistering removes everything that registering added."""

from __future__ import annotations

from types import FunctionType

import bpy
import pytest
from traces import TRACES

from motion_matching import registration
from motion_matching.ui import classes
from tests.traces_in_blender import give_back, watch

TWICE_AND_NO_TRACE = (
    TRACES
    + """
import motion_matching
from motion_matching import registration

before = traces()
for _ in range(2):
    motion_matching.register()
    registered = traces()
    motion_matching.unregister()
    assert not differences(before, traces()), differences(before, traces())

motion_matching.unregister()  # a second time is harmless
motion_matching.register()
motion_matching.register()  # registering twice is harmless
assert not differences(registered, traces()), differences(registered, traces())
motion_matching.unregister()
assert not differences(before, traces())

# Blender does not list its commands, but warns when a name is taken twice.
os.dup2(1, 2)
again = bpy.utils.register_cli_command(registration.COMMAND, registration._run_command)
print("the name was free", flush=True)
motion_matching.register()
motion_matching.unregister()
bpy.utils.unregister_cli_command(again)
"""
)

# One leftover of each kind, which the comparison must find.
LEFT_BEHIND = (
    TRACES
    + """
def callback(*arguments):
    return None

class WM_MT_left_behind(bpy.types.Menu):
    bl_label = "Left Behind"
    def draw(self, context):
        pass

def left(kinds, add, remove):
    before = traces()
    add()
    found = differences(before, traces())
    remove()
    assert set(kinds) <= set(found), (kinds, found)
    assert not differences(before, traces()), differences(before, traces())

def add_property():
    bpy.types.Bone.left_behind = bpy.props.BoolProperty()

def remove_property():
    del bpy.types.Bone.left_behind

handles = []
def add_view():
    handles.append(bpy.types.SpaceView3D.draw_handler_add(callback, (), "WINDOW", "POST_VIEW"))
def remove_view():
    bpy.types.SpaceView3D.draw_handler_remove(handles.pop(), "WINDOW")

bpy.types.VIEW3D_MT_pose.append(callback)  # the first append changes the menu permanently
bpy.types.VIEW3D_MT_pose.remove(callback)
left(["classes"], lambda: bpy.utils.register_class(WM_MT_left_behind), lambda: bpy.utils.unregister_class(WM_MT_left_behind))
left(["properties"], add_property, remove_property)
left(["menu entries"], lambda: bpy.types.VIEW3D_MT_pose.append(callback),
     lambda: bpy.types.VIEW3D_MT_pose.remove(callback))
left(["handlers"], lambda: bpy.app.handlers.load_post.append(callback),
     lambda: bpy.app.handlers.load_post.remove(callback))
left(["timers"], lambda: bpy.app.timers.register(callback, first_interval=100),
     lambda: bpy.app.timers.unregister(callback))
owner = object()
left(["listeners"], lambda: bpy.msgbus.subscribe_rna(key=(bpy.types.Object, "name"), owner=owner, args=(), notify=callback),
     lambda: bpy.msgbus.clear_by_owner(owner))
left(["draw handlers"], add_view, remove_view)
left(["preset folders"], lambda: bpy.utils.register_preset_path(os.getcwd()),
     lambda: bpy.utils.unregister_preset_path(os.getcwd()))
config = bpy.context.window_manager.keyconfigs.addon or bpy.context.window_manager.keyconfigs.active
keymap = config.keymaps.new("3D View", space_type="VIEW_3D")
items = []
left(["keymap items"], lambda: items.append(keymap.keymap_items.new("wm.call_menu", "F8", "PRESS")),
     lambda: keymap.keymap_items.remove(items.pop()))
print("seen")
"""
)

# Registering must not load what only commands and sessions need.
WITHOUT_SCIPY_AND_SDL = """
import sys

class Blocked:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("scipy", "sdl2", "sdl2dll"):
            raise ModuleNotFoundError(f"{name} is blocked here", name=name)

sys.meta_path.insert(0, Blocked)
import motion_matching
motion_matching.register()
motion_matching.unregister()
try:
    import scipy
except ModuleNotFoundError:
    print("registered without")
"""


@pytest.fixture(autouse=True)
def watch_traces():
    watch()
    yield
    give_back()


@pytest.mark.slow
def test_the_comparison_finds_every_trace(run_in_blender):
    assert "seen" in run_in_blender(LEFT_BEHIND)


def test_registering_loads_neither_scipy_nor_sdl(run_in_blender):
    assert "registered without" in run_in_blender(WITHOUT_SCIPY_AND_SDL)


@pytest.mark.slow
def test_registering_twice_leaves_no_trace(run_in_blender):
    before, _, after = run_in_blender(TWICE_AND_NO_TRACE).partition("the name was free")
    assert "duplicate" not in before
    assert "duplicate" in after, (
        "Blender no longer warns of duplicate names, so this test checks nothing"
    )


def test_a_failed_registration_is_undone(monkeypatch):
    done = []

    def entry(name):
        def add():
            done.append(f"+{name}")
            return lambda: done.append(f"-{name}")

        return add

    def fail():
        raise RuntimeError("broken")

    monkeypatch.setattr(registration, "ENTRIES", (entry("a"), entry("b"), fail, entry("c")))
    with pytest.raises(RuntimeError, match="broken"):
        registration.register()
    assert done == ["+a", "+b", "-b", "-a"]
    registration.unregister()
    assert done == ["+a", "+b", "-b", "-a"]


def test_settings_have_no_methods():
    """Blender 4.2 keeps classes of settings until Python is gone, and crashes on their methods."""
    groups = [cls for cls in classes.ALL if issubclass(cls, bpy.types.PropertyGroup)]
    assert groups
    for group in groups:
        own = group.__mro__[: group.__mro__.index(bpy.types.PropertyGroup)]
        found = [(name, value) for cls in own for name, value in vars(cls).items()]
        methods = [name for name, value in found if isinstance(value, FunctionType)]
        assert not methods, (group, methods)
