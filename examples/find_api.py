"""Find the Python interface: that of the extension in Blender, otherwise that of this checkout.

Copy the function into a script of your own, or into Blender's text editor.
"""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType


def find_api() -> ModuleType:
    """Import the API of the enabled extension; without Blender or the extension, the checkout's."""
    addons = sys.modules["bpy"].context.preferences.addons.keys() if "bpy" in sys.modules else []
    package = next(
        (name for name in addons if name.endswith(".motion_matching")), "motion_matching"
    )
    if package == "motion_matching":
        sys.path.append(str(Path(__file__).resolve().parents[1]))
    return import_module(f"{package}.api")
