"""Find odd postures: moments in which a character is bent or flung in ways rare for that gait.

A posture is odd if it is unusual both for its gait and for the seconds around it. The first alone
would blame a style, such as a clip of crouching; the second alone would blame the moments in which
a clip goes from one style to another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..body.rig import Leg, Roles
from ..database.database import Database
from ..database.tags.tags import PREFER
from ..maths.along_time import find_runs
from ..motion.rest import AT_REST
from ..skeleton.skeleton import Skeleton
from .numbers import NUMBERS

Array = np.ndarray
GAITS = ("standing", "walking", "running")
AVOIDANCE = NUMBERS.avoidance
LEAD = NUMBERS.odd_lead

LEAST_SECONDS = NUMBERS.least_gait


class _Trait(NamedTuple):
    """A measure of postures: the least odd deviation, and words for more and less of it."""

    least: float
    more: str
    less: str


# angles in degrees, lengths in leg lengths; traits that explain others come first
_TRAITS = {
    "pitch": _Trait(NUMBERS.odd_lean, "bent forward", "bent back"),
    "roll": _Trait(NUMBERS.odd_lean, "bent to the left", "bent to the right"),
    "hips": _Trait(NUMBERS.odd_hips, "hips high", "hips low"),
    "low_hand": _Trait(NUMBERS.odd_hand_height, "hands high", "hand low"),
    "high_hand": _Trait(NUMBERS.odd_hand_height, "hand high", "hands low"),
    "near_hand": _Trait(NUMBERS.odd_hand_reach, "arms out", "hand close"),
    "far_hand": _Trait(NUMBERS.odd_hand_reach, "arm out", "hands close"),
    "head": _Trait(NUMBERS.odd_head, "head high", "head low"),
}


@dataclass(frozen=True)
class OddPosture:
    """A moment with an odd posture: frames start <= f < stop of a database.

    In its clip, as tags count frames, they are first <= f < last. It is odd in a `gait`, and `what`
    names it. Its `deviation` is 1 where postures begin to be odd, and its `share` is that of all
    frames in that gait. `range_index` is one range of the database with it, among others.
    """

    clip: str
    first: int
    last: int
    gait: str
    what: str
    deviation: float
    share: float
    range_index: int
    start: int
    stop: int


class _Samples(NamedTuple):
    """Sampled frames (M,), and the range of each."""

    frames: Array
    ranges: Array


def find_odd_postures(database: Database) -> tuple[OddPosture, ...]:
    """Return the odd postures that no tag excludes or prices, in the order of the ranges."""
    playable = database.playable & ~database.find_reserved(PREFER)
    found = []
    for one in database.derive(find_all_odd_postures):
        for a, b in (find_runs(playable[one.start : one.stop]) + one.start).tolist():
            if b - a >= NUMBERS.shortest_odd * database.fps:
                found.append(_locate(database, one, a, b))
    return tuple(found)


def find_all_odd_postures(database: Database) -> tuple[OddPosture, ...]:
    """Find odd postures regardless of tags: tagged frames also show what is usual.

    Mirror images are left out.
    """
    every, rate = _choose_rate(database)
    samples = _choose_samples(database, every)
    names, postures = _measure_postures(database, samples.frames)
    gaits = _find_gaits(database, samples, rate)
    deviations, limits = _measure_deviations(postures, gaits, samples.ranges, names, rate)
    deviations = _leave_styles(deviations * limits, limits, postures, samples.ranges, rate)
    worst = np.abs(deviations).max(axis=1)
    counts = np.bincount(gaits, minlength=len(GAITS)) * every
    found = []
    for first, last in _find_moments(worst, samples.ranges, rate).tolist():
        peak = first + int(np.argmax(worst[first:last]))
        index = int(samples.ranges[peak])
        gait = int(gaits[peak])
        start = int(samples.frames[first])
        stop = min(int(samples.frames[last - 1]) + every, int(database.stops[index]))
        share = (stop - start) / int(counts[gait])
        what = _name_posture(deviations[peak], names)
        one = OddPosture("", 0, 0, GAITS[gait], what, float(worst[peak]), share, index, start, stop)
        found.append(_locate(database, one, start, stop))
    return tuple(found)


def measure_gaits(database: Database) -> tuple[Array, Array, float]:
    """Return frames (M,) at a rate per second, the index of each one's gait (M,), and the rate."""
    every, rate = _choose_rate(database)
    samples = _choose_samples(database, every)
    return samples.frames, _find_gaits(database, samples, rate), rate


def _choose_rate(database: Database) -> tuple[int, float]:
    """Return the interval of samples in frames, and the samples per second."""
    every = max(round(database.fps / NUMBERS.odd_rate), 1)
    return every, database.fps / every


def _name_posture(deviations: Array, names: Sequence[str]) -> str:
    """Name a posture by the deviations (T,) of its traits; traits that explain others win."""
    trait = int(np.argmax(np.abs(deviations) >= 1.0))
    words = _TRAITS[names[trait]]
    return words.more if deviations[trait] > 0.0 else words.less


def measure_shares(found: Sequence[OddPosture]) -> dict[str, float]:
    """Return the share of odd frames of each gait that has any."""
    shares: dict[str, float] = {}
    for one in found:
        shares[one.gait] = shares.get(one.gait, 0.0) + one.share
    return shares


def summarize(found: Sequence[OddPosture]) -> str:
    """Count the odd postures of each gait, in a few words; empty without any."""
    counts = Counter(one.gait for one in found)
    shares = measure_shares(found)
    parts = [
        f"{counts[gait]} in {gait} ({shares[gait]:.1%} of its frames)"
        for gait in GAITS[::-1]
        if counts[gait]
    ]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


def describe(found: Sequence[OddPosture]) -> str:
    """Describe odd postures, clip by clip, as text."""
    lines = [f"odd postures: {summarize(found) or 'none'}"]
    lines += [
        f"  {o.clip} {o.first}-{o.last - 1}: {o.what}, {o.gait}"
        for o in found[: NUMBERS.most_listed]
    ]
    if len(found) > NUMBERS.most_listed:
        lines.append(f"  and {len(found) - NUMBERS.most_listed} more")
    return "\n".join(lines)


def to_dicts(found: Sequence[OddPosture]) -> list[dict[str, Any]]:
    """Return odd postures as JSON data, by frames of their clips as tags have them."""
    return [
        {"clip": o.clip, "start": o.first, "stop": o.last, "gait": o.gait, "what": o.what}
        for o in found
    ]


# ---------------------------------------------------------------- samples


def _find_originals(database: Database) -> list[int]:
    """Return the ranges that show other frames of sources than those before: no mirror images."""
    known = set()
    result = []
    sources = database.range_sources
    for index in sorted(range(len(database.ranges)), key=lambda i: database.ranges[i].mirrored):
        origin = database.ranges[index]
        place = sources[index].key if sources else "", origin.clip, origin.first_source_frame
        is_cycle = sources is not None and sources[index].cycle
        if place not in known and not is_cycle:
            result.append(index)
        known.add(place)
    return sorted(result)


def _choose_samples(database: Database, every: int) -> _Samples:
    originals = np.array(_find_originals(database))
    counts = -(-(database.stops - database.starts)[originals] // every)
    number = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    frames = np.repeat(database.starts[originals], counts) + number * every
    return _Samples(frames, np.repeat(originals, counts))


def _measure_postures(database: Database, frames: Array) -> tuple[tuple[str, ...], Array]:
    """Return names of traits (T), and the traits (M, T) of frames."""
    parts = []
    for first in range(0, len(frames), NUMBERS.frames_at_once):
        part = frames[first : first + NUMBERS.frames_at_once]
        traits = _measure_traits(database, part, int(frames[0]))
        names = tuple(name for name in _TRAITS if name in traits)
        parts.append(np.stack([traits[name] for name in names], axis=1))
    return names, np.concatenate(parts)


def _measure_traits(database: Database, frames: Array, model: int) -> dict[str, Array]:
    """Return traits (M,) of frames by name, with the lengths of bones in the `model` frame.

    All are measured from the simulation bone, and heights from the lowest toe, so that neither
    the place on the ground nor its height matters.
    """
    skeleton = database.skeleton
    roles = database.roles
    poses = np.asarray(database.poses[frames]).transpose(0, 2, 1)
    local = poses[..., 3:], poses[..., :3]
    lengths = np.linalg.norm(database.poses[model].T[:, :3], axis=-1)
    leg = float(np.mean([measure_leg(skeleton, one, lengths) for one in roles.legs]))
    arms = find_arms(skeleton, roles, lengths, leg)

    def locate(*bones: int) -> Array:
        return np.stack([skeleton.compute_bone_position(b, *local, root=0) for b in bones])

    (hips,) = locate(roles.hips)
    toes = locate(*(one.toe for one in roles.legs))[..., 2].min(axis=0)
    traits = {"hips": (hips[:, 2] - toes) / leg}
    chest = [shoulder for shoulder, _ in arms] or [roles.spine]
    if chest != [roles.hips]:
        # the character faces -Y
        x, y, z = np.ascontiguousarray((locate(*chest).mean(axis=0) - hips).T)
        traits["pitch"] = np.degrees(np.arctan2(-y, z))
        traits["roll"] = np.degrees(np.arctan2(x, np.hypot(y, z)))
    if arms:
        x, y, z = np.moveaxis(locate(*(hand for _, hand in arms)) - hips, -1, 0) / leg
        height = z
        reach = np.hypot(x, y)
        traits |= {"low_hand": height.min(axis=0), "high_hand": height.max(axis=0)}
        traits |= {"near_hand": reach.min(axis=0), "far_hand": reach.max(axis=0)}
    if roles.head is not None:
        traits["head"] = (locate(roles.head)[0, :, 2] - hips[:, 2]) / leg
    return traits


def measure_leg(skeleton: Skeleton, leg: Leg, lengths: Array) -> float:
    """Return the length of a leg from the thigh to the foot, over all bones between."""
    chain = skeleton.get_chain_to_root(leg.foot)
    return float(lengths[chain[: chain.index(leg.thigh)]].sum())


def find_arms(
    skeleton: Skeleton, roles: Roles, lengths: Array, leg: float
) -> list[tuple[int, int]]:
    """Return the first and last bones of the long branches of the trunk above the hips.

    Names do not matter. `lengths` (B,) are distances of bones from their parents, `leg` a leg's.
    """
    trunk = skeleton.get_chain_to_root(roles.spine if roles.head is None else roles.head)
    if roles.hips not in trunk:
        return []
    trunk = trunk[: trunk.index(roles.hips)]
    legs = {leg.thigh for leg in roles.legs}
    arms = []
    for bone in (bone for bone in trunk if bone != roles.head):
        for child in sorted(set(skeleton.get_children(bone)).difference(trunk)):
            below = skeleton.get_descendants(child)
            if legs.intersection((child, *below)):
                continue
            reach = {child: float(lengths[child])}
            for one in below:
                reach[one] = reach[int(skeleton.parents[one])] + float(lengths[one])
            end = max(reach, key=lambda one: reach[one])
            if reach[end] > NUMBERS.long_limb * leg:
                arms.append((child, end))
    return arms


def _find_gaits(database: Database, samples: _Samples, rate: float) -> Array:
    """Return the index (M,) of the gait of samples, by their speed.

    The median speed over some time counts, so that a bow is no step, and a pivot no pause.
    """
    speed = np.linalg.norm(database.root_motion[samples.frames, :2], axis=1)
    rows = _spread_around(np.arange(len(speed)), samples.ranges, NUMBERS.gait_window * rate)
    limits = AT_REST.moving * database.pace, database.walk_to_run
    return np.digitize(np.median(speed[rows], axis=1), limits)


def _spread_around(index: Array, ranges: Array, reach: float) -> Array:
    """Return samples (K, W) spread evenly around the samples `index` (K,), up to a `reach`.

    They stay in the same range, given for each sample by `ranges` (M,): close to the end of a
    range, its last samples are used.
    """
    edges = np.flatnonzero(np.diff(ranges, prepend=-1))
    number = np.searchsorted(edges, index, "right") - 1
    counts = np.diff(edges, append=len(ranges))[number]
    wide = np.minimum(2.0 * reach, counts)
    first = np.clip(index - edges[number] + 0.5 - wide / 2.0, 0.0, counts - wide)
    parts = (np.arange(NUMBERS.style_samples) + 0.5) / NUMBERS.style_samples
    rows: Array = edges[number, None] + (first[:, None] + wide[:, None] * parts).astype(int)
    return rows


# ---------------------------------------------------------------- deviations


def _measure_deviations(
    postures: Array, gaits: Array, ranges: Array, names: Sequence[str], rate: float
) -> tuple[Array, Array]:
    """Return deviations of traits (M, T) from the usual in their gait, in limits, and the limits.

    Where the gait changes, the nearer one counts. Deviations are 0 in gaits that are too rare to
    judge, and for the arms of a standing body: gestures make standing alive.
    """
    least = np.array([_TRAITS[name].least for name in names])
    is_arm = np.array([name.endswith("hand") for name in names])
    rows = _spread_around(np.arange(len(gaits)), ranges, NUMBERS.gait_window * rate)
    result = np.full_like(postures, np.inf)
    limits = np.ones_like(postures)
    for gait in range(len(GAITS)):
        own = gaits == gait
        if own.sum() < LEAST_SECONDS * rate:
            continue
        middle, limit = _measure_usual(postures[own], least)
        near = own[rows].any(axis=1)
        deviations = (postures[near] - middle) / limit
        if gait == 0:
            deviations[:, is_arm] = np.inf
        nearer = np.abs(deviations) < np.abs(result[near])
        result[near] = np.where(nearer, deviations, result[near])
        limits[near] = np.where(nearer, limit, limits[near])
    result[np.isinf(result) | ((gaits == 0)[:, None] & is_arm)] = 0.0
    return result, limits


def _measure_usual(values: Array, least: Array) -> tuple[Array, Array]:
    """Return the medians (T,) of values (M, T), and the limits (T,) of deviations from them.

    Limits are `least` (T,) or more. Values beyond do not count, so that many odd ones widen the
    limits little.
    """
    usual = np.ones(values.shape, bool)
    for _ in range(NUMBERS.spread_rounds):
        counted = np.where(usual, values, np.nan)
        middle = np.nanmedian(counted, axis=0)
        spread = 1.4826 * np.nanmedian(np.abs(counted - middle), axis=0)
        limit = np.maximum(least, NUMBERS.odd_spread * spread)
        usual = np.abs(values - middle) < limit
    return middle, limit


def _leave_styles(
    deviations: Array, limits: Array, postures: Array, ranges: Array, rate: float
) -> Array:
    """Return deviations (M, T) in limits, 0 where postures are alike for seconds.

    That is a style. Deviations, limits and postures (M, T) are in the units of traits.
    """
    result = deviations / limits
    index, traits = np.nonzero(np.abs(result) >= NUMBERS.end_share)
    if len(index):
        rows = _spread_around(index, ranges, NUMBERS.style_window * rate)
        around = np.median(postures[rows, traits[:, None]], axis=1)
        own = deviations[index, traits]
        away = (postures[index, traits] - around) * np.sign(own)  # not back to the usual
        is_style = away < NUMBERS.style_share * np.abs(own)
        result[index[is_style], traits[is_style]] = 0.0
    return result


def _find_moments(worst: Array, ranges: Array, rate: float) -> Array:
    """Return the first and the stop (K, 2) of the odd moments among samples (M,).

    `worst` (M,) are their largest deviations. A moment ends where a posture is almost as usual.
    """
    # a sample between two ranges keeps their moments apart
    slots = np.arange(len(worst)) + np.cumsum(np.diff(ranges, prepend=ranges[0]) != 0)
    filled = np.zeros(slots[-1] + 1)
    filled[slots] = worst
    runs = find_runs(filled >= NUMBERS.end_share)
    odd = np.concatenate([[0], np.cumsum(filled >= 1.0)])
    runs = runs[odd[runs[:, 1]] > odd[runs[:, 0]]]
    moments = np.searchsorted(slots, runs)
    if not len(moments):
        return moments
    apart = moments[1:, 0] - moments[:-1, 1] >= NUMBERS.odd_gap * rate
    apart |= ranges[moments[1:, 0]] != ranges[moments[:-1, 0]]
    firsts = moments[np.append(True, apart), 0]
    stops = moments[np.append(apart, True), 1]
    return np.column_stack([firsts, stops])[stops - firsts >= NUMBERS.shortest_odd * rate]


def _locate(database: Database, posture: OddPosture, start: int, stop: int) -> OddPosture:
    """Return a posture at frames of its range, with the clip and its frames."""
    index = posture.range_index
    origin = database.ranges[index]
    before = int(database.starts[index])
    first, last = (origin.find_source_frame(frame - before) for frame in (start, stop))
    share = posture.share * (stop - start) / (posture.stop - posture.start)
    return replace(
        posture, clip=origin.clip, first=first, last=last, share=share, start=start, stop=stop
    )
