"""Find the roles of bones from shape and motion alone, whatever their names, axes and order.

Chains that reach the ground are legs, the bone they branch from is the hips, the bone that arms
branch from is the upper spine, and the topmost chain ends in the head. World positions of the
clips' frames are used, because rest poses of motion capture often run all bones along one axis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ..errors import RigError
from ..maths.rotations import quat
from ..motion.clip import Clip
from ..skeleton.bone_names import split_side
from ..skeleton.skeleton import Skeleton
from .forelegs import leave_out_arms
from .numbers import NUMBERS
from .published_rigs import LEG_PARTS
from .sampled_body import SampledBody, estimate_facing, measure_segments


def label_legs(sides: Iterable[str]) -> list[str]:
    """Label legs on sides 'left', 'right' or 'middle'; a second left one becomes 'left2'."""
    labels: list[str] = []
    counts: Counter[str] = Counter()
    for side in sides:
        counts[side] += 1
        labels.append(side if counts[side] == 1 else f"{side}{counts[side]}")
    return labels


def find_roles_by_shape(skeleton: Skeleton, clips: Sequence[Clip]) -> dict[str, int]:
    """Return the recognised bones by role ('hips', 'spine', 'head', 'left_thigh', …).

    Raises RigError if fewer than two chains of bones reach the ground, or if they do not branch
    from one bone.
    """
    body = SampledBody.from_clips(skeleton, clips)
    feet = _find_feet(body)
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
        if fork is not None
        and np.median(body.positions[:, fork, 2]) > NUMBERS.foot_low * body.height
    }
    joints = _leave_out_tails(body, joints)
    hips = min(joints.values(), key=skeleton.get_depth, default=None)
    if hips is None:
        raise RigError(
            "No hips can be recognised on the rig: its legs do not branch from one bone; "
            "name hips, thighs, shins and feet in the rig's roles."
        )
    limbs = {foot: _find_leg_bones(body, fork, foot, fork != hips) for foot, fork in joints.items()}
    joints = leave_out_arms(body, clips, joints, limbs, hips)
    legs = [(joint, limbs[foot]) for foot, joint in joints.items()]
    legs.sort(key=lambda leg: (skeleton.get_depth(leg[0]), leg[0]))
    hips = _lift_hips(body, hips, joints)
    ahead = estimate_facing(body, [leg for _, leg in legs], body.find_velocities(hips))
    upper = _find_upper_body(body, hips, joints, ahead)
    return {"hips": hips} | upper | _assign_sides(body, legs, ahead)


def _lift_hips(body: SampledBody, hips: int, joints: dict[int, int]) -> int:
    """Return the bone from which legs and spine branch, if a pelvis carries the legs alone."""
    skeleton = body.skeleton
    legs = {bone for foot in joints for bone in skeleton.get_chain_to_root(foot)}
    height = np.median(body.positions[:, hips, 2]) + NUMBERS.foot_low * body.height
    for bone in skeleton.get_chain_to_root(hips):
        below = {
            other
            for child in skeleton.get_children(bone)
            if child not in legs
            for other in (child, *skeleton.get_descendants(child))
        }
        if any(np.median(body.ends[end][:, 2]) > height for end in below & set(body.ends)):
            return bone
    return hips


def _find_feet(body: SampledBody) -> list[int]:
    """Return the last bone of every leg; of several toes and a heel, the one farthest out."""
    skeleton = body.skeleton
    ends = body.ends
    reach = NUMBERS.leg_reach * body.height
    grounded = [bone for bone, end in ends.items() if np.percentile(end[:, 2], 20) < reach]
    is_low = np.median(body.positions[..., 2], axis=0) < NUMBERS.foot_low * body.height
    twists = [bone for bone in grounded if _lies_on_bone(body, bone)]
    if any(is_low[skeleton.parents[bone]] for bone in twists):
        twists = []  # feet have none: these are copies of all bones, as in a control rig
    grounded = [bone for bone in grounded if bone not in twists]
    feet = _group_by_foot(skeleton, grounded, is_low)
    chosen = []
    for foot in feet:
        joint = body.positions[:, skeleton.find_common_ancestor(foot)]
        reaches = [np.mean(np.linalg.norm((ends[b] - joint)[:, :2], axis=-1)) for b in foot]
        chosen.append(foot[int(np.argmax(reaches))])
    return chosen


def _lies_on_bone(body: SampledBody, bone: int) -> bool:
    """Return whether the end of a bone lies on a bone that goes on beside it, like a twist bone."""
    skeleton = body.skeleton
    parent = int(body.skeleton.parents[bone])
    if parent < 0:
        return False
    start = body.positions[:, parent]
    end = body.ends[bone] - start
    for other in skeleton.get_children(parent):
        way = body.positions[:, other] - start
        length = np.linalg.norm(way, axis=-1)
        if other == bone or not skeleton.get_children(other) or not length.all():
            continue
        share = np.clip(np.sum(end * way, axis=-1) / length**2, 0.0, 1.0)
        aside = np.linalg.norm(end - share[:, None] * way, axis=-1)
        if np.median(aside / length) < NUMBERS.on_bone:
            return True
    return False


def _group_by_foot(skeleton: Skeleton, ends: Sequence[int], low: np.ndarray) -> list[list[int]]:
    """Group ends of chains that join in a bone with nothing but `low` (B,) bones below it."""
    feet: list[list[int]] = []
    for bone in ends:
        for foot in feet:
            joint = skeleton.find_common_ancestor([bone, foot[0]])
            if joint is not None and low[[joint, *skeleton.get_descendants(joint)]].all():
                foot.append(bone)
                break
        else:
            feet.append([bone])
    return feet


def _find_fork(skeleton: Skeleton, foot: int, feet: Sequence[int]) -> int | None:
    """Return the lowest bone that a leg shares with another leg."""
    pairs = [[foot, other] for other in feet if other != foot]
    shared = [skeleton.find_common_ancestor(pair) for pair in pairs]
    joined = [bone for bone in shared if bone is not None]
    return max(joined, key=skeleton.get_depth, default=None)


def _leave_out_tails(body: SampledBody, joints: dict[int, int]) -> dict[int, int]:
    """Return the forks by foot without a tail's: of an odd number, the one unlike others."""
    ways = {foot: body.measure_way(fork, foot) for foot, fork in joints.items()}
    for fork in set(joints.values()):
        own = [foot for foot in joints if joints[foot] == fork]
        if len(own) % 2 == 0 or len(joints) < 3:
            continue
        beside = own if len(own) > 1 else list(joints)
        unlike = {
            foot: min(_compare_ways(ways[foot], ways[other]) for other in beside if other != foot)
            for foot in own
        }
        tail = max(own, key=lambda foot: unlike[foot])
        if unlike[tail] > NUMBERS.unlike_pair:
            return {foot: joint for foot, joint in joints.items() if foot != tail}
    return joints


def _find_leg_bones(body: SampledBody, fork: int, foot: int, is_upper: bool) -> dict[str, int]:
    """Return the bones by part of the leg from `fork` (exclusive) down to its last bone `foot`.

    Thigh and shin are the first two long segments in a row, below the shoulder blade of an upper
    leg; bones of a straight one count once.
    """
    chain = body.skeleton.get_path(fork, foot)[1:]
    points = np.stack([*(body.positions[:, bone] for bone in chain), body.ends[foot]], axis=1)
    if measure_segments(points[:, -2:]) < 1e-3:
        points = points[:, :-1]
    # of bones without a length, the last one carries the bones below
    lengths = measure_segments(points)
    long = np.append(lengths > NUMBERS.no_length * lengths.sum(), True)
    long[len(chain) - 1 :] = True
    points = points[:, long]
    chain = [bone for bone, own in zip(chain, long, strict=False) if own]
    joints = _find_bends(points)
    first = _find_first_long_pair(points[:, joints])
    if first is None:
        # no knee bends in the straight legs of a rest pose, so every bone counts
        joints = list(range(points.shape[1]))
        first = _find_first_long_pair(points) or 0
    lengths = measure_segments(points[:, joints[first:]])
    # below a shoulder blade there are still three segments, the third too long for a foot's
    if is_upper and len(lengths) > 3 and lengths[2] > NUMBERS.blade * lengths[0]:
        first += 1
    parts = [chain[joint] for joint in joints[first:] if joint < len(chain)]
    return dict(zip(LEG_PARTS, parts, strict=False))


def _find_bends(points: np.ndarray) -> list[int]:
    """Return the indices of the points (F, N, 3) at which a chain starts, bends or ends."""
    segments = np.diff(points, axis=1)
    before = segments[:, :-1]
    after = segments[:, 1:]
    across = np.linalg.norm(np.cross(before, after), axis=-1)
    angle = np.arctan2(across, np.sum(before * after, axis=-1))
    bends = np.flatnonzero(angle.max(axis=0) > NUMBERS.straight) + 1
    return [0, *bends.tolist(), points.shape[1] - 1]


def _find_first_long_pair(points: np.ndarray) -> int | None:
    """Return the index of the first of two consecutive long segments; None if there are none."""
    lengths = measure_segments(points)
    long = lengths > NUMBERS.long_segment * lengths.sum()
    return next(iter(np.flatnonzero(long[:-1] & long[1:]).tolist()), None)


def _assign_sides(
    body: SampledBody, legs: Sequence[tuple[int, dict[str, int]]], ahead: np.ndarray
) -> dict[str, int]:
    """Return leg parts by role; names, or the facing `ahead` (F, 3), give the sides."""
    left = np.cross([0.0, 0.0, 1.0], ahead)
    names = body.skeleton.names
    sided: list[tuple[str, dict[str, int]]] = []
    for fork in dict.fromkeys(fork for fork, _ in legs):
        pair = [leg for joint, leg in legs if joint == fork]
        from_fork = [body.positions[:, leg["thigh"]] - body.positions[:, fork] for leg in pair]
        across, along = (
            [float(np.mean(np.sum(offset * way, axis=-1))) for offset in from_fork]
            for way in (left, ahead)
        )
        written = [split_side(names[leg["thigh"]], names)[1] for leg in pair]
        if set(written) == {"L", "R"}:
            signs = [1.0 if side == "L" else -1.0 for side in written]
            if np.dot(signs, across) < 0.0:
                along = [-way for way in along]
            across = signs
        middle = float(np.mean(across))
        # several legs of one bone, as an insect's, are numbered from behind
        for offset, _, leg in sorted(zip(across, along, pair, strict=True), key=lambda i: i[1]):
            word = "left" if offset > middle else "right" if offset < middle else "middle"
            sided.append(("middle" if len(pair) == 1 else word, leg))
    labels = label_legs(word for word, _ in sided)
    return {
        f"{label}_{part}": bone
        for label, (_, leg) in zip(labels, sided, strict=True)
        for part, bone in leg.items()
    }


# trunk


def _find_upper_body(
    body: SampledBody, hips: int, joints: Mapping[int, int], ahead: np.ndarray
) -> dict[str, int]:
    """Find spine and head on the chain from the hips to the topmost end.

    Arms or forelegs branch from the spine; `joints` are the forks of legs by foot, and `ahead` (F,
    3) is the facing of the body. Bones with a twin on the other side, such as claws and raised
    arms, are neither.
    """
    skeleton = body.skeleton
    legs = {bone for foot in joints for bone in skeleton.get_chain_to_root(foot)}
    forks = set(joints.values()) - {hips}
    above_hips = [bone for bone in body.ends if hips in skeleton.get_ancestors(bone)]
    chains = {b: skeleton.get_path(hips, b)[1:] for b in above_hips if b not in joints}
    # a chain that branches from a leg, such as a twist bone or a toe, is not a spine
    chains = {b: way for b, way in chains.items() if way[0] not in legs or forks & set(way)}
    tops: list[tuple[float, list[int]]] = []
    for bone, chain in chains.items():
        single = _cut_at_twins(body, hips, bone, chains, ahead)
        end = body.ends[bone] if single == chain else body.positions[:, (single or [hips])[-1]]
        if single:
            tops.append((float(np.median(end[:, 2])), single))
    if not tops:
        return {"spine": hips}
    chain = max(tops, key=lambda top: top[0])[1]
    branching = (bone for bone in chain if _count_long_branches(body, bone, chain) >= 2)
    spine = next((bone for bone in chain if bone in forks), next(branching, None))
    above = chain if spine is None else chain[chain.index(spine) :]
    # face and hair branch from the head; otherwise it is the last bone
    head = next((bone for bone in above[1:] if len(skeleton.get_children(bone)) > 1), chain[-1])
    if _is_tip(body, head):
        head = int(skeleton.parents[head])
    return {"spine": chain[(len(chain) - 1) // 2] if spine is None else spine, "head": head}


def _cut_at_twins(
    body: SampledBody,
    hips: int,
    end: int,
    chains: Mapping[int, list[int]],
    ahead: np.ndarray,
) -> list[int]:
    """Return the bones of a chain from the hips up to where it parts from a twin, if it has one."""
    chain = chains[end]
    left = quat.normalize_vectors(np.cross([0.0, 0.0, 1.0], ahead))
    kept = len(chain)
    for other, beside in chains.items():
        shared = sum(a == b for a, b in zip(chain, beside, strict=False))
        if other == end or shared >= min(kept, len(beside)):
            continue
        fork = chain[shared - 1] if shared else hips
        ways = (body.measure_way(fork, one) for one in (end, other))
        aside = [body.measure_side(one[shared:], fork, left) for one in (chain, beside)]
        apart = abs(aside[0] - aside[1])
        is_even = abs(aside[0] + aside[1]) < NUMBERS.twins_uneven * apart
        if (
            apart > 2.0 * NUMBERS.twins_apart * body.height
            and is_even
            and _compare_ways(*ways) < NUMBERS.unlike_pair
        ):
            kept = shared
    return chain[:kept]


def _compare_ways(one: np.ndarray, other: np.ndarray) -> float:
    """Return how unlike the lengths of the bones of two legs are, as a share of the longer one."""
    if len(one) == len(other):
        differs = np.abs(one - other).sum()
    else:  # one may have an extra helper
        differs = abs(one.sum() - other.sum()) + NUMBERS.unlike_pair * max(one.sum(), other.sum())
    return float(differs / max(one.sum(), other.sum(), 1e-9))


def _is_tip(body: SampledBody, bone: int) -> bool:
    """Return whether a bone at the end of a chain never turns against its parent."""
    parent = int(body.skeleton.parents[bone])
    if parent < 0 or body.skeleton.get_children(parent) != [bone] or bone not in body.ends:
        return False
    turns = quat.angle_between(body.local[:, bone], body.local[:1, bone])
    return len(turns) > 1 and float(turns.max()) < NUMBERS.leaf_still


def _count_long_branches(body: SampledBody, bone: int, chain: Sequence[int]) -> int:
    """Count the branches of `bone` that are as long as an arm, without the one on the `chain`."""
    others = (child for child in body.skeleton.get_children(bone) if child not in chain)
    least = NUMBERS.long_branch * body.height
    return sum(body.measure_reach(child)[0] > least for child in others)
