"""Roles of bones from shape and motion alone: names, the order of siblings and bone axes play no part.

Chains that come down to the ground are legs, the bone they branch from is the hips, the bone that arms branch from
is the upper spine, and the topmost chain ends in the head. World positions of the clips' frames are used, since rest
poses of motion capture often run all bones along one axis.
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
_REACH = 0.1  # a chain reaches the ground where its end comes below this part of the body's height
_LOW = 0.2  # bones below this part of the body's height belong to a foot, its toes and heel
_LONG_SEGMENT = (
    0.2  # of a leg's length: thigh and shin are longer, a hip joint before them is shorter
)
_LONG_BRANCH = (
    0.25  # of the body's height: an arm is longer, a lock of hair or a coat's tail rarely
)
_STRAIGHT = np.radians(3.0)  # a joint that never bends more is a twist segment, not a knee
_STILL = np.radians(0.1)  # a leaf that never turns more against its parent marks the tip of a chain


def above(skeleton: Skeleton, bone: int) -> list[int]:
    """The bone itself, then the bones above it."""
    return [bone, *skeleton.ancestors(bone)]


def below(skeleton: Skeleton, bone: int) -> list[int]:
    """All bones below a bone."""
    found = {bone}
    for child, parent in enumerate(skeleton.parents):
        if int(parent) in found:
            found.add(child)
    return sorted(found - {bone})


def lowest_common(skeleton: Skeleton, bones: Sequence[int]) -> int | None:
    """The lowest bone that is each of `bones` or above it; None where they have no root in common."""
    shared = set.intersection(*(set(above(skeleton, bone)) for bone in bones))
    return max(shared, key=lambda bone: len(skeleton.ancestors(bone)), default=None)


def sample(
    skeleton: Skeleton, clips: Sequence[Clip], anchor: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A fair share of the clips' frames, or the rest pose where there are none, in float64.

    Local rotations (F, B, 4), world positions (F, B, 3) over a ground at zero, world rotations (F, B, 4) and the
    ground velocity (F, 3) of bone `anchor` in m/s.
    """
    leaves = sorted(set(range(skeleton.bone_count)) - {int(parent) for parent in skeleton.parents})
    if not any(clip.frame_count for clip in clips):
        rotations, positions = skeleton.rest_world()
        positions = positions - [0.0, 0.0, positions[leaves, 2].min()]
        local = np.asarray(skeleton.rest_rotations, dtype=np.float64)
        return local[None], positions[None], rotations[None].astype(np.float64), np.zeros((1, 3))
    chosen = [clip for clip in clips if clip.frame_count]
    chosen = chosen[:: max(1, len(chosen) // _MOST_CLIPS)]
    share = max(2, _MOST_FRAMES // len(chosen))
    parts: list[tuple[np.ndarray, ...]] = []
    for clip in chosen:
        start = max(0, (clip.frame_count - share) // 2)
        part = clip.sliced(start, start + share)
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


def roles_by_shape(skeleton: Skeleton, clips: Sequence[Clip]) -> dict[str, int]:
    """Bones by role ('hips', 'spine', 'head', 'left_thigh', …), without those that cannot be told.

    RigError where no chain of bones reaches the ground.
    """
    local, positions, rotations, _ = sample(skeleton, clips)
    ends = _chain_ends(skeleton, positions, rotations)
    body = float(np.median(positions[..., 2].max(axis=1)))
    feet = _feet(skeleton, ends, positions, body)
    if len(feet) < 2:
        raise RigError(
            "No legs can be recognised on the rig: fewer than two chains of bones reach the ground; "
            "name hips, thighs, shins and feet in the rig's roles."
        )
    forks = {foot: _fork(skeleton, foot, feet) for foot in feet}
    # a fork on the ground belongs to targets and other helpers, not to a body
    joints = {
        foot: fork
        for foot, fork in forks.items()
        if fork is not None and np.median(positions[:, fork, 2]) > _LOW * body
    }
    hips = min(joints.values(), key=lambda bone: len(skeleton.ancestors(bone)), default=None)
    if hips is None:
        raise RigError(
            "No hips can be recognised on the rig: its legs do not branch from one bone; "
            "name hips, thighs, shins and feet in the rig's roles."
        )
    legs = sorted(
        (
            (joint, _leg(skeleton, joint, foot, ends[foot], positions))
            for foot, joint in joints.items()
        ),
        key=lambda pair: (len(skeleton.ancestors(pair[0])), pair[0]),
    )
    upper = _upper_body(skeleton, hips, joints, ends, positions, body)
    if "head" in upper and _is_tip(skeleton, upper["head"], local):
        upper["head"] = int(skeleton.parents[upper["head"]])
    return {"hips": hips} | upper | _sided(legs, positions, ends, sample(skeleton, clips, hips)[3])


def _chain_ends(
    skeleton: Skeleton, positions: np.ndarray, rotations: np.ndarray
) -> dict[int, np.ndarray]:
    """World paths (F, 3) of the ends of chains by their last bone: of its end site, or of the bone itself."""
    tips = {bone: np.asarray(offset, dtype=np.float64) for bone, offset in skeleton.end_sites}
    leaves = set(range(skeleton.bone_count)) - {int(parent) for parent in skeleton.parents}
    return {
        bone: positions[:, bone] + quat.mul_vec(rotations[:, bone], tips.get(bone, np.zeros(3)))
        for bone in sorted(leaves)
    }


def _feet(
    skeleton: Skeleton, ends: dict[int, np.ndarray], positions: np.ndarray, body: float
) -> list[int]:
    """The last bone of every chain that stands on the ground; of several toes and a heel, the one farthest out."""
    grounded = [bone for bone, end in ends.items() if np.percentile(end[:, 2], 20) < _REACH * body]
    height = np.median(positions[..., 2], axis=0)
    feet = _grouped(
        skeleton,
        [bone for bone in grounded if _stands(ends[bone], positions)],
        height < _LOW * body,
    )
    if len(feet) < 2:
        # on a treadmill, or skating, no foot stands
        feet = _grouped(skeleton, grounded, height < _LOW * body)
    chosen = []
    for foot in feet:
        joint = lowest_common(skeleton, foot)
        reach = {
            bone: np.mean(np.linalg.norm((ends[bone] - positions[:, joint])[:, :2], axis=-1))
            for bone in foot
        }
        chosen.append(max(reach, key=lambda bone: reach[bone]))
    return chosen


def _grouped(skeleton: Skeleton, ends: Sequence[int], low: np.ndarray) -> list[list[int]]:
    """The ends of chains by foot: those that join in a bone with nothing but `low` (B,) bones below."""
    feet: list[list[int]] = []
    for bone in ends:
        for foot in feet:
            joint = lowest_common(skeleton, [bone, foot[0]])
            if joint is not None and low[[joint, *below(skeleton, joint)]].all():
                foot.append(bone)
                break
        else:
            feet.append([bone])
    return feet


def _stands(end: np.ndarray, positions: np.ndarray) -> bool:
    """Whether the end of a chain rests now and then while the body travels: a dragged tail does not."""
    if len(end) < 3:
        return True
    steps = np.linalg.norm(np.diff(end[:, :2], axis=0), axis=-1)
    body = np.linalg.norm(np.diff(positions[..., :2].mean(axis=1), axis=0), axis=-1)
    moving = body > max(0.3 * float(np.percentile(body, 90)), 1e-3)
    return not moving.any() or float(np.percentile(steps[moving] / body[moving], 15)) < 0.5


def _fork(skeleton: Skeleton, foot: int, feet: Sequence[int]) -> int | None:
    """The lowest bone that a leg shares with another leg."""
    shared = [lowest_common(skeleton, [foot, other]) for other in feet if other != foot]
    return max(
        (bone for bone in shared if bone is not None),
        key=lambda b: len(skeleton.ancestors(b)),
        default=None,
    )


def _leg(
    skeleton: Skeleton, fork: int, foot: int, end: np.ndarray, positions: np.ndarray
) -> dict[str, int]:
    """Bones by part of the leg that runs from `fork` (exclusive) down to the last bone `foot` and its `end`.

    Thigh and shin are the first two long segments that follow each other; bones of one straight segment count once.
    """
    chain = above(skeleton, foot)
    chain = chain[: chain.index(fork)][::-1]
    points = np.stack([*(positions[:, bone] for bone in chain), end], axis=1)
    if np.median(np.linalg.norm(points[:, -1] - points[:, -2], axis=-1)) < 1e-3:
        points = points[:, :-1]
    joints = _bending(points)
    first = _first_long_pair(points[:, joints])
    if first is None:
        # straight legs of a rest pose: no knee bends, so every bone counts
        joints = list(range(points.shape[1]))
        first = _first_long_pair(points) or 0
    parts = [chain[joint] for joint in joints[first:] if joint < len(chain)]
    return dict(zip(LEG_PARTS, parts, strict=False))


def _bending(points: np.ndarray) -> list[int]:
    """Indices of the points (F, N, 3) of a chain at which it starts, bends or ends."""
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


def _first_long_pair(points: np.ndarray) -> int | None:
    """Index of the first of two long segments in a row."""
    lengths = np.median(np.linalg.norm(np.diff(points, axis=1), axis=-1), axis=0)
    long = lengths > _LONG_SEGMENT * lengths.sum()
    return next((i for i in range(len(long) - 1) if long[i] and long[i + 1]), None)


def _upper_body(
    skeleton: Skeleton,
    hips: int,
    joints: dict[int, int],
    ends: dict[int, np.ndarray],
    positions: np.ndarray,
    body: float,
) -> dict[str, int]:
    """Spine and head: the way up from the hips to the topmost end, and the bone on it that arms or forelegs leave."""
    legs = {bone for foot in joints for bone in above(skeleton, foot)}
    forks = set(joints.values()) - {hips}
    tops = {
        bone: float(np.median(end[:, 2]))
        for bone, end in ends.items()
        if hips in skeleton.ancestors(bone) and bone not in joints
    }
    way = {
        bone: [b for b in above(skeleton, bone) if hips in skeleton.ancestors(b)][::-1]
        for bone in tops
    }
    # what leaves from inside a leg, such as a twist bone or a toe, is no spine
    tops = {
        bone: top
        for bone, top in tops.items()
        if way[bone][0] not in legs or forks & set(way[bone])
    }
    if not tops:
        return {"spine": hips}
    head = max(tops, key=lambda bone: tops[bone])
    spine = next((bone for bone in way[head] if bone in forks), None)
    if spine is None:
        spine = next(
            (b for b in way[head] if _long_branches(skeleton, b, way[head], positions, body) >= 2),
            None,
        )
    if spine is None:
        return {"spine": way[head][(len(way[head]) - 1) // 2], "head": _head(skeleton, way[head])}
    return {"spine": spine, "head": _head(skeleton, way[head][way[head].index(spine) :])}


def _head(skeleton: Skeleton, way: Sequence[int]) -> int:
    """The bone above the spine that a face or hair branches from, else the last of its chain."""
    return next((bone for bone in way[1:] if len(skeleton.children(bone)) > 1), way[-1])


def _is_tip(skeleton: Skeleton, bone: int, local: np.ndarray) -> bool:
    """Whether a bone at the end of a chain never turns against its parent, as one that marks the top of a head."""
    parent = int(skeleton.parents[bone])
    lone = parent >= 0 and skeleton.children(parent) == [bone] and not skeleton.children(bone)
    return (
        lone
        and len(local) > 1
        and float(quat.angle_between(local[:, bone], local[:1, bone]).max()) < _STILL
    )


def _long_branches(
    skeleton: Skeleton, bone: int, way: Sequence[int], positions: np.ndarray, body: float
) -> int:
    """How many chains as long as an arm leave `bone`, apart from the one on the `way` to the head."""
    count = 0
    for child in skeleton.children(bone):
        if child not in way:
            reach = {child: 0.0}
            for lower in below(skeleton, child):
                parent = int(skeleton.parents[lower])
                length = np.median(
                    np.linalg.norm(positions[:, lower] - positions[:, parent], axis=-1)
                )
                reach[lower] = reach[parent] + float(length)
            count += max(reach.values()) > _LONG_BRANCH * body
    return count


def _sided(
    legs: Sequence[tuple[int, dict[str, int]]],
    positions: np.ndarray,
    ends: dict[int, np.ndarray],
    velocities: np.ndarray,
) -> dict[str, int]:
    """Leg parts by role: the left leg of each pair is the one to the left of where feet point or the body goes."""
    left = np.cross([0.0, 0.0, 1.0], _facing([leg for _, leg in legs], positions, ends, velocities))
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
        for place, leg in sorted(zip(across, pair, strict=True), key=lambda item: -item[0]):
            word = "left" if place > middle else "right" if place < middle else "middle"
            word = "middle" if len(pair) == 1 else word
            count[word] += 1
            label = word + (str(count[word]) if count[word] > 1 else "")
            roles |= {f"{label}_{part}": bone for part, bone in leg.items()}
    return roles


def _facing(
    legs: Sequence[dict[str, int]],
    positions: np.ndarray,
    ends: dict[int, np.ndarray],
    velocities: np.ndarray,
) -> np.ndarray:
    """Ground vectors (F, 3) to where the character faces, by its toes, else by its travel, else Blender's -Y."""
    heels = [positions[:, leg["foot"]] for leg in legs if "foot" in leg]
    toes = [
        positions[:, leg["toe"]]
        if "toe" in leg
        else ends.get(leg["foot"], positions[:, leg["foot"]])
        for leg in legs
        if "foot" in leg
    ]
    ahead = planted_direction(heels, toes) if toes else velocities
    if np.linalg.norm(ahead, axis=-1).max() < 0.02:
        ahead = velocities
    if np.linalg.norm(ahead, axis=-1).max() < 0.02:
        return np.broadcast_to([0.0, -1.0, 0.0], ahead.shape)
    return ahead


def planted_direction(heels: Sequence[np.ndarray], toes: Sequence[np.ndarray]) -> np.ndarray:
    """Sum (F, 3) of the ways on the ground from heel to toe, each (F, 3), of the feet that are down.

    A foot in the air says little: a runner's points down and back. Zero where no foot is down.
    """
    ahead = np.zeros_like(toes[0])
    for heel, toe in zip(heels, toes, strict=True):
        down = toe[:, 2] <= np.percentile(toe[:, 2], 40)
        ahead += (toe - heel) * down[:, None] * np.array([1.0, 1.0, 0.0])
    return ahead


def pairs_by_shape(
    skeleton: Skeleton, thighs: tuple[Sequence[int], Sequence[int]], clips: Sequence[Clip]
) -> np.ndarray:
    """Counterparts (B,) by the likeness of chains on either side; bones in the middle have themselves.

    `thighs` are the left and the right ones: the line between them tells the sides.
    """
    from scipy.optimize import linear_sum_assignment

    _, positions, _, _ = sample(skeleton, clips)
    lateral = positions[:, list(thighs[0])].mean(axis=1) - positions[:, list(thighs[1])].mean(
        axis=1
    )
    lateral /= np.maximum(np.linalg.norm(lateral, axis=-1, keepdims=True), 1e-9)
    likeness = _Likeness(skeleton, positions)
    pairs = np.arange(skeleton.bone_count)
    for bone in range(skeleton.bone_count):
        other = int(pairs[bone])
        ours = skeleton.children(bone)
        if other == bone:
            for one, two in _split_children(skeleton, bone, ours, positions, lateral, likeness):
                pairs[one], pairs[two] = two, one
        elif bone < other and ours:
            theirs = skeleton.children(other)
            cost = np.array(
                [
                    [likeness.difference(a, b) + likeness.surroundings(a, b) for b in theirs]
                    for a in ours
                ]
            )
            for i, j in zip(
                *linear_sum_assignment(cost.reshape(len(ours), len(theirs))), strict=True
            ):
                pairs[ours[i]], pairs[theirs[j]] = theirs[j], ours[i]
    return pairs


class _Likeness:
    """How far the chains below two bones differ in lengths, in metres; the same for any pose."""

    def __init__(self, skeleton: Skeleton, positions: np.ndarray) -> None:
        self.skeleton, self.positions = skeleton, positions
        from_parent = positions - positions[:, np.maximum(skeleton.parents, 0)]
        self.lengths = np.median(np.linalg.norm(from_parent, axis=-1), axis=0)
        self.known: dict[tuple[int, int], float] = {}

    def total(self, bone: int) -> float:
        """Length of a bone's way to its parent and of all that follows."""
        return float(self.lengths[[bone, *below(self.skeleton, bone)]].sum())

    def difference(self, one: int, two: int) -> float:
        from scipy.optimize import linear_sum_assignment

        if (one, two) not in self.known:
            ours, theirs = self.skeleton.children(one), self.skeleton.children(two)
            cost = np.array([[self.difference(a, b) for b in theirs] for a in ours]).reshape(
                len(ours), len(theirs)
            )
            rows, columns = linear_sum_assignment(cost)
            alone = [ours[i] for i in set(range(len(ours))) - set(rows)]
            alone += [theirs[j] for j in set(range(len(theirs))) - set(columns)]
            own = abs(float(self.lengths[one] - self.lengths[two]))
            unmatched = sum(self.total(bone) + 0.01 for bone in alone)
            self.known[one, two] = own + float(cost[rows, columns].sum()) + unmatched
        return self.known[one, two]

    def surroundings(self, one: int, two: int) -> float:
        """How far the distances to the siblings differ, which tells one finger from another of the same length."""
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
            for siblings in [self.skeleton.children(int(self.skeleton.parents[bone]))]
        ]
        return (
            float(np.abs(profiles[0] - profiles[1]).sum())
            if len(profiles[0]) == len(profiles[1])
            else 0.0
        )


def _split_children(
    skeleton: Skeleton,
    bone: int,
    children: Sequence[int],
    positions: np.ndarray,
    lateral: np.ndarray,
    likeness: _Likeness,
) -> list[tuple[int, int]]:
    """Pairs among the children of a bone in the middle: alike, and as far to the left as to the right."""
    aside = {}
    for child in children:
        centre = positions[:, [child, *below(skeleton, child)]].mean(axis=1)
        aside[child] = float(np.mean(np.sum((centre - positions[:, bone]) * lateral, axis=-1)))
    options = []
    for one, two in combinations(children, 2):
        farther = max(abs(aside[one]), abs(aside[two]))
        uneven = abs(aside[one] + aside[two])
        difference = likeness.difference(one, two)
        allowed = 0.25 * (likeness.total(one) + likeness.total(two)) + 0.01
        if aside[one] * aside[two] < 0 and uneven < farther and difference < allowed:
            options.append((difference + uneven, one, two))
    chosen: list[tuple[int, int]] = []
    for _, one, two in sorted(options):
        if not any({one, two} & set(pair) for pair in chosen):
            chosen.append((one, two))
    return chosen
