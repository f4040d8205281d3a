"""Save the deform skeleton of one of Rigify's rigs: `-m building.studies.rigify_skeleton wolf FILE`.

In a process of its own, because only this module of the studies needs Blender.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from motion_matching.scene.rig.armature import read_skeleton
from tests.scene.rigify import create_rigify_rig


def main(kind: str, path: str) -> None:
    skeleton = read_skeleton(create_rigify_rig(kind), "deform")
    Path(path).write_bytes(pickle.dumps(skeleton))


if __name__ == "__main__":
    main(*sys.argv[1:])
