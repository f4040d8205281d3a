"""Find the roles of bones from shape and motion alone, whatever their names, axes and order.

Chains that reach the ground are legs, the bone they branch from is the hips, the bone that arms
branch from is the upper spine, and the topmost chain ends in the head. World positions of the
clips' frames are used, because rest poses of motion capture often run all bones along one axis.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..errors import RigError
from ..maths import quat
from ..motion.clip import Clip
from ..motion.skeleton import Skeleton

LEG_PARTS = ("thigh", "shin", "foot", "toe")

_MOST_FRAMES = 4000
_MOST_CLIPS = 40
# shares of the body's height
_REACH = 0.1  # a chain whose end comes below reaches the ground
_LOWER = 0.05  # ends of one foot differ by less
_LOW = 0.2  # bones below belong to a foot
_UNLIKE = 0.1  # of a leg's length: bones of a pair of legs differ by less, those of a tail by more
_ON_BONE = 0.1  # of a bone's length: what is no farther away lies on it
_LONG_BRANCH = 0.25  # an arm is longer, a lock of hair or a coat-tail rarely
# of a leg's length: thigh and shin are longer, a hip joint before them is shorter
_LONG_SEGMENT, _NO_LENGTH = 0.2, 0.005
_STRAIGHT = np.radians(3.0)  # a joint that never bends more belongs to a twist bone, not to a knee
_STILL = np.radians(0.1)  # a leaf that never turns more only marks the tip of a chain
# how forelegs differ from the arms of a body that crawls
_STANDING = np.radians(75.0)  # off the vertical: legs of a rest pose that stands
_ON_GROUND = 0.15  # of a hind leg's length: an end below stands on the ground
_SEEN, _AS_OFTEN = 0.2, 0.6  # shares of the time on the ground: at least, and of the hind legs'
_AS_LONG = 0.7  # of a hind leg's length: arms are shorter
_KNEES_UP = 0.25  # of a hind leg's length: whoever crawls has the knees lower
_BLADE = (
    0.8  # of the first segment's length: a longer third one begins a foot below a shoulder blade
)


def label_legs(sides: Iterable[str]) -> list[str]:
    """Label legs on sides 'left', 'right' or 'middle'; a second left one becomes 'left2'."""
    labels: list[str] = []
    counts: Counter[str] = Counter()
    for side in sides:
        counts[side] += 1
        labels.append(side if counts[side] == 1 else f"{side}{counts[side]}")
    return labels


def sample_frames(
    skeleton: Skeleton, clips: Sequence[Clip], anchor: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sample frames from the middles of clips, or the rest pose if there are none, in float64.

    Returns local rotations (F, B, 4), world positions (F, B, 3) above a ground at zero, world
    rotations (F, B, 4) and the ground velocity (F, 3) of bone `anchor` in m/s.
    """
    leaves = _find_leaves(skeleton)
    chosen = [clip for clip in clips if clip.frame_count]
    if not chosen:
        rotations, positions = skeleton.compute_rest_world()
        positions = positions - [0.0, 0.0, positions[leaves, 2].min()]
        local = np.asarray(skeleton.rest_rotations, dtype=np.float64)
        return local[None], positions[None], rotations[None].astype(np.float64), np.zeros((1, 3))
    cropped = _crop_middles(chosen)
    local, places = (
        np.concatenate([getattr(clip, name) for clip in cropped]).astype(np.float64)
        for name in ("rotations", "positions")
    )
    # all clips at once: there may be many short ones
    rotations, positions = quat.fk(local, places, skeleton.parents)
    for part in _split(positions, cropped):
        part[..., 2] -= np.percentile(part[:, leaves, 2].min(axis=1), 10)
    return local, positions, rotations, _find_velocities(positions[:, anchor], cropped)


def _crop_middles(clips: Sequence[Clip]) -> list[Clip]:
    """Return the middles of some of the clips, no more frames than are needed."""
    chosen = clips[:: max(1, len(clips) // _MOST_CLIPS)]
    share = max(2, _MOST_FRAMES // len(chosen))
    starts = [max(0, (clip.frame_count - share) // 2) for clip in chosen]
    return [clip.crop(start, start + share) for clip, start in zip(chosen, starts, strict=True)]


def _split(frames: np.ndarray, clips: Sequence[Clip]) -> list[np.ndarray]:
    """Return views of the frames (F, ...) that each clip has."""
    return np.split(frames, np.cumsum([clip.frame_count for clip in clips])[:-1])


def _find_velocities(positions: np.ndarray, clips: Sequence[Clip]) -> np.ndarray:
    """Return the velocities (F, 3) over the ground of positions (F, 3) in clips end to end."""
    velocities = np.zeros((len(positions), 3))
    for part, places, clip in zip(
        _split(velocities, clips), _split(positions, clips), clips, strict=True
    ):
        if len(places) > 1:
            part[:, :2] = np.gradient(places[:, :2], 1.0 / clip.fps, axis=0)
    return velocities


def sample_lengths(skeleton: Skeleton, clips: Sequence[Clip]) -> np.ndarray:
    """Return the distances (B,) of bones from their parents, the medians over sampled frames."""
    chosen = [clip for clip in clips if clip.frame_count]
    places = skeleton.rest_positions[None]
    if chosen:
        places = np.concatenate([clip.positions for clip in _crop_middles(chosen)])
    return np.median(np.linalg.norm(places.astype(np.float64), axis=-1), axis=0)


def _find_leaves(skeleton: Skeleton) -> list[int]:
    return sorted(set(range(skeleton.bone_count)) - set(skeleton.parents.tolist()))


@dataclass(frozen=True)
class _Body:
    """Sampled poses: `local` rotations (F, B, 4), world `positions` (F, B, 3) and a height.

    `ends` are the world paths (F, 3) of the ends of chains by their last bone: of its lowest end
    site, or of the bone itself.
    """

    skeleton: Skeleton
    local: np.ndarray
    positions: np.ndarray
    ends: dict[int, np.ndarray]
    height: float

    @classmethod
    def from_clips(cls, skeleton: Skeleton, clips: Sequence[Clip]) -> _Body:
        local, positions, rotations, _ = sample_frames(skeleton, clips)
        ends = {bone: positions[:, bone] for bone in _find_leaves(skeleton)}
        lowest: dict[int, float] = {}
        for bone, offset in skeleton.end_sites:
            if bone in ends:
                tip = positions[:, bone] + quat.mul_vec(rotations[:, bone], np.array(offset))
                height = float(np.median(tip[:, 2]))
                if height < lowest.get(bone, np.inf):
                    ends[bone], lowest[bone] = tip, height
        height = float(np.median(positions[..., 2].max(axis=1)))
        return cls(skeleton, local, positions, ends, height)

    @cached_property
    def floor(self) -> float:
        """The height of the ground: that of the lowest ends in most frames."""
        return float(np.percentile(np.min([end[:, 2] for end in self.ends.values()], axis=0), 10))

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths (B,) of bones from their parents."""
        return measure_bones(self.skeleton, self.positions)


def find_roles_by_shape(skeleton: Skeleton, clips: Sequence[Clip]) -> dict[str, int]:
    """Return the bones by role ('hips', 'spine', 'head', 'left_thigh', …) that can be recognised.

    Raises RigError if fewer than two chains of bones reach the ground, or if they do not branch
    from one bone.
    """
    body = _Body.from_clips(skeleton, clips)
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
        if fork is not None and np.median(body.positions[:, fork, 2]) > _LOW * body.height
    }
    joints = _leave_out_tails(body, joints)
    hips = min(joints.values(), key=skeleton.get_depth, default=None)
    if hips is None:
        raise RigError(
            "No hips can be recognised on the rig: its legs do not branch from one bone; "
            "name hips, thighs, shins and feet in the rig's roles."
        )
    limbs = {
        foot: _find_leg_bones(body, joint, foot, joint != hips) for foot, joint in joints.items()
    }
    joints = _leave_out_arms(body, clips, joints, limbs, hips)
    legs = [(joint, limbs[foot]) for foot, joint in joints.items()]
    legs.sort(key=lambda leg: (skeleton.get_depth(leg[0]), leg[0]))
    hips = _lift_hips(body, hips, joints)
    upper = _find_upper_body(body, hips, joints)
    return (
        {"hips": hips} | upper | _assign_sides(body, legs, _find_body_velocities(body, clips, hips))
    )


def _find_body_velocities(body: _Body, clips: Sequence[Clip], hips: int) -> np.ndarray:
    """Return the velocities (F, 3) of the hips over the ground, in the frames of the body."""
    chosen = [clip for clip in clips if clip.frame_count]
    if not chosen:
        return np.zeros((1, 3))
    return _find_velocities(body.positions[:, hips], _crop_middles(chosen))


def _lift_hips(body: _Body, hips: int, joints: dict[int, int]) -> int:
    """Return the bone from which legs and spine branch, if a pelvis carries the legs alone."""
    skeleton = body.skeleton
    legs = {bone for foot in joints for bone in skeleton.get_chain_to_root(foot)}
    height = np.median(body.positions[:, hips, 2]) + _LOW * body.height
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


def _find_feet(body: _Body) -> list[int]:
    """Return the last bone of every leg; of several toes and a heel, the one farthest out."""
    skeleton, ends, reach = body.skeleton, body.ends, _REACH * body.height
    grounded = [bone for bone, end in ends.items() if np.percentile(end[:, 2], 20) < reach]
    is_low = np.median(body.positions[..., 2], axis=0) < _LOW * body.height
    twists = [bone for bone in grounded if _lies_on_bone(body, bone)]
    if any(is_low[skeleton.parents[bone]] for bone in twists):
        twists = []  # feet have none: these are copies of all bones, as of a control rig
    grounded = [
        bone for bone in grounded if bone not in twists and not _hangs_on_leg(body, bone, grounded)
    ]
    standing = [bone for bone in grounded if _has_stance(ends[bone], body.positions)]
    feet = _group_by_foot(skeleton, standing, is_low)
    if len(feet) < 2:
        feet = _group_by_foot(skeleton, grounded, is_low)  # on a treadmill, or when skating
    chosen = []
    for foot in feet:
        joint = body.positions[:, skeleton.find_common_ancestor(foot)]
        reaches = [np.mean(np.linalg.norm((ends[b] - joint)[:, :2], axis=-1)) for b in foot]
        chosen.append(foot[int(np.argmax(reaches))])
    return chosen


def _hangs_on_leg(body: _Body, bone: int, ends: Sequence[int]) -> bool:
    """Return whether one of the `ends` is clearly lower below a bone's parent, unlike a heel's.

    Such a bone is a twist bone, or another helper of a leg that crouches.
    """
    height = np.median(body.ends[bone][:, 2]) - _LOWER * body.height
    beside = set(body.skeleton.get_descendants(int(body.skeleton.parents[bone]))) - {bone}
    return any(np.median(body.ends[end][:, 2]) < height for end in beside & set(ends))


def _lies_on_bone(body: _Body, bone: int) -> bool:
    """Return whether the end of a bone lies on one that goes on beside it, as a twist bone's."""
    skeleton, parent = body.skeleton, int(body.skeleton.parents[bone])
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
        if np.median(aside / length) < _ON_BONE:
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


def _has_stance(end: np.ndarray, positions: np.ndarray) -> bool:
    """Return whether the end of a chain rests at times while the body travels, unlike a tail."""
    if len(end) < 3:
        return True
    steps = np.linalg.norm(np.diff(end[:, :2], axis=0), axis=-1)
    body = np.linalg.norm(np.diff(positions[..., :2].mean(axis=1), axis=0), axis=-1)
    moving = body > max(0.3 * float(np.percentile(body, 90)), 1e-3)
    return not moving.any() or float(np.percentile(steps[moving] / body[moving], 15)) < 0.5


def _find_fork(skeleton: Skeleton, foot: int, feet: Sequence[int]) -> int | None:
    """Return the lowest bone that a leg shares with another leg."""
    pairs = [[foot, other] for other in feet if other != foot]
    shared = [skeleton.find_common_ancestor(pair) for pair in pairs]
    joined = [bone for bone in shared if bone is not None]
    return max(joined, key=skeleton.get_depth, default=None)


def _leave_out_tails(body: _Body, joints: dict[int, int]) -> dict[int, int]:
    """Return the forks by foot without that of a tail, which rests where the body does not travel.

    Legs come in pairs with the same bones: of an odd number on a fork, one unlike others is a tail.
    """
    ways = {foot: _measure_way(body, fork, foot) for foot, fork in joints.items()}
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
        if unlike[tail] > _UNLIKE:
            return {foot: joint for foot, joint in joints.items() if foot != tail}
    return joints


def _measure_way(body: _Body, fork: int, foot: int) -> np.ndarray:
    """Return the lengths of the bones from a fork to the end of a foot."""
    chain = body.skeleton.get_chain_to_root(foot)
    tip = np.linalg.norm(body.ends[foot] - body.positions[:, foot], axis=-1)
    return np.append(body.lengths[chain[: chain.index(fork)]][::-1], np.median(tip))


def _compare_ways(one: np.ndarray, other: np.ndarray) -> float:
    """Return how unlike the lengths of the bones of two legs are, as a share of the longer one."""
    if len(one) == len(other):
        differs = np.abs(one - other).sum()
    else:  # one may have a helper more
        differs = abs(one.sum() - other.sum()) + _UNLIKE * max(one.sum(), other.sum())
    return float(differs / max(one.sum(), other.sum(), 1e-9))


def _leave_out_arms(
    body: _Body,
    clips: Sequence[Clip],
    joints: dict[int, int],
    limbs: dict[int, dict[str, int]],
    hips: int,
) -> dict[int, int]:
    """Return the forks by foot without those of arms, as of a body that crawls at times.

    A rest pose that stands decides. Otherwise forelegs are on the ground about as often as hind
    legs and nearly as long, and the knees are off it.
    """
    hind = [foot for foot, fork in joints.items() if fork == hips]
    lengths = {foot: _measure_length(body, foot, limb) for foot, limb in limbs.items()}
    leg = max(lengths[foot] for foot in hind)
    rest = _Body.from_clips(body.skeleton, ())
    stands = all(_points_down(rest, foot, limbs[foot]) for foot in hind)
    low = {foot: body.ends[foot][:, 2] < body.floor + _ON_GROUND * leg for foot in joints}
    often = max(float(low[foot].mean()) for foot in hind)
    knees = [body.positions[:, limbs[foot].get("shin", foot), 2] for foot in hind]
    knees_up = float(np.median(knees)) - body.floor > _KNEES_UP * leg

    def is_leg(foot: int) -> bool:
        share = float(low[foot].mean())
        if stands:
            return bool(
                rest.ends[foot][0, 2] < rest.floor + _ON_GROUND * leg and share > _SEEN * often
            )
        as_often = share > _AS_OFTEN * often
        return bool(clips) and as_often and knees_up and lengths[foot] > _AS_LONG * leg

    return {foot: fork for foot, fork in joints.items() if fork == hips or is_leg(foot)}


def _measure_length(body: _Body, foot: int, limb: dict[str, int]) -> float:
    """Return the length of a leg from its thigh to the end of its last bone."""
    chain = body.skeleton.get_chain_to_root(foot)
    chain = chain[: chain.index(limb["thigh"])]
    tip = np.linalg.norm(body.ends[foot] - body.positions[:, foot], axis=-1)
    return float(body.lengths[chain].sum() + np.median(tip))


def _points_down(rest: _Body, foot: int, limb: dict[str, int]) -> bool:
    """Return whether a leg at rest leads down to the lowest points of the body."""
    way = rest.ends[foot][0] - rest.positions[0, limb["thigh"]]
    length = float(np.linalg.norm(way))
    lowest = rest.ends[foot][0, 2] < rest.floor + _ON_GROUND * length
    return bool(lowest and -way[2] > np.cos(_STANDING) * length > 0.0)


def _find_leg_bones(body: _Body, fork: int, foot: int, is_upper: bool) -> dict[str, int]:
    """Return the bones by part of the leg from `fork` (exclusive) down to its last bone `foot`.

    Thigh and shin are the first two long segments in a row, below the shoulder blade of an upper
    leg; bones of a straight one count once.
    """
    chain = body.skeleton.get_chain_to_root(foot)
    chain = chain[: chain.index(fork)][::-1]
    points = np.stack([*(body.positions[:, bone] for bone in chain), body.ends[foot]], axis=1)
    if np.median(np.linalg.norm(points[:, -1] - points[:, -2], axis=-1)) < 1e-3:
        points = points[:, :-1]
    # of bones without a length, the last one carries what is below
    lengths = np.median(np.linalg.norm(np.diff(points, axis=1), axis=-1), axis=0)
    long = np.append(lengths > _NO_LENGTH * lengths.sum(), True)
    long[len(chain) - 1 :] = True
    points, chain = points[:, long], [bone for bone, own in zip(chain, long, strict=False) if own]
    joints = _find_bends(points)
    first = _find_first_long_pair(points[:, joints])
    if first is None:
        # no knee bends in the straight legs of a rest pose, so every bone counts
        joints = list(range(points.shape[1]))
        first = _find_first_long_pair(points) or 0
    if is_upper:
        first += _count_blades(points[:, joints[first:]])
    parts = [chain[joint] for joint in joints[first:] if joint < len(chain)]
    return dict(zip(LEG_PARTS, parts, strict=False))


def _find_bends(points: np.ndarray) -> list[int]:
    """Return the indices of the points (F, N, 3) at which a chain starts, bends or ends."""
    segments = np.diff(points, axis=1)
    before, after = segments[:, :-1], segments[:, 1:]
    across = np.linalg.norm(np.cross(before, after), axis=-1)
    angle = np.arctan2(across, np.sum(before * after, axis=-1))
    bends = np.flatnonzero(angle.max(axis=0) > _STRAIGHT) + 1
    return [0, *bends.tolist(), points.shape[1] - 1]


def _find_first_long_pair(points: np.ndarray) -> int | None:
    """Return the index of the first of two consecutive long segments; None if there are none."""
    lengths = np.median(np.linalg.norm(np.diff(points, axis=1), axis=-1), axis=0)
    long = lengths > _LONG_SEGMENT * lengths.sum()
    return next((i for i in range(len(long) - 1) if long[i] and long[i + 1]), None)


def _count_blades(points: np.ndarray) -> int:
    """Return 1 if the first segment between points (F, N, 3) is a shoulder blade, otherwise 0.

    Without it there are still three segments, the third of which is too long for a foot's.
    """
    lengths = np.median(np.linalg.norm(np.diff(points, axis=1), axis=-1), axis=0)
    return int(len(lengths) > 3 and lengths[2] > _BLADE * lengths[0])


def _find_upper_body(body: _Body, hips: int, joints: dict[int, int]) -> dict[str, int]:
    """Find spine and head on the chain from the hips to the topmost end.

    Arms or forelegs branch from the spine; `joints` are the forks of legs by foot.
    """
    skeleton = body.skeleton
    legs = {bone for foot in joints for bone in skeleton.get_chain_to_root(foot)}
    forks = set(joints.values()) - {hips}
    chains = {}
    for bone in body.ends:
        above = skeleton.get_chain_to_root(bone)
        if bone not in joints and hips in above[1:]:
            chain = above[: above.index(hips)][::-1]
            # a chain that branches from a leg, such as a twist bone or a toe, is not a spine
            if chain[0] not in legs or forks & set(chain):
                chains[bone] = chain
    if not chains:
        return {"spine": hips}
    chain = chains[max(chains, key=lambda bone: float(np.median(body.ends[bone][:, 2])))]
    spine = next((bone for bone in chain if bone in forks), None)
    if spine is None:
        spine = next((bone for bone in chain if _count_long_branches(body, bone, chain) >= 2), None)
    above = chain if spine is None else chain[chain.index(spine) :]
    # the head is what a face or hair branches from, otherwise the last bone
    head = next((bone for bone in above[1:] if len(skeleton.get_children(bone)) > 1), chain[-1])
    if _is_tip(body, head):
        head = int(skeleton.parents[head])
    return {"spine": chain[(len(chain) - 1) // 2] if spine is None else spine, "head": head}


def _is_tip(body: _Body, bone: int) -> bool:
    """Return whether a bone at the end of a chain never turns against its parent."""
    parent = int(body.skeleton.parents[bone])
    if parent < 0 or body.skeleton.get_children(parent) != [bone] or bone not in body.ends:
        return False
    turns = quat.angle_between(body.local[:, bone], body.local[:1, bone])
    return len(turns) > 1 and float(turns.max()) < _STILL


def _count_long_branches(body: _Body, bone: int, chain: Sequence[int]) -> int:
    """Count the branches of `bone` that are as long as an arm, without the one on the `chain`."""
    count = 0
    for child in body.skeleton.get_children(bone):
        if child not in chain:
            reach = {child: 0.0}
            for lower in body.skeleton.get_descendants(child):
                reach[lower] = reach[int(body.skeleton.parents[lower])] + float(body.lengths[lower])
            count += max(reach.values()) > _LONG_BRANCH * body.height
    return count


def measure_bones(skeleton: Skeleton, positions: np.ndarray) -> np.ndarray:
    """Return the distances (B,) of bones from their parents, the medians over the frames."""
    from_parent = positions - positions[:, np.maximum(skeleton.parents, 0)]
    return np.median(np.linalg.norm(from_parent, axis=-1), axis=0)


def _assign_sides(
    body: _Body, legs: Sequence[tuple[int, dict[str, int]]], velocities: np.ndarray
) -> dict[str, int]:
    """Return leg parts by role; sides are seen from where the feet point or the body goes."""
    ahead = _estimate_facing(body, [leg for _, leg in legs], velocities)
    left = np.cross([0.0, 0.0, 1.0], ahead)
    sided: list[tuple[str, dict[str, int]]] = []
    for fork in dict.fromkeys(fork for fork, _ in legs):
        pair = [leg for joint, leg in legs if joint == fork]
        from_fork = [body.positions[:, leg["thigh"]] - body.positions[:, fork] for leg in pair]
        across, along = (
            [float(np.mean(np.sum(offset * way, axis=-1))) for offset in from_fork]
            for way in (left, ahead)
        )
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


def _estimate_facing(
    body: _Body, legs: Sequence[dict[str, int]], velocities: np.ndarray
) -> np.ndarray:
    """Return where the character faces (F, 3): by its toes, its travel, or along Blender's -Y."""
    feet = []
    for leg in legs:
        if "foot" in leg:
            heel = body.positions[:, leg["foot"]]
            toe = (
                body.positions[:, leg["toe"]] if "toe" in leg else body.ends.get(leg["foot"], heel)
            )
            feet.append((heel, toe))
    for ahead in (compute_planted_direction(feet) if feet else velocities, velocities):
        if np.linalg.norm(ahead, axis=-1).max() >= 0.02:
            return ahead
    return np.broadcast_to([0.0, -1.0, 0.0], velocities.shape)


def compute_planted_direction(feet: Sequence[tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Return the sum (F, 3) on the ground of the ways from heel to toe, (F, 3) each, of feet down.

    Feet in the air are ignored: those of a runner point down and backward.
    """
    ahead = np.zeros_like(feet[0][1])
    for heel, toe in feet:
        down = toe[:, 2] <= np.percentile(toe[:, 2], 40)
        ahead += (toe - heel) * down[:, None] * np.array([1.0, 1.0, 0.0])
    return ahead
