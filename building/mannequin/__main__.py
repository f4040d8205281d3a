"""Sculpt the mannequin into the package: `python -m building.mannequin`, if its shape changed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from building.locomotion.humanoid import build_humanoid_skeleton

from .shape import sculpt_mannequin

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "motion_matching" / "scene" / "staging" / "mannequin.npz"


def main() -> int:
    """Write the mannequin around the demo's skeleton, and print how large the file is."""
    np.savez_compressed(FILE, **build_arrays())
    print(f"{FILE}: {FILE.stat().st_size / 1e3:.0f} kB")
    return 0


def build_arrays() -> dict[str, Any]:
    """Return the file's arrays: points (V, 3) in metres, faces, and weights (V, B) of the bones.

    Column by column they compress to half the size that they have row by row.
    """
    shape = sculpt_mannequin(build_humanoid_skeleton())
    arrays = {
        "points": shape.points.astype(np.float32),
        "quads": shape.quads.astype(np.uint16),
        "triangles": shape.triangles.astype(np.uint16),
        "accent": shape.accent,
        "weights": shape.weights.astype(np.float32),
    }
    return {name: np.asfortranarray(array) for name, array in arrays.items()}


if __name__ == "__main__":
    sys.exit(main())
