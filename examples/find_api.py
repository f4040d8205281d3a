"""Find the scripting interface: that of the extension in Blender, else that of this checkout.

In a script of your own, also in Blender's text editor, copy the function.
"""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType


def find_api() -> ModuleType:
    """Import the interface of the enabled extension; without Blender or the extension, that of the
    checkout.
    """
    addons = sys.modules["bpy"].context.preferences.addons.keys() if "bpy" in sys.modules else []
    package = next(
        (name for name in addons if name.endswith(".motion_matching")), "motion_matching"
    )
    if package == "motion_matching":
        sys.path.append(str(Path(__file__).resolve().parents[1]))
    return import_module(f"{package}.api")
