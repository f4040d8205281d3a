"""A small batch for farms to run: a build, and takes of its database; and what it writes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from motion_matching.engine.bvh import bvh
from tests.demo import generate_clips

ROOT = Path(__file__).resolve().parents[2]
TAKES = 6


def write_batch(folder: Path, seconds: float = 0.5) -> Path:
    """Write a batch and the clips that it reads into a new folder, and return its file."""
    clips = folder / "clips"
    clips.mkdir(parents=True)
    for clip in generate_clips():
        if clip.name in ("idle", "walk_speeds"):
            bvh.save(clip, clips / f"{clip.name}.bvh")
    (folder / "out").mkdir()
    batch = {
        "rows": [{"command": "build", "sources": ["clips"], "output": "walk.npz"}],
        "products": [
            {
                "command": "take",
                "database": "walk.npz",
                "script": ["turns", "flips"],
                "seed": {"from": 0, "count": TAKES // 2},
                "seconds": seconds,
                "bvh": "out/{script}_{seed}.bvh",
            }
        ],
    }
    path = folder / "jobs.json"
    path.write_text(json.dumps(batch))
    return path


def read_takes(folder: Path) -> dict[str, bytes]:
    """Return the takes that a batch wrote into its folder, by name."""
    return {path.name: path.read_bytes() for path in sorted((folder / "out").glob("[!.]*.bvh"))}


def make_environment() -> dict[str, str]:
    """Return an environment in which this Python finds the package, wherever it is started."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OPENBLAS_NUM_THREADS": "1"}


def run_batch(*words: object) -> list[object]:
    """Return the command line of `batch` with these words."""
    return [sys.executable, "-m", "motion_matching", "batch", *words]
