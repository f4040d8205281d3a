"""Random motion, and its evaluation in Blender. Scripts that run inside Blender import it."""

from __future__ import annotations

import bpy
import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton
from motion_matching.scene.rig.armature import BoneMap, to_blender_names
from motion_matching.scene.rig.fitting import ArmatureState, fit


def fit_bones(obj: bpy.types.Object, skeleton: Skeleton) -> BoneMap:
    """Map a skeleton to an armature object that rests the same."""
    nowhere = quat.IDENTITY.copy(), np.zeros(3)
    return fit(ArmatureState.from_object(obj), skeleton, nowhere)


def to_basis(
    fitted: BoneMap, rotations: np.ndarray, positions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Convert local poses to pose bones' rotations `(..., B, 4)` and locations `(..., B, 3)`."""
    turned = quat.mul(quat.mul(fitted.before, rotations), fitted.after)
    moved = quat.mul_vec(fitted.before, positions - fitted.rest_positions)
    return quat.normalize(turned), moved / fitted.scale


def make_random_rotations(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return quat.normalize(rng.normal(size=(*shape, 4))).astype(np.float32)


def make_random_skeleton(rng: np.random.Generator, bones: int = 18) -> Skeleton:
    """Make a tree with any rest pose, names that need escaping, end sites, and a bone at its
    parent's head.
    """
    parents = np.array(
        [-1, *(int(rng.integers(max(0, bone - 4), bone)) for bone in range(1, bones))]
    )
    positions = (0.4 * rng.normal(size=(bones, 3))).astype(np.float32)
    positions[bones // 2] = 0.0
    names = tuple(f'bone "{bone}"\\' for bone in range(bones))
    return Skeleton(
        names,
        parents,
        positions,
        make_random_rotations(rng, bones),
        ((bones - 1, (0.1, 0.0, 0.2)),),
    )


def make_random_clip(
    seed: int, frames: int = 40, fps: float = 30.0, moving: tuple[int, ...] | None = None
) -> Clip:
    """Make random poses, the worst case. Positions vary in the `moving` bones, or in all (six
    channels).
    """
    rng = np.random.default_rng(seed)
    skeleton = make_random_skeleton(rng)
    positions = np.repeat(skeleton.rest_positions[None], frames, axis=0)
    bones = list(range(skeleton.bone_count) if moving is None else moving)
    positions[:, bones] += rng.normal(size=(frames, len(bones), 3)).astype(np.float32)
    return Clip(
        "random", skeleton, positions, make_random_rotations(rng, frames, skeleton.bone_count), fps
    )


def to_matrices(rotations: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return matrices `(..., 4, 4)`."""
    result = np.zeros((*positions.shape[:-1], 4, 4))
    result[..., :3, :3] = quat.to_matrix(rotations.astype(np.float64))
    result[..., :3, 3] = positions
    result[..., 3, 3] = 1.0
    return result


def compute_motion_from_rest(clip: Clip, skeleton: Skeleton) -> np.ndarray:
    """Return each bone's transform from the rest pose to its place in each frame `(F, B, 4, 4)`, in
    the world.
    """
    return to_matrices(*clip.compute_world()) @ np.linalg.inv(
        to_matrices(*skeleton.compute_rest_world())
    )


def evaluate_motion_from_rest(
    obj: bpy.types.Object, names: tuple[str, ...], frames: np.ndarray
) -> np.ndarray:
    """Return the same `(F, B, 4, 4)` of an armature evaluated by Blender, whatever its bone axes."""
    bones = to_blender_names(names)
    rest = np.array([obj.data.bones[bone].matrix_local for bone in bones], dtype=np.float64)
    result = np.empty((len(frames), len(bones), 4, 4))
    for i, frame in enumerate(frames):
        whole = int(np.floor(frame))
        bpy.context.scene.frame_set(whole, subframe=float(frame - whole))
        evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
        result[i] = [evaluated.matrix_world @ evaluated.pose.bones[bone].matrix for bone in bones]
    return result @ np.linalg.inv(rest)


def assert_moves_like(
    obj: bpy.types.Object, clip: Clip, skeleton: Skeleton, frames: np.ndarray
) -> None:
    """Check that at these frames of the scene every bone is where the clip has it, to 1e-4."""
    expected = compute_motion_from_rest(clip, skeleton)
    _, heads = skeleton.compute_rest_world()
    for bone in range(skeleton.bone_count):  # compare heads rather than the far origin
        expected[:, bone, :3, 3] += expected[:, bone, :3, :3] @ heads[bone].astype(np.float64)
    found = evaluate_motion_from_rest(obj, clip.skeleton.names, frames)
    for bone in range(skeleton.bone_count):
        found[:, bone, :3, 3] += found[:, bone, :3, :3] @ heads[bone].astype(np.float64)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
