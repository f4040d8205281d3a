"""Remove keys of controls while no deform bone is off by too much.

Curves keep their slope at the keys left. Controls
are thinned from the body outwards, and each makes up for what those above it are off. Where the
deform bones then go is computed: knees that are almost straight move far for little, and get keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ...engine.maths.along_time import find_runs
from ...engine.maths.easing import smoothstep
from ...engine.maths.rotations import quat
from ...engine.progress import ShareSteps
from ..blender.animation.curves import evaluate_smooth_keys
from ..blender.animation.keys import find_peaks
from ..blender.transforms.rotation_modes import from_mode, to_mode
from ..blender.transforms.transforms import Transform
from .control_rig import KeyedControls
from .effects import compute_places_steps, list_effects
from .foot_roll import keep_longest_run
from .pose_graph import PoseGraph

_FIRST = 0.6  # of the limits: what each track alone may cost at first
_MARGIN = 0.95  # of the limits: the rest is for what the solver of IK is off
_BLAMED = 0.9  # tracks are to blame whose part in an error is that much of the worst one's
_TIGHTER = 0.85  # of its error: what a track to blame may be off, less with each pass
# share of an error, and frames beside a stance, attributed to the stance
_LED = 0.5
_NEAR = 6
_SHORTER = 0.7  # of what a stance is off: what a shorter one may be
_PASSES = 24
_EASE_OF_ENDS = 1.6  # how much more than its part the last control of a chain may turn
_LEAST_REACH = 0.05  # of what a control's turn moves, in metres


@dataclass
class ControlTrack:
    """Curves of a control in a rotation mode, or "" for a location, and which frames have keys.

    In each stance (F,) the first and the last frame keep their key, and what `holds` rests in
    between. `limit` (F,) is how far it may be off, in radians or units.
    """

    control: str
    mode: str
    stances: np.ndarray
    holds: bool
    limit: np.ndarray
    ease: float = 1.0  # how much more than its part it may be off at first
    values: np.ndarray = field(init=False)  # (C, F)
    slopes: np.ndarray = field(init=False)  # (C, F) per frame
    exact: np.ndarray = field(init=False)  # (C, F) before stances are held
    mask: np.ndarray = field(init=False)  # (F,)

    def fit_steps(self, values: np.ndarray) -> ShareSteps[None]:
        """Choose the keys of curves (C, F) anew, by the limits."""
        self.exact = values
        self.values = hold_stances(values, self.stances) if self.holds and not self.mode else values
        self.slopes = np.gradient(self.values, axis=1)
        self.slopes[:, self.stances & self.holds] = 0.0
        self.mask = np.zeros(values.shape[1], bool)
        self.mask[[0, -1]] = True
        for start, stop in find_runs(self.stances).tolist():
            self.mask[[start, stop - 1]] = True
        while len(worst := self._find_worst()):
            self.mask[worst] = True
            yield None

    def _find_worst(self) -> np.ndarray:
        """Return the worst frame of each stretch between keys, where it is off by too much."""
        free = ~(self.stances & self.holds) & ~self.mask
        keys = np.flatnonzero(self.mask)
        off = np.where(free, self.measure(self.values) / self.limit, 0.0)
        worst = np.maximum.reduceat(off, keys[:-1])
        stretch = np.minimum(np.cumsum(self.mask) - 1, len(worst) - 1)
        hits = np.flatnonzero((off > 1.0) & (off == worst[stretch]))
        return hits[np.unique(stretch[hits], return_index=True)[1]]

    def interpolate(self) -> np.ndarray:
        """Return the curves (C, F) that the keys left make."""
        keys = np.flatnonzero(self.mask)
        count = self.values.shape[1]
        return evaluate_smooth_keys(keys, self.values[:, keys], self.slopes[:, keys], count)

    def measure(self, wanted: np.ndarray) -> np.ndarray:
        """Return how far the curves are off wanted ones (C, F), in radians or units (F,)."""
        values = self.interpolate()
        if not self.mode:
            return np.linalg.norm(values - wanted, axis=0)
        a, b = (quat.normalize(from_mode(part, self.mode)) for part in (values, wanted))
        return quat.angle_between(a, b)

    def tighten(self, frames: np.ndarray, errors: np.ndarray, share: float) -> None:
        """Allow a share of the errors (F,) in some frames, and hold shorter stances near them."""
        held = self.stances & self.holds
        self.limit[frames] = np.minimum(self.limit[frames], share * errors[frames])
        if self.mode or not held.any():
            return
        led = np.linalg.norm(self.values - self.exact, axis=0)  # to where the stances are held
        frames = frames[led[frames] > _LED * errors[frames]]
        for start, stop in find_runs(held).tolist():
            if np.any((frames >= start - _NEAR) & (frames < stop + _NEAR)):
                near = led[start:stop] < _SHORTER * led[start:stop].max()
                self.stances[start:stop] = keep_longest_run(near)


def hold_stances(values: np.ndarray, stances: np.ndarray) -> np.ndarray:
    """Return locations (3, F) that rest at their mean in each stance, led there in a few frames."""
    away = np.zeros_like(values)
    for start, stop in find_runs(stances).tolist():
        part = values[:, start:stop]
        away[:, start:stop] = part.mean(axis=1, keepdims=True) - part
    for start, stop in find_runs(~stances).tolist():
        inside = np.arange(start, stop)
        before = away[:, start - 1] if start > 0 else np.zeros(len(values))
        after = away[:, stop] if stop < values.shape[1] else np.zeros(len(values))
        late = (inside - start + 1.0) / (_NEAR + 1.0)
        early = (stop - inside) / (_NEAR + 1.0)
        away[:, start:stop] = before[:, None] * (1.0 - smoothstep(late))
        away[:, start:stop] += after[:, None] * (1.0 - smoothstep(early))
    return values + away


class Thinning:
    """Tracks of controls that are thinned until no effect is off by more than the limits.

    `wanted` are the poses of controls (F, ...) in the armature's space. Controls of limbs that are
    switched to the other kind come last, and `snap` gives their poses then. Distances are in units
    of the armature, angles in radians.
    """

    def __init__(
        self,
        graph: PoseGraph,
        tracks: Sequence[ControlTrack],
        wanted: Mapping[str, Transform],
        keyed: KeyedControls,
        snap: Callable[[], Mapping[str, Transform]],
    ) -> None:
        self.graph, self.keyed, self.wanted, self.snap = graph, keyed, dict(wanted), snap
        self.done = 0.0  # the part that is done
        self.effects = list_effects(graph, keyed)
        self.by_control: dict[str, list[ControlTrack]] = {}
        for track in tracks:
            self.by_control.setdefault(track.control, []).append(track)
        first = graph.copy_first()
        causes = [first.find_used(effect.compute) for effect in list_effects(first, keyed)]
        # the controls that decide each effect, and those that decide where each control starts from
        self.causes = [controls & keyed.matched or controls for controls in causes]
        self.above = {c: first.find_used(partial(first.compute_base, c)) for c in wanted}

    def run_steps(self, distance: float, angle: float, unit: float) -> ShareSteps[None]:
        """Choose the keys of all tracks; a unit of the armature is `unit` metres."""
        self.places = yield from compute_places_steps(self.effects)
        distance = _MARGIN * distance
        angle = _MARGIN * angle
        least = _LEAST_REACH / unit
        for track in (track for own in self.by_control.values() for track in own):
            reach = self._measure_reach(track.control)
            # nothing adds to what the end of a chain is off
            turn = min(angle, distance / max(reach, least)) * (1.0 if reach else _EASE_OF_ENDS)
            track.limit[:] = _FIRST * track.ease * (turn if track.mode else distance)
        rows = np.array([bool(controls & self.keyed.matched) for controls in self.causes])
        shown = [c for c in self.by_control if c not in self.keyed.matched]
        snapped = [c for c in self.by_control if c in self.keyed.matched]
        share = len(shown) / len(self.by_control)
        yield from self._refine_steps(shown, ~rows, (distance, angle), (0.0, share))
        if not snapped or not rows.any():
            return
        self.wanted |= self.snap()
        yield None
        by_bone = {effect.bone: i for i, effect in enumerate(self.effects) if not rows[i]}
        heads, axes = yield from compute_places_steps(self.effects)
        for i in np.flatnonzero(rows):
            if (other := by_bone.get(self.effects[i].bone)) is not None:
                self.places[0][i] = heads[other]
                self.places[1][i] = axes[other]
        yield from self._refine_steps(snapped, rows, (distance, angle), (share, 1.0))

    def _refine_steps(
        self,
        controls: Sequence[str],
        rows: np.ndarray,
        limits: tuple[float, float],
        progress: tuple[float, float],
    ) -> ShareSteps[None]:
        """Choose the keys of some controls so that some effects (E,) are within the limits.

        These are a distance and an angle; `progress` is the part done before and after.
        """
        order = sorted(controls, key=lambda control: len(self.above[control]))
        tracks = [track for control in order for track in self.by_control[control]]
        firsts = {id(track): float(track.limit[0]) for track in tracks}
        changed = set(order)
        before = [np.zeros(0, bool)] * len(tracks)
        for turn in range(_PASSES):
            for index, control in enumerate(order):
                if control in changed or self.above[control] & changed:
                    changed.add(control)
                    yield from self._fit_steps(control)
                # the first pass takes the longest, and most end after some more
                done = 1.0 - 0.5 ** (turn + (index + 1) / len(order))
                self.done = progress[0] + (progress[1] - progress[0]) * done
            masks = [track.mask for track in tracks]
            if all(map(np.array_equal, masks, before)):
                return  # more keys do not help
            before = masks
            off = yield from self._measure_effects_steps(rows, *limits)
            share = _TIGHTER ** (1.0 + turn)
            frames, effects = find_peaks(off.T, 1.0)
            peaks = [frames[effects == effect] for effect in range(len(off))]
            changed = yield from self._blame_steps(peaks, firsts, share)
            if not changed:
                return

    def _measure_reach(self, control: str) -> float:
        """Return how far the controls are that start from this one, in units."""
        placed = {t.control for ts in self.by_control.values() for t in ts if not t.mode}
        below = [c for c in self.wanted if control in self.above[c] and c not in placed]
        direct = [c for c in below if not any(c != d and d in self.above[c] for d in below)]
        start = self.wanted[control][1]
        away = [np.linalg.norm(self.wanted[c][1] - start, axis=-1).max() for c in direct]
        return max(map(float, away), default=0.0)

    def _fit_steps(self, control: str) -> ShareSteps[None]:
        """Give a control keys that make up for what the controls above it are off."""
        base = self.graph.compute_base(control)
        (rotation, position) = self.wanted[control]
        turn, shift = self.graph.basis[control]
        for track in self.by_control[control]:
            if track.mode:
                needed = quat.unroll(quat.inv_mul(base[0], rotation))
                yield from track.fit_steps(to_mode(needed.T, track.mode))
                turn = quat.normalize(from_mode(track.interpolate(), track.mode))
            else:
                location = self.graph.measure_location(control, base, position)
                yield from track.fit_steps(location.T)
                shift = track.interpolate().T
        self.graph.give_basis(control, turn, shift)

    def _measure_effects_steps(
        self, rows: np.ndarray, distance: float, angle: float
    ) -> ShareSteps[np.ndarray]:
        """Return by what part of the limits each effect is off, (E, F); 0 beside `rows` (E,)."""
        result = np.zeros(self.places[0].shape[:2])
        own = [effect for effect, is_own in zip(self.effects, rows, strict=True) if is_own]
        heads, axes = yield from compute_places_steps(own)
        away = np.linalg.norm(heads - self.places[0][rows], axis=-1) / distance
        sines = np.linalg.norm(np.cross(axes, self.places[1][rows]), axis=-1)
        result[rows] = np.maximum(away, np.arcsin(np.clip(sines, 0.0, 1.0)) / angle)
        return result

    def _blame_steps(
        self, peaks: list[np.ndarray], firsts: dict[int, float], share: float
    ) -> ShareSteps[set[str]]:
        """Tighten the tracks to blame where effects are off most; return their controls."""
        known = [t for ts in self.by_control.values() for t in ts if id(t) in firsts]
        errors = {}
        for track in known:
            errors[id(track)] = track.measure(track.exact)
            yield None
        changed: set[str] = set()
        for controls, frames in zip(self.causes, peaks, strict=True):
            tracks = [t for t in known if t.control in controls]
            if not len(frames) or not tracks:
                continue
            parts = np.stack([errors[id(t)][frames] / firsts[id(t)] for t in tracks])
            blamed = (parts >= _BLAMED * parts.max(axis=0)) & (parts > 1e-3)
            for track, chosen in zip(tracks, blamed, strict=True):
                if chosen.any():
                    track.tighten(frames[chosen], errors[id(track)], share)
                    changed.add(track.control)
        return changed
