"""Write `performed.npz` anew: how this version performs the takes of this folder.

PYTHONPATH=. PYTHON tests/data/before/record.py

Only for a version that is meant to perform takes otherwise than the one before: say so in the
changelog. See README.md.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

USER = tempfile.mkdtemp(prefix="before-")
os.environ["BLENDER_USER_RESOURCES"] = USER  # the library is there

import numpy as np  # noqa: E402

import motion_matching  # noqa: E402
from tests import test_files_of_the_version_before as before  # noqa: E402


def main() -> None:
    motion_matching.register()
    try:
        takes = {}
        for method, use_markers, first, again in before.PERFORMER["takes"]:
            if method != "FIELD":
                performer = before.open_performer(before.BEFORE)
                action = before.perform_again(performer, method, use_markers, first)
                takes |= before.name_curves(again, action)
        path = Path(USER) / "now.bvh"
        before.perform_script(before.BEFORE, path)
        np.savez_compressed(before.PERFORMED, **takes, **before.name_motion(path))
    finally:
        motion_matching.unregister()
        shutil.rmtree(USER, ignore_errors=True)


if __name__ == "__main__":
    main()
