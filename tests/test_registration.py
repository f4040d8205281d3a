"""What Blender gets, it gives back."""

from __future__ import annotations

import pytest

from motion_matching import registration

TWICE_AND_NO_TRACE = """
import os
import motion_matching
from motion_matching import registration

def traces():
    classes = {name for name in dir(bpy.types) if not name.startswith("_")}
    properties = {(kind, name) for kind in ("Scene", "Object", "Action", "WindowManager", "Armature")
                  for name in getattr(bpy.types, kind).bl_rna.properties.keys()}
    handlers = {(name, id(handler)) for name in dir(bpy.app.handlers)
                for handler in [getattr(bpy.app.handlers, name)] if isinstance(handler, list) for handler in handler}
    return classes, properties, handlers

before = traces()
motion_matching.register()
motion_matching.unregister()
motion_matching.register()
motion_matching.unregister()
assert traces() == before

motion_matching.unregister()  # once more does no harm

# Blender does not list its commands, but says so when a second one takes a name.
os.dup2(1, 2)
again = bpy.utils.register_cli_command(registration.COMMAND, registration._run_command)
print("the name was free", flush=True)
motion_matching.register()
motion_matching.unregister()
bpy.utils.unregister_cli_command(again)
"""


def test_registering_twice_leaves_no_trace(run_in_blender):
    before, _, after = run_in_blender(TWICE_AND_NO_TRACE).partition("the name was free")
    assert "duplicate" not in before
    assert "duplicate" in after, "Blender does not warn of a name taken twice any more: this test sees nothing"


def test_what_fails_to_register_takes_back_what_came_before(monkeypatch):
    done = []

    def entry(name):
        def add():
            done.append(f"+{name}")
            return lambda: done.append(f"-{name}")
        return add

    def broken():
        raise RuntimeError("broken")

    monkeypatch.setattr(registration, "REGISTERED", (entry("a"), entry("b"), broken, entry("c")))
    with pytest.raises(RuntimeError, match="broken"):
        registration.register()
    assert done == ["+a", "+b", "-b", "-a"]
    registration.unregister()
    assert done == ["+a", "+b", "-b", "-a"]
