"""BVH files with several roots: performers, cameras and props."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from motion_matching.engine.bvh import bvh
from motion_matching.engine.motion.clip import Clip

_SIX = "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation"
CAMERA = f"ROOT Camera\n{{\nOFFSET 0 0 0\n{_SIX}\nEnd Site\n{{\nOFFSET 0 0 1\n}}\n}}\n"
SWORD = (
    f"ROOT Sword\n{{\nOFFSET 0 0 0\n{_SIX}\nJOINT Tip\n{{\nOFFSET 0 90 0\n"
    "CHANNELS 0\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\n}\n"
)


def write_roots(path: Path, parts: Mapping[str, Clip | str]) -> Path:
    """Write one file of clips by the prefix of their bones, and of roots as text, in that order."""
    heads, rows, fps = [], [], 30.0
    for prefix, part in parts.items():
        if isinstance(part, str):
            heads.append(part)
            rows.append(None)
            continue
        names = tuple(prefix.strip() + name for name in part.skeleton.names)
        with tempfile.TemporaryDirectory() as folder:
            alone, fps = Path(folder) / "alone.bvh", part.fps
            bvh.save(replace(part, skeleton=part.skeleton.with_names(names)), alone)
            head, motion = alone.read_text().split("MOTION\n")
        heads.append(head.removeprefix("HIERARCHY\n"))
        rows.append(motion.strip().split("\n")[2:])
    count = max(len(lines) for lines in rows if lines)
    joined = [
        " ".join(lines[frame] if lines else "0 150 -300 0 0 0" for lines in rows)
        for frame in range(count)
    ]
    motion = "\n".join([f"Frames: {count}", f"Frame Time: {1 / fps:.7f}", *joined, ""])
    path.write_text(f"HIERARCHY\n{''.join(heads)}MOTION\n{motion}")
    return path
