"""Perform a circle with the actions of the active armature, and write it onto that armature.

In Blender's text editor: select the armature and press Run Script. From a shell, for a file and its
active armature:

    blender --background hero.blend --python examples/onto_active_armature.py -- \\
        --save hero_circle.blend

With Blender's Python module:

    python examples/onto_active_armature.py --file hero.blend --save hero_circle.blend
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import bpy
import numpy as np


def find_api() -> ModuleType:
    """Import the API of the enabled extension; without Blender or the extension, the checkout's."""
    addons = sys.modules["bpy"].context.preferences.addons.keys() if "bpy" in sys.modules else []
    enabled = [name for name in addons if name.endswith(".motion_matching")]
    if not enabled:
        sys.path.append(str(Path(__file__).resolve().parents[1]))
    return import_module(f"{enabled[0] if enabled else 'motion_matching'}.api")


api = find_api()


def make_circle(seconds: float, speed: float, fps: float = 30.0):
    """Return a performance that goes once round a circle at a speed in m/s."""
    angle = np.linspace(0.0, 2.0 * np.pi, round(seconds * fps))
    velocities = speed * np.column_stack([np.sin(angle), -np.cos(angle)])
    return api.make_performance(velocities, fps=fps, name="circle")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--file", type=Path, help="the file to open first")
    parser.add_argument("--save", type=Path, help="the copy to save")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--speed", type=float, default=1.3, help="m/s")
    given = sys.argv[sys.argv.index("--") + 1 :] if "--" in sys.argv else sys.argv[1:]
    arguments = parser.parse_args([] if not bpy.app.background else given)

    if arguments.file:
        bpy.ops.wm.open_mainfile(filepath=str(arguments.file.absolute()))
    armature = bpy.context.view_layer.objects.active
    if armature is None or armature.type != "ARMATURE":
        sys.exit("Make an armature the active object; the take is made of its actions.")
    clips = api.read_actions(armature)
    database = api.build(clips, api.BuildSettings(mirror=True))
    take = api.perform(database, make_circle(arguments.seconds, arguments.speed))
    action = api.write_action(take, armature, database, frame_start=bpy.context.scene.frame_start)
    first, last = action.frame_range
    print(
        f"'{action.name}' on '{armature.name}', frames {first:g} to {last:g}, of {len(clips)} "
        "actions."
    )
    if arguments.save:
        bpy.ops.wm.save_as_mainfile(filepath=str(arguments.save.absolute()), copy=True)
        print(f"Written: {arguments.save}.")


if __name__ == "__main__":
    main()
