"""Load the built-in clips: standing, walks and runs, and walks over ramps and stairs.

`building/locomotion` generates them and writes `demo_clips.npz`, from which they are read bit for
bit. For each component of a pose the file holds the difference of its bits, in the order of the
numbers, from a smooth course: a third of the size of the packed numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np

from ..errors import SettingsError
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.skeleton import Skeleton

Array = np.ndarray
SEED = 0  # seed of the generated clips
# kinds of clips
LEVEL = "level"
CLIMB = "climb"
STANDING = "standing"
DIFFERENCES = 3  # differences of successive bits; four make a larger file
FILE = Path(__file__).with_name("demo_clips.npz")


def load_demo_clips(climbs: bool = False, seed: int = SEED) -> list[Clip]:
    """Return 28 clips of 10 to 30 s at 30 fps that start and end standing, on level ground.

    With `climbs`, 14 more on ramps and stairs. Raises SettingsError for a seed that is not shipped.
    """
    if seed != SEED:
        raise SettingsError(
            f"The built-in clips are those of seed {SEED}, not of {seed}: leave the seed out. "
            "Clips of other seeds are made from the project's sources, by building/locomotion."
        )
    return list(_load((LEVEL, CLIMB) if climbs else (LEVEL,)))


def load_standing() -> Clip:
    """Return a clip of 32 s that only stands, long enough that an idle is not soon repeated."""
    return next(_load((STANDING,)))


@cache
def load_demo_skeleton() -> Skeleton:
    """Return 22 bones in a T-pose on the ground, facing -Y; rest rotations are the identity."""
    with np.load(FILE, allow_pickle=False) as file:
        names = file["bones"].tolist()
        tips = zip(file["tip_bones"], file["tips"], strict=True)
        rotations = np.tile(quat.IDENTITY, (len(names), 1)).astype(np.float32)
        ends = tuple((int(bone), tuple(tip.tolist())) for bone, tip in tips)
        return Skeleton(tuple(names), file["parents"], file["rest"], rotations, ends)


def _load(kinds: tuple[str, ...]) -> Iterator[Clip]:
    """Yield the clips of some kinds."""
    skeleton = load_demo_skeleton()
    with np.load(FILE, allow_pickle=False) as file:
        hips, rotations = decode_poses(file)
        stops = np.cumsum(file["frames"])
        fps = float(file["fps"])
        clips = zip(file["clips"].tolist(), file["kinds"], file["frames"], stops, strict=True)
        for name, kind, count, stop in clips:
            if kind in kinds:
                positions = np.tile(skeleton.rest_positions, (count, 1, 1))
                positions[:, 0] = hips[stop - count : stop]
                yield Clip(name, skeleton, positions, rotations[stop - count : stop].copy(), fps)


def decode_poses(file: Mapping[str, Array]) -> tuple[Array, Array]:
    """Return positions of the hips (F, 3) and local rotations (F, B, 4), float32.

    `moves` (4, C, F) hold hips and imaginary parts, `misses` (4, B, F) the differences of real
    parts from those of a unit quaternion; both as bytes of differences, lowest first.
    """
    bits = _join_bytes(file["moves"])
    for _ in range(DIFFERENCES):
        bits = np.cumsum(bits, axis=1, dtype=np.uint32)
    parts = _read_ordered(bits).T
    imaginary = parts[:, 3:].reshape(len(parts), -1, 3)
    expected = order_bits(compute_real_parts(imaginary).T)
    real = _read_ordered(expected + _join_bytes(file["misses"])).T
    return parts[:, :3], np.concatenate([real[..., None], imaginary], axis=-1)


def compute_real_parts(imaginary: Array) -> Array:
    """Return real parts (F, B), float32, of unit quaternions of imaginary parts (F, B, 3).

    It uses one float64 operation at a time, which every processor rounds alike.
    """
    squares = np.square(imaginary.astype(np.float64))
    left = 1.0 - (squares[..., 0] + squares[..., 1] + squares[..., 2])
    return np.sqrt(np.maximum(left, 0.0)).astype(np.float32)


def order_bits(numbers: Array) -> Array:
    """Return the bits of float32 (C, F) as uint32 whose differences are those of neighbours."""
    bits = np.ascontiguousarray(numbers).view(np.uint32)
    return np.where(bits >> 31, bits ^ np.uint32(0x7FFFFFFF), bits)


def _read_ordered(bits: Array) -> Array:
    """Return the float32 whose ordered bits these are: the order is its own inverse."""
    return order_bits(bits.view(np.float32)).view(np.float32)


def _join_bytes(parts: Array) -> Array:
    """Return differences (C, F), modulo 2^32, of their bytes (4, C, F)."""
    folded = np.ascontiguousarray(np.moveaxis(parts, 0, -1)).view("<u4")[..., 0].astype(np.uint32)
    return (folded >> 1) ^ -(folded & 1)
