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
    enabled = [name for name in addons if name.endswith(".motion_matching")]
    if not enabled:
        sys.path.append(str(Path(__file__).resolve().parents[1]))
    return import_module(f"{enabled[0] if enabled else 'motion_matching'}.api")
