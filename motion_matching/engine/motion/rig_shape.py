"""Find the roles of bones from shape and motion alone, whatever their names, axes and the order of
siblings.

Chains that reach the ground are legs, the bone they branch from is the hips, the bone that arms
branch from is the upper spine, and the topmost chain ends in the head. World positions of the
clips' frames are used, because rest poses of motion capture often run all bones along one axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from ..errors import RigError
from ..maths import quat
from .clip import Clip
from .skeleton import Skeleton

LEG_PARTS = ("thigh", "shin", "foot", "toe")

_MOST_FRAMES = 4000
_MOST_CLIPS = 40
_REACH = 0.1  # a chain reaches the ground if its end comes below this share of the body's height
_LOW = 0.2  # bones below this share of the body's height belong to a foot
_LONG_SEGMENT = (
    0.2  # of a leg's length: thigh and shin are longer, a hip joint before them is shorter
)
_LONG_BRANCH = 0.25  # of the body's height: an arm is longer, a lock of hair or a coat-tail rarely
_STRAIGHT = np.radians(3.0)  # a joint that never bends more belongs to a twist bone, not to a knee
_STILL = np.radians(
    0.1
)  # a leaf that never turns more against its parent only marks the tip of a chain


def get_chain_to_root(skeleton: Skeleton, bone: int) -> list[int]:
    """Return the bone itself, then the bones above it."""
    return [bone, *skeleton.get_ancestors(bone)]


def get_descendants(skeleton: Skeleton, bone: int) -> list[int]:
    """Return all bones below a bone, in the skeleton's order."""
    result = {bone}
    for child, parent in enumerate(skeleton.parents):
        if int(parent) in result:
            result.add(child)
    return sorted(result - {bone})


def find_lowest_common_ancestor(skeleton: Skeleton, bones: Sequence[int]) -> int | None:
    """Return the lowest bone that is above each of `bones` or one of them; None if they have
    different roots.
    """
    shared = set.intersection(*(set(get_chain_to_root(skeleton, bone)) for bone in bones))
    return max(shared, key=lambda bone: len(skeleton.get_ancestors(bone)), default=None)


def sample_frames(
    skeleton: Skeleton, clips: Sequence[Clip], anchor: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sample frames from the middles of clips, or the rest pose if there are none, in float64.

    Returns local rotations (F, B, 4), world positions (F, B, 3) above a ground at zero, world
    rotations (F, B, 4) and the ground velocity (F, 3) of bone `anchor` in m/s.
    """
    leaves = sorted(set(range(skeleton.bone_count)) - {int(parent) for parent in skeleton.parents})
    if not any(clip.frame_count for clip in clips):
        rotations, positions = skeleton.compute_rest_world()
        positions = positions - [0.0, 0.0, positions[leaves, 2].min()]
        local = np.asarray(skeleton.rest_rotations, dtype=np.float64)
        return local[None], positions[None], rotations[None].astype(np.float64), np.zeros((1, 3))
    chosen = [clip for clip in clips if clip.frame_count]
    chosen = chosen[:: max(1, len(chosen) // _MOST_CLIPS)]
    share = max(2, _MOST_FRAMES // len(chosen))
    parts: list[tuple[np.ndarray, ...]] = []
    for clip in chosen:
        start = max(0, (clip.frame_count - share) // 2)
        part = clip.crop(start, start + share)
        rotations, positions = quat.fk(
            part.rotations.astype(np.float64), part.positions.astype(np.float64), skeleton.parents
        )
        positions[..., 2] -= np.percentile(positions[:, leaves, 2].min(axis=1), 10)
        velocity = np.zeros((len(positions), 3))
        if len(positions) > 1:
            velocity[:, :2] = np.gradient(positions[:, anchor, :2], 1.0 / clip.fps, axis=0)
        parts.append((part.rotations.astype(np.float64), positions, rotations, velocity))
    local, positions, rotations, velocities = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    return local, positions, rotations, velocities


def find_roles_by_shape(skeleton: Skeleton, clips: Sequence[Clip]) -> dict[str, int]:
    """Return the bones by role ('hips', 'spine', 'head', 'left_thigh', …) that can be recognised.

    Raises RigError if fewer than two chains of bones reach the ground, or if they do not branch
    from one bone.
    """
    local, positions, rotations, _ = sample_frames(skeleton, clips)
    ends = _compute_chain_ends(skeleton, positions, rotations)
    body = float(np.median(positions[..., 2].max(axis=1)))
    feet = _find_feet(skeleton, ends, positions, body)
    if len(feet) < 2:
        raise RigError(
            "No legs can be recognised on the rig: fewer than two chains of bones reach the "
            "ground; name hips, thighs, shins and feet in the rig's roles."
        )
    forks = {foot: _find_fork(skeleton, foot, feet) for foot in feet}
    # a fork near the ground belongs to targets and other helpers, not to a body
    joints = {
        foot: fork
        for foot, fork in forks.items()
        if fork is not None and np.median(positions[:, fork, 2]) > _LOW * body
    }
    hips = min(joints.values(), key=lambda bone: len(skeleton.get_ancestors(bone)), default=None)
    if hips is None:
        raise RigError(
            "No hips can be recognised on the rig: its legs do not branch from one bone; "
            "name hips, thighs, shins and feet in the rig's roles."
        )
    legs = sorted(
        (
            (joint, _find_leg_bones(skeleton, joint, foot, ends[foot], positions))
            for foot, joint in joints.items()
        ),
        key=lambda pair: (len(skeleton.get_ancestors(pair[0])), pair[0]),
    )
    upper = _find_upper_body(skeleton, hips, joints, ends, positions, body)
    if "head" in upper and _is_tip(skeleton, upper["head"], local):
        upper["head"] = int(skeleton.parents[upper["head"]])
    return (
        {"hips": hips}
        | upper
        | _assign_sides(legs, positions, ends, sample_frames(skeleton, clips, hips)[3])
    )


def _compute_chain_ends(
    skeleton: Skeleton, positions: np.ndarray, rotations: np.ndarray
) -> dict[int, np.ndarray]:
    """Return world paths (F, 3) of the ends of chains by their last bone: of its end site, or of
    the bone itself.
    """
    tips = {bone: np.asarray(offset, dtype=np.float64) for bone, offset in skeleton.end_sites}
    leaves = set(range(skeleton.bone_count)) - {int(parent) for parent in skeleton.parents}
    return {
        bone: positions[:, bone] + quat.mul_vec(rotations[:, bone], tips.get(bone, np.zeros(3)))
        for bone in sorted(leaves)
    }


def _find_feet(
    skeleton: Skeleton, ends: dict[int, np.ndarray], positions: np.ndarray, body: float
) -> list[int]:
    """Return the last bone of every leg; of several toes and a heel, the one farthest out."""
    grounded = [bone for bone, end in ends.items() if np.percentile(end[:, 2], 20) < _REACH * body]
    height = np.median(positions[..., 2], axis=0)
    feet = _group_by_foot(
        skeleton,
        [bone for bone in grounded if _has_stance(ends[bone], positions)],
        height < _LOW * body,
    )
    if len(feet) < 2:
        # no foot stands still on a treadmill, or when skating
        feet = _group_by_foot(skeleton, grounded, height < _LOW * body)
    chosen = []
    for foot in feet:
        joint = find_lowest_common_ancestor(skeleton, foot)
        reach = {
            bone: np.mean(np.linalg.norm((ends[bone] - positions[:, joint])[:, :2], axis=-1))
            for bone in foot
        }
        chosen.append(max(reach, key=lambda bone: reach[bone]))
    return chosen


def _group_by_foot(skeleton: Skeleton, ends: Sequence[int], low: np.ndarray) -> list[list[int]]:
    """Group the ends of chains by foot: those that join in a bone with nothing but `low` (B,) bones
    below it.
    """
    feet: list[list[int]] = []
    for bone in ends:
        for foot in feet:
            joint = find_lowest_common_ancestor(skeleton, [bone, foot[0]])
            if joint is not None and low[[joint, *get_descendants(skeleton, joint)]].all():
                foot.append(bone)
                break
        else:
            feet.append([bone])
    return feet


def _has_stance(end: np.ndarray, positions: np.ndarray) -> bool:
    """Return whether the end of a chain rests at times while the body travels, as a dragged tail
    does not.
    """
    if len(end) < 3:
        return True
    steps = np.linalg.norm(np.diff(end[:, :2], axis=0), axis=-1)
    body = np.linalg.norm(np.diff(positions[..., :2].mean(axis=1), axis=0), axis=-1)
    moving = body > max(0.3 * float(np.percentile(body, 90)), 1e-3)
    return not moving.any() or float(np.percentile(steps[moving] / body[moving], 15)) < 0.5


def _find_fork(skeleton: Skeleton, foot: int, feet: Sequence[int]) -> int | None:
    """Return the lowest bone that a leg shares with another leg."""
    shared = [
        find_lowest_common_ancestor(skeleton, [foot, other]) for other in feet if other != foot
    ]
    return max(
        (bone for bone in shared if bone is not None),
        key=lambda b: len(skeleton.get_ancestors(b)),
        default=None,
    )


def _find_leg_bones(
    skeleton: Skeleton, fork: int, foot: int, end: np.ndarray, positions: np.ndarray
) -> dict[str, int]:
    """Return the bones by part of the leg from `fork` (exclusive) down to the last bone `foot` and
    its `end`.

    Thigh and shin are the first two consecutive long segments; bones of one straight segment count
    once.
    """
    chain = get_chain_to_root(skeleton, foot)
    chain = chain[: chain.index(fork)][::-1]
    points = np.stack([*(positions[:, bone] for bone in chain), end], axis=1)
    if np.median(np.linalg.norm(points[:, -1] - points[:, -2], axis=-1)) < 1e-3:
        points = points[:, :-1]
    joints = _find_bends(points)
    first = _find_first_long_pair(points[:, joints])
    if first is None:
        # no knee bends in the straight legs of a rest pose, so every bone counts
        joints = list(range(points.shape[1]))
        first = _find_first_long_pair(points) or 0
    parts = [chain[joint] for joint in joints[first:] if joint < len(chain)]
    return dict(zip(LEG_PARTS, parts, strict=False))


def _find_bends(points: np.ndarray) -> list[int]:
    """Return the indices of the points (F, N, 3) at which a chain starts, bends or ends."""
    segments = np.diff(points, axis=1)
    before, after = segments[:, :-1], segments[:, 1:]
    angle = np.arctan2(
        np.linalg.norm(np.cross(before, after), axis=-1), np.sum(before * after, axis=-1)
    )
    return [
        0,
        *(int(i) + 1 for i in np.flatnonzero(angle.max(axis=0) > _STRAIGHT)),
        points.shape[1] - 1,
    ]


def _find_first_long_pair(points: np.ndarray) -> int | None:
    """Return the index of the first of two consecutive long segments; None if there are none."""
    lengths = np.median(np.linalg.norm(np.diff(points, axis=1), axis=-1), axis=0)
    long = lengths > _LONG_SEGMENT * lengths.sum()
    return next((i for i in range(len(long) - 1) if long[i] and long[i + 1]), None)


def _find_upper_body(
    skeleton: Skeleton,
    hips: int,
    joints: dict[int, int],
    ends: dict[int, np.ndarray],
    positions: np.ndarray,
    body: float,
) -> dict[str, int]:
    """Find spine and head on the chain from the hips to the topmost end; arms or forelegs branch
    from the spine.
    """
    legs = {bone for foot in joints for bone in get_chain_to_root(skeleton, foot)}
    forks = set(joints.values()) - {hips}
    tops = {
        bone: float(np.median(end[:, 2]))
        for bone, end in ends.items()
        if hips in skeleton.get_ancestors(bone) and bone not in joints
    }
    chains = {
        bone: [b for b in get_chain_to_root(skeleton, bone) if hips in skeleton.get_ancestors(b)][
            ::-1
        ]
        for bone in tops
    }
    # a chain that branches from a leg, such as a twist bone or a toe, is not a spine
    tops = {
        bone: top
        for bone, top in tops.items()
        if chains[bone][0] not in legs or forks & set(chains[bone])
    }
    if not tops:
        return {"spine": hips}
    head = max(tops, key=lambda bone: tops[bone])
    chain = chains[head]
    spine = next((bone for bone in chain if bone in forks), None)
    if spine is None:
        spine = next(
            (b for b in chain if _count_long_branches(skeleton, b, chain, positions, body) >= 2),
            None,
        )
    if spine is None:
        return {"spine": chain[(len(chain) - 1) // 2], "head": _find_head(skeleton, chain)}
    return {"spine": spine, "head": _find_head(skeleton, chain[chain.index(spine) :])}


def _find_head(skeleton: Skeleton, chain: Sequence[int]) -> int:
    """Return the bone above the spine that a face or hair branches from, otherwise the last of its
    chain.
    """
    return next((bone for bone in chain[1:] if len(skeleton.get_children(bone)) > 1), chain[-1])


def _is_tip(skeleton: Skeleton, bone: int, local: np.ndarray) -> bool:
    """Return whether a bone at the end of a chain never turns against its parent, like one at the
    top of a head.
    """
    parent = int(skeleton.parents[bone])
    lone = (
        parent >= 0 and skeleton.get_children(parent) == [bone] and not skeleton.get_children(bone)
    )
    return (
        lone
        and len(local) > 1
        and float(quat.angle_between(local[:, bone], local[:1, bone]).max()) < _STILL
    )


def _count_long_branches(
    skeleton: Skeleton, bone: int, chain: Sequence[int], positions: np.ndarray, body: float
) -> int:
    """Count the branches of `bone` that are as long as an arm, without the one on the `chain` to
    the head.
    """
    count = 0
    for child in skeleton.get_children(bone):
        if child not in chain:
            reach = {child: 0.0}
            for lower in get_descendants(skeleton, child):
                parent = int(skeleton.parents[lower])
                length = np.median(
                    np.linalg.norm(positions[:, lower] - positions[:, parent], axis=-1)
                )
                reach[lower] = reach[parent] + float(length)
            count += max(reach.values()) > _LONG_BRANCH * body
    return count


def _assign_sides(
    legs: Sequence[tuple[int, dict[str, int]]],
    positions: np.ndarray,
    ends: dict[int, np.ndarray],
    velocities: np.ndarray,
) -> dict[str, int]:
    """Return leg parts by role; left and right are seen from where the feet point or the
    body goes.
    """
    left = np.cross(
        [0.0, 0.0, 1.0], _estimate_facing([leg for _, leg in legs], positions, ends, velocities)
    )
    roles: dict[str, int] = {}
    count = {"left": 0, "right": 0, "middle": 0}
    for fork in dict.fromkeys(fork for fork, _ in legs):
        pair = [leg for joint, leg in legs if joint == fork]
        across = [
            float(
                np.mean(np.sum((positions[:, leg["thigh"]] - positions[:, fork]) * left, axis=-1))
            )
            for leg in pair
        ]
        middle = float(np.mean(across))
        for offset, leg in sorted(zip(across, pair, strict=True), key=lambda item: -item[0]):
            word = "left" if offset > middle else "right" if offset < middle else "middle"
            word = "middle" if len(pair) == 1 else word
            count[word] += 1
            label = word + (str(count[word]) if count[word] > 1 else "")
            roles |= {f"{label}_{part}": bone for part, bone in leg.items()}
    return roles


def _estimate_facing(
    legs: Sequence[dict[str, int]],
    positions: np.ndarray,
    ends: dict[int, np.ndarray],
    velocities: np.ndarray,
) -> np.ndarray:
    """Return ground vectors (F, 3) along which the character faces: by its toes, its travel, or
    Blender's -Y.
    """
    heels = [positions[:, leg["foot"]] for leg in legs if "foot" in leg]
    toes = [
        positions[:, leg["toe"]]
        if "toe" in leg
        else ends.get(leg["foot"], positions[:, leg["foot"]])
        for leg in legs
        if "foot" in leg
    ]
    ahead = compute_planted_direction(heels, toes) if toes else velocities
    if np.linalg.norm(ahead, axis=-1).max() < 0.02:
        ahead = velocities
    if np.linalg.norm(ahead, axis=-1).max() < 0.02:
        return np.broadcast_to([0.0, -1.0, 0.0], ahead.shape)
    return ahead


def compute_planted_direction(
    heels: Sequence[np.ndarray], toes: Sequence[np.ndarray]
) -> np.ndarray:
    """Return the sum (F, 3) of ground vectors from heel to toe, each (F, 3), of the feet that are
    down.

    Feet in the air are ignored: those of a runner point down and backward. The sum is zero where no
    foot is down.
    """
    ahead = np.zeros_like(toes[0])
    for heel, toe in zip(heels, toes, strict=True):
        down = toe[:, 2] <= np.percentile(toe[:, 2], 40)
        ahead += (toe - heel) * down[:, None] * np.array([1.0, 1.0, 0.0])
    return ahead


def find_pairs_by_shape(
    skeleton: Skeleton, thighs: tuple[Sequence[int], Sequence[int]], clips: Sequence[Clip]
) -> np.ndarray:
    """Return counterparts (B,) by the similarity of chains on either side; bones in the middle have
    themselves.

    `thighs` are the left and the right ones; the line between them separates the sides.
    """
    from scipy.optimize import linear_sum_assignment  # loads in 0.2 s

    _, positions, _, _ = sample_frames(skeleton, clips)
    lateral = positions[:, list(thighs[0])].mean(axis=1) - positions[:, list(thighs[1])].mean(
        axis=1
    )
    lateral = quat.normalize_vectors(lateral)
    dissimilarity = _Dissimilarity(skeleton, positions)
    pairs = np.arange(skeleton.bone_count)
    for bone in range(skeleton.bone_count):
        other = int(pairs[bone])
        ours = skeleton.get_children(bone)
        if other == bone:
            for one, two in _pair_children(skeleton, bone, ours, positions, lateral, dissimilarity):
                pairs[one], pairs[two] = two, one
        elif bone < other and ours:
            theirs = skeleton.get_children(other)
            cost = np.array(
                [
                    [
                        dissimilarity.compare(a, b) + dissimilarity.compare_siblings(a, b)
                        for b in theirs
                    ]
                    for a in ours
                ]
            )
            for i, j in zip(
                *linear_sum_assignment(cost.reshape(len(ours), len(theirs))), strict=True
            ):
                pairs[ours[i]], pairs[theirs[j]] = theirs[j], ours[i]
    return pairs


class _Dissimilarity:
    """Measures by how many metres the lengths of the chains below two bones differ, which is the
    same in any pose.
    """

    def __init__(self, skeleton: Skeleton, positions: np.ndarray) -> None:
        self.skeleton, self.positions = skeleton, positions
        from_parent = positions - positions[:, np.maximum(skeleton.parents, 0)]
        self.lengths = np.median(np.linalg.norm(from_parent, axis=-1), axis=0)
        self.differences: dict[tuple[int, int], float] = {}

    def measure_length(self, bone: int) -> float:
        """Return the length from a bone to its parent plus that of all bones below."""
        return float(self.lengths[[bone, *get_descendants(self.skeleton, bone)]].sum())

    def compare(self, one: int, two: int) -> float:
        """Return the difference in lengths of two bones and of all bones below them, matched at
        best.
        """
        from scipy.optimize import linear_sum_assignment  # loads in 0.2 s

        if (one, two) not in self.differences:
            ours, theirs = self.skeleton.get_children(one), self.skeleton.get_children(two)
            cost = np.array([[self.compare(a, b) for b in theirs] for a in ours]).reshape(
                len(ours), len(theirs)
            )
            rows, columns = linear_sum_assignment(cost)
            unmatched = [ours[i] for i in set(range(len(ours))) - set(rows)]
            unmatched += [theirs[j] for j in set(range(len(theirs))) - set(columns)]
            own = abs(float(self.lengths[one] - self.lengths[two]))
            rest = sum(self.measure_length(bone) + 0.01 for bone in unmatched)
            self.differences[one, two] = own + float(cost[rows, columns].sum()) + rest
        return self.differences[one, two]

    def compare_siblings(self, one: int, two: int) -> float:
        """Return the difference in distances to siblings, which distinguishes fingers of the same
        length.
        """
        profiles = [
            np.sort(
                np.median(
                    np.linalg.norm(
                        self.positions[:, siblings] - self.positions[:, [bone]], axis=-1
                    ),
                    axis=0,
                )
            )
            for bone in (one, two)
            for siblings in [self.skeleton.get_children(int(self.skeleton.parents[bone]))]
        ]
        return (
            float(np.abs(profiles[0] - profiles[1]).sum())
            if len(profiles[0]) == len(profiles[1])
            else 0.0
        )


def _pair_children(
    skeleton: Skeleton,
    bone: int,
    children: Sequence[int],
    positions: np.ndarray,
    lateral: np.ndarray,
    dissimilarity: _Dissimilarity,
) -> list[tuple[int, int]]:
    """Return pairs among the children of a bone in the middle: similar ones, as far to the left as
    to the right.
    """
    aside = {}
    for child in children:
        centre = positions[:, [child, *get_descendants(skeleton, child)]].mean(axis=1)
        aside[child] = float(np.mean(np.sum((centre - positions[:, bone]) * lateral, axis=-1)))
    options = []
    for one, two in combinations(children, 2):
        farther = max(abs(aside[one]), abs(aside[two]))
        uneven = abs(aside[one] + aside[two])
        difference = dissimilarity.compare(one, two)
        allowed = (
            0.25 * (dissimilarity.measure_length(one) + dissimilarity.measure_length(two)) + 0.01
        )
        if aside[one] * aside[two] < 0 and uneven < farther and difference < allowed:
            options.append((difference + uneven, one, two))
    chosen: list[tuple[int, int]] = []
    for _, one, two in sorted(options):
        if not any({one, two} & set(pair) for pair in chosen):
            chosen.append((one, two))
    return chosen
