"""What an extension can leave behind in Blender, as a script that defines `traces()` and watches."""

from __future__ import annotations

from pathlib import Path

# the Python module crashes at exit unless its types are restored; the program has freed them by
# then
TRACES = (
    (Path(__file__).parent / "traces_in_blender.py")
    .read_text(encoding="utf-8")
    .replace("from __future__ import annotations\n", "")
    + """
import atexit
import os
watch()
if not bpy.app.binary_path:
    atexit.register(give_back)
"""
)
