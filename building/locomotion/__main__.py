"""Write the built-in clips into the package: `python3 build.py clips`, if the motion changed."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from motion_matching.engine.building.demo_clips import (
    CLIMB,
    DIFFERENCES,
    FILE,
    LEVEL,
    SEED,
    STANDING,
    compute_real_parts,
    order_bits,
)

from .climbs import generate_climbs
from .locomotion import generate, generate_standing

Array = np.ndarray


def main() -> int:
    """Write the clips, and print how large the file is."""
    np.savez_compressed(FILE, **build_arrays())
    print(f"{FILE}: {FILE.stat().st_size / 1e6:.1f} MB")
    return 0


def build_arrays() -> dict[str, Any]:
    """Return the file's arrays, which `demo_clips` describes."""
    kinds = {LEVEL: generate(SEED), CLIMB: generate_climbs(SEED), STANDING: [generate_standing()]}
    clips = [clip for made in kinds.values() for clip in made]
    skeleton = clips[0].skeleton
    rotations = np.concatenate([clip.rotations for clip in clips])
    hips = np.concatenate([clip.positions[:, 0] for clip in clips])
    return {
        "bones": np.array(skeleton.names),
        "parents": skeleton.parents,
        "rest": skeleton.rest_positions,
        "tip_bones": np.array([bone for bone, _ in skeleton.end_sites]),
        "tips": np.array([tip for _, tip in skeleton.end_sites]),
        "clips": np.array([clip.name for clip in clips]),
        "kinds": np.array([kind for kind, made in kinds.items() for _ in made]),
        "frames": np.array([clip.frame_count for clip in clips]),
        "fps": np.array(clips[0].fps),
    } | encode_poses(hips, rotations)


def encode_poses(hips: Array, rotations: Array) -> dict[str, Array]:
    """Return the arrays of hips (F, 3) and rotations (F, B, 4), float32, for `decode_poses`."""
    parts = np.concatenate([hips, rotations[..., 1:].reshape(len(hips), -1)], axis=1)
    moves = order_bits(parts.T)
    for _ in range(DIFFERENCES):
        moves = np.diff(moves, axis=1, prepend=np.uint32(0))
    expected = order_bits(compute_real_parts(rotations[..., 1:]).T)
    misses = order_bits(rotations[..., 0].T) - expected
    return {"moves": _split_bytes(moves), "misses": _split_bytes(misses)}


def _split_bytes(numbers: Array) -> Array:
    """Return differences (C, F) as bytes (4, C, F): small ones of either sign share their zeros."""
    signs = (numbers.view(np.int32) >> 31).view(np.uint32)
    folded = np.ascontiguousarray(((numbers << np.uint32(1)) ^ signs).astype("<u4"))
    return np.moveaxis(folded.view(np.uint8).reshape(*folded.shape, 4), -1, 0)


if __name__ == "__main__":
    sys.exit(main())
