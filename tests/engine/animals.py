"""Animals that walk, trot and canter on any even number of legs, with known contacts.

A dog has the bones of MANN's: its forelegs are named as arms, and all its paws are End Sites. Every
paw stands still on its footprint while its leg supports, and swings to the next one. Limbs have
three segments; the last one, from hock or wrist to the paw, turns about the standing paw.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from motion_matching.engine.maths.rotations import quat
from motion_matching.engine.motion.clip import Clip
from motion_matching.engine.skeleton.skeleton import Skeleton

_GRAVITY_LEG = 0.5  # metres: length of the leg of the animal at size 1


class Gait(NamedTuple):
    """Strides per second, the share of a stride in which a paw stands, and the legs' phases.

    Legs are hind left, hind right, fore left, fore right.
    """

    speed: float
    rate: float
    duty: float
    phases: tuple[float, ...]


WALK = Gait(0.9, 1.5, 0.64, (0.0, 0.5, 0.25, 0.75))
TROT = Gait(1.9, 2.2, 0.46, (0.0, 0.5, 0.5, 0.0))
CANTER = Gait(3.4, 2.5, 0.36, (0.0, 0.3, 0.3, 0.6))


class Limb(NamedTuple):
    """Names of its bones, and its place, lengths and bend in metres at size 1.

    `at` is where it hangs on its fork: aside and along. A `bend` of 1 points the knee forward.
    """

    names: tuple[str, ...]
    fork: str
    at: tuple[float, float]
    lengths: tuple[float, float, float]
    bend: float


class Motion(NamedTuple):
    """A clip, and which of its limbs stand (F, L)."""

    clip: Clip
    contacts: np.ndarray


def list_dog_limbs() -> list[Limb]:
    """Return the four legs of MANN's dog, the forelegs with shoulder blades."""
    limbs = []
    for names, fork, along, lengths, bend in (
        ("UpLeg Leg Foot", "Hips", 0.0, (0.21, 0.2, 0.13), 1.0),
        ("Shoulder Arm ForeArm Hand", "Spine1", 0.0, (0.2, 0.2, 0.12), -1.0),
    ):
        for side, x in (("Left", 0.09), ("Right", -0.09)):
            parts = tuple(side + name for name in names.split())
            limbs.append(Limb(parts, fork, (x, along), lengths, bend))
    return limbs


def list_insect_limbs(pairs: int) -> list[Limb]:
    """Return legs on one thorax, from behind, whose names say nothing."""
    limbs = []
    for pair in range(pairs):
        along = 0.25 * (pair - 0.5 * (pairs - 1))
        for side, x in (("L", 0.15), ("R", -0.15)):
            names = tuple(f"seg{pair}{part}_{side}" for part in "abc")
            limbs.append(Limb(names, "Hips", (x, along), (0.21, 0.2, 0.13), 1.0))
    return limbs


def make_motion(
    name: str,
    gaits: Sequence[tuple[Gait, float, float]],
    *,
    size: float = 1.0,
    fps: float = 60.0,
    limbs: Sequence[Limb] | None = None,
    along_x: bool = False,
    abduction: float = 0.0,
    seed: int = 0,
) -> Motion:
    """Make a motion of `gaits`: each with its seconds, and how fast it turns in rad/s.

    It starts and ends standing. Larger animals move more slowly, as pendulums of their size do.
    Times are those of size 1. Bones of the trunk rest as those of limbs, if
    `along_x`. Elbows go aside by as many radians as their `abduction` in each stride.
    """
    limbs = list_dog_limbs() if limbs is None else limbs
    pace = np.sqrt(size)
    gait = _blend_gaits(gaits, fps * pace, len(limbs))
    track = _walk(gait, fps * pace)
    phase = np.cumsum(gait.rate) / (fps * pace)
    phases = np.mod(phase[:, None] + gait.phases, 1.0)
    contacts = phases < gait.duty[:, None]
    body = _Body.build(track, phase, gait.speed, len(limbs) == 4, along_x)
    positions, rotations, parents, names, tips = body.start()
    for number, limb in enumerate(limbs):
        hip = body.place(limb)
        paw = _step(hip, contacts[:, number], np.random.default_rng(seed + number))
        aside = abduction * np.sin(2.0 * np.pi * phases[:, number]) * (limb.bend < 0.0)
        body.add_limb(limb, hip, paw, aside, positions, rotations, parents, names, tips)
    clip = _build_clip(name, positions, rotations, parents, names, tips, size, fps)
    return Motion(clip, contacts)


class _Course(NamedTuple):
    speed: np.ndarray
    turn: np.ndarray
    rate: np.ndarray
    duty: np.ndarray
    phases: np.ndarray


def _blend_gaits(gaits: Sequence[tuple[Gait, float, float]], fps: float, legs: int) -> _Course:
    """Return speed, turning, rate, duty (F,) and phases (F, L) that pass smoothly between gaits."""
    stand = (Gait(0.0, 0.8, 1.0, gaits[0][0].phases), 1.0, 0.0)
    rows = []
    for gait, seconds, turn in (stand, *gaits, stand):
        shifts = gait.phases if legs == 4 else [0.5 * ((k // 2 + k) % 2) for k in range(legs)]
        shares = (gait.speed, turn, gait.rate, gait.duty, *shifts)
        rows += [shares] * round(seconds * fps)
    values = np.array(rows)
    window = np.hanning(round(0.8 * fps) + 2)[1:-1]
    padded = np.pad(values, ((len(window) // 2, (len(window) - 1) // 2), (0, 0)), mode="edge")
    smooth = np.stack(
        [np.convolve(column, window / window.sum(), "valid") for column in padded.T], axis=1
    )
    # a paw stands longer the slower it goes
    speed, turn, rate, duty = smooth[:, :4].T
    return _Course(speed, turn, rate, duty, smooth[:, 4:])


def _walk(gait: _Course, fps: float) -> np.ndarray:
    """Return the path (F, 3) of the hips on the ground: x, y and yaw."""
    yaw = np.cumsum(gait.turn * np.minimum(gait.speed, 1.0)) / fps
    ahead = np.stack([np.sin(yaw), -np.cos(yaw)], axis=1)
    way = np.cumsum(gait.speed[:, None] * ahead, axis=0) / fps
    return np.column_stack([way, yaw])


def _step(hip: np.ndarray, stands: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the path (F, 3) of a paw: on footprints below the hip while it stands."""
    edges = np.flatnonzero(np.diff(np.pad(stands.astype(int), 1)))
    spans = edges.reshape(-1, 2)
    paw = hip * [1.0, 1.0, 0.0]
    prints = []
    for start, stop in spans:
        middle = (start + stop - 1) // 2
        prints.append(paw[middle] + [*rng.normal(0.0, 0.004, 2), 0.0])
    result = paw.copy()
    for (start, stop), place in zip(spans, prints, strict=True):
        result[start:stop] = place
    for k in range(len(spans) - 1):
        first, last = spans[k][1] - 1, spans[k + 1][0]
        share = (np.arange(first, last + 1) - first) / (last - first)
        eased = share**3 * (10 - 15 * share + 6 * share**2)
        lift = 0.09 * 16 * (share * (1 - share)) ** 2
        result[first : last + 1] = prints[k] + eased[:, None] * (prints[k + 1] - prints[k])
        result[first : last + 1, 2] = lift
    return result


class _Body(NamedTuple):
    """A trunk that moves along a track, and what hangs on it."""

    joints: dict[str, np.ndarray]
    turn: np.ndarray
    ahead: np.ndarray
    left: np.ndarray
    is_dog: bool
    along_x: bool

    @classmethod
    def build(
        cls,
        track: np.ndarray,
        phase: np.ndarray,
        speed: np.ndarray,
        is_dog: bool,
        along_x: bool,
    ) -> _Body:
        yaw = track[:, 2]
        ahead = np.stack([np.sin(yaw), -np.cos(yaw), 0 * yaw], axis=1)
        left = np.stack([np.cos(yaw), np.sin(yaw), 0 * yaw], axis=1)
        bob = 0.012 * np.minimum(speed, 2.0) * np.sin(4 * np.pi * phase)
        base = np.column_stack([track[:, :2], 0.44 + bob - 0.02 * np.minimum(speed, 2.0)])
        up = np.array([0.0, 0.0, 1.0])

        def at(along: float, height: float) -> np.ndarray:
            return base + along * ahead + height * up

        joints = {"Hips": at(0.0, 0.0)}
        if is_dog:
            joints |= {"Spine": at(0.2, 0.03), "Spine1": at(0.42, 0.03)}
            joints |= {"Neck": at(0.52, 0.1), "Head": at(0.64, 0.22), "Head tip": at(0.78, 0.18)}
            joints |= {"Tail": at(-0.08, 0.02), "Tail1": at(-0.2, -0.06)}
            joints |= {"Tail1 tip": at(-0.32, -0.15)}
        else:
            joints |= {"Head": at(0.5, 0.0), "Head tip": at(0.62, 0.0)}
        return cls(joints, quat.from_yaw(yaw), ahead, left, is_dog, along_x)

    def start(
        self,
    ) -> tuple[list[np.ndarray], list[np.ndarray], list[int], list[str], list[np.ndarray]]:
        """Return positions, rotations, parents, names and tips of the trunk's bones."""
        chains = (("Hips", "Spine", "Spine1", "Neck", "Head"), ("Hips", "Tail", "Tail1"))
        chains = chains if self.is_dog else (("Hips", "Head"),)
        positions, rotations, parents, names, tips = [], [], [], [], []
        for chain in chains:
            ends = [*chain[1:], f"{chain[-1]} tip"]
            for above, bone, end in zip(("", *chain), chain, ends, strict=False):
                if bone in names:
                    continue
                names.append(bone)
                parents.append(names.index(above) if above else -1)
                positions.append(self.joints[bone])
                way = self.joints[end] - self.joints[bone]
                rotations.append(_point(way, self.left) if self.along_x else self.turn)
                tips.append(self.joints.get(f"{bone} tip"))
        return positions, rotations, parents, names, tips

    def place(self, limb: Limb) -> np.ndarray:
        """Return where (F, 3) the long bones of a limb start."""
        aside, along = limb.at
        fork = self.joints[limb.fork] - [0.0, 0.0, 0.03]
        return fork + aside * self.left + along * self.ahead

    def add_limb(
        self,
        limb: Limb,
        hip: np.ndarray,
        paw: np.ndarray,
        aside: np.ndarray,
        positions: list[np.ndarray],
        rotations: list[np.ndarray],
        parents: list[int],
        names: list[str],
        tips: list[np.ndarray],
    ) -> None:
        """Solve a limb between its hip and its paw, and append its bones.

        Its knee or elbow is turned out of the limb's plane by angles (F,).
        """
        upper, lower, foot = limb.lengths
        # the last segment leans back over the paw, the more the farther the body has gone
        gone = np.sum((hip - paw) * self.ahead, axis=1)
        lean = limb.bend * -0.3 + 1.6 * gone + 2.0 * paw[:, 2]
        if limb.bend < 0:
            lean = -0.15 + 1.2 * gone
        up = np.array([0.0, 0.0, 1.0])
        hock = paw + foot * (np.sin(lean)[:, None] * self.ahead + np.cos(lean)[:, None] * up)
        way = hock - hip
        reach = np.linalg.norm(way, axis=1)
        far = 0.995 * (upper + lower)
        hock = np.where((reach > far)[:, None], hip + way * (far / reach)[:, None], hock)
        way, reach = hock - hip, np.minimum(reach, far)
        direction = paw - hock
        paw = hock + foot * direction / np.linalg.norm(direction, axis=1, keepdims=True)
        cosine = (upper**2 + reach**2 - lower**2) / (2 * upper * reach)
        angle = np.arccos(np.clip(cosine, -1.0, 1.0))
        along = way / reach[:, None]
        across = np.cross(along, self.left)
        across *= np.sign(np.sum(across * self.ahead, axis=1))[:, None] * limb.bend
        out = np.cross(along, across)
        across = np.cos(aside)[:, None] * across + np.sin(aside)[:, None] * out
        knee = hip + upper * (np.cos(angle)[:, None] * along + np.sin(angle)[:, None] * across)
        joints = [hip, knee, hock, paw]
        if len(limb.names) == 4:
            blade = hip + 0.12 * up - 0.05 * self.ahead
            joints = [blade, *joints]
        above = names.index(limb.fork)
        for bone, (head, tail) in zip(limb.names, pairwise(joints), strict=True):
            names.append(bone)
            parents.append(above)
            above = len(names) - 1
            positions.append(head)
            rotations.append(_point(tail - head, self.left))
            tips.append(tail if bone == limb.names[-1] else None)


def _point(way: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Return rotations (F, 4) that lay X along ways (F, 3) and Z to the left."""
    x = quat.normalize_vectors(way)
    y = quat.normalize_vectors(np.cross(left, x))
    return quat.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))


def _build_clip(
    name: str,
    positions: list[np.ndarray],
    rotations: list[np.ndarray],
    parents: list[int],
    names: list[str],
    tips: list[np.ndarray],
    size: float,
    fps: float,
) -> Clip:
    """Build a clip whose rest pose has no rotations, as files have: all bones along one axis."""
    worlds = quat.unroll(np.stack(rotations, axis=1))
    places = size * np.stack(positions, axis=1)
    local, offsets = quat.ik(worlds, places, np.array(parents))
    rest = np.median(offsets, axis=0)
    rest[0] = 0.0
    sites = tuple(
        (bone, tuple(np.median(quat.inv_mul_vec(worlds[:, bone], size * tip - places[:, bone]), 0)))
        for bone, tip in enumerate(tips)
        if tip is not None
    )
    skeleton = Skeleton(
        tuple(names),
        np.array(parents),
        rest.astype(np.float32),
        np.tile(quat.IDENTITY, (len(names), 1)).astype(np.float32),
        tuple((bone, tuple(map(float, site))) for bone, site in sites),
    )
    moved = np.broadcast_to(rest, offsets.shape).copy()
    moved[:, 0] = offsets[:, 0]
    turns = quat.unroll(quat.normalize(local))
    return Clip(name, skeleton, moved.astype(np.float32), turns.astype(np.float32), fps)


def make_dog_motions(
    size: float = 1.0,
    fps: float = 60.0,
    along_x: bool = False,
    abduction: float = 0.0,
) -> list[Motion]:
    """Make two minutes of a dog that stands, walks, trots and canters, straight and in turns."""
    make: Callable[..., Motion] = make_motion
    options = {"size": size, "fps": fps}
    options |= {"along_x": along_x, "abduction": abduction}
    result = []
    for number, (gait, seconds) in enumerate(((WALK, 6.0), (TROT, 5.0), (CANTER, 5.0))):
        for turn in (0.0, 0.8, -0.8, 1.6, -1.6):
            steps = [(gait, seconds, turn)]
            result.append(make(f"{number} {turn}", steps, seed=number, **options))
    mixed = [(WALK, 3.0, 0.3), (TROT, 3.0, -0.3), (CANTER, 3.0, 0.2), (TROT, 2.0, 0.0)]
    result.append(make("mixed", [*mixed, (WALK, 3.0, -0.4)], seed=9, **options))
    return result
