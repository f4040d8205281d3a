"""The Blender of the test process: its user folder, and its state at the start of each test."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

# Blender reads this when bpy is imported, so it is set first. Every process has its own user
# folder.
USER_FOLDER = Path(tempfile.mkdtemp(prefix="motion-matching-tests-"))
os.environ["BLENDER_USER_RESOURCES"] = str(USER_FOLDER)
atexit.register(shutil.rmtree, USER_FOLDER, ignore_errors=True)


def reset_blender() -> None:
    """Reset Blender to its start, with the extension registered and an empty user folder (about
    0.02 s).
    """
    import bpy

    import motion_matching
    from motion_matching.app.runtime import runtime

    motion_matching.unregister()
    if bpy.context.preferences.is_dirty:
        # read_factory_userpref crashes without a window in 4.2: it makes textures of the icons
        bpy.ops.wm.read_factory_settings()
        bpy.context.preferences.is_dirty = False
    else:
        bpy.ops.wm.read_homefile(use_factory_startup=True)
    for entry in USER_FOLDER.iterdir():
        shutil.rmtree(entry)
    motion_matching.register()
    runtime.end_message = ""  # of a session that the test before left running
