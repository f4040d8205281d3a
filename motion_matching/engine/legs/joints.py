"""Joints of a few poses in the world, and how fast they accelerate."""

from __future__ import annotations

import numpy as np

# an entry of a rotation matrix, row by row, is one product of two components of the quaternion
# and another one with a sign, times 2 or -2, and on the diagonal 1 more
_ONE = np.array([2, 1, 1, 1, 1, 2, 1, 2, 1, 3, 0, 0, 0, 3, 0, 0, 0, 2])
_OTHER = np.array([2, 2, 3, 2, 1, 3, 3, 3, 1, 3, 3, 2, 3, 3, 1, 2, 1, 2])
_SIGNS = np.array([[1, -1, 1, 1, 1, -1, -1, 1, 1]], np.float32).T
_FACTORS = np.array([[-2, 2, 2, 2, -2, 2, 2, 2, -2]], np.float32).T


def compute_accelerations(places: np.ndarray, fps: float) -> np.ndarray:
    """Return the accelerations (T, N) in m/s² of joints (T, N, 3); 0 at both ends."""
    second = np.diff(places, n=2, axis=0) * fps**2
    return np.pad(np.linalg.norm(second, axis=-1), ((1, 1), (0, 0)))


class Joints:
    """The joints of a skeleton whose bones have `parents` (B,)."""

    def __init__(self, parents: np.ndarray) -> None:
        depths = np.zeros(len(parents), np.intp)
        above = np.asarray(parents)
        while (above >= 0).any():
            depths += above >= 0
            above = np.where(above >= 0, np.asarray(parents)[above], -1)
        # bones by depth: the bones with an ancestor a given number of levels up come last
        self._order = depths.argsort(kind="stable")
        self._places = self._order.argsort()
        above = np.asarray(parents)[self._order]
        above = np.where(above >= 0, self._places[above], -1)
        # the first bone that has an ancestor one, two, four and more levels up, and all of these
        self._ancestors: list[tuple[int, np.ndarray]] = []
        while (above >= 0).any():
            first = int((above >= 0).argmax())
            self._ancestors.append((first, above[first:]))
            above = np.where(above >= 0, above[above], -1)

    def compute_places(self, poses: np.ndarray) -> np.ndarray:
        """Return the joints (F, B, 3) of local poses (F, 7, B) in the world."""
        return self._compute_matrices(poses)[..., :3, 3][self._places].swapaxes(0, 1)

    def _compute_matrices(self, poses: np.ndarray) -> np.ndarray:
        """Return the world matrices (B, F, 4, 4) of local poses (F, 7, B), by depth.

        All bones are multiplied with their ancestors at once, in a few steps: for a few poses that
        takes a tenth of the time of going from bone to bone.
        """
        parts = poses.transpose(1, 2, 0).take(self._order, 1)
        rotations = parts[3:].reshape(4, -1)
        products = rotations.take(_ONE, 0)
        products *= rotations.take(_OTHER, 0)
        entries = products[:9]
        others = products[9:]
        others *= _SIGNS
        entries += others
        entries *= _FACTORS
        entries[::4] += 1.0
        _, *shape = parts.shape
        matrices = np.zeros((*shape, 4, 4), poses.dtype)
        matrices[..., :3, :3] = entries.reshape(3, 3, *shape).transpose(2, 3, 0, 1)
        matrices[..., :3, 3] = parts[:3].transpose(1, 2, 0)
        matrices[..., 3, 3] = 1.0
        for first, above in self._ancestors:
            matrices[first:] = matrices.take(above, 0) @ matrices[first:]
        return matrices

    def measure_acceleration(self, poses: np.ndarray, fps: float) -> float:
        """Return the largest acceleration of a joint in poses (F, 7, B), in m/s²; 0 for two."""
        return float(self.compute_hardest(poses[None], fps).max(initial=0.0))

    def compute_hardest(self, poses: np.ndarray, fps: float) -> np.ndarray:
        """Return the largest acceleration of a joint in each of J runs of poses (J, F, 7, B).

        The result (J, F - 2), in m/s², is for all poses but both ends.
        """
        runs, frames, _, bones = poses.shape
        matrices = self._compute_matrices(poses.reshape(-1, *poses.shape[2:]))
        places = matrices[..., :3, 3].reshape(bones, runs, frames, 3)
        steps = places[:, :, 1:] - places[:, :, :-1]
        second = steps[:, :, 1:] - steps[:, :, :-1]
        squares = np.einsum("bjfc,bjfc->bjf", second, second).max(axis=0)
        return fps**2 * np.sqrt(squares).astype(np.float64)
